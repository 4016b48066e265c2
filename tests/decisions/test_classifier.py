"""CostSensitiveClassifier: scikit-learn's checks, and the cheaper action."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb

FOLDS = "cross-validation cuts repeated rows into other folds than weighted ones"


@parametrize_with_checks(
    [cb.CostSensitiveClassifier()],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


class TestClassifier:
    def test_predicts_the_cheaper_action(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(4000, 2))
        y = np.where(rng.random(4000) < 1 / (1 + np.exp(-2 * X[:, 0])), "bad", "a good one")
        model = cb.CostSensitiveClassifier(
            LogisticRegression(), false_positive=9, false_negative=1
        ).fit(X, y)
        assert model.classes_.tolist() == ["a good one", "bad"]
        assert model.threshold_ == 0.9
        act = model.predict_proba(X)[:, 1] >= 0.9
        assert (model.predict(X) == np.where(act, "bad", "a good one")).all()
        dear = np.where(np.arange(4000) % 2, 1e6, 1e-6)
        by_row = model.predict(X, false_positive=1.0, false_negative=dear)
        positive = model.predict_proba(X)[:, 1] > 1e-5
        assert (by_row[1::2] == "bad")[positive[1::2]].all()

    def test_a_calibrated_classifier_is_left_as_it_is(self):
        X = np.random.default_rng(0).normal(size=(500, 2))
        y = X[:, 0] > 0
        inner = cb.CalibratedClassifier(LogisticRegression(), cb.PlattCalibrator())
        model = cb.CostSensitiveClassifier(inner).fit(X, y)
        assert isinstance(model.estimator_.calibrators_[0], cb.PlattCalibrator)

    def test_costs_are_checked(self):
        X, y = np.arange(20)[:, None], np.arange(20) % 2
        with pytest.raises(ValueError, match="both 0"):
            cb.CostSensitiveClassifier(false_positive=0, false_negative=0).fit(X, y)

    def test_costs_reach_predict_by_metadata_routing(self):
        import sklearn
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 2))
        y = rng.random(600) < 1 / (1 + np.exp(-X[:, 0]))
        dear = np.where(np.arange(600) % 2, 50.0, 0.02)
        with sklearn.config_context(enable_metadata_routing=True):
            model = cb.CostSensitiveClassifier(LogisticRegression())
            model.set_predict_request(false_negative=True)
            pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
            found = pipeline.predict(X, false_negative=dear)
        direct = pipeline[-1].predict(pipeline[0].transform(X), false_negative=dear)
        assert (found == direct).all()
        assert found[1::2].mean() > 0.9 > 0.1 > found[::2].mean()
