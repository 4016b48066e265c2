"""The price of miscalibration: it bounds the regret, on known laws, and as often as said."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.decisions.price import error_from_regret
from calibrant.simulate import below_threshold, calibrated, overconfident, shifted
from reference.decisions import best_by_search, cost_at
from reference.sorted_path import sorted_error


@pytest.mark.parametrize("seed", range(3))
def test_the_regret_is_at_most_the_calibration_error(seed):
    """For random miscalibrated laws, all p, and all monotone rules: population values."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        size = rng.integers(1, 8)
        score, truth = np.sort(rng.random(size)), rng.random(size)
        mass = rng.dirichlet(np.ones(size))
        c = sorted_error(truth, score, mass)[0]
        largest = 0.0
        for p in np.concatenate([score, rng.random(20), np.nextafter(score, 1)]).clip(0, 1):
            cost = cost_at(truth, score, p, p, mass)
            least, _, _ = best_by_search(truth, score, p, mass)
            assert cost - least <= c + 1e-12
            largest = max(largest, cost - least)
        # the converse, with the largest regret over all p
        fine = np.linspace(0, 1, 2001)
        curve = cb.cost_curve(truth, score, at=fine, sample_weight=mass) if size > 1 else None
        if curve is not None:
            assert c <= error_from_regret(max(largest, curve.regret.max())) + 1e-3


def test_the_price_in_money():
    y_true, y_prob, _ = overconfident().draw(20_000, seed=1)
    options = {"false_positive": 10, "false_negative": 190}
    found = cb.price_of_miscalibration(y_true, y_prob, **options, volume=4e6, currency="EUR")
    # two ways to bound it, each at half of the five per cent
    certificate = cb.certify(y_true, y_prob, confidence=0.975)
    cost = cb.expected_cost(y_true, y_prob, **options, confidence=0.975)
    assert found.cap == pytest.approx(min(200 * certificate.upper, cost.regret_at_most))
    assert found.confidence == 0.95
    assert found.total_cap == pytest.approx(4e6 * found.cap)
    assert found.saved_in_hindsight == pytest.approx(cost.regret)
    assert found.least_calibration_error == pytest.approx(cost.regret / 200)
    assert found.least_calibration_error <= cb.calibration_error(y_true, y_prob)
    assert found.saved_in_hindsight < found.cap
    assert "EUR a decision" in found.sentence
    assert "EUR for 4,000,000 decisions" in found.sentence
    assert "no nondecreasing recalibration" in repr(found)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["certificate"]["upper"] == certificate.upper
    alone = cb.price_of_miscalibration(y_true, y_prob, **options)
    assert alone.total_cap is None
    for volume in (0, -1, math.inf, math.nan):
        with pytest.raises(ValueError, match="volume must be a positive number"):
            cb.price_of_miscalibration(y_true, y_prob, **options, volume=volume)


def test_the_price_says_what_it_rests_on():
    sample = overconfident().draw(20_000, seed=1)[:2]
    costs = {"false_positive": 1, "false_negative": 20}
    limit = cb.price_of_miscalibration(*sample, **costs, method="asymptotic")
    assert "with about 95% confidence" in limit.sentence
    assert "(it is asymptotic)" in limit.sentence
    proved = cb.price_of_miscalibration(*sample, **costs)
    assert "with 95% confidence no nondecreasing recalibration" in proved.sentence
    assert proved.sentence.endswith("that the model was fixed before these rows were looked at.")
    given = cb.price_of_miscalibration(*sample, **costs, method="fixed_design")
    assert "confidence, over exactly these scores, no nondecreasing" in given.sentence
    assert given.cap == pytest.approx(21 * cb.certify(*sample, method="fixed_design").upper)


def test_the_price_of_scores_that_were_fitted_on_the_rows():
    """The bound on the regret is for a model that was fixed before: a fitted one has none."""
    y_true, y_prob, _ = overconfident().draw(500, seed=1)
    fitted = cb.IsotonicCalibrator().fit(y_prob, y_true).predict(y_prob)
    costs = {"false_positive": 1, "false_negative": 1}
    found = cb.price_of_miscalibration(y_true, fitted, **costs, method="isotonic")
    bound = cb.certify(y_true, fitted, method="isotonic").upper
    assert found.cap == pytest.approx(2 * bound)
    assert found.certificate.confidence == 0.95
    fixed = cb.expected_cost(y_true, fitted, **costs, confidence=0.975).regret_at_most
    assert found.cap > 2 * fixed
    assert "nondecreasing function, fitted on these rows" in found.sentence


