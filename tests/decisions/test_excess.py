"""The excess cost at one threshold: measured, bounded on both sides, and shown by chance alone."""

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.core.diagram import everything, resolve
from calibrant.decisions.excess import (
    Excess,
    Side,
    chance_excess_of,
    excess_at_least,
    excess_at_most,
    excess_of,
    slack,
)
from reference.decisions import best_by_search, cost_at


def drawn(y_true, y_prob):
    return resolve(cb.Predictions(y_true, y_prob).source, everything)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_it_is_the_regret_and_both_sides_by_definition(p):
    rng = np.random.default_rng(3)
    y_true, y_prob = rng.integers(0, 2, 60), rng.integers(0, 9, 60) / 8
    found = excess_of(drawn(y_true, y_prob), p)
    best, costs, thresholds = best_by_search(y_true, y_prob, p)
    mine = cost_at(y_true, y_prob, p, p)
    assert found.measured == pytest.approx(max(0, mine - best), abs=1e-12)
    for side, rows in ((found.left, y_prob < p), (found.right, y_prob >= p)):
        assert side.square == pytest.approx((rows * (y_true - p) ** 2).mean(), abs=1e-12)
    below = [cost for cost, t in zip(costs, thresholds, strict=True) if t < p]
    assert found.left.measured == pytest.approx(max(0, mine - min([mine, *below])), abs=1e-12)
    costs_given = {"false_positive": p, "false_negative": 1 - p}
    cost = cb.expected_cost(y_true, y_prob, **costs_given, confidence=0.9)
    assert excess_at_most(found, 0.1) == pytest.approx(cost.regret_at_most, abs=1e-12)


def test_the_lower_bound_finds_a_saving_and_is_under_the_upper_one():
    law = cb.simulate.below_threshold(0.5, 0.2)
    found = excess_of(drawn(*law.draw(5000, seed=1)[:2]), 0.5)
    assert 0.5 * found.measured < excess_at_least(found, 0.05) < found.measured
    assert found.measured < excess_at_most(found, 0.05) == found.measured + slack(5000, 0.05)
    assert excess_at_least(found, 0.001) < excess_at_least(found, 0.05)


def test_chance_adds_about_what_is_measured_of_right_scores():
    law, n, p = cb.simulate.calibrated(), 1000, 0.5
    samples = [drawn(*law.draw(n, seed=seed)[:2]) for seed in range(40)]
    measured = np.mean([excess_of(one, p).measured for one in samples])
    assert chance_excess_of(samples[0], p).at(n) == pytest.approx(measured, rel=0.35)
    assert chance_excess_of(samples[0], p).at(10**12) < 1e-6


def walks(rng, times, n, p, kind):
    """Return what rows add to a saving, in order away from p, on the left and on the right.

    "crowded": every row is next to p with a rate of p, so that each threshold saves 0 and the best
    of n has the most to choose from. "split": so on both sides. "atom": all rows have one score
    below p. "real": the rate is larger, and acting on all of them saves the difference.
    """
    rate = min(1.0, p + 0.1) if kind == "real" else p
    w = (rng.random((times, n)) < rate) - p
    if kind == "atom":
        return w.sum(axis=1, keepdims=True), np.zeros((times, 1)), w, 0.0
    if kind == "split":
        left = rng.random((times, n)) < 0.5
        return np.where(left, w, 0), np.where(left, 0, -w), w, 0.0
    return w, np.zeros((times, 1)), w, rate - p


def misses(rng, times, n, p, kind, delta, adjust=lambda bound: bound):
    """Count samples whose lower bound is above the truth; the whole path of each is known."""
    left, right, w, truth = walks(rng, times, n, p, kind)
    best = [np.cumsum(one, axis=1).max(axis=1).clip(min=0) / n for one in (left, right)]
    shared = kind == "split"
    squares = [((one if shared else w) ** 2).mean(axis=1) for one in (left, right)]
    missed = 0
    for k in range(times):
        on_right = squares[1][k] if shared else 0.0
        sides = Side(best[0][k], squares[0][k], 1 - p), Side(best[1][k], on_right, p)
        found = Excess(n, p, *sides)
        missed += adjust(excess_at_least)(found, delta) > truth + 1e-12
    return missed


@pytest.mark.validity
@pytest.mark.parametrize("kind", ["crowded", "split", "atom", "real"])
@pytest.mark.parametrize("p", [0.5, 0.05, 0.002, 0.95])
def test_the_lower_bound_holds(kind, p):
    rng = np.random.default_rng(7)
    for n, times in ((50, 3000), (300, 1500), (5000, 200)):
        for delta in (0.05, 0.4):
            missed = misses(rng, times, n, p, kind, delta)
            assert binom.sf(missed - 1, times, delta) > 1e-6, (n, missed, times)


def test_the_lower_bound_holds_where_every_threshold_saves_nothing():
    rng = np.random.default_rng(1)
    missed = misses(rng, 400, 200, 0.5, "crowded", 0.05)
    assert binom.sf(missed - 1, 400, 0.05) > 1e-6
    # a bound for one threshold alone, chosen beforehand, does not hold for the best of them

    def pointwise(_):
        return lambda found, _: found.measured - 1.645 * np.sqrt(found.left.square / found.n)

    missed = misses(rng, 3000, 200, 0.5, "crowded", 0.05, pointwise)
    assert binom.sf(missed - 1, 3000, 0.05) < 1e-6
