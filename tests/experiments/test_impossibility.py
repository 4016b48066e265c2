"""Theorem 1: verifiers accept P and its adversaries alike, unless some x comes again and again."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from calibrant.experiments import impossibility as module
from calibrant.experiments.impossibility import Acceptance, acceptance, impossibility
from calibrant.experiments.points import PointLaw
from calibrant.experiments.verifiers import (
    Verifier,
    by_bins,
    by_calibration,
    by_log_loss,
    by_neighbours,
    by_repeats,
    verifiers,
)
from reference.points import FEW_ATOMS, LAW, ONE_ATOM, SURE, N


def binomial_error(one, other):
    rate = (one.accepted + other.accepted) / (one.repetitions + other.repetitions)
    return np.sqrt(rate * (1 - rate) * (1 / one.repetitions + 1 / other.repetitions))


@pytest.mark.parametrize("verifier", verifiers(N), ids=lambda verifier: verifier.name)
def test_verifiers_accept_p_and_its_adversaries_alike(verifier):
    assert LAW.meets_condition(N)
    true = acceptance(verifier, LAW, N, 1000, seed=1)
    new = acceptance(verifier, LAW, N, 1000, seed=2, adversaries=True)
    assert true.rate > 2 / 3
    allowed = LAW.repeat_bound(N) + SURE * binomial_error(true, new)
    assert abs(true.rate - new.rate) <= allowed
    assert allowed < 0.12


def test_one_adversary_is_accepted_as_often_too():
    # samples hardly share points, so the rate is much the same for every adversary
    fixed = LAW.adversary(seed=5)
    for verifier in (by_log_loss(), by_bins(), by_neighbours()):
        true = acceptance(verifier, LAW, N, 1000, seed=3)
        same = acceptance(verifier, fixed, N, 1000, seed=4)
        assert abs(true.rate - same.rate) <= 0.02 + SURE * binomial_error(true, same)
    assert fixed.l1_error(LAW.scores) > LAW.b_f > 0.29


def test_each_sample_has_an_adversary_of_its_own():
    # on one point with f = 0.4 an adversary's labels are all 1 with probability 0.4
    all_ones = Verifier("all ones", "every label is 1", lambda x, y, f: bool(y.all()))
    new = acceptance(all_ones, ONE_ATOM, N, 1000, seed=1, adversaries=True)
    assert abs(new.rate - 0.4) < SURE * np.sqrt(0.4 * 0.6 / 1000)
    rates = {acceptance(all_ones, ONE_ATOM.adversary(s), N, 20, seed=1).rate for s in range(20)}
    assert rates == {0.0, 1.0}


@pytest.mark.parametrize("law", [ONE_ATOM, FEW_ATOMS], ids=["one atom", "few atoms"])
def test_repeated_points_give_the_adversary_away(law):
    assert not law.meets_condition(N)
    assert acceptance(by_repeats(), law, N, 300, seed=1).rate > 0.99
    assert acceptance(by_repeats(), law, N, 300, seed=2, adversaries=True).rate == 0
    assert acceptance(by_repeats(), law.adversary(3), N, 300, seed=2).rate == 0


def test_seeds_repeat_and_differ():
    for law in (LAW, LAW.adversary(1), FEW_ATOMS):
        one, again, other = (law.draw(N, seed=seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, again)
        assert not np.array_equal(one.x, other.x)
    points = np.arange(1000)
    one, again, other = (LAW.adversary(seed).truth(points) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    assert acceptance(by_bins(), LAW, N, 50, seed=1) == acceptance(by_bins(), LAW, N, 50, seed=1)


@pytest.mark.parametrize("seed", range(10))
def test_the_lemma_holds_exactly_for_every_adversary_of_few_points(seed):
    """A random verifier of two rows on four points: all sixteen laws with fixed labels, in sums."""
    rng = np.random.default_rng(seed)
    mass, f = rng.dirichlet(np.ones(4)), rng.random(4)
    accepts = rng.random((4, 2, 4, 2))  # the chance, as a verifier may draw random numbers
    rows = mass[:, np.newaxis] * np.column_stack([1 - f, f])
    under_p = np.einsum("ab,cd,abcd", rows, rows, accepts)
    repeated = np.sum(mass**2)
    chances, weights = [], []
    for labels in product([0, 1], repeat=4):
        fixed = mass[:, np.newaxis] * np.eye(2)[list(labels)]
        chances.append(np.einsum("ab,cd,abcd", fixed, fixed, accepts))
        weights.append(np.prod(np.where(labels, f, 1 - f)))
    assert sum(weights) == pytest.approx(1)
    assert abs(np.dot(weights, chances) - under_p) <= repeated
    assert max(chances) >= under_p - repeated


@pytest.mark.parametrize("accepted", [0, 3, 40])
def test_intervals_are_those_of_clopper_and_pearson(accepted):
    expected = binomtest(accepted, 40).proportion_ci(0.9, method="exact")
    np.testing.assert_allclose(Acceptance(accepted, 40).interval(0.9), expected, rtol=1e-9)


def test_the_report_says_what_the_theorem_says():
    found = impossibility(seed=1, quick=True)
    json.dumps(found)
    theorem = found["theorem"]
    assert theorem["condition"]
    assert theorem["most_difference"] < 1 / 20
    assert theorem["l1_true"] == 0
    assert theorem["b_f"] <= theorem["l1_fixed_adversary"]
    assert theorem["l1_fixed_adversary"] == pytest.approx(theorem["l1_adversaries_mean"], abs=0.02)
    assert len(theorem["verifiers"]) == 5
    for one in theorem["verifiers"]:
        assert one["within_bound"]
        assert not one["tells_apart"]
        low, high = one["true"]["interval"]
        assert low <= one["true"]["rate"] <= high
    for case, points in zip(found["counter_cases"], (1, 5), strict=True):
        assert case["points"] == points
        assert not case["condition"]
        told = {one["name"]: one["tells_apart"] for one in case["verifiers"]}
        assert told["repeated x"]


def test_a_gap_over_the_bound_is_seen():
    rates = module._Rates(Acceptance(190, 200), Acceptance(100, 200), Acceptance(100, 200))
    assert not module._compared(rates, by_repeats(), 0.05)["within_bound"]
    assert module._compared(rates, by_repeats(), 0.6)["within_bound"]
    turned = module._Rates(rates.new, rates.true, rates.fixed)
    assert not module._compared(turned, by_repeats(), 0.05)["within_bound"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PointLaw(0, []), "points must be a whole number, 1 or more, but it is 0"),
        (lambda: PointLaw(3, [0.5]), r"f must give one number for each of 3 points.*\(1,\)"),
        (lambda: PointLaw(2, [0.5, 0.5], [1.0]), "masses must give one number for each of 2 po"),
        (lambda: PointLaw(2, [0.5, 0.5], [0.7, 0.7]), "add up to 1, but .* their sum is 1.4"),
        (lambda: PointLaw(2, [0.5, 0.5], [1.5, -0.5]), "none of them under 0.* least is -0.5"),
        (lambda: PointLaw(2, [0.5, 0.5], [np.nan, 1.0]), "masses must be numbers"),
        (lambda: PointLaw(1, ["a"]), "f could not be read as an array"),
        (lambda: by_log_loss("2"), "deviations must be a number over 0, but it is '2'"),
        (lambda: PointLaw(1, [1.2]).draw(1), "f must lie between 0 and 1.* point 0 it is 1.2"),
        (lambda: PointLaw(1, [np.nan]).b_f, "f must lie between 0 and 1.* it is nan"),
        (lambda: PointLaw(9, lambda x: 0.5).draw(3), r"f must give one number.* shape is \(\)"),
        (lambda: LAW.draw(0), "n must be a whole number, 1 or more, but it is 0"),
        (lambda: LAW.draw(5, seed=-1), "seed must be a whole number, 0 or more, but it is -1"),
        (lambda: LAW.adversary(-1), "seed must be a whole number"),
        (lambda: LAW.meets_condition(0), "n must be a whole number, 1 or more"),
        (lambda: LAW.repeat_bound(2.5), "n must be a whole number.* 2.5"),
        (lambda: by_calibration(2), "threshold must be a number between 0 and 1, but it is 2"),
        (lambda: by_log_loss(0), "deviations must be a number over 0, but it is 0"),
        (lambda: by_neighbours(-1), "deviations must be a number over 0, but it is -1"),
        (lambda: by_bins(0), "bins must be a whole number, 1 or more"),
        (lambda: by_bins(level=1.0), "level must be a number strictly between 0 and 1"),
        (lambda: by_repeats(3), "share must be a number between 0 and 1, but it is 3"),
        (lambda: verifiers(0), "n must be a whole number"),
        (lambda: acceptance(by_bins(), LAW, 5, 0), "repetitions must be a whole number, 1 or mo"),
        (lambda: acceptance(by_bins(), LAW, 5, 1, seed=-2), "seed must be a whole number"),
        (lambda: impossibility(seed=-1), "seed must be a whole number, 0 or more, but it is -1"),
    ],
)
def test_bad_arguments_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
