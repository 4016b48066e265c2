"""Theorem 1: verifiers accept P and its adversaries alike, unless some x comes again and again."""

import json
import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from calibrant.experiments import impossibility as module
from calibrant.experiments import points as domain
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

N = 50
POINTS = 10 * N**2 + 1
LAW = PointLaw(POINTS, lambda x: 0.1 + 0.8 * x / (POINTS - 1))
ONE_ATOM = PointLaw(1, [0.4])
FEW_ATOMS = PointLaw(4, [0.2, 0.4, 0.6, 0.8], masses=[0.4, 0.3, 0.2, 0.1])
#: Deviations that a difference may have by chance.
SURE = 4.0


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


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (by_calibration(1 / np.sqrt(N)), lambda x: 0.3 + 0 * x),
        (by_log_loss(), lambda x: 0.9 - 0.8 * x / (POINTS - 1)),
        (by_bins(), lambda x: 0.9 - 0.8 * x / (POINTS - 1)),
        (by_neighbours(), lambda x: 0.9 - 0.8 * x / (POINTS - 1)),
    ],
    ids=["calibration error", "log loss", "bins of x", "neighbours in x"],
)
def test_verifiers_refuse_scores_that_are_visibly_wrong(verifier, said):
    samples = [LAW.draw(N, seed=seed) for seed in range(200)]
    right = np.mean([verifier.accepts(*rows, LAW.scores) for rows in samples])
    wrong = np.mean([verifier.accepts(*rows, said) for rows in samples])
    assert right > 0.7
    assert wrong < right - 0.3


def test_log_loss_at_certain_scores():
    x = np.array([0, 1, 1])
    scores = np.array([0.0, 1.0]).__getitem__
    assert by_log_loss().accepts(x, np.array([False, True, True]), scores)
    assert not by_log_loss().accepts(x, np.array([True, True, True]), scores)
    assert not by_bins(1).accepts(x, np.array([True, True, True]), scores)


def test_repeats_are_counted_in_pairs():
    # 4 rows at a point with f = 1/2 should give 4 * 3 / 4 = 3 pairs of different labels
    x, half = np.array([7, 7, 7, 7, 9]), lambda x: np.full(len(x), 0.5)
    labels = np.array([True, False, False, False, True])  # 3 such pairs
    assert by_repeats(1.0).accepts(x, labels, half)
    labels[:] = True
    assert not by_repeats(0.1).accepts(x, labels, half)
    assert by_repeats(1.0).accepts(np.arange(5), labels, half)


def test_the_l1_error_of_every_adversary_is_at_least_b_f():
    f = np.array([0.0, 0.1, 0.5, 0.7, 1.0])
    masses = np.array([0.1, 0.3, 0.2, 0.3, 0.1])
    law = PointLaw(5, f, masses)
    assert law.b_f == pytest.approx(masses @ np.minimum(f, 1 - f))
    assert law.l1_error(law.scores) == 0
    errors = np.array([law.adversary(seed).l1_error(law.scores) for seed in range(2000)])
    assert errors.min() >= law.b_f - 1e-12
    assert errors.min() == pytest.approx(law.b_f)  # some adversary is as near as can be
    expected = masses @ (2 * f * (1 - f))
    assert law.mean_adversary_l1 == pytest.approx(expected)
    assert abs(errors.mean() - expected) < SURE * errors.std() / np.sqrt(len(errors))


def test_chunks_do_not_change_expectations(monkeypatch):
    whole = LAW.adversary(1).l1_error(LAW.scores)
    monkeypatch.setattr(domain, "_CHUNK", 999)
    assert LAW.adversary(1).l1_error(LAW.scores) == pytest.approx(whole, rel=1e-12)
    points = np.arange(POINTS)
    by_hand = np.abs(LAW.scores(points) - LAW.adversary(1).truth(points)).mean()
    assert whole == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("law", [LAW, FEW_ATOMS], ids=["many points", "few atoms"])
def test_an_adversary_has_the_same_marginal_and_fixed_labels(law):
    adversary = law.adversary(seed=9)
    known = {}
    for seed in range(40):
        x, y = adversary.draw(N, seed=seed)
        np.testing.assert_array_equal(x, law.draw(N, seed=seed).x)
        for point, label in zip(x.tolist(), y.tolist(), strict=True):
            assert known.setdefault(point, label) == label
    assert set(adversary.truth(np.arange(law.points)).tolist()) == {0.0, 1.0}
    assert adversary.largest_mass == law.largest_mass
    assert adversary.adversary(seed=10) is adversary


