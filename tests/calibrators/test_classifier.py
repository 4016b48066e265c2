"""CalibratedClassifier: scikit-learn's own checks, and what it guarantees."""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb

CALIBRATORS = [
    None,
    cb.IsotonicCalibrator("linear"),
    cb.PlattCalibrator(),
    cb.BetaCalibrator(),
    cb.TemperatureCalibrator(),
    cb.HistogramCalibrator(),
    cb.VennAbersCalibrator(),
]


@parametrize_with_checks(  # one of each kind: blocks, links, pairs
    [
        cb.CalibratedClassifier(calibrator=one)
        for one in (None, cb.BetaCalibrator(), cb.VennAbersCalibrator())
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        6000, n_features=8, n_informative=5, n_redundant=2, flip_y=0.2, random_state=1
    )
    return X[:3000], y[:3000], X[3000:], y[3000:]


def log_loss(y, p):
    return -np.mean(np.log(np.clip(np.where(y, p, 1 - p), 1e-12, 1)))


@pytest.mark.parametrize("calibrator", CALIBRATORS[1:], ids=str)
@pytest.mark.parametrize("model", [GaussianNB(), LinearSVC(), RandomForestClassifier(30)], ids=str)
def test_improves_what_needs_it(data, model, calibrator):
    X, y, X_new, y_new = data
    if hasattr(model, "random_state"):
        model.set_params(random_state=0)
    found = cb.CalibratedClassifier(model, calibrator).fit(X, y)
    after = found.predict_proba(X_new)
    assert after.sum(axis=1) == pytest.approx(np.ones(len(y_new)))
    limit = 0.06 if isinstance(calibrator, cb.TemperatureCalibrator) else 0.035
    assert cb.calibration_error(y_new, after[:, 1]) < limit
    if hasattr(model, "predict_proba"):
        before = model.fit(X, y).predict_proba(X_new)[:, 1]
        assert log_loss(y_new, after[:, 1]) < log_loss(y_new, before) + 0.01


@pytest.mark.parametrize(
    ("calibrator", "method"),
    [(cb.IsotonicCalibrator("linear"), "isotonic"), (cb.PlattCalibrator(), "sigmoid")],
)
@pytest.mark.parametrize("frozen", [False, True])
def test_is_scikit_learns_where_the_method_is_the_same(data, calibrator, method, frozen):
    X, y, X_new, _ = data
    model = LinearSVC(random_state=0)
    if frozen:
        model = FrozenEstimator(model.fit(X_new, data[3]))
    ours = cb.CalibratedClassifier(model, calibrator).fit(X, y)
    peer = CalibratedClassifierCV(model, method=method, ensemble=False).fit(X, y)
    margin, seen = ours.estimator_.decision_function(X_new), ours.margins_[0]
    X_new = X_new[(margin > seen.low) & (margin < seen.high)]  # beyond, scores are cut off
    assert ours.predict_proba(X_new) == pytest.approx(peer.predict_proba(X_new), abs=2e-4)


def test_a_frozen_classifier_stays_as_it_is(data):
    X, y, X_new, y_new = data
    model = GaussianNB().fit(X, y)
    found = cb.CalibratedClassifier(FrozenEstimator(model)).fit(X_new, y_new)
    direct = cb.IsotonicCalibrator().fit(model.predict_proba(X_new)[:, 1], y_new)
    assert found.predict_proba(X)[:, 1].tolist() == (
        direct.predict(model.predict_proba(X)[:, 1]).tolist()
    )
    # nothing is left to gain on the rows it was fitted on
    assert cb.calibration_error(y_new, found.predict_proba(X_new)[:, 1]) < 1e-12


def test_margins_are_rescaled_as_in_the_paper(data):
    X, y, X_new, _ = data
    model = FrozenEstimator(RidgeClassifier().fit(X, y))
    margin = model.decision_function(X)
    found = cb.CalibratedClassifier(model, cb.HistogramCalibrator()).fit(X, y)
    scaled = (margin - margin.min()) / (margin.max() - margin.min())
    direct = cb.HistogramCalibrator().fit(scaled, y)
    place = (model.decision_function(X_new) - margin.min()) / (margin.max() - margin.min())
    expected = direct.predict(np.clip(place, 0, 1))
    assert found.predict_proba(X_new)[:, 1].tolist() == expected.tolist()


def test_huge_margins_do_not_saturate(data):
    X, y, X_new, _ = data

    class Loud(RidgeClassifier):
        def decision_function(self, X):
            return 1e6 * super().decision_function(X)

    quiet = cb.CalibratedClassifier(RidgeClassifier(), cb.PlattCalibrator()).fit(X, y)
    loud = cb.CalibratedClassifier(Loud(), cb.PlattCalibrator()).fit(X, y)
    margin, seen = quiet.estimator_.decision_function(X_new), quiet.margins_[0]
    inside = (margin > seen.low) & (margin < seen.high)  # beyond, scores are cut off
    found, expected = (one.predict_proba(X_new)[inside] for one in (loud, quiet))
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("calibrator", CALIBRATORS[1:], ids=str)
def test_several_classes_one_against_the_rest(calibrator):
    X, y = make_classification(
        1500, n_features=8, n_informative=6, n_classes=4, random_state=2, class_sep=2
    )
    words = np.array(["d", "b", "a", "c"])[y]
    found = cb.CalibratedClassifier(GaussianNB(), calibrator).fit(X, words)
    probability = found.predict_proba(X)
    assert found.classes_.tolist() == ["a", "b", "c", "d"]
    assert len(found.calibrators_) == 4
    assert probability.sum(axis=1) == pytest.approx(np.ones(1500))
    assert (found.predict(X) == words).mean() > 0.75


def test_weights_are_repetition_for_a_frozen_classifier(data):
    X, y, X_new, y_new = data
    model = FrozenEstimator(GaussianNB().fit(X, y))
    weight = np.random.default_rng(0).integers(1, 4, len(y_new))
    weighted = cb.CalibratedClassifier(model).fit(X_new, y_new, sample_weight=weight)
    repeated = cb.CalibratedClassifier(model).fit(
        np.repeat(X_new, weight, axis=0), np.repeat(y_new, weight)
    )
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-12)


