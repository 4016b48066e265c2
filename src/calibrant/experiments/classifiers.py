"""Classifiers of the experiments: the paper's five, and today's.

Each gets the same table, numbers first and then the codes of categories, and gives scores in
[0, 1]. Large margin methods are rescaled by (x - min) / (max - min), as the paper does, with the
least and greatest margin of the training rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.experiments.datasets import Dataset


@dataclass(frozen=True, slots=True)
class Classifier:
    """A way to get scores from a table.

    Attributes
    ----------
    name : str
        As people say it.
    make : callable
        Returns an unfitted scikit-learn classifier, from the data set and a seed.
    margin : bool
        Scores are rescaled margins instead of probabilities.
    paper : bool
        One of the paper's five.
    needs : str
        A package that must be installed.
    """

    name: str
    make: Callable[[Dataset, int, bool], Any]
    margin: bool = False
    paper: bool = False
    needs: str = "sklearn"

    @property
    def installed(self) -> bool:
        """Whether the package it needs is there."""
        return find_spec(self.needs) is not None


def scores_of(
    classifier: Classifier,
    data: Dataset,
    rows: tuple[Any, ...],
    seed: int,
    quick: bool,
) -> tuple[FloatArray, ...]:
    """Fit on the first rows, and score the others."""
    train, *others = rows
    table = data.table
    model = classifier.make(data, seed, quick).fit(table[train], data.labels[train])
    if not classifier.margin:
        return tuple(model.predict_proba(table[some])[:, 1] for some in others)
    fitted = model.decision_function(table[train])
    low, high = float(fitted.min()), float(fitted.max())
    found = (model.decision_function(table[some]) for some in others)
    return tuple(((margin - low) / (high - low)).clip(0, 1) for margin in found)


class MixedNaiveBayes:
    """Naive Bayes with a normal law for each number and a table for each category."""

    def __init__(self, numbers: int, sizes: list[int]) -> None:
        self._numbers, self._sizes = numbers, sizes

    def fit(self, table: FloatArray, labels: BoolArray) -> MixedNaiveBayes:
        """Fit both parts."""
        from sklearn.naive_bayes import CategoricalNB, GaussianNB

        self._parts: list[tuple[Any, slice]] = []
        if self._numbers:
            self._parts.append((GaussianNB(), slice(0, self._numbers)))
        if self._sizes:
            codes = CategoricalNB(min_categories=self._sizes)
            self._parts.append((codes, slice(self._numbers, None)))
        for part, columns in self._parts:
            part.fit(table[:, columns], labels)
        self._prior = np.log([1 - labels.mean(), labels.mean()])
        return self

    def predict_proba(self, table: FloatArray) -> FloatArray:
        """Multiply the likelihoods of both parts, and count the prior once."""
        joint = self._prior * (1 - len(self._parts)) + sum(
            part.predict_joint_log_proba(table[:, columns]) for part, columns in self._parts
        )
        odds = np.exp(joint - joint.max(axis=1, keepdims=True))
        shares: FloatArray = odds / odds.sum(axis=1, keepdims=True)
        return shares


def _naive_bayes(data: Dataset, _seed: int, _quick: bool) -> MixedNaiveBayes:
    return MixedNaiveBayes(data.numbers.shape[1], data.sizes)


def _prepared(data: Dataset, model: Any) -> Any:
    """Spread categories over columns, and bring numbers to one scale."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = data.numbers.shape[1]
    spread = OneHotEncoder(
        categories=[np.arange(size) for size in data.sizes] or "auto", sparse_output=False
    )
    parts = [
        ("numbers", StandardScaler(), slice(0, numbers)),
        ("categories", spread, slice(numbers, numbers + len(data.sizes))),
    ]
    kept = [part for part in parts if part[2].stop > part[2].start]
    return make_pipeline(ColumnTransformer(kept), model)


def _boosted_trees(data: Dataset, seed: int, quick: bool) -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=3)
    rounds = 20 if quick else 200
    return _prepared(data, AdaBoostClassifier(tree, n_estimators=rounds, random_state=seed))


def _svm(data: Dataset, _seed: int, _quick: bool) -> Any:
    from sklearn.svm import SVC

    return _prepared(data, SVC(cache_size=1000))


def _logistic(data: Dataset, _seed: int, _quick: bool) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _prepared(data, LogisticRegression(max_iter=2000))


def _forest(data: Dataset, seed: int, quick: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _prepared(data, RandomForestClassifier(50 if quick else 300, random_state=seed))


def _histogram_boosting(data: Dataset, seed: int, quick: bool) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    numbers = data.numbers.shape[1]
    return HistGradientBoostingClassifier(
        max_iter=30 if quick else 100,
        categorical_features=list(range(numbers, numbers + len(data.sizes))) or None,
        random_state=seed,
    )


def _network(data: Dataset, seed: int, _quick: bool) -> Any:
    from sklearn.neural_network import MLPClassifier

    return _prepared(data, MLPClassifier((64, 32), early_stopping=True, random_state=seed))


def _lightgbm(data: Dataset, seed: int, quick: bool) -> Any:
    make = import_module("lightgbm").LGBMClassifier
    rounds = 30 if quick else 200
    model = make(n_estimators=rounds, random_state=seed, verbose=-1, n_jobs=1)
    return _prepared(data, model)


def _xgboost(data: Dataset, seed: int, quick: bool) -> Any:
    make = import_module("xgboost").XGBClassifier
    return _prepared(data, make(n_estimators=30 if quick else 200, random_state=seed, n_jobs=1))


CLASSIFIERS = (
    Classifier("Naive Bayes", _naive_bayes, paper=True),
    Classifier("Boosted trees", _boosted_trees, margin=True, paper=True),
    Classifier("SVM", _svm, margin=True, paper=True),
    Classifier("Logistic regression", _logistic, paper=True),
    Classifier("Random forest", _forest, paper=True),
    Classifier("Histogram boosting", _histogram_boosting),
    Classifier("Neural network", _network),
    Classifier("LightGBM", _lightgbm, needs="lightgbm"),
    Classifier("XGBoost", _xgboost, needs="xgboost"),
)
