"""Training: what the rows that a model was trained on can certify.

A bound that holds for a whole class of classifiers at once also holds for the one that training
picked (Theorem 2 of the paper, with sharper constants). It says something if the class is simple.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant import _checks
from calibrant._types import AnyArray
from calibrant.certify.classes import of_independent_rows, of_linear, of_tree
from calibrant.certify.complexity import Complexity
from calibrant.certify.plan import sample_size
from calibrant.measure.error import calibration_error

#: The bound that a validation set is asked for where training rows certify nothing.
_GOAL = 0.05
#: Transformers that move and stretch: what is linear after them is linear before.
_AFFINE = {
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "PCA",
    "TruncatedSVD",
}
#: Those of them that keep every feature by itself, so that a tree splits as before.
_BY_FEATURE = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}
#: Transformers that do the same to a row whatever the other rows are.
_FIXED = {"PolynomialFeatures", "FunctionTransformer", "Normalizer"}


@dataclass(frozen=True, slots=True)
class TrainingCertificate:
    """What training rows promise about the model trained on them; `certify_estimator` makes one.

    Attributes
    ----------
    certified : bool
        Whether they promise anything.
    c_emp : float
        The calibration error on the training rows.
    upper : float
        With the confidence given the true one is at most this; 1 if nothing is promised.
    confidence : float
        How often such a promise holds, whatever the data.
    rows : int
        Training rows.
    family : str
        The class of classifiers that the promise holds for, or why there is none.
    complexity : Complexity or None
        How rich that class is.
    validation_rows : int
        So many rows not used in training would certify as much, or 0.05 where nothing is
        promised, if the model is calibrated.
    """

    certified: bool
    c_emp: float
    upper: float
    confidence: float
    rows: int
    family: str
    complexity: Complexity | None
    validation_rows: int

    @property
    def sentence(self) -> str:
        """The promise, or why there is none, in words."""
        if self.certified:
            return (
                f"With {100 * self.confidence:g}% confidence the true calibration error is at "
                f"most {self.upper:.4g}: {self.c_emp:.4g} on the {self.rows:,} training rows, and "
                f"{self.upper - self.c_emp:.4g} because {self.family}. A validation set of "
                f"{self.validation_rows:,} rows could promise as much."
            )
        return (
            f"The {self.rows:,} training rows certify nothing: {self.family}. Keep a validation "
            f"set: {self.validation_rows:,} rows can certify a calibration error of {_GOAL:g}."
        )

    def __repr__(self) -> str:
        return self.sentence


class _Family(NamedTuple):
    """What a fitted model could have been, whatever the labels."""

    words: str
    complexity: Complexity | None = None
    spent: float = 1.0


def certify_estimator(
    model: Any,
    X_train: Any,  # noqa: N803
    y_train: Any,
    *,
    confidence: float = 0.95,
) -> TrainingCertificate:
    """Say whether training rows can certify the model that was trained on them.

    They can for classes of classifiers that are small next to the number of rows: linear models
    of few features, trees of few leaves. They cannot for forests, kernels, boosting and whatever
    can learn any labels by heart; then a validation set is needed, and its size is said.

    Parameters
    ----------
    model : fitted scikit-learn classifier
        Of two classes, also at the end of a pipeline.
    X_train, y_train : array-like
        The rows that it was trained on.
    confidence : float, default 0.95
        How often the promise shall hold.

    Returns
    -------
    TrainingCertificate
        Its repr is a sentence.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Theorem 2, Claims 2 and 4.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(100_000, 4, random_state=0)
    >>> cb.certify_estimator(LogisticRegression().fit(X, y), X, y).certified
    True
    """
    confidence = _checks.inner_share("confidence", confidence)
    for method in ("predict_proba", "classes_"):
        if not hasattr(model, method):
            raise _checks.model_without_scores(type(model).__name__, method)
    classes = np.asarray(model.classes_)
    if len(classes) != 2:
        raise _checks.two_classes_only(f"{len(classes)} classes")
    outcome = np.asarray(y_train) == classes[1]
    scores = model.predict_proba(X_train)[:, 1]
    error = calibration_error(outcome, scores)
    family = _family(model, X_train, len(outcome))
    upper = 1.0
    if family.complexity is not None:
        level = 1 - (1 - confidence) * family.spent
        upper = min(1.0, error + family.complexity.width(level))
    certified = upper < 1
    goal = upper - error if certified else _GOAL
    return TrainingCertificate(
        certified=certified,
        c_emp=error,
        upper=upper,
        confidence=confidence,
        rows=len(outcome),
        family=family.words,
        complexity=family.complexity,
        validation_rows=sample_size(goal, confidence=confidence, scores=scores),
    )


def _family(model: Any, X: Any, rows: int) -> _Family:  # noqa: N803
    *before, last = _steps(model)
    kind = type(last).__name__
    features = int(np.shape(X)[1])
    if kind in _FORESTS:
        return _Family(f"a {_FORESTS[kind]} can learn any labels by heart")
    if hasattr(last, "kernel") and last.kernel != "linear":
        return _Family("a kernel machine has as many dimensions as rows, and can fit any labels")
    if _is_linear(last):
        return _linear(before, X, features, rows)
    if hasattr(last, "tree_"):
        return _tree(last, before, features, rows)
    return _Family(f"how rich the class of {kind} is, is not known here")


def _steps(model: Any) -> list[Any]:
    """Take a model apart: pipelines, and calibrators around it.

    A monotone calibrator turns intervals of scores into intervals of scores, so that it adds
    nothing to the class; histogram binning is not monotone, and stays as it is.
    """
    if hasattr(model, "steps"):
        *before, last = [step for _, step in model.steps if step not in (None, "passthrough")]
        return [*before, *_steps(last)]
    kinds = {type(one).__name__ for one in getattr(model, "calibrators_", [])}
    if type(model).__name__ == "CalibratedClassifier" and "HistogramCalibrator" not in kinds:
        return _steps(model.estimator_)
    folds = getattr(model, "calibrated_classifiers_", [])
    if len(folds) == 1:  # scikit-learn's, of one model and not a mean of several
        return _steps(folds[0].estimator)
    return [model]


_FORESTS = {
    "RandomForestClassifier": "forest",
    "ExtraTreesClassifier": "forest",
    "BaggingClassifier": "bag of models",
    "GradientBoostingClassifier": "sum of many trees",
    "HistGradientBoostingClassifier": "sum of many trees",
    "AdaBoostClassifier": "sum of many trees",
    "KNeighborsClassifier": "vote of neighbours",
    "MLPClassifier": "neural network",
}


def _is_linear(model: Any) -> bool:
    """Say whether scores are a monotone function of one linear combination of the features."""
    weights = getattr(model, "coef_", None)
    return weights is not None and np.shape(weights)[0] == 1 and np.ndim(weights) == 2


def _linear(before: list[Any], X: Any, features: int, rows: int) -> _Family:  # noqa: N803
    for step in before:
        found = _features_after(step, features, affine=_AFFINE)
        if found is None:
            return _Family(_unknown(step))
        features = found
    words = f"it is one of the linear classifiers of {features} features"
    if rows <= features and _independent(_transformed(before, X)):
        why = f"{rows} independent rows of {features} features can have any labels"
        return _Family(why, of_independent_rows(rows))
    return _Family(words, of_linear(rows, features))


def _tree(model: Any, before: list[Any], features: int, rows: int) -> _Family:
    for step in before:
        found = _features_after(step, features, affine=_BY_FEATURE)
        if found is None:
            return _Family(_unknown(step))
        features = found
    leaves, chosen = _most_leaves(model), "at most"
    spent = 1.0
    if leaves is None:
        # their number was found by training: all numbers at once, with 6 / (pi L)^2 of the risk
        leaves, chosen = int(model.get_n_leaves()), "found to have"
        spent = 6 / (np.pi * leaves) ** 2
    words = f"it is one of the trees of {features} features, {chosen} {leaves} leaves"
    return _Family(words, of_tree(rows, leaves, features), spent)


def _most_leaves(model: Any) -> int | None:
    """Return the number of leaves that was fixed before training, or None."""
    limits = [model.max_leaf_nodes] if model.max_leaf_nodes is not None else []
    if model.max_depth is not None and model.max_depth < 30:
        limits.append(2**model.max_depth)
    return min(limits, default=None)


def _features_after(step: Any, features: int, *, affine: set[str]) -> int | None:
    """Return how many features a class is linear in (or splits by), or None if it is not known."""
    kind = type(step).__name__
    if kind in affine:
        return features
    fixed = kind in _FIXED
    if kind == "OneHotEncoder":  # categories given in advance are not learned from the rows
        fixed = not isinstance(step.categories, str)
    if fixed and hasattr(step, "n_features_out_"):
        return int(step.n_features_out_)
    if fixed and hasattr(step, "get_feature_names_out"):
        return _count_out(step, features)
    if kind == "ColumnTransformer":
        parts = [
            _features_after(part, len(columns), affine=affine)
            for _, part, columns in step.transformers_
            if part != "drop" and not isinstance(part, str)
        ]
        return None if None in parts else sum(part for part in parts if part is not None)
    return None


def _count_out(step: Any, features: int) -> int:
    try:
        return len(step.get_feature_names_out())
    except (AttributeError, ValueError):
        return features


def _unknown(step: Any) -> str:
    return f"what {type(step).__name__} learned from the rows before is not counted here"


def _transformed(before: list[Any], X: Any) -> AnyArray:  # noqa: N803
    for step in before:
        X = step.transform(X)  # noqa: N806
    return np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)


def _independent(X: AnyArray) -> bool:  # noqa: N803
    return bool(np.linalg.matrix_rank(X) == len(X))