def test_the_price_of_fitted_rows_is_a_question():
    y_true, y_prob, _ = overconfident().draw(4000, seed=1)
    fitted = cb.IsotonicCalibrator().fit(y_prob, y_true).predict(y_prob)
    costs = {"false_positive": 1, "false_negative": 20}
    found = cb.price_of_miscalibration(y_true, fitted, **costs)
    assert found.fitted_here
    assert "Were these the rows that a calibrator was fitted to?" in found.sentence
    assert "Miscalibration costs at most" not in found.sentence
    assert not cb.price_of_miscalibration(y_true, fitted, **costs, method="isotonic").fitted_here
    assert not cb.price_of_miscalibration(y_true, y_prob, **costs).fitted_here


def test_a_decreasing_recalibration_can_save_more_than_the_cap():
    """f uniform, the event below 1/2: the calibration error is 3/8, and 1 - f saves 1/2."""
    y_prob = (np.arange(100_000) + 0.5) / 100_000
    y_true = y_prob < 0.5
    costs = {"false_positive": 0.5, "false_negative": 0.5}
    error = cb.calibration_error(y_true, y_prob)
    assert error == pytest.approx(0.375, abs=1e-4)
    turned = cb.expected_cost(y_true, 1 - y_prob, **costs).cost
    saved = cb.expected_cost(y_true, y_prob, **costs).cost - turned
    assert saved == pytest.approx(0.5, abs=1e-4)
    assert cb.expected_cost(y_true, y_prob, **costs).regret <= error


@pytest.mark.parametrize("law", [shifted(0.1), below_threshold(0.5, 0.2)], ids=str)
def test_the_cap_holds(law):
    """What the best threshold saves in the population stays under the cap, as often as stated."""
    big = law.draw(400_000, seed=99)
    truth = cost_at(big.true_prob, big.y_prob, 0.5, 0.5)
    thresholds = np.linspace(0.3, 0.6, 61)
    truth -= min(cost_at(big.true_prob, big.y_prob, t, 0.5) for t in thresholds)
    times, missed = 200, 0
    for seed in range(times):
        sample = law.draw(80, seed=seed)[:2]
        found = cb.price_of_miscalibration(
            *sample, false_positive=1, false_negative=1, confidence=0.8
        )
        missed += 2 * truth > found.cap
    assert binom.sf(missed - 1, times, 0.2) > 1e-6


def test_isotonic_saves_no_more_than_the_price():
    y_true, y_prob, _ = overconfident(3.0).draw(30_000, seed=2)
    fit, test = slice(0, 15_000), slice(15_000, None)
    after = cb.IsotonicCalibrator().fit(y_prob[fit], y_true[fit]).predict(y_prob[test])
    for a, b in ((1, 1), (1, 9), (5, 1)):
        price = cb.price_of_miscalibration(
            y_true[test], y_prob[test], false_positive=a, false_negative=b
        )
        before = cb.expected_cost(y_true[test], y_prob[test], false_positive=a, false_negative=b)
        now = cb.expected_cost(y_true[test], after, false_positive=a, false_negative=b)
        assert before.cost - now.cost <= price.saved_in_hindsight + 1e-12 <= price.cap


def test_calibrated_scores_have_a_small_price():
    y_true, y_prob, _ = calibrated().draw(50_000, seed=3)
    found = cb.price_of_miscalibration(y_true, y_prob, false_positive=1, false_negative=3)
    assert found.cap < 4 * 0.01


@pytest.mark.parametrize(
    ("cap", "shown"),
    [(0.159082, "0.16"), (0.4091, "0.41"), (99.96, "100"), (100.2, "101"), (1234.1, "1,235")],
)
def test_a_cap_is_never_rounded_down(cap, shown):
    y_true, y_prob, _ = cb.simulate.calibrated().draw(1000, seed=1)
    price = cb.price_of_miscalibration(y_true, y_prob, false_positive=1, false_negative=1)
    sentence = dataclasses.replace(price, cap=cap, currency="EUR").sentence
    assert f"costs at most {shown} EUR a decision" in sentence


def test_large_amounts_are_written_in_few_digits():
    y_true, y_prob, _ = cb.simulate.calibrated().draw(500, seed=1)
    found = cb.price_of_miscalibration(
        y_true, y_prob, false_positive=1e100, false_negative=1e-320, volume=1e100
    )
    assert len(found.sentence) < 500
    assert "e+" in found.sentence
