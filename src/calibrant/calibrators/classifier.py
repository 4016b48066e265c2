"""CalibratedClassifier: any classifier with any calibrator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from calibrant import errors
from calibrant._text import named, shown
from calibrant._types import AnyArray, FloatArray
from calibrant.calibrators.estimators.calibrator import Calibrator, one_class
from calibrant.calibrators.estimators.steps import IsotonicCalibrator
from calibrant.calibrators.registry import KINDS, calibrator_class
from calibrant.data import refusals
from calibrant.data.memory.targets import weights_of
from calibrant.data.rules import plain_labels
from calibrant.errors import InputError, listing

_FOLDS = 5
#: Margins are scaled to this, because far out a sigmoid is 1 to the last bit.
_LARGEST_MARGIN = 15.0


class Margins:
    """Turn the margins of a decision function into scores in [0, 1].

    Platt and temperature scaling take margins as log-odds, so they get the sigmoid of the margin
    (scaled, which their slope makes up for, to where a sigmoid tells margins apart). The others get
    (m - min) / (max - min) over the fitting rows, as in the paper (its footnote on SVM and
    boosting).
    """

    def __init__(self, margin: FloatArray, calibrator: Calibrator) -> None:
        self.as_log_odds = calibrator.on_log_odds
        self.low, self.high = float(margin.min()), float(margin.max())
        self.scale = _LARGEST_MARGIN / max(abs(self.low), abs(self.high), 1e-300)

    def __call__(self, margin: FloatArray) -> FloatArray:
        """Return scores."""
        if self.as_log_odds:
            score: FloatArray = expit(margin * self.scale)
            return score
        width = self.high - self.low
        place = (margin - self.low) / width if width > 0 else np.full_like(margin, 0.5)
        return np.clip(place, 0.0, 1.0)


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Calibrate the probabilities of any classifier with any calibrator.

    The calibrator is fitted on scores of rows that the classifier was not trained on: out-of-fold
    scores by cross-validation, the classifier then being fitted once more on all rows. A
    classifier that is trained already, wrapped in scikit-learn's `FrozenEstimator`, stays as it
    is, and all rows given to `fit` are for the calibrator.

    Parameters
    ----------
    estimator : classifier, optional
        With `predict_proba` or `decision_function`; logistic regression unless given.
    calibrator : Calibrator, optional
        `IsotonicCalibrator()` unless given.
    cv : int or splitter, optional
        Folds; 5 unless given, fewer if a class has fewer rows. Not used with a frozen classifier.

    Attributes
    ----------
    classes_ : array
        The labels.
    estimator_ : classifier
        Fitted on all rows.
    calibrators_ : list of Calibrator
        One for two classes; one for each class against the rest if there are more, whose
        probabilities are scaled to add up to 1.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(2000, random_state=0)
    >>> model = cb.CalibratedClassifier(GaussianNB(), cb.PlattCalibrator()).fit(X, y)
    >>> model.predict_proba(X).shape
    (2000, 2)
    """

    def __init__(
        self, estimator: Any = None, calibrator: Calibrator | None = None, *, cv: Any = None
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:  # noqa: N803
        """Fit classifier and calibrator.

        Parameters
        ----------
        X : array_like
            Features.
        y : array_like
            Labels, two or more classes.
        sample_weight : array_like, optional
            Weight of each row, for the classifier if it takes weights, and for the calibrator.
        **fit_params : dict
            Passed on to the classifier's `fit`.
        """
        X, y = indexable(X, y)  # noqa: N806
        y = column_or_1d(y, warn=True)
        plain_labels("y", y)
        assert_all_finite(y, input_name="y")
        with errors.within_doubles("y"):
            check_classification_targets(y)
            self.classes_ = np.unique(y)
        if isinstance(self._estimator, FrozenEstimator) and hasattr(self._estimator, "classes_"):
            unknown = np.setdiff1d(self.classes_, self._estimator.classes_)
            if unknown.size:
                raise _classes_unknown(unknown.tolist(), self._estimator.classes_.tolist())
            self.classes_ = self._estimator.classes_
        if len(self.classes_) < 2:
            raise one_class()
        weight = None if sample_weight is None else weights_of(sample_weight, X)
        if weight is not None:
            refusals.weights_in_scale("sample_weight", weight)
        params = self._routed(weight, fit_params)
        estimator, calibrator = self._estimator, self._calibrator
        _check_classifier(estimator)
        if isinstance(estimator, FrozenEstimator):
            self.estimator_ = estimator
            raw = self._raw(X)
        else:
            method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
            folds = self._folds(y)
            raw = _two_dimensional(
                cross_val_predict(estimator, X, y, cv=folds, method=method, params=params)
            )
            self.estimator_ = clone(estimator).fit(X, y, **params)
        self._check_columns(raw)
        self.margins_ = None
        if not hasattr(self.estimator_, "predict_proba"):
            self.margins_ = [Margins(column, calibrator) for column in raw.T]
        scores = self._scores(raw)
        targets = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        self.calibrators_ = [
            clone(calibrator).fit(score, y == target, sample_weight=weight)
            for score, target in zip(scores.T, targets, strict=True)
        ]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @property
    def _monotone_around(self) -> Any:
        """The classifier inside if all around it is known and monotone; heirs may be neither."""
        known = {calibrator_class(kind) for kind in KINDS if calibrator_class(kind).monotone}
        plain = type(self) is CalibratedClassifier
        return self.estimator_ if plain and {*map(type, self.calibrators_)} <= known else None

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return calibrated probabilities, a column for each class."""
        check_is_fitted(self, "calibrators_")
        scores = self._scores(self._raw(X))
        found = np.stack(
            [one.predict(score) for one, score in zip(self.calibrators_, scores.T, strict=True)],
            axis=1,
        )
        if len(self.classes_) == 2:
            return np.concatenate([1 - found, found], axis=1)
        total = found.sum(axis=1, keepdims=True)
        even = np.full_like(found, 1 / len(self.classes_))
        shares: FloatArray = np.divide(found, total, out=even, where=total > 0)
        return shares

    def predict(self, X: Any) -> AnyArray:  # noqa: N803
        """Return the most probable class of each row."""
        probability = self.predict_proba(X)
        likely: AnyArray = self.classes_[np.argmax(probability, axis=1)]
        return likely

    @property
    def _estimator(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    @property
    def _calibrator(self) -> Calibrator:
        if self.calibrator is None:
            return IsotonicCalibrator()
        if isinstance(self.calibrator, type) or not hasattr(self.calibrator, "fit"):
            raise _not_a_calibrator(type(self.calibrator).__name__)
        return self.calibrator

    def _folds(self, y: AnyArray) -> Any:
        fewest = int(np.unique(y, return_counts=True)[1].min())
        cv = max(2, min(_FOLDS, fewest)) if self.cv is None else self.cv
        if isinstance(cv, np.ndarray) and not cv.ndim:
            raise errors.out_of_range("cv", "a number of folds or what splits rows", cv)
        if isinstance(cv, int) and fewest < cv:
            raise _folds_without_class(cv, fewest)
        try:
            return check_cv(cv, y, classifier=True)
        except ValueError:  # which shows all of a long text
            raise errors.out_of_range("cv", "a number of folds or what splits rows", cv) from None

    def _check_columns(self, raw: FloatArray) -> None:
        """Refuse columns that are not one for each class, such as those of pairs of classes."""
        classes = len(self.classes_)
        expected = {1, 2} if classes == 2 else {classes}
        last = self._estimator
        while hasattr(last, "steps"):
            last = last.steps[-1][1]
        pairs = getattr(last, "decision_function_shape", None) == "ovo" and classes > 2
        if raw.shape[1] not in expected or (pairs and not hasattr(last, "predict_proba")):
            raise _columns_not_classes(raw.shape[1], classes)

    def _raw(self, X: Any) -> FloatArray:  # noqa: N803
        """Return what the classifier says: probabilities, or margins."""
        if hasattr(self.estimator_, "predict_proba"):
            return _two_dimensional(self.estimator_.predict_proba(X))
        return _two_dimensional(self.estimator_.decision_function(X))

    def _scores(self, raw: FloatArray) -> FloatArray:
        """Return scores in [0, 1], a column for each calibrator."""
        if self.margins_ is None:
            kept = raw[:, 1:] if len(self.classes_) == 2 else raw
            # sums of votes can pass 1 by a rounding error; what is further out is refused later
            inside = np.clip(kept, 0.0, 1.0)
            return np.where(np.abs(kept - inside) <= 1e-6, inside, kept)
        columns = [scaled(one) for scaled, one in zip(self.margins_, raw.T, strict=True)]
        return np.stack(columns, axis=1)

    def _routed(self, weight: FloatArray | None, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Say what the classifier's `fit` gets, by metadata routing where that is switched on."""
        from sklearn import get_config

        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weight, **fit_params)
            return dict(routed.estimator.fit)
        takes_weight = has_fit_parameter(self._estimator, "sample_weight")
        frozen = isinstance(self._estimator, FrozenEstimator)
        if weight is not None and not takes_weight and not frozen:
            name = type(self._estimator).__name__
            message = f"{name}.fit takes no sample_weight, so only the calibrator is weighted."
            warnings.warn(message, UserWarning, stacklevel=3)
        given = {"sample_weight": weight} if weight is not None and takes_weight else {}
        return {**fit_params, **given}

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata such as weights go: to the calibrator, and on to the classifier."""
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(
                estimator=self._estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._estimator).input_tags.sparse
        return tags


def _check_classifier(estimator: Any) -> None:
    """Refuse what has no scores, of which scikit-learn would show all."""
    gives = any(hasattr(estimator, name) for name in ("predict_proba", "decision_function"))
    if not (gives and hasattr(estimator, "fit")):
        raise _not_a_classifier(type(estimator).__name__)


def _two_dimensional(values: Any) -> FloatArray:
    array: FloatArray = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array


def _classes_unknown(unknown: Sequence[object], known: Sequence[object]) -> InputError:
    return InputError(
        f"y holds {listing(unknown, show=shown)}, which the frozen classifier was not trained on: "
        f"it knows {listing(known, show=shown)}. Use the labels of its training."
    )


def _columns_not_classes(columns: int, classes: int) -> InputError:
    return InputError(
        f"The classifier's scores must have a column for each of the {classes} classes, but they "
        f"have {columns}, or one for each pair of classes. For an SVC set "
        'decision_function_shape="ovr".'
    )


def _folds_without_class(folds: int, rows: int) -> InputError:
    return InputError(
        f"cv={folds} folds need {folds} rows of every class, but one class has {rows}. Use fewer "
        "folds, or a classifier that is trained already: FrozenEstimator(classifier)."
    )


def _not_a_classifier(kind: str) -> InputError:
    return InputError(
        "estimator must be a classifier with fit and with predict_proba or decision_function, "
        f"such as LogisticRegression(), but it is of type {named(kind)}."
    )


def _not_a_calibrator(kind: str) -> InputError:
    return InputError(
        f"calibrator must be a calibrator such as IsotonicCalibrator(), but it is of type {kind}."
    )
