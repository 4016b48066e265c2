"""Regret: what decisions cost in money, against the best threshold in hindsight."""

import json
import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.simulate import below_threshold, overconfident, shifted
from reference.decisions import best_by_search
from reference.sorted_path import sorted_error


def test_the_bound_is_sharp_below_a_threshold():
    law = below_threshold(0.5, 0.2)
    y_true, y_prob, _ = law.draw(200_000, seed=1)
    found = cb.expected_cost(y_true, y_prob, false_positive=1, false_negative=1)
    assert found.regret / 2 == pytest.approx(law.calibration_error, abs=0.003)


def test_rules_that_are_not_monotone_can_gain_more():
    """Oscillating truth: k intervals after cutting at p allow k times the calibration error."""
    score = np.linspace(0.41, 0.59, 200)
    truth = np.where(np.arange(200) % 2 == 0, score + 0.4, score - 0.4)
    c = sorted_error(truth, score)[0]
    mine = np.where(score >= 0.5, 0.5 * (1 - truth), 0.5 * truth).mean()
    best = np.minimum(0.5 * (1 - truth), 0.5 * truth).mean()
    least, _, _ = best_by_search(truth, score, 0.5)
    assert mine - least <= c + 1e-12
    assert mine - best > 10 * c
    assert mine - best <= 200 * c


@pytest.mark.parametrize("seed", range(3))
def test_any_rule_gains_at_most_k_times_the_calibration_error(seed):
    """k counts the intervals on which the rules differ, cut at p: one that straddles p is two."""
    rng = np.random.default_rng(seed)
    for _ in range(150):
        size = rng.integers(1, 9)
        score, truth = np.sort(rng.random(size)), rng.random(size)
        mass, p = rng.dirichlet(np.ones(size)), rng.random()
        rule, mine = rng.random(size) < 0.5, score >= p
        differ = rule != mine
        # a run of scores on one side of p where the two rules differ
        new = np.append(True, (np.diff(mine.astype(int)) != 0) | ~differ[:-1])
        k = int((differ & new).sum())
        cost = np.where(mine, p * (1 - truth), (1 - p) * truth)
        other = np.where(rule, p * (1 - truth), (1 - p) * truth)
        gain = mass @ (cost - other)
        assert gain <= k * sorted_error(truth, score, mass)[0] + 1e-12


def test_expected_cost_in_money():
    y_true = np.array([0, 1, 0, 1, 1, 0, 0, 0])
    y_prob = np.array([0.6, 0.8, 0.2, 0.4, 0.05, 0.1, 0.3, 0.02])
    found = cb.expected_cost(y_true, y_prob, false_positive=1, false_negative=4)
    assert found.threshold == 0.2
    # acted on: .6 (wrong), .8, .2 (wrong), .4, .3 (wrong); missed: .05
    counts = (found.true_positives, found.false_positives)
    assert counts == (2, 3)
    assert (found.true_negatives, found.false_negatives) == (2, 1)
    assert found.cost == pytest.approx((3 * 1 + 1 * 4) / 8)
    assert found.always == pytest.approx(5 / 8)
    assert found.never == pytest.approx(3 * 4 / 8)
    assert found.best_threshold == 0.05
    assert found.best_cost == pytest.approx(4 / 8)
    assert found.regret == pytest.approx(3 / 8)
    assert found.best_threshold == cb.best_threshold(
        y_true, y_prob, false_positive=1, false_negative=4
    )
    slack = math.sqrt(math.log(20) / 16)
    assert found.regret_at_most == pytest.approx(min(5, 3 / 8 + 5 * slack))
    matrix = cb.expected_cost(y_true, y_prob, matrix=[[0, 3], [1, -1]])
    assert matrix == found
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert repr(found) == (
        "Acting from 0.2 on costs 0.875 a decision; acting always costs 0.625, the best threshold "
        "in hindsight 0.5."
    )


def test_the_regret_at_one_threshold_is_certified():
    law, times, missed = shifted(0.1), 300, 0
    # uniform scores on [0, 0.9], each 0.1 too low: at p = 0.5 the best threshold is 0.4
    truth = sum((0.4 + 0.1 * (i + 0.5) / 1000 + 0.1 - 0.5) for i in range(1000)) / 1000 * 0.1 / 0.9
    for seed in range(times):
        found = cb.expected_cost(
            *law.draw(60, seed=seed)[:2], false_positive=1, false_negative=1, confidence=0.8
        )
        missed += 2 * truth > found.regret_at_most
    assert binom.sf(missed - 1, times, 0.2) > 1e-6


def test_costs_for_each_row():
    y_true, y_prob = np.array([1, 0, 1, 0]), np.array([0.3, 0.3, 0.6, 0.6])
    found = cb.expected_cost(
        y_true, y_prob, false_positive=[1, 1, 2, 2], false_negative=[4, 1, 1, 10]
    )
    # thresholds .2, .5, .667, .167: act, not, not, act
    assert found.cost == pytest.approx((0 + 0 + 1 + 2) / 4)
    assert found.always == pytest.approx((1 + 2) / 4)
    assert found.never == pytest.approx((4 + 1) / 4)
    assert found.threshold is found.best_threshold is found.regret is found.regret_at_most is None
    weighted = cb.expected_cost(
        y_true, y_prob, false_positive=1, false_negative=[4, 1, 1, 10], sample_weight=[2, 1, 1, 1]
    )
    assert weighted.never == pytest.approx((2 * 4 + 1) / 5)
    assert cb.decide(
        y_prob, false_positive=[1, 1, 2, 2], false_negative=[4, 1, 1, 10]
    ).tolist() == [
        True,
        False,
        False,
        True,
    ]
    with pytest.raises(ValueError, match="no single curve, threshold or bound applies"):
        cb.price_of_miscalibration(y_true, y_prob, false_positive=[1] * 4, false_negative=1)
    with pytest.raises(ValueError, match="no single curve, threshold or bound applies"):
        cb.best_threshold(y_true, y_prob, false_positive=[1] * 4, false_negative=1)


def test_rows_in_clusters_are_not_taken_for_independent():
    y_true, y_prob, _ = overconfident().draw(400, seed=3)
    data = cb.Predictions(y_true, y_prob, clusters=np.arange(400) // 4)
    costs = {"false_positive": 1, "false_negative": 3}
    found = cb.expected_cost(data, **costs)
    assert found.regret_at_most is None
    assert found.cost == cb.expected_cost(y_true, y_prob, **costs).cost
    with pytest.raises(ValueError, match="price_of_miscalibration does not carry over"):
        cb.price_of_miscalibration(data, **costs)


@pytest.mark.parametrize("seed", range(20))
def test_no_decision_with_payoffs_in_0_1_gains_more_than_twice_the_error(seed):
    """By any nondecreasing change of the scores; three actions, populations of four scores."""
    rng = np.random.default_rng(seed)
    scores, rates, mass = np.sort(rng.random(4)), rng.random(4), rng.dirichlet(np.ones(4))
    error = cb.calibration_error(rates, scores, sample_weight=mass)
    grid = np.linspace(0, 1, 21)
    changes = np.array(list(combinations_with_replacement(grid, 4)))
    for _ in range(20):
        if_not, if_event = rng.random((2, 3))

        def payoff(reported, if_not=if_not, if_event=if_event):
            believed = np.multiply.outer(1 - reported, if_not) + np.multiply.outer(
                reported, if_event
            )
            action = believed.argmax(axis=-1)
            return ((1 - rates) * if_not[action] + rates * if_event[action]) @ mass

        assert payoff(changes).max() - payoff(scores) <= 2 * error + 1e-12
