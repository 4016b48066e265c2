"""CostSensitiveClassifier: decisions by Bayes' rule on calibrated probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, column_or_1d

from calibrant import errors
from calibrant._types import AnyArray, FloatArray
from calibrant.calibrators.classifier import CalibratedClassifier
from calibrant.data.memory.targets import target_kind
from calibrant.data.rules import plain_labels
from calibrant.decisions.costs import costs_of, decide


class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the action that costs least: the Bayes threshold on calibrated probabilities.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier of two classes. It is calibrated by cross-fitted isotonic regression,
        unless it is a `CalibratedClassifier` already; logistic regression unless given.
    false_positive : float, default 1
        Cost of predicting `classes_[1]` where it is not.
    false_negative : float, default 1
        Cost of not predicting it where it is.

    Attributes
    ----------
    classes_ : array
        The two labels; the event is the second.
    estimator_ : CalibratedClassifier
        Fitted.
    threshold_ : float
        Where `predict` begins to say `classes_[1]`.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Claim 1.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(2000, random_state=0)
    >>> costs = {"false_positive": 1, "false_negative": 20}
    >>> model = cb.CostSensitiveClassifier(GaussianNB(), **costs)
    >>> round(model.fit(X, y).threshold_, 4)
    0.0476
    """

    def __init__(
        self, estimator: Any = None, *, false_positive: float = 1.0, false_negative: float = 1.0
    ) -> None:
        self.estimator = estimator
        self.false_positive = false_positive
        self.false_negative = false_negative

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:  # noqa: N803
        """Fit the classifier and its calibrator.

        Parameters
        ----------
        X : array_like
            Features.
        y : array_like
            Labels of two classes.
        sample_weight : array_like, optional
            Weight of each row, for the classifier if it takes weights, and for the calibrator.
        **fit_params : dict
            Passed on to the classifier's `fit`.
        """
        y = column_or_1d(y, warn=True)
        plain_labels("y", y)
        assert_all_finite(y, input_name="y")
        kind = target_kind(y)
        if kind != "binary":
            raise errors.two_classes_only(kind)
        self.threshold_ = costs_of(self.false_positive, self.false_negative).threshold
        self.estimator_ = clone(self._calibrated).fit(X, y, sample_weight, **fit_params)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return calibrated probabilities, a column for each class."""
        check_is_fitted(self, "estimator_")
        found: FloatArray = self.estimator_.predict_proba(X)
        return found

    def predict(self, X: Any, false_positive: Any = None, false_negative: Any = None) -> AnyArray:  # noqa: N803
        """Return the action that costs least for each row.

        Parameters
        ----------
        X : array_like
            Features.
        false_positive : array_like, optional
            Cost of acting on each row without the event, instead of the classifier's.
        false_negative : array_like, optional
            Cost of not acting on each row with it, instead of the classifier's.
        """
        probability = self.predict_proba(X)[:, 1]
        act = decide(
            probability,
            false_positive=self.false_positive if false_positive is None else false_positive,
            false_negative=self.false_negative if false_negative is None else false_negative,
        )
        chosen: AnyArray = self.classes_[act.astype(np.int64)]
        return chosen

    @property
    def _calibrated(self) -> CalibratedClassifier:
        if isinstance(self.estimator, CalibratedClassifier):
            return self.estimator
        return CalibratedClassifier(self.estimator)

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata go: weights to classifier and calibrator, costs to `predict`."""
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(
                estimator=self._calibrated,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self._calibrated).input_tags.sparse
        return tags