def test_weights_reach_the_classifier_where_it_takes_them(data):
    X, y, *_ = data
    weight = np.where(y == 1, 5.0, 1.0)
    found = cb.CalibratedClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)
    direct = LogisticRegression().fit(X, y, sample_weight=weight)
    assert found.estimator_.coef_ == pytest.approx(direct.coef_)
    with pytest.warns(UserWarning, match="KNeighborsClassifier.fit takes no sample_weight"):
        cb.CalibratedClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_metadata_routing(data):
    X, y, *_ = data
    weight = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        found = cb.CalibratedClassifier(inner).set_fit_request(sample_weight=True)
        found.set_score_request(sample_weight=False)
        search = GridSearchCV(found, {"estimator__C": [1.0]}, cv=2)
        search.fit(X, y, sample_weight=weight)
        direct = LogisticRegression().fit(X, y, sample_weight=weight)
        assert search.best_estimator_.estimator_.coef_ == pytest.approx(direct.coef_)


def test_in_a_pipeline_and_a_grid_search(data):
    X, y, X_new, y_new = data
    pipeline = make_pipeline(StandardScaler(), cb.CalibratedClassifier(GaussianNB()))
    search = GridSearchCV(
        pipeline,
        {
            "calibratedclassifier__calibrator": [cb.IsotonicCalibrator(), cb.PlattCalibrator()],
            "calibratedclassifier__cv": [3, KFold(4, shuffle=True, random_state=0)],
        },
        scoring="neg_brier_score",
        cv=3,
    ).fit(X, y)
    assert search.best_estimator_.score(X_new, y_new) > 0.7


