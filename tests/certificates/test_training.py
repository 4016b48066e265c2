"""What training rows guarantee: something for small classes, and plainly nothing for rich ones."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import calibrant as cb
from calibrant.certificates.classes import of_linear, of_tree
from calibrant.errors import InputError


def data(rows, features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    return X, rng.random(rows) < 1 / (1 + np.exp(-X[:, 0] - 0.5))


X, Y = data(20_000)


def linear(features):
    return of_linear(20_000, features).width()


@pytest.mark.parametrize(
    ("model", "features"),
    [
        (LogisticRegression(), 3),
        (LogisticRegression(C=1e-4), 3),
        (SGDClassifier(loss="log_loss", random_state=0), 3),
        (LinearDiscriminantAnalysis(), 3),
        (make_pipeline(StandardScaler(), LogisticRegression()), 3),
        (make_pipeline(StandardScaler(), PCA(2), LogisticRegression()), 3),
        (make_pipeline("passthrough", LogisticRegression()), 3),
        (make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression()), 9),
        (
            make_pipeline(
                ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", StandardScaler(), [2])]),
                LogisticRegression(),
            ),
            3,
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_linear_models_are_certified_by_their_features(model, features):
    found = cb.certify_estimator(model.fit(X, Y), X, Y)
    assert found.certified
    error = cb.calibration_error(Y, model.predict_proba(X)[:, 1])
    assert found.c_emp == pytest.approx(error, abs=1e-12)
    assert found.upper == pytest.approx(error + linear(features), abs=1e-12)
    assert f"{features} features" in found.sentence
    assert "at most" in repr(found)


@pytest.mark.parametrize(
    ("limits", "leaves", "fixed"),
    [
        ({"max_leaf_nodes": 4}, 4, True),
        ({"max_depth": 2}, 4, True),
        ({"max_depth": 4, "max_leaf_nodes": 6}, 6, True),
        ({"min_samples_leaf": 4000}, None, False),
    ],
)
def test_trees_are_certified_by_their_leaves(limits, leaves, fixed):
    tree = DecisionTreeClassifier(**limits, random_state=0).fit(X, Y)
    found = cb.certify_estimator(make_pipeline(StandardScaler(), tree).fit(X, Y), X, Y)
    leaves = leaves or tree.get_n_leaves()
    # a number of leaves that training found costs a part of the confidence
    risk = 0.05 if fixed else 0.05 * 6 / (np.pi * leaves) ** 2
    width = of_tree(20_000, leaves, 3).width(1 - risk)
    assert found.upper - found.c_emp == pytest.approx(width, abs=1e-12)
    assert f"{leaves} leaves" in found.sentence


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
        AdaBoostClassifier(n_estimators=5),
        HistGradientBoostingClassifier(max_iter=5),
        KNeighborsClassifier(),
        GaussianProcessClassifier(),
        GaussianNB(),
        make_pipeline(SelectKBest(k=1), LogisticRegression()),
        make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=2)),
        make_pipeline(StandardScaler(), RandomForestClassifier(5)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rich_or_unknown_classes_are_refused_plainly(model):
    few, labels = X[:300], Y[:300]
    found = cb.certify_estimator(model.fit(few, labels), few, labels)
    assert not found.certified
    assert found.upper == 1
    assert found.sentence.startswith("The 300 training rows certify nothing: ")
    assert "Keep a validation set" in found.sentence
    scores = model.predict_proba(few)[:, 1]
    assert found.validation_rows == cb.sample_size(0.05, scores=scores)


def test_calibrators_around_a_model():
    few, labels = X[:2000], Y[:2000]
    width = of_linear(2000, 3).width()
    for calibrator in (cb.IsotonicCalibrator(), cb.BetaCalibrator(), cb.VennAbersCalibrator()):
        model = cb.CalibratedClassifier(LogisticRegression(), calibrator=calibrator)
        found = cb.certify_estimator(model.fit(few, labels), few, labels)
        assert found.upper - found.c_emp == pytest.approx(width, abs=1e-12)
    bins = cb.CalibratedClassifier(LogisticRegression(), calibrator=cb.HistogramCalibrator())
    assert not cb.certify_estimator(bins.fit(few, labels), few, labels).certified
    one, several = (
        CalibratedClassifierCV(LogisticRegression(), ensemble=ensemble).fit(few, labels)
        for ensemble in (False, True)
    )
    assert cb.certify_estimator(one, few, labels).certified
    assert not cb.certify_estimator(several, few, labels).certified


def test_a_tree_grown_to_the_end_is_not_certified():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    found = cb.certify_estimator(tree, X, Y)
    assert found.c_emp == 0
    assert not found.certified
    fresh, outcome = data(20_000, seed=1)
    assert cb.calibration_error(outcome, tree.predict_proba(fresh)[:, 1]) > 0.1


def test_as_many_features_as_rows_certify_nothing():
    wide, labels = data(50, 60)
    model = LogisticRegression(C=1e6, max_iter=10_000).fit(wide, labels)
    found = cb.certify_estimator(model, wide, labels)
    assert not found.certified
    assert found.complexity.value == 0.5
    assert "can have any labels" in found.sentence


def test_words_are_labels_too():
    words = np.where(Y, "yes", "no")
    found = cb.certify_estimator(LogisticRegression().fit(X, words), X, words)
    plain = cb.certify_estimator(LogisticRegression().fit(X, Y), X, Y)
    assert found.upper == pytest.approx(plain.upper)


def test_bad_models_are_refused():
    with pytest.raises(InputError, match="predict_proba, but RidgeClassifier has none"):
        cb.certify_estimator(RidgeClassifier().fit(X, Y), X, Y)
    three = LogisticRegression().fit(X[:300], np.arange(300) % 3)
    with pytest.raises(InputError, match="3 classes"):
        cb.certify_estimator(three, X, Y)
    with pytest.raises(InputError, match="confidence"):
        cb.certify_estimator(LogisticRegression().fit(X, Y), X, Y, confidence=1.0)


def test_the_promise_holds_for_models_fitted_on_the_same_rows():
    """The true error of each fitted model, on many fresh rows, is under its bound."""
    fresh, outcome = data(400_000, seed=99)
    for seed in range(20):
        some, labels = data(2000, seed=seed)
        for model in (LogisticRegression(), DecisionTreeClassifier(max_leaf_nodes=3)):
            found = cb.certify_estimator(model.fit(some, labels), some, labels)
            assert found.certified
            true = cb.calibration_error(outcome, model.predict_proba(fresh)[:, 1])
            assert true < found.upper
            assert found.upper < 0.5


def test_limits_set_after_training_do_not_count():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    tree.set_params(max_leaf_nodes=2)
    assert not cb.certify_estimator(tree, X, Y).certified


def test_trees_of_missing_values_are_not_counted():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    tree = DecisionTreeClassifier(max_depth=2).fit(holes, Y)
    assert "missing values" in cb.certify_estimator(tree, holes, Y).sentence


def test_labels_that_the_model_does_not_know_are_refused():
    model = LogisticRegression().fit(X, Y.astype(int))
    with pytest.raises(InputError, match=r"labels that the model knows, 0 and 1.*'(yes|no)'"):
        cb.certify_estimator(model, X, np.where(Y, "yes", "no"))
    gaps = Y.astype(float)
    gaps[7] = np.nan
    with pytest.raises(InputError, match="first at row 7"):
        cb.certify_estimator(model, X, gaps)
    several = DecisionTreeClassifier(max_depth=2).fit(X, np.stack([Y, ~Y], axis=1))
    with pytest.raises(InputError, match="several outputs"):
        cb.certify_estimator(several, X, Y)


def test_documents_are_not_counted():
    texts = ["good text", "bad words", "good words"] * 20
    labels = np.array([1, 0, 1] * 20)
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    assert "CountVectorizer" in cb.certify_estimator(model, texts, labels).sentence


def test_very_many_rows_keep_their_digits():
    import math

    for rows, features in ((10**6, 3), (10**12, 5), (10**16, 1)):
        exact = sum(math.comb(2 * rows - 1, k) for k in range(features + 2)) / 2 + 1
        expected = math.sqrt(math.log(exact) / (2 * rows))
        assert of_linear(rows, features).value == pytest.approx(expected, rel=1e-9)
