"""IsotronClassifier: a step in w alternated with isotonic regression for the link.

Section 3.2.2 of the paper and its appendix on Kakade, Kalai, Kanade and Shamir (2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import errors
from calibrant._progress import progress_bar
from calibrant._types import FloatArray
from calibrant.learners.features import Features
from calibrant.learners.link import KINDS, Kind
from calibrant.learners.single_index import (
    Course,
    Linked,
    SingleIndexClassifier,
    TrainingRows,
    squared_loss,
)


class IsotronClassifier(SingleIndexClassifier):
    """Learn P(Y = 1) = u(w . x) for an unknown direction w and an unknown monotone link u.

    Each step moves w by the mean of (y - u(w . x)) x, and then fits u anew by isotonic regression,
    which leaves no calibration error on the rows. Features are whitened first, so that their
    units do not matter and the first step is least squares; tables with more than 512 features, or
    fewer than 5 rows for each, are scaled to variance 1 only. The direction with the least squared
    error is kept, on rows held back if `early_stopping`. A few rows far from all others can lead it
    astray, as they do least squares.

    Parameters
    ----------
    link : {"monotone", "lipschitz"}
        "monotone": u is any nondecreasing function (Kalai and Sastry, 2009), and the calibration
        error on the fitting rows is 0. "lipschitz": u may rise by no more than w . x does (Kakade
        et al., 2011), which their guarantee needs; it is fitted to the means of 2,048 parts if
        there are more scores, and the fitting rows are *not* calibrated in general.
    max_iter : int, default 100
        Steps at most.
    tol : float, default 1e-4
        Steps that do not lower the squared error by this share do not count as progress.
    early_stopping : bool, default False
        Judge steps by rows held back, as Kakade et al. do. The link is fitted to all rows at the
        end.
    validation_fraction : float, default 0.1
        Share of the rows held back.
    n_iter_no_change : int, default 10
        Stop after so many steps without progress.
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
    link_ : IsotonicCalibrator or LipschitzLink
        What turns a score into a probability.
    loss_curve_ : list of float
        Squared error after each step.
    n_iter_ : int
        Steps taken.

    References
    ----------
    Kalai and Sastry, "The Isotron algorithm: high-dimensional isotonic regression", COLT 2009.
    Kakade, Kalai, Kanade and Shamir, "Efficient learning of generalized linear and single index
    models with isotonic regression", NIPS 2011. Gao, Parameswaran and Peng (2017), Section 3.2.2.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, random_state=0)
    >>> model = cb.IsotronClassifier().fit(X, y)
    >>> cb.calibration_error(y, model.predict_proba(X)[:, 1]) < 1e-12
    True
    """

    def __init__(
        self,
        link: Kind = "monotone",
        *,
        max_iter: int = 100,
        tol: float = 1e-4,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.link = link
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        errors.one_of("link", self.link, KINDS)

    def _kind(self) -> Kind:
        return self.link

    def _learn(
        self,
        features: Features,
        rows: TrainingRows,
        held: TrainingRows | None,
        start: FloatArray | None,
    ) -> Course:
        direction = np.zeros(rows.table.shape[1]) if start is None else start
        fitted = Linked.fit(features.index(direction), rows, self.link)
        course = Course(direction)

        def note() -> None:
            loss = squared_loss(fitted.prob, rows)
            if held is not None:
                loss = fitted.held_loss(features, direction, held)
            course.add(direction, loss, self.tol)

        if start is not None:
            note()
        # only the Lipschitz link knows how long w is
        unit = features.stretch() if self.link == "lipschitz" else 1.0
        with progress_bar("Isotron", self.max_iter) as progress:
            for step in range(self.max_iter):
                direction = direction + features.pull(rows.label - fitted.prob) / unit
                fitted = Linked.fit(features.index(direction), rows, self.link)
                note()
                progress(step + 1)
                if course.since >= self.n_iter_no_change or course.least == 0:
                    course.converged = True
                    break
        return course
