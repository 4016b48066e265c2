"""PartitionClassifier: split the feature space, and say in each region how often the event is.

Section 2.3 of the paper: trees, nearest neighbours and logistic regression all group what they
take for similar, and estimate the frequency of the label in each group.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_clusterer
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from calibrant import errors
from calibrant._text import shown
from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.data import refusals
from calibrant.data.memory.targets import target_kind, weights_of
from calibrant.data.rules import plain_labels
from calibrant.errors import InputError

_KINDS = ("tree", "kmeans")
#: Weights over this might add up to more than a double holds.
_HEAVY = 1e200


class PartitionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Say, of every row, how often the event was in its region of the feature space.

    On the rows that it was fitted on its calibration error is 0, whatever the regions are: in each
    of them, and so for each score, as many events happened as were predicted. How far that
    carries over to fresh rows depends on how many regions there are.

    Parameters
    ----------
    partition : "tree", "kmeans", scikit-learn tree or clusterer, or callable
        How to split: the leaves of a decision tree, the cells of k-means, a tree or clusterer of
        your own (cloned and fitted), or a function of X, as an array of numbers, that gives each
        row's region.
    regions : int, default 16
        For "tree" and "kmeans": how many regions at most.
    random_state : int or RandomState or None
        For "tree" and "kmeans".

    Attributes
    ----------
    classes_ : array
        The two labels; the event is the second.
    regions_ : array
        The regions seen.
    rates_ : float array
        How often the event was in each.
    weights_ : float array
        Rows in each, or their weight.
    rate_ : float
        The rate of all rows, which is said of regions never seen.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Section 2.3.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, random_state=0)
    >>> model = cb.PartitionClassifier(regions=8, random_state=0).fit(X, y)
    >>> cb.calibration_error(y, model.predict_proba(X)[:, 1]) < 1e-12
    True
    """

    def __init__(
        self, partition: Any = "tree", *, regions: int = 16, random_state: Any = None
    ) -> None:
        self.partition = partition
        self.regions = regions
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Split the rows into regions, and count.

        Parameters
        ----------
        X : array_like, rows by features
            Features.
        y : array_like
            Labels of two classes.
        sample_weight : array_like, optional
            How much each row counts.
        """
        plain_labels("y", y)
        with errors.within_doubles("X"):
            X, y = validate_data(self, X, y, dtype=np.float64)  # noqa: N806
        y = column_or_1d(y, warn=True)
        kind = target_kind(y)
        if kind != "binary":
            raise errors.two_classes_only(kind)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = weights_of(sample_weight, X)
        counted = weight > 0
        if not counted.any():
            raise refusals.weight_all_zero("sample_weight")
        weight = weight / weight.max() if weight.max() > _HEAVY else weight
        self._splitter = self._fitted(X[counted], y[counted], weight[counted])
        self.regions_, place = np.unique(self.apply(X[counted]), return_inverse=True)
        self.weights_ = np.bincount(place, weight[counted])
        events = np.bincount(place, (weight * (codes == len(self.classes_) - 1))[counted])
        self.rates_ = events / self.weights_
        self.rate_ = float(events.sum() / self.weights_.sum())
        return self

    def apply(self, X: Any) -> AnyArray:  # noqa: N803
        """Return the region of each row."""
        check_is_fitted(self, "_splitter")
        with errors.within_doubles("X"):
            X = validate_data(self, X, dtype=np.float64, reset=False)  # noqa: N806
        return regions_of(self._splitter, X)

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the rates of each row's region, a column for each class."""
        check_is_fitted(self, "rates_")
        found = self.apply(X)
        place: IntArray = np.searchsorted(self.regions_, found).clip(max=len(self.regions_) - 1)
        seen = self.regions_[place] == found
        rate = np.where(seen, self.rates_[place], self.rate_)
        if len(self.classes_) == 1:
            return np.ones((len(rate), 1))
        return np.stack([1 - rate, rate], axis=1)

    def predict(self, X: Any) -> AnyArray:  # noqa: N803
        """Return the more frequent label of each row's region."""
        likely = self.predict_proba(X).argmax(axis=1)
        chosen: AnyArray = self.classes_[likely]
        return chosen

    def _fitted(self, X: AnyArray, y: AnyArray, weight: FloatArray) -> Any:  # noqa: N803
        if callable(self.partition) and not hasattr(self.partition, "fit"):
            return self.partition
        return _fit(self._splits(len(X)), X, y, weight)

    def _splits(self, rows: int) -> Any:
        """Return what splits the space, unfitted."""
        if hasattr(self.partition, "fit"):
            if isinstance(self.partition, type) or not _splits_new_rows(self.partition):
                raise _no_partition(self.partition)
            return clone(self.partition)
        if not isinstance(self.partition, str) or self.partition not in _KINDS:
            raise _no_partition(self.partition)
        regions = errors.whole_number("regions", self.regions, 2, errors.MOST_ENTRIES)
        _check_seed(self.random_state)
        if self.partition == "tree":
            from sklearn.tree import DecisionTreeClassifier

            return DecisionTreeClassifier(max_leaf_nodes=regions, random_state=self.random_state)
        from sklearn.cluster import KMeans

        return KMeans(min(regions, rows), n_init=4, random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check_seed(seed: object) -> None:
    """Refuse what seeds no random numbers, of which scikit-learn would show all."""
    try:
        check_random_state(seed)
    except (TypeError, ValueError):
        rule = "a whole number from 0 to 2**32 - 1, a RandomState or None"
        raise errors.out_of_range("random_state", rule, seed) from None


def _splits_new_rows(splitter: Any) -> bool:
    """Say whether a tree or clusterer can tell the region of rows that it has not seen."""
    return hasattr(splitter, "apply") or (is_clusterer(splitter) and hasattr(splitter, "predict"))


def _fit(splitter: Any, X: AnyArray, y: AnyArray, weight: FloatArray) -> Any:  # noqa: N803
    from sklearn.utils.validation import has_fit_parameter

    more = {"sample_weight": weight} if has_fit_parameter(splitter, "sample_weight") else {}
    return splitter.fit(X, y, **more)


def regions_of(splitter: Any, X: AnyArray) -> AnyArray:  # noqa: N803
    """Return the region that a fitted tree or clusterer, or a function, puts each row in."""
    if hasattr(splitter, "apply"):
        found = np.asarray(splitter.apply(X))
    elif hasattr(splitter, "fit"):
        found = np.asarray(splitter.predict(X))
    else:
        found = np.asarray(splitter(X))
    if found.dtype == object and all(isinstance(one, str) for one in found.ravel()):
        found = found.astype(str)
    found = found[:, 0] if found.shape == (len(X), 1) else found  # a forest of one tree
    if found.shape != (len(X),) or found.dtype.kind not in "biuUS":
        raise _regions_not_plain(found.shape, str(found.dtype), len(X))
    return found


def _no_partition(given: object) -> InputError:
    return InputError(
        "partition must be 'tree', 'kmeans', a scikit-learn tree or clusterer, or a function of "
        f"X, but it is {shown(given)}."
    )


def _regions_not_plain(shape: tuple[int, ...], kind: str, rows: int) -> InputError:
    return InputError(
        f"partition must give one whole number or word for each row, {rows} in all, but it gives "
        f"an array of shape {shape} and kind {kind}."
    )