def test_bad_input(data):
    X = data[0]
    with pytest.raises(ValueError, match="cv=5 folds need 5 rows of every class"):
        cb.CalibratedClassifier(cv=5).fit(X[:20], np.arange(20) < 2)
    with pytest.raises(ValueError, match="one class only"):
        cb.CalibratedClassifier().fit(X, np.zeros(len(X)))
    few = cb.CalibratedClassifier().fit(X[:40], np.arange(40) < 3)
    assert few.predict_proba(X[:5]).shape == (5, 2)


@pytest.mark.parametrize(
    "estimator",
    ["a" * 10**6, 5, StandardScaler(), LinearRegression(), FrozenEstimator(LinearRegression())],
    ids=["long", "number", "scaler", "regression", "frozen"],
)
def test_what_is_no_classifier_is_refused(data, estimator):
    for kind in (cb.CalibratedClassifier, cb.CostSensitiveClassifier):
        with pytest.raises(cb.InputError, match="estimator must be a classifier with fit"):
            kind(estimator).fit(*data[:2])


@pytest.mark.parametrize("cv", ["a" * 10**6, 0.5, object()], ids=["long", "share", "object"])
def test_what_splits_no_rows_is_refused(data, cv):
    with pytest.raises(cb.InputError, match="cv must be a number of folds"):
        cb.CalibratedClassifier(cv=cv).fit(*data[:2])


def test_pairs_of_classes_are_refused():
    X, y = make_classification(300, n_features=8, n_informative=6, n_classes=3, random_state=2)
    with pytest.raises(ValueError, match='set decision_function_shape="ovr"'):
        cb.CalibratedClassifier(SVC(decision_function_shape="ovo"), cv=2).fit(X, y)
    words = cb.CalibratedClassifier(SVC(), cb.PlattCalibrator(), cv=3).fit(X, y)
    assert words.predict_proba(X).shape == (300, 3)


def test_several_classes_are_scaled_to_add_up():
    X, y = make_classification(600, n_features=8, n_informative=6, n_classes=3, random_state=2)
    model = FrozenEstimator(GaussianNB().fit(X, y))
    found = cb.CalibratedClassifier(model).fit(X, y)
    raw = model.predict_proba(X)
    each = np.stack([one.predict(raw[:, k]) for k, one in enumerate(found.calibrators_)], axis=1)
    assert found.predict_proba(X) == pytest.approx(each / each.sum(axis=1, keepdims=True))


def test_labels_of_a_frozen_classifier_are_its_own(data):
    X, y, *_ = data
    frozen = FrozenEstimator(GaussianNB().fit(X, np.array(["a", "b"])[y]))
    with pytest.raises(ValueError, match="y holds 'zz', which the frozen classifier"):
        cb.CalibratedClassifier(frozen).fit(X, np.array(["zz", "b"])[y])
    found = cb.CalibratedClassifier(frozen).fit(X, np.array(["a", "b"])[y])
    assert found.classes_.tolist() == ["a", "b"]


def test_scores_out_of_range_are_refused(data):
    X, y, *_ = data

    class Percent(GaussianNB):
        def predict_proba(self, X):
            return 100 * super().predict_proba(X)

    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        cb.CalibratedClassifier(Percent()).fit(X, y)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1e4])
@pytest.mark.parametrize("shift", [-40.0, 0.0])
def test_margins_of_any_size(data, scale, shift):
    X, y, X_new, y_new = data

    class Scaled(RidgeClassifier):
        def decision_function(self, X):
            return scale * (super().decision_function(X) + shift)

    found = cb.CalibratedClassifier(Scaled(), cb.PlattCalibrator()).fit(X, y)
    plain = cb.CalibratedClassifier(RidgeClassifier(), cb.PlattCalibrator()).fit(X, y)
    after, expected = (log_loss(y_new, one.predict_proba(X_new)[:, 1]) for one in (found, plain))
    assert after == pytest.approx(expected, abs=2e-3)
