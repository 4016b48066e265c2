"""What the pictures of an audit show, against the functions that measure it."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.auditing.curves import BARS, POINTS
from calibrant.simulate import overconfident, rare

SAMPLES = {
    "few": overconfident().draw(60, seed=1),
    "small": overconfident().draw(1500, seed=2),
    "many": overconfident().draw(60_000, seed=3),
    "rare": rare().draw(20_000, seed=4),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_curves_are_those_of_the_functions(name):
    y_true, y_prob, _ = SAMPLES[name]
    curves = cb.audit(y_true, y_prob).curves
    isotonic = cb.IsotonicCalibrator().fit(y_prob, y_true)
    reliability = curves.reliability
    assert len(reliability.score) <= POINTS
    assert reliability.observed == pytest.approx(isotonic.predict(reliability.score), abs=1e-12)
    band = cb.confidence_band(y_true, y_prob, curve="reliability", points=POINTS)
    assert reliability.score == pytest.approx(band.score)
    assert reliability.lower == pytest.approx(band.lower)
    assert reliability.upper == pytest.approx(band.upper)
    whole = cb.cumulative_curve(y_true, y_prob, points=POINTS)
    assert curves.difference.difference == pytest.approx(whole.difference, abs=1e-12)
    ends = curves.difference.difference.max() - curves.difference.difference.min()
    assert ends == pytest.approx(cb.calibration_error(y_true, y_prob), abs=1e-12)
    cost = cb.cost_curve(y_true, y_prob, at=curves.cost.p)
    for column in ("cost", "best", "always", "never"):
        assert getattr(curves.cost, column) == pytest.approx(getattr(cost, column), abs=1e-12)
    counts, _ = np.histogram(y_prob, BARS, (0, 1))
    assert curves.scores.share == pytest.approx(counts / len(y_prob), abs=1e-12)


@pytest.mark.parametrize("name", ["small", "many"])
def test_bands_under_calibration_are_those_of_the_function_but_for_draws(name):
    y_true, y_prob, _ = SAMPLES[name]
    curves = cb.audit(y_true, y_prob).curves
    fine = cb.consistency_band(y_true, y_prob, points=POINTS)
    width = np.interp(curves.difference.score[1:], fine.score, fine.upper - fine.lower)
    found = (curves.difference.consistent_upper - curves.difference.consistent_lower)[1:]
    assert found.mean() == pytest.approx(width.mean(), rel=0.1)
    fine = cb.consistency_band(y_true, y_prob, curve="reliability", points=POINTS)
    width = (fine.upper - fine.lower).mean()
    found = curves.reliability.consistent_upper - curves.reliability.consistent_lower
    assert found.mean() == pytest.approx(width, rel=0.12)


def test_bands_hold_calibrated_scores_and_no_others():
    rng = np.random.default_rng(0)
    y_prob = rng.random(5000)
    outside = []
    for truth in (y_prob, y_prob**1.5):
        curves = cb.audit((rng.random(5000) < truth).astype(int), y_prob).curves
        curve = curves.reliability
        outside.append(
            np.mean(
                (curve.observed < curve.consistent_lower)
                | (curve.observed > curve.consistent_upper)
            )
        )
    assert outside[0] < 0.3
    assert outside[1] > 0.6


def test_they_do_not_depend_on_the_order_of_rows_and_are_made_once():
    y_true, y_prob, _ = SAMPLES["small"]
    found = cb.audit(y_true, y_prob)
    assert found.curves is found.curves
    order = np.random.default_rng(0).permutation(len(y_true))
    other = cb.audit(y_true[order], y_prob[order]).to_dict()["curves"]
    assert json.dumps(other) == json.dumps(found.to_dict()["curves"])


def test_no_bands_for_soft_labels_and_no_curve_that_a_tally_hides():
    rng = np.random.default_rng(0)
    y_true, y_prob = rng.random(500), rng.random(500)
    soft = cb.audit(y_true, y_prob).curves
    assert soft.reliability.lower is None
    assert soft.difference.consistent_lower is None
    assert set(soft.reliability.frame()) == {"score", "observed"}
    tally = cb.Predictions(y_true > 0.5, y_prob).tally(6)
    hidden = cb.audit(tally).curves
    assert hidden.reliability is None
    assert hidden.cost is None
    json.dumps(hidden.to_dict(), allow_nan=False)
