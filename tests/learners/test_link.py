"""Links from w . x to a probability: they travel, and count their rises."""

import pytest

import calibrant as cb
from reference.single_index import draw


def test_the_link_is_a_calibrator_that_travels():
    X, y, _ = draw(500, 9)
    model = cb.CalibratedLinearClassifier().fit(X, y)
    score = (X @ model.coef_[0] + model.intercept_[0]).clip(0, 1)  # to some digits the same
    assert score.min() == pytest.approx(0, abs=1e-9)
    assert score.max() == pytest.approx(1, abs=1e-9)
    link = cb.Calibrator.from_json(model.link_.to_json())
    assert link.predict(score).tolist() == model.predict_proba(X)[:, 1].tolist()
