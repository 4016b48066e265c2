"""Decisions: thresholds by brute force, Claim 1, the price of miscalibration, and money."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb
from calibrant.decisions.price import error_from_regret
from calibrant.errors import InputError
from calibrant.simulate import below_threshold, calibrated, overconfident, shifted
from reference.samples import shapes, small
from reference.sorted_path import sorted_error


def cost_at(y_true, score, threshold, p, weight=None):
    """The mean cost of acting from a threshold on, a false positive costing p."""
    y_true, act = np.asarray(y_true, dtype=float), np.asarray(score) >= threshold
    each = np.where(act, p * (1 - y_true), (1 - p) * y_true)
    return np.average(each, weights=weight)


def best_by_search(y_true, score, p, weight=None):
    """The least cost over every threshold, and the lowest threshold that has it."""
    counted = np.ones(len(score), dtype=bool) if weight is None else np.asarray(weight) > 0
    thresholds = [*np.unique(np.asarray(score)[counted]), math.inf]
    costs = [cost_at(y_true, score, t, p, weight) for t in thresholds]
    return min(costs), costs, thresholds


@settings(max_examples=150)
@given(small(rows=12, soft=False))
def test_the_curve_is_what_every_threshold_costs(sample):
    y_true, y_prob, weight = sample
    data = cb.Predictions(y_true, y_prob, sample_weight=weight)
    data.warnings = ()
    at = np.unique(np.concatenate([[0, 0.5, 1], np.asarray(y_prob) + 0.0]))
    curve = cb.cost_curve(data, at=at)
    assert curve.p.tolist() == at.tolist()
    for i, p in enumerate(at):
        assert curve.cost[i] == pytest.approx(cost_at(y_true, y_prob, p, p, weight), abs=1e-12)
        least, costs, thresholds = best_by_search(y_true, y_prob, p, weight)
        assert curve.best[i] == pytest.approx(least, abs=1e-12)
        assert curve.best_threshold[i] in thresholds
        chosen = costs[thresholds.index(curve.best_threshold[i])]
        assert chosen == pytest.approx(least, abs=1e-12)
        assert curve.always[i] == pytest.approx(cost_at(y_true, y_prob, 0, p, weight), abs=1e-12)
        assert curve.never[i] == pytest.approx(costs[-1], abs=1e-12)


@pytest.mark.parametrize(("name", "y_true", "y_prob"), list(shapes(20_000)))
def test_every_shape_and_the_bound_between_points(name, y_true, y_prob):
    y_prob = y_prob.astype(float)
    curve = cb.cost_curve(y_true, y_prob)
    assert len(curve) == 513
    rng = np.random.default_rng(0)
    for i in rng.integers(0, 512, 12):
        assert curve.cost[i] == pytest.approx(cost_at(y_true, y_prob, curve.p[i], curve.p[i]))
        p = rng.uniform(curve.p[i], curve.p[i + 1])
        share = (p - curve.p[i]) / (curve.p[i + 1] - curve.p[i])
        line = (1 - share) * curve.cost[i] + share * curve.cost[i + 1]
        assert abs(cost_at(y_true, y_prob, p, p) - line) <= curve.between[i] + 1e-12
    assert (curve.best <= np.minimum(curve.always, curve.never) + 1e-12).all()
    assert (curve.best <= curve.cost + 1e-12).all()
    # the price: for every p the regret is at most the calibration error
    assert curve.regret.max() <= cb.calibration_error(y_true, y_prob) + 1e-12


def test_a_stored_tally_gives_the_whole_curve_where_its_cells_allow():
    y_true, y_prob, _ = overconfident().draw(3000, seed=1)
    tally = cb.Predictions(y_true, y_prob).tally(14)
    with pytest.raises(ValueError, match="A tally holds no rows"):
        cb.cost_curve(tally)
    rounded = (y_prob * 1024).astype(int) / 1024
    exact = cb.cost_curve(cb.Predictions(y_true, rounded).tally(14))
    assert exact.cost.tolist() == cb.cost_curve(y_true, rounded).cost.tolist()
    benefit = cb.net_benefit(tally, at=np.arange(1, 64) / 64)
    assert benefit.model == pytest.approx(
        cb.net_benefit(y_true, y_prob, at=benefit.threshold).model
    )


def test_claim_1_bayes_rule_is_best_where_the_truth_is_known():
    """On a finite law acting by Bayes' rule on the true probability beats every rule."""
    score = np.array([0.1, 0.35, 0.6, 0.9])
    for p in (0.05, 0.35, 0.5, 0.8):
        act = cb.decide(score, false_positive=p, false_negative=1 - p)
        mine = np.where(act, p * (1 - score), (1 - p) * score).sum()
        for rule in itertools.product([False, True], repeat=4):
            assert mine <= np.where(rule, p * (1 - score), (1 - p) * score).sum() + 1e-12


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


