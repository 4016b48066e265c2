"""Single-index classifiers: a monotone link of w . x. What they share."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from calibrant import errors
from calibrant._figures import figure
from calibrant._text import shown
from calibrant._types import AnyArray, BoolArray, FloatArray
from calibrant.data import refusals
from calibrant.data.memory.targets import target_kind, weights_of
from calibrant.data.rules import plain_labels
from calibrant.errors import InputError
from calibrant.learners.features import Features, row_sums
from calibrant.learners.link import Kind, Link, Scale, fit_link, rises, to_score


@dataclass(frozen=True, eq=False, slots=True)
class TrainingRows:
    """Rows to learn from: features, labels, weights (None if all are 1)."""

    table: Any
    label: BoolArray
    weight: FloatArray | None

    def __len__(self) -> int:
        return len(self.label)

    def take(self, index: AnyArray) -> TrainingRows:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        return TrainingRows(self.table[index], self.label[index], weight)

    def mean(self, values: FloatArray | BoolArray) -> float:
        """Return a mean over the rows."""
        return float(np.average(values, weights=self.weight))


@dataclass(eq=False, slots=True)
class Course:
    """How learning went: the direction that was best so far, and the losses.

    Attributes
    ----------
    best : float array
        The direction with the least loss.
    losses : list of float
        One for each direction that was tried for good.
    converged : bool
        Whether it came to an end by itself.
    """

    best: FloatArray
    losses: list[float] = field(default_factory=list)
    converged: bool = False
    least: float = np.inf
    since: int = 0

    def add(self, direction: FloatArray, loss: float, tol: float) -> None:
        """Note a direction and its loss, and for how many of them it has not fallen by `tol`."""
        self.losses.append(loss)
        self.since = 0 if loss < self.least * (1 - tol) else self.since + 1
        if loss < self.least:
            self.best, self.least = direction, loss


class SingleIndexClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What classifiers of the form link(w . x) share: checks, the last link, predictions."""

    max_iter: int
    tol: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    warm_start: bool
    random_state: Any
    _coefficients: FloatArray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Learn the direction, and then the link on all rows.

        Parameters
        ----------
        X : array_like or sparse matrix, rows by features
            Features.
        y : array_like
            Labels of two classes.
        sample_weight : array_like, optional
            How much each row counts.
        """
        self._check_parameters()
        rows = self._checked(X, y, sample_weight)
        fitting, held = self._parted(rows)
        features = Features(fitting.table, fitting.weight)
        if not features.varies:
            warnings.warn(_nothing_varies(rows.mean(rows.label)), stacklevel=2)
        course = self._learn(features, fitting, held, self._start(features, rows.table.shape[1]))
        self._coefficients = features.coefficients(course.best)
        self.n_iter_, self.loss_curve_ = len(course.losses), course.losses
        self._finish(rows)
        if features.varies and not course.converged:
            said = _not_converged(self.max_iter, self.tol)
            warnings.warn(said, ConvergenceWarning, stacklevel=2)
        if features.varies and rises(self.link_) == 0:
            warnings.warn(_nothing_found(rows.mean(rows.label)), stacklevel=2)
        return self

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the probability of each class, a column for each."""
        check_is_fitted(self, "link_")
        with errors.within_doubles("X"):
            table = _sorted(validate_data(self, X, reset=False, **_FORM))
        event = self.link_.predict(self._scores(table))
        return np.stack([1 - event, event], axis=1)

    def predict(self, X: Any) -> AnyArray:  # noqa: N803
        """Return the more probable class; the first one at even odds."""
        likely = self.predict_proba(X).argmax(axis=1)
        chosen: AnyArray = self.classes_[likely]
        return chosen

    @abstractmethod
    def _learn(
        self,
        features: Features,
        rows: TrainingRows,
        held: TrainingRows | None,
        start: FloatArray | None,
    ) -> Course:
        """Look for a direction, from `start` on if there is one."""

    def _kind(self) -> Kind:
        """Say how the link is kept."""
        return "monotone"

    def _check_parameters(self) -> None:
        errors.whole_number("max_iter", self.max_iter, 1, errors.MOST_DRAWS)
        errors.whole_number("n_iter_no_change", self.n_iter_no_change, least=1)
        errors.share("tol", self.tol)
        errors.switch("warm_start", self.warm_start)
        if errors.switch("early_stopping", self.early_stopping):
            errors.inner_share("validation_fraction", self.validation_fraction)

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:  # noqa: N803
        """Return the rows that count."""
        plain_labels("y", y)
        with errors.within_doubles("X"):
            X, y = validate_data(self, X, y, reset=True, **_FORM)  # noqa: N806
        y = column_or_1d(y, warn=True)
        kind = target_kind(y)
        if kind != "binary":
            raise errors.two_classes_only(kind)
        weight = weights_of(sample_weight, X)
        if not weight.any():
            raise refusals.weight_all_zero("sample_weight")
        weight = weight / weight.max()
        counted = weight > 0
        self.classes_ = np.unique(y)
        label = y == self.classes_[-1]
        rows = TrainingRows(_sorted(X), label, None if (weight == 1).all() else weight)
        rows = rows if counted.all() else rows.take(np.flatnonzero(counted))
        if rows.label.all() or not rows.label.any():
            raise _one_class_only(y[counted][0])
        return rows

    def _parted(self, rows: TrainingRows) -> tuple[TrainingRows, TrainingRows | None]:
        """Hold some rows back for early stopping."""
        if not self.early_stopping:
            return rows, None
        from sklearn.model_selection import train_test_split

        least = min(int(rows.label.sum()), int((~rows.label).sum()))
        share = min(self.validation_fraction, 1 - self.validation_fraction)
        if least * share < 1:  # each class must be in both parts
            raise _too_few_to_hold_back(least, self.validation_fraction)
        fitting, held = train_test_split(
            np.arange(len(rows)),
            test_size=self.validation_fraction,
            stratify=rows.label,
            random_state=self.random_state,
        )
        return rows.take(np.sort(fitting)), rows.take(np.sort(held))

    def _start(self, features: Features, columns: int) -> FloatArray | None:
        """Return the direction to start from, if a fit goes on from the last one."""
        known = getattr(self, "_coefficients", None)
        if not self.warm_start or known is None or len(known) != columns:
            return None
        return features.direction(known)

    def _finish(self, rows: TrainingRows) -> None:
        """Set score and link, on all rows as `predict_proba` will see them."""
        scale = Scale.of(row_sums(rows.table, self._coefficients))
        self.coef_ = (self._coefficients * scale.slope)[None, :]
        self.intercept_ = np.array([scale.offset])
        score = self._scores(rows.table)
        self.link_: Link = fit_link(score, rows.label, rows.weight, self._kind(), scale.length)

    def _scores(self, table: Any) -> FloatArray:
        return to_score(row_sums(table, self.coef_[0]) + self.intercept_[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


_FORM = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


def _sorted(table: Any) -> Any:
    """Return a table for which sums are to the bit the same for the same row.

    The rows of a sparse one list each feature once and in order; a dense one is aligned.
    """
    if issparse(table):
        if not table.has_canonical_format:
            table = table.copy()
            table.sum_duplicates()
        return table
    return table if table.flags.aligned else table.copy()


@dataclass(frozen=True, eq=False, slots=True)
class Linked:
    """An index with its link.

    Attributes
    ----------
    scale, link
        From index to score, and from score to probability.
    score, prob : float array
        Of each row.
    """

    scale: Scale
    link: Link
    score: FloatArray
    prob: FloatArray

    @classmethod
    def fit(cls, index: FloatArray, rows: TrainingRows, kind: Kind) -> Linked:
        """Fit the link of some index."""
        scale = Scale.of(index)
        score = scale(index)
        link = fit_link(score, rows.label, rows.weight, kind, scale.length)
        return cls(scale, link, score, link.predict(score))

    def held_loss(self, features: Features, direction: FloatArray, held: TrainingRows) -> float:
        """Return the squared error of rows that the link was not fitted to."""
        score = self.scale(features.index(direction, held.table))
        return squared_loss(self.link.predict(score), held)


def squared_loss(prob: FloatArray, rows: TrainingRows) -> float:
    """Return the mean of (y - f)^2."""
    return rows.mean((rows.label - prob) ** 2)


def _one_class_only(label: object) -> InputError:
    label = label.item() if hasattr(label, "item") else label
    return InputError(
        f"A classifier needs rows of two classes, but y holds one class only: {shown(label)}. "
        "Add rows of the other class."
    )


def _nothing_varies(rate: float) -> str:
    return (
        f"No feature varies, so that every row gets the same probability, {figure(rate)}. "
        "Give X columns that differ between rows."
    )


def _nothing_found(rate: float) -> str:
    return (
        "No direction was found in which the event becomes more frequent, so that every row gets "
        f"the same probability, {figure(rate)}. Add features that go up or down with the event, "
        "such as squares and products of those there are; outliers may hide the others."
    )


def _not_converged(max_iter: int, tol: float) -> str:
    return (
        f"Learning stopped after {max_iter} steps, before it had converged. Raise max_iter, or "
        f"raise tol (now {tol:g}) to accept less progress; the best direction so far is kept."
    )


def _too_few_to_hold_back(least: int, share: float) -> InputError:
    return InputError(
        f"early_stopping needs both classes in both parts, but it holds back {share:g} of the rows "
        f"and the rarer class has {least}. Give more rows, change validation_fraction, or turn "
        "it off."
    )
