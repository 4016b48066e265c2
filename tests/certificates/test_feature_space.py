"""Feature space: pipelines whose features are counted, and those that could be richer."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import calibrant as cb
from calibrant.certificates.classes import of_linear
from calibrant.errors import InputError


def data(rows, features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    return X, rng.random(rows) < 1 / (1 + np.exp(-X[:, 0] - 0.5))


X, Y = data(20_000)


def linear(features):
    return of_linear(20_000, features).width()


def test_categories_given_in_advance_count_and_learned_ones_do_not():
    codes = np.random.default_rng(0).integers(0, 3, (20_000, 1)).astype(float)
    given = make_pipeline(OneHotEncoder(categories=[[0.0, 1.0, 2.0]]), LogisticRegression())
    found = cb.certify_estimator(given.fit(codes, Y), codes, Y)
    assert found.upper - found.c_emp == pytest.approx(linear(3), abs=1e-12)
    learned = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(codes, Y)
    found = cb.certify_estimator(learned, codes, Y)
    assert not found.certified
    assert "OneHotEncoder" in found.sentence


def test_support_vectors_are_known_by_their_kernel():
    few, labels = X[:1000], Y[:1000]
    linear = cb.CalibratedClassifier(SVC(kernel="linear"), calibrator=cb.PlattCalibrator())
    found = cb.certify_estimator(linear.fit(few, labels), few, labels)
    assert found.upper - found.c_emp == pytest.approx(of_linear(1000, 3).width(), abs=1e-12)
    kernel = cb.CalibratedClassifier(make_pipeline(StandardScaler(), SVC()))
    found = cb.certify_estimator(kernel.fit(few, labels), few, labels)
    assert not found.certified
    assert "kernel machine" in found.sentence
    with pytest.raises(InputError, match=r"SVC has none.*CalibratedClassifier"):
        cb.certify_estimator(SVC().fit(few, labels), few, labels)


def forest_inside():
    """A function that holds a model learned from the labels."""
    few, labels = X[:500], Y[:500]
    forest = RandomForestClassifier(5, random_state=0).fit(few, labels)
    return FunctionTransformer(lambda rows: forest.predict_proba(rows)[:, 1:])


class Disguised(LogisticRegression):
    pass


class Bins(cb.HistogramCalibrator):
    pass


class Heir(cb.CalibratedClassifier):
    pass


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(forest_inside(), LogisticRegression()),
        make_pipeline(FunctionTransformer(np.tanh), LogisticRegression()),
        Disguised(),
        cb.CalibratedClassifier(LogisticRegression(), calibrator=Bins()),
        Heir(LogisticRegression()),
        make_pipeline(StandardScaler(), Normalizer(), LogisticRegression()),
        make_pipeline(StandardScaler(), PolynomialFeatures(2), DecisionTreeClassifier(max_depth=2)),
        make_pipeline(PCA(2), PolynomialFeatures(interaction_only=True), LogisticRegression()),
        make_pipeline(MinMaxScaler(clip=True), LogisticRegression()),
        make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=2)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_could_be_richer_than_counted_is_not_certified(model):
    found = cb.certify_estimator(model.fit(X, Y), X, Y)
    assert not found.certified
    assert "is not known here" in found.sentence or "is not counted here" in found.sentence


@pytest.mark.parametrize(
    ("model", "features"),
    [
        # whatever two directions are found, their products are among those of all three features
        (make_pipeline(PCA(2), PolynomialFeatures(2), LogisticRegression(max_iter=1000)), 9),
        (make_pipeline(FunctionTransformer(), LogisticRegression()), 3),
        (make_pipeline(Normalizer(), StandardScaler(), LogisticRegression()), 3),
        (make_pipeline(make_pipeline(StandardScaler(), PCA(1)), LogisticRegression()), 3),
        (
            make_pipeline(
                ColumnTransformer([("a", StandardScaler(), slice(0, 2))], remainder="passthrough"),
                LogisticRegression(),
            ),
            3,
        ),
        (
            make_pipeline(
                ColumnTransformer([("a", PolynomialFeatures(2, include_bias=False), [0, 1])]),
                LogisticRegression(),
            ),
            5,
        ),
        (
            make_pipeline(
                ColumnTransformer([("a", StandardScaler(), [True, False, True])]),
                LogisticRegression(),
            ),
            2,
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_is_linear_in_known_features_is_counted_by_them(model, features):
    found = cb.certify_estimator(model.fit(X, Y), X, Y)
    assert found.upper - found.c_emp == pytest.approx(linear(features), abs=1e-12)


def test_categories_that_are_merged_by_how_often_they_occur_are_learned():
    codes = np.random.default_rng(0).integers(0, 30, (20_000, 1)).astype(float)
    encoder = OneHotEncoder(
        categories=[np.arange(30.0)], max_categories=3, handle_unknown="infrequent_if_exist"
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(codes, Y)
    assert not cb.certify_estimator(model, codes, Y).certified
