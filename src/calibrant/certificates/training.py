"""Training: what the rows that a model was trained on can certify.

A bound that holds for a whole class of classifiers at once also holds for the one that training
picked (Theorem 2 of the paper, with sharper constants). It says something if the class is simple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant import errors
from calibrant._figures import figure, rounded_up
from calibrant._text import shown
from calibrant._types import BoolArray
from calibrant.certificates.classes import of_linear, of_tree
from calibrant.certificates.complexity import Complexity
from calibrant.certificates.evidence import counted
from calibrant.certificates.feature_space import Space, features_after, kind_of, steps_of
from calibrant.certificates.plan import sample_size
from calibrant.data import refusals
from calibrant.data.rules import plain_labels
from calibrant.errors import InputError
from calibrant.measures.error import calibration_error

#: The bound that a validation set is asked for where training rows certify nothing.
_GOAL = 0.05
#: Models whose scores rise or fall with one linear combination of the features.
_LINEAR = {
    "LogisticRegression",
    "LogisticRegressionCV",
    "SGDClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "SVC",
    "NuSVC",
    "Perceptron",
    "RidgeClassifier",
}
_TREES = {"DecisionTreeClassifier", "ExtraTreeClassifier"}


@dataclass(frozen=True, slots=True)
class TrainingCertificate:
    """What training rows guarantee about the model trained on them; `certify_estimator` makes one.

    Attributes
    ----------
    certified : bool
        Whether they guarantee anything.
    c_emp : float
        The calibration error on the training rows.
    upper : float
        With the confidence given the true one is at most this; 1 if nothing is guaranteed.
    confidence : float
        How often such a guarantee holds, whatever the law of the rows, if they are independent.
    rows : int
        Training rows.
    family : str
        The class of classifiers that the guarantee holds for, or why there is none.
    complexity : Complexity or None
        How rich that class is.
    validation_rows : int
        So many rows not used in training would certify as much, or 0.05 where nothing is
        guaranteed, if the model is calibrated.

    Examples
    --------
    >>> import calibrant as cb
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 3))
    >>> y = rng.random(20_000) < 1 / (1 + np.exp(-X[:, 0]))
    >>> found = cb.certify_estimator(LogisticRegression().fit(X, y), X, y)
    >>> found.certified, round(found.upper, 2)
    (True, 0.12)
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
        """The guarantee, or why there is none, in words."""
        if self.certified:
            return (
                f"With {100 * self.confidence:g}% confidence the true calibration error is at "
                f"most {rounded_up(self.upper, 4)}: {figure(self.c_emp)} on the {self.rows:,} "
                f"training rows, and {figure(self.upper - self.c_emp)} because {self.family}. It "
                "assumes that the rows are independent, none of them repeated. A validation set "
                f"of {self.validation_rows:,} rows could guarantee as much."
            )
        return (
            f"The {counted(self.rows, 'training row')} certify nothing: {self.family}. Keep a "
            f"validation set: {self.validation_rows:,} rows can certify a calibration error of "
            f"{_GOAL:g}."
        )

    def __repr__(self) -> str:
        return self.sentence


class _Class(NamedTuple):
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

    They can for classes of classifiers that are small compared with the number of rows: linear
    models of few features, trees of few leaves. They cannot for forests, kernels, boosting and
    whatever can memorise any labels; then a validation set is needed, and its size is said.

    Parameters
    ----------
    model : fitted scikit-learn classifier
        Of two classes, also at the end of a pipeline.
    X_train : array_like
        The rows that it was trained on: independent draws, not resampled or repeated. Limits such
        as the number of leaves must have been set before anybody looked at them.
    y_train : array_like
        Their labels.
    confidence : float, default 0.95
        Confidence level.

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
    confidence = errors.inner_share("confidence", confidence)
    for method in ("predict_proba", "classes_"):
        if isinstance(model, type) or not hasattr(model, method):
            raise errors.model_lacks("model", type(model).__name__, method)
    outcome = outcome_of(model, y_train, "y_train")
    scores = model.predict_proba(X_train)[:, 1]
    error = calibration_error(outcome, scores)
    family = _class(model, X_train, len(outcome))
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