#: How costs are given: (arguments, threshold or words of the refusal).
COSTS = [
    ({"false_positive": 1, "false_negative": 20}, 1 / 21),
    ({"false_positive": 0, "false_negative": 2}, 0.0),
    ({"false_positive": 2, "false_negative": 0}, 1.0),
    ({"matrix": [[0, 20], [1, 0]]}, 1 / 21),
    ({"matrix": [[-5, 15], [-4, -5]]}, 1 / 21),
    ({"false_positive": 0, "false_negative": 0}, "both 0, so every decision costs the same"),
    ({"false_positive": -1, "false_negative": 2}, "false_positive must not be negative"),
    ({"false_positive": 1, "false_negative": math.inf}, "false_negative must be a finite number"),
    ({"false_positive": math.nan, "false_negative": 1}, "false_positive must be a finite number"),
    ({"false_positive": "much", "false_negative": 1}, "false_positive must be a finite number"),
    ({"false_positive": 1}, "Say what errors cost"),
    ({}, "Say what errors cost"),
    ({"false_positive": 1, "false_negative": 1, "matrix": np.eye(2)}, "but not both"),
    ({"matrix": [[0, 1, 2]]}, "matrix must be 2 x 2 finite numbers"),
    ({"matrix": [[0, math.inf], [1, 0]]}, "matrix must be 2 x 2 finite numbers"),
    ({"matrix": "costs"}, "matrix must be 2 x 2 finite numbers"),
    ({"matrix": [[1, 2], [1, 2]]}, "both actions cost the same"),
    ({"matrix": [[5, 9], [1, 2]]}, "so always act"),
    ({"matrix": [[0, 1], [4, 5]]}, "so never act"),
    ({"matrix": [[5, 0], [0, 5]]}, "swap its rows, or the labels"),
]


@pytest.mark.parametrize(("arguments", "expected"), COSTS)
def test_costs_of_every_kind(arguments, expected):
    if isinstance(expected, float):
        assert cb.bayes_threshold(**arguments) == pytest.approx(expected)
        scores = np.array([0.0, expected, 1.0])
        assert cb.decide(scores, **arguments)[1:].all()
        return
    for function in (cb.bayes_threshold, lambda **a: cb.decide([0.5], **a)):
        with pytest.raises(ValueError, match=expected):
            function(**arguments)


@pytest.mark.parametrize(
    ("false_positive", "false_negative", "words"),
    [
        ([1, 2], [1, 2, 3], "same number of rows"),
        (
            [1, -2, 3],
            1,
            "false_positive must be a number between 0 and .* in every row.*row 1",
        ),
        (1, [1, math.inf, 3], "row 1 .*inf"),
        ([0, 1, 1], [0, 1, 1], "Both costs are 0 in row 0"),
        ([[1, 2, 3]], 1, "same number of rows"),
        (["a", "b", "c"], 1, "one number for each row"),
        ([1, 1, 1], None, "Say what errors cost"),
    ],
)
def test_bad_costs_of_rows(false_positive, false_negative, words):
    with pytest.raises(ValueError, match=words):
        cb.decide([0.1, 0.2, 0.3], false_positive=false_positive, false_negative=false_negative)


def test_net_benefit_by_hand():
    """Ten patients, four events; treated from 0.25 on: three of them, and two without."""
    y_true = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    y_prob = np.array([0.9, 0.6, 0.25, 0.1, 0.7, 0.3, 0.2, 0.2, 0.1, 0.0])
    found = cb.net_benefit(y_true, y_prob, at=[0.25, 0.5])
    assert found.model == pytest.approx([3 / 10 - 2 / 10 / 3, 2 / 10 - 1 / 10])
    assert found.treat_all == pytest.approx([0.4 - 0.6 / 3, 0.4 - 0.6])
    assert found.treat_none.tolist() == [0, 0]
    assert len(cb.net_benefit(y_true, y_prob)) == 99
    assert "best choice at" in repr(found)
    with pytest.raises(ValueError, match="under 1"):
        cb.net_benefit(y_true, y_prob, at=1.0)


@pytest.mark.parametrize("at", [-0.1, 1.2, [], [[0.1]], "half", [0.1, math.nan]])
def test_bad_grids(at):
    with pytest.raises(ValueError, match="at must be a number or a grid between 0 and 1"):
        cb.cost_curve([0, 1], [0.2, 0.4], at=at)


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
    """What the best threshold saves in the population stays under the cap, as often as promised."""
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


