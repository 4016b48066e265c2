"""CalibratedLinearClassifier: minimise a loss over classifiers without calibration error.

Section 3.2.2 of the paper: a step that lowers the loss, alternated with the projection onto the
empirically calibrated classifiers. The paper asks whether any loss will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._progress import progress_bar
from calibrant._types import FloatArray
from calibrant.learners.features import Features
from calibrant.learners.link import rises
from calibrant.learners.losses import LOSSES, Loss, calibrated_loss, push
from calibrant.learners.single_index import Course, Linked, SingleIndexClassifier, TrainingRows

#: A step is halved so often before it is given up.
_HALVINGS = 16
_TINY = float(np.finfo(float).tiny)
#: A turn by less than this share of the step is rounding.
_NOISE = 1e-9
#: Half of the window, in deviations, and how far apart the quartiles of a normal law are in these.
_HALF, _QUARTILES = 0.6, 1.349


class CalibratedLinearClassifier(SingleIndexClassifier):
    """Minimise a loss over the classifiers u(w . x) that have no calibration error on the rows.

    A step in w lowers the loss for the link as it is; isotonic regression then fits the link anew,
    which projects onto the classifiers without calibration error. Steps are halved until the loss
    falls with the new link too, so that it falls from step to step for every loss. Under the
    squared and the logistic loss the projection itself lowers the loss; under the hinge it raises
    it, and its steps lead to the best direction only by luck: see the page on learning.

    Parameters
    ----------
    loss : {"squared", "logistic", "hinge"}
        Of the probability f: (y - f)^2, the log loss, or the hinge loss of the margin 2f - 1.
    max_iter : int, default 100
        Steps at most.
    tol : float, default 1e-5
        A step must lower the loss by more than this share.
    early_stopping : bool, default False
        Keep the direction with the least squared error on rows held back. The link is fitted to
        all rows at the end.
    validation_fraction : float, default 0.1
        Share of the rows held back.
    n_iter_no_change : int, default 10
        With `early_stopping`: stop after so many steps without progress.
    warm_start : bool, default False
        Go on from the direction of the last fit.
    random_state : int or RandomState or None
        Which rows are held back.

    Attributes
    ----------
    classes_ : array
        The two labels; the event is the second.
    coef_, intercept_ : float arrays of shape (1, n_features) and (1,)
        The score ``(X @ coef_[0] + intercept_[0]).clip(0, 1)``; no fitting row needs the clip.
    link_ : IsotonicCalibrator
        What turns a score into a probability.
    loss_curve_ : list of float
        The loss at the start and after each step; with `early_stopping` the squared error of the
        rows held back.
    n_iter_ : int
        Steps taken, with the start.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Section 3.2.2 and the appendix. Balabdaoui, Groeneboom and
    Hendrickx, "Score estimation in the monotone single-index model", Scandinavian Journal of
    Statistics 46, 2019: how the slope of the link enters the step.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, random_state=0)
    >>> model = cb.CalibratedLinearClassifier("logistic").fit(X, y)
    >>> cb.calibration_error(y, model.predict_proba(X)[:, 1]) < 1e-12
    True
    """

    def __init__(
        self,
        loss: Loss = "squared",
        *,
        max_iter: int = 100,
        tol: float = 1e-5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        errors.one_of("loss", self.loss, LOSSES)

    def _learn(
        self,
        features: Features,
        rows: TrainingRows,
        held: TrainingRows | None,
        start: FloatArray | None,
    ) -> Course:
        centred = rows.label.astype(np.float64) - rows.mean(rows.label)
        here = self._place(features.pull(centred), features, rows)
        if start is not None:  # unless that led nowhere, on other rows than these
            here = min(here, self._place(start, features, rows), key=lambda place: place.loss)
        course, size = Course(here.direction), 1.0
        self._note(course, here, features, held)
        with progress_bar("Learning", self.max_iter) as progress:
            for step in range(self.max_iter):
                there, size = self._stepped(here, features, rows, size)
                progress(step + 1)
                if there is None:
                    course.converged = True
                    break
                here, size = there, min(2 * size, 1.0)
                self._note(course, here, features, held)
                if held is not None and course.since >= self.n_iter_no_change:
                    course.converged = True
                    break
        return course

    def _note(
        self, course: Course, here: _Reached, features: Features, held: TrainingRows | None
    ) -> None:
        loss = here.loss
        if held is not None:
            loss = here.linked.held_loss(features, here.direction, held)
        course.add(here.direction, loss, self.tol)

    def _place(self, direction: FloatArray, features: Features, rows: TrainingRows) -> _Reached:
        """Project onto the classifiers without calibration error, for a direction."""
        index = features.index(direction)
        linked = Linked.fit(index, rows, "monotone")
        loss = rows.mean(calibrated_loss(self.loss, linked.prob))
        return _Reached(direction, index, linked, loss)

    def _stepped(
        self, here: _Reached, features: Features, rows: TrainingRows, size: float
    ) -> tuple[_Reached | None, float]:
        """Take the longest step that lowers the loss, of `size` or halved; None if none does."""
        slope = link_slope(here.linked, rows)
        direction = features.pull(push(self.loss, here.linked.prob, rows.label) * slope)
        move = features.index(direction)
        # what goes along w only changes its length, which the link undoes
        along = rows.mean(move * here.index) / max(rows.mean(here.index**2), _TINY)
        direction = direction - along * here.direction
        length = rows.mean((move - along * here.index) ** 2) ** 0.5
        if length <= _NOISE * rows.mean(move**2) ** 0.5:
            return None, size
        unit = rows.mean(here.index**2) ** 0.5 / length
        for _ in range(_HALVINGS):
            there = self._place(here.direction + size * unit * direction, features, rows)
            if there.loss < here.loss * (1 - self.tol):
                return there, size
            size /= 2
        return None, size


@dataclass(frozen=True, eq=False, slots=True)
class _Reached:
    """Where learning is: a direction, the index of the rows, their link, and the loss."""

    direction: FloatArray
    index: FloatArray
    linked: Linked
    loss: float


def link_slope(linked: Linked, rows: TrainingRows) -> FloatArray:
    """Return the slope of the link at every row, up to a factor: the link itself is a staircase.

    It is the rise over a window around the row, as wide as m^(-3/7) deviations of the score for m
    jumps, up to a factor. Of these there are about n^(1/3), and n^(-1/7) is the width of
    Balabdaoui, Groeneboom and Hendrickx (2019). They are as many whether a row weighs 2 or is
    there twice.
    """
    half = _HALF * _spread(linked.score, rows) * max(rises(linked.link), 1) ** (-3 / 7)
    above, below = (linked.score + half).clip(max=1.0), (linked.score - half).clip(min=0.0)
    return linked.link.predict(above) - linked.link.predict(below)


def _spread(score: FloatArray, rows: TrainingRows) -> float:
    """Return the deviation of the scores, or that of their middle half if it is less."""
    deviation = rows.mean((score - rows.mean(score)) ** 2) ** 0.5
    order = np.argsort(score)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight[order]
    total = np.cumsum(weight)
    low, high = score[order][np.searchsorted(total, [0.25 * total[-1], 0.75 * total[-1]])]
    middle = (high - low) / _QUARTILES
    return float(min(deviation, middle) if middle > 0 else deviation)
