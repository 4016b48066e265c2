"""Links from w . x to a probability: they travel, and count their rises."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.learners.link import Scale, fit_link, rises
from reference.single_index import draw


def test_the_link_is_a_calibrator_that_travels():
    X, y, _ = draw(500, 9)
    model = cb.CalibratedLinearClassifier().fit(X, y)
    score = (X @ model.coef_[0] + model.intercept_[0]).clip(0, 1)  # to some digits the same
    assert score.min() == pytest.approx(0, abs=1e-9)
    assert score.max() == pytest.approx(1, abs=1e-9)
    link = cb.Calibrator.from_json(model.link_.to_json())
    assert link.predict(score).tolist() == model.predict_proba(X)[:, 1].tolist()


def test_a_monotone_link_rises_midway_between_rows():
    score, label = np.array([0.0, 0.25, 0.75, 1.0]), np.array([False, False, True, True])
    link = fit_link(score, label, None, "monotone", 1.0)
    assert link.predict([0.0, 0.25, 0.49, 0.51, 0.75, 1.0]).tolist() == [0, 0, 0, 1, 1, 1]
    assert rises(link) == 1


@pytest.mark.parametrize("slope", [0.5, 2.0])
def test_a_lipschitz_link_rises_no_faster_than_its_slope(slope):
    rng = np.random.default_rng(0)
    score = rng.random(5000)  # more than it has knots
    link = fit_link(score, rng.random(5000) < (score > 0.5), None, "lipschitz", slope)
    grid = np.linspace(0, 1, 1001)
    steps = np.diff(link.predict(grid)) / np.diff(grid)
    assert steps.min() >= -1e-9
    assert steps.max() <= slope + 1e-6
    assert rises(link) > 1


@pytest.mark.parametrize("index", [[-3.0, 1.0, 7.0], [0.1, 0.1 + 1e-9], [5.0, 5.0]])
def test_the_scale_brings_fitting_rows_to_0_and_1_and_keeps_others_there(index):
    index = np.array(index)
    scale = Scale.of(index)
    score = scale(index)
    if scale.length:
        assert (score.min(), score.max()) == (0, 1)
        assert scale.length == pytest.approx(np.ptp(index))
    else:
        assert score.tolist() == [0] * len(index)
    beyond = scale(np.array([-1e9, 1e9]))
    assert ((beyond >= 0) & (beyond <= 1)).all()