def test_points_come_as_often_as_their_masses_say():
    law = PointLaw(4, [0.5] * 4, masses=[0.5, 0.0, 0.3, 0.2])
    counts = np.bincount(law.draw(20_000, seed=1).x, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[[0, 2, 3]], 20_000 * np.array([0.5, 0.3, 0.2])).pvalue > 1e-4
    even = np.bincount(PointLaw(4, [0.5] * 4).draw(20_000, seed=1).x, minlength=4)
    assert chisquare(even).pvalue > 1e-4


def test_samples_of_distinct_points_have_the_same_law_under_p_and_its_adversaries():
    f = np.array([0.2, 0.5, 0.9])
    law, counts = PointLaw(3, f), np.zeros((3, 3, 2, 2))
    for seed in range(6000):
        (one, other), (label, second) = law.adversary(seed).draw(2, seed=seed)
        counts[one, other, int(label), int(second)] += 1
    chances = np.array([1 - f, f])
    expected, found = [], []
    for one, other in product(range(3), repeat=2):
        if one != other:
            expected.append(np.outer(chances[:, one], chances[:, other]) / 9)
            found.append(counts[one, other])
        else:
            assert counts[one, one, 0, 1] == counts[one, one, 1, 0] == 0
    expected.append(np.array([1 / 3]))
    found.append(np.array([counts[[0, 1, 2], [0, 1, 2]].sum()]))
    found, expected = (np.concatenate([np.ravel(a) for a in part]) for part in (found, expected))
    assert chisquare(found, 6000 * expected).pvalue > 1e-4


def test_labels_of_points_and_of_adversaries_are_unrelated():
    points = np.arange(100_000)
    law = PointLaw(len(points), lambda x: np.full(len(x), 0.3))
    one, other = (law.adversary(seed).truth(points) for seed in (1, 2))
    allowed = SURE / np.sqrt(len(points))
    assert abs(one.mean() - 0.3) < allowed
    for a, b in ((one[1:], one[:-1]), (one[2:], one[:-2]), (one, other)):
        assert abs(np.corrcoef(a, b)[0, 1]) < allowed


def test_the_condition_at_its_edge():
    for n in (1, 3, 10, 49, 1000):
        edge = 10 * n**2
        laws = [PointLaw(points, lambda x: 0.5 + 0 * x) for points in (edge, edge + 1)]
        assert [law.meets_condition(n) for law in laws] == [False, True]
    even = [PointLaw(points, [0.5] * points, [1 / points] * points) for points in (490, 491)]
    assert [law.meets_condition(7) for law in even] == [False, True]
    assert not PointLaw(500, [0.5] * 500, [0.003] + [0.997 / 499] * 499).meets_condition(7)


def test_the_chance_of_repeats_is_right_and_small_under_the_condition():
    def by_hand(masses, n):
        ways = product(range(len(masses)), repeat=n)
        return sum(np.prod([masses[i] for i in way]) for way in ways if len(set(way)) < n)

    assert PointLaw(5, [0.5] * 5).repeat_bound(3) == pytest.approx(by_hand([0.2] * 5, 3))
    assert PointLaw(5, [0.5] * 5).repeat_bound(6) == 1
    assert PointLaw(5, [0.5] * 5).repeat_bound(1) == 0
    masses = [0.1, 0.1, 0.1, 0.1, 0.1, 0.5]
    bound = PointLaw(6, [0.5] * 6, masses).repeat_bound(2)
    assert bound == pytest.approx(by_hand(masses, 2))  # one pair: nothing is lost
    assert by_hand(masses, 3) < PointLaw(6, [0.5] * 6, masses).repeat_bound(3) <= 1
    for n in (2, 50, 1000):
        assert 0 < PointLaw(10 * n**2 + 1, lambda x: 0.5 + 0 * x).repeat_bound(n) < 1 / 20


def test_a_domain_of_ten_million_points_needs_no_memory():
    law = PointLaw(10**7 + 1, lambda x: 0.1 + 0.8 * x / 10**7)
    assert law.meets_condition(1000)
    tracemalloc.start()
    x, y = law.adversary(seed=1).draw(1000, seed=2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**6
    assert x.max() > 9 * 10**6
    assert 0.4 < y.mean() < 0.6


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
