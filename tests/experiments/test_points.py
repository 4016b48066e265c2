"""Point laws and their adversaries: the same marginals, and labels that never change."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from calibrant.experiments import points as domain
from calibrant.experiments.points import PointLaw
from reference.points import FEW_ATOMS, LAW, POINTS, SURE, N


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