class TestLossRatio:
    def test_is_the_ratio_of_the_costs(self):
        y_true, y_prob, truth = overconfident(3.0).draw(4000, seed=1)
        grid = [0.05, 0.3, 0.9]
        found = cb.loss_ratio(y_true, y_prob, truth, grid)
        for i, p in enumerate(grid):
            before, after = (cost_at(y_true, s, p, p) for s in (y_prob, truth))
            assert found.before[i] == pytest.approx(before)
            assert found.after[i] == pytest.approx(after)
            assert found.ratio[i] == pytest.approx(after / before)
            assert found.lower[i] < found.ratio[i] < found.upper[i]
        same = cb.loss_ratio(y_true, y_prob, y_prob, 0.3)
        assert (same.ratio[0], same.lower[0], same.upper[0]) == (1, 1, 1)
        assert "At p = 0.3" in repr(same)
        assert "<LossRatio at 3 p" in repr(found)

    def test_intervals_cover_the_truth(self):
        p, times, missed = 0.2, 150, 0
        big = overconfident(3.0).draw(10**6, seed=99)
        truth = cost_at(big.y_true, big.true_prob, p, p) / cost_at(big.y_true, big.y_prob, p, p)
        for seed in range(times):
            y_true, y_prob, true_prob = overconfident(3.0).draw(600, seed=seed)
            found = cb.loss_ratio(y_true, y_prob, true_prob, p, draws=400, seed=seed)
            missed += not found.lower[0] <= truth <= found.upper[0]
        assert binom.sf(missed - 1, times, 0.06) > 1e-4

    def test_order_and_weights_change_nothing(self):
        y_true, y_prob, truth = overconfident().draw(500, seed=1)
        order = np.random.default_rng(0).permutation(500)
        found = cb.loss_ratio(y_true, y_prob, truth, 0.3)
        moved = cb.loss_ratio(y_true[order], y_prob[order], truth[order], 0.3)
        assert moved.to_dict() == found.to_dict()
        weight = np.arange(500) % 3 + 1
        weighted = cb.loss_ratio(y_true, y_prob, truth, 0.3, sample_weight=weight)
        again = (np.repeat(one, weight) for one in (y_true, y_prob, truth))
        assert weighted.to_dict() == cb.loss_ratio(*again, 0.3).to_dict()

    def test_nothing_before_has_no_ratio(self):
        found = cb.loss_ratio([0, 1], [0.0, 1.0], [0.6, 0.4], 0.5)
        assert np.isnan(found.ratio[0])
        assert found.to_dict()["ratio"] == [None]
        with pytest.raises(ValueError, match="before has 2, after has 1"):
            cb.loss_ratio([0, 1], [0.0, 1.0], [0.6], 0.5)
        with pytest.raises(ValueError, match="Weights must be whole numbers"):
            cb.loss_ratio([0, 1], [0.1, 1.0], [0.6, 0.1], 0.5, sample_weight=[0.5, 1])
        with pytest.raises(ValueError, match="soft labels are not outcomes"):
            cb.loss_ratio([0.3, 1], [0.1, 0.9], [0.6, 0.1], 0.5)


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


def test_calibrated_scores_have_a_small_price():
    y_true, y_prob, _ = calibrated().draw(50_000, seed=3)
    found = cb.price_of_miscalibration(y_true, y_prob, false_positive=1, false_negative=3)
    assert found.cap < 4 * 0.01


def test_rows_in_clusters_are_not_taken_for_independent():
    y_true, y_prob, _ = overconfident().draw(400, seed=3)
    data = cb.Predictions(y_true, y_prob, clusters=np.arange(400) // 4)
    costs = {"false_positive": 1, "false_negative": 3}
    found = cb.expected_cost(data, **costs)
    assert found.regret_at_most is None
    assert found.cost == cb.expected_cost(y_true, y_prob, **costs).cost
    with pytest.raises(ValueError, match="price_of_miscalibration does not carry over"):
        cb.price_of_miscalibration(data, **costs)


@pytest.mark.parametrize(
    ("cap", "shown"),
    [(0.159082, "0.16"), (0.4091, "0.41"), (99.96, "100"), (100.2, "101"), (1234.1, "1,235")],
)
def test_a_cap_is_never_rounded_down(cap, shown):
    y_true, y_prob, _ = cb.simulate.calibrated().draw(1000, seed=1)
    price = cb.price_of_miscalibration(y_true, y_prob, false_positive=1, false_negative=1)
    sentence = dataclasses.replace(price, cap=cap, currency="EUR").sentence
    assert f"costs at most {shown} EUR a decision" in sentence


@pytest.mark.parametrize("cost", [1e308, 1e101, 10**400])
def test_costs_whose_sums_are_past_doubles_are_refused(cost):
    y_true, y_prob = [0, 1, 1], [0.2, 0.4, 0.9]
    both = {"false_positive": cost, "false_negative": cost}
    for refuses in (
        lambda: cb.bayes_threshold(**both),
        lambda: cb.decide(y_prob, **both),
        lambda: cb.decide(y_prob, false_positive=[cost] * 3, false_negative=1),
        lambda: cb.expected_cost(y_true, y_prob, **both),
        lambda: cb.bayes_threshold(matrix=[[0, cost], [1, 0]]),
        lambda: cb.price_of_miscalibration(
            y_true, y_prob, false_positive=1, false_negative=1, volume=cost
        ),
    ):
        with pytest.raises(InputError, match=r"1e\+100|finite number|positive number|one number"):
            refuses()


def test_large_amounts_are_written_in_few_digits():
    y_true, y_prob, _ = cb.simulate.calibrated().draw(500, seed=1)
    found = cb.price_of_miscalibration(
        y_true, y_prob, false_positive=1e100, false_negative=1e-320, volume=1e100
    )
    assert len(found.sentence) < 500
    assert "e+" in found.sentence