def outcome_of(model: Any, y: Any, name: str) -> BoolArray:
    """Say where labels are the second class of a model; refuse labels that it does not know."""
    several = isinstance(model.classes_, list)
    classes = np.asarray(model.classes_)
    if several or len(classes) != 2:
        what = "several outputs" if several else counted(len(classes), "class", "classes")
        raise errors.two_classes_only(what)
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError, RuntimeError) as error:
        raise refusals.not_an_array(name, error) from None
    if labels.ndim != 1:
        raise refusals.not_one_column(name, labels.shape)
    if not len(labels):
        raise refusals.empty(name)
    plain_labels(name, labels)
    event: BoolArray = np.asarray(labels == classes[1])
    other = np.asarray(labels == classes[0])
    strange = np.flatnonzero(~(event | other))
    if len(strange):
        value = labels[strange[:1]].tolist()[0]
        raise label_unknown(value, int(strange[0]), classes.tolist(), name)
    return event


def _class(model: Any, X: Any, rows: int) -> _Class:  # noqa: N803
    *before, last = steps_of(model)
    kind = kind_of(last)
    if kind in _FORESTS:
        return _Class(f"a {_FORESTS[kind]} can memorise any labels")
    if kind in _LINEAR and getattr(last, "kernel", "linear") != "linear":
        return _Class("a kernel machine has as many dimensions as rows, and can fit any labels")
    if kind not in _LINEAR | _TREES:
        return _Class(f"how rich the class of {type(last).__name__} is, is not known here")
    shape = np.shape(X)
    space = features_after(
        before, Space(shape[1] if len(shape) == 2 else 0), linear=kind in _LINEAR
    )
    if isinstance(space, str):
        return _Class(f"what {space} does to the rows before is not counted here")
    if kind in _LINEAR:
        return _linear(last, space.features, rows)
    return _tree(last, space.features, rows, X)


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


def _linear(model: Any, features: int, rows: int) -> _Class:
    if np.shape(getattr(model, "coef_", ()))[:1] != (1,):
        return _Class(f"how rich the class of {type(model).__name__} is, is not known here")
    named = counted(features, "feature")
    if rows <= features:
        words = f"{counted(rows, 'independent row')} of {named} can have any labels"
        return _Class(words, of_linear(rows, features))
    return _Class(f"it is one of the linear classifiers of {named}", of_linear(rows, features))


def _tree(model: Any, features: int, rows: int, X: Any) -> _Class:  # noqa: N803
    if not hasattr(X, "toarray") and _has_missing(X):
        return _Class("a tree that sends missing values where it likes is not counted here")
    leaves, chosen, spent = int(model.get_n_leaves()), "found to have", 1.0
    most = _most_leaves(model)
    if most is not None and leaves <= most:
        leaves, chosen = most, "at most"
    else:
        # their number was found by training: all numbers at once, with 6 / (pi L)^2 of the risk
        spent = 6 / (np.pi * leaves) ** 2
    words = (
        f"it is one of the trees of {counted(features, 'feature')}, {chosen} "
        f"{counted(leaves, 'leaf', 'leaves')}"
    )
    return _Class(words, of_tree(rows, leaves, features), spent)


def _has_missing(X: Any) -> bool:  # noqa: N803
    try:
        return bool(np.isnan(np.asarray(X, dtype=np.float64)).any())
    except (TypeError, ValueError):  # words, which a step before the tree turns into numbers
        return False


def _most_leaves(model: Any) -> int | None:
    """Return the number of leaves that was fixed before training, or None."""
    limits = [model.max_leaf_nodes] if model.max_leaf_nodes is not None else []
    if model.max_depth is not None and model.max_depth < 30:
        limits.append(2**model.max_depth)
    return min(limits, default=None)


def label_unknown(
    value: object, row: int | None, classes: Sequence[object], name: str = "y"
) -> InputError:
    """Refuse a label that a model does not know."""
    where = "" if row is None else f", first at row {row} (0-based)"
    return InputError(
        f"{name} must hold labels that the model knows, {shown(classes[0])} and "
        f"{shown(classes[1])}, but it holds {shown(value)}{where}."
    )
