"""The calibration error as a scorer of scikit-learn."""

import numpy as np
import pytest

import calibrant as cb


def test_scorer_ranks_models_and_works_in_model_selection():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    rng = np.random.default_rng(5)
    x = rng.normal(size=(600, 3))
    y = rng.random(600) < 1 / (1 + np.exp(-x[:, 0]))
    search = GridSearchCV(
        LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=cb.calibration_error_scorer, cv=3
    ).fit(x, y)
    model = search.best_estimator_
    expected = -cb.calibration_error(y, model.predict_proba(x)[:, 1])
    assert cb.calibration_error_scorer(model, x, y) == expected
    assert search.best_score_ <= 0
    for names in (np.array(["no", "yes"]), np.array([1, 2]), np.array([-1, 1])):
        labels = names[y.astype(int)]
        model = LogisticRegression().fit(x, labels)
        expected = -cb.calibration_error(y, model.predict_proba(x)[:, 1])
        assert cb.calibration_error_scorer(model, x, labels) == pytest.approx(expected, abs=1e-15)
