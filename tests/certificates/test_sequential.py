"""P-values by drawing that stop early: their law, exactly, on designs that would break them."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, nbinom

from calibrant.certificates.sequential import ENOUGH, PValue, drawn_p_value
from reference import brute


def law_of(h, most, q):
    """Return the p-values of at most so many draws, and the chance of each.

    A draw reaches what was observed with probability q: the number of the draw that is the h-th
    to do so is negative binomial.
    """
    last = np.arange(h, most + 1)
    stopped = nbinom.pmf(last - h, h, q)
    few = np.arange(min(h, most + 1))
    rest = binom.pmf(few, most, q)
    return np.concatenate([h / last, (1 + few) / (most + 1)]), np.concatenate([stopped, rest])


def null_law(y_prob):
    """The probabilities of the values of c_emp, in order, by adding up every outcome."""
    chances = {}
    for outcome in itertools.product([0, 1], repeat=len(y_prob)):
        value = round(float(brute.error(outcome, y_prob)), 9)
        chance = math.prod(f if y else 1 - f for y, f in zip(outcome, y_prob, strict=True))
        chances[value] = chances.get(value, 0.0) + chance
    return np.array([chances[value] for value in sorted(chances) if chances[value] > 0])


#: Few values with large steps between them, many small ones, and values that hardly ever come.
DESIGNS = {
    "one score": [0.3] * 8,
    "halves": [0.5] * 7,
    "rare": [0.01] * 6,
    "never": [0.0] * 4,
    "spread": [0.03, 0.11, 0.26, 0.42, 0.58, 0.71, 0.86, 0.97],
    "skewed": [0.002, 0.01, 0.05, 0.2, 0.2, 0.95],
}


def sizes(chances, h, most, law=law_of):
    """P(p <= a) over the draws and the data, and a, for each value a that p can have."""
    reach = np.cumsum(chances[::-1])[::-1].clip(0, 1)  # P(c_emp >= each of its values)
    grid, _ = law(h, most, 0.5)
    size = np.zeros(len(grid))
    for chance, q in zip(chances, reach, strict=True):
        p_value, mass = law(h, most, q)
        size += chance * np.array([mass[p_value <= a + 1e-12].sum() for a in grid])
    return size, grid


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize(("h", "most"), [(1, 9), (3, 10), (3, 60), (20, 199), (5, 4), (40, 60)])
def test_the_size_is_at_most_the_level_for_every_level(name, h, most):
    size, level = sizes(null_law(DESIGNS[name]), h, most)
    assert (size <= level + 1e-12).all()


def test_the_default_holds_its_level_on_every_design():
    for y_prob in DESIGNS.values():
        chances = null_law(y_prob)
        reach = np.cumsum(chances[::-1])[::-1].clip(0, 1)
        for level in (0.05, 0.01, 0.001, 0.0001):
            # p <= level: fewer than h reach it in the draws before the h / level-th, or few in all
            last = math.ceil(ENOUGH / level - 1e-9)
            few = math.floor(level * 10_000 + 1e-9) - 1
            q = binom.cdf(ENOUGH - 1, last - 1, reach)
            if last > 9_999:
                q = binom.cdf(few, 9_999, reach)
            assert float(chances @ q) <= level + 1e-12


def test_the_size_is_the_level_where_nothing_ties():
    """Then q is uniform: the mean of P(fewer than h of l - 1 draws) over it is h / l."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    h, last = 20, np.arange(20, 200)
    chance = binom.cdf(h - 1, last[:, None] - 1, (nodes + 1) / 2)
    assert chance @ weights / 2 == pytest.approx(h / last)


def test_the_size_would_not_hold_for_the_unbiased_estimate():
    """(h - 1) / (l - 1) estimates q without bias, and is too small for a p-value."""

    def unbiased(h, most, q):
        p_value, mass = law_of(h, most, q)
        last = np.arange(h, most + 1)
        return np.concatenate([(h - 1) / (last - 1), p_value[len(last) :]]), mass

    size, level = sizes(null_law(DESIGNS["spread"]), 3, 60, unbiased)
    assert (size > level + 0.01).any()


def test_the_size_would_not_hold_if_a_large_p_value_were_drawn_again():
    """Going on because p lies above the level, and stopping once it does not."""
    level, most, q = 0.05, 2000, np.linspace(0.0005, 0.9995, 1000)
    passed, alive = np.zeros(len(q)), np.zeros((len(q), 102))
    alive[:, 0] = 1.0
    reached = np.arange(102)
    for draw in range(1, most + 1):
        moved = alive * (1 - q[:, None])
        moved[:, 1:] += alive[:, :-1] * q[:, None]
        rejects = (1 + reached) / (draw + 1) <= level
        rejects &= draw >= 199  # a first look, and then one after every draw
        passed += moved[:, rejects].sum(axis=1)
        moved[:, rejects] = 0
        alive = moved
    assert passed.mean() > 1.05 * level


@pytest.mark.parametrize(("h", "most"), [(1, 5), (3, 10), (5, 4), (10, 10)])
def test_every_sequence_of_draws_has_the_p_value_of_the_law(h, most):
    """All 2^N sequences, in batches of several sizes: the law is what the function does."""
    q = 0.3
    p_value, mass = law_of(h, most, q)
    expected = {round(p, 12): mass[np.abs(p_value - p) < 1e-12].sum() for p in p_value}
    found = dict.fromkeys(expected, 0.0)
    for sequence in itertools.product([False, True], repeat=most):
        draws = np.array(sequence)
        cut = sum(sequence) % most
        one = drawn_p_value([draws], h)
        assert drawn_p_value([draws[:cut], draws[cut:]], h) == one
        assert drawn_p_value(draws[:, None], h) == one
        found[round(one.p_value, 12)] += q ** draws.sum() * (1 - q) ** (most - draws.sum())
    assert found == pytest.approx(expected)


def test_draws_after_the_last_one_that_counts_change_nothing():
    asked = []

    def batches():
        for number in range(5):
            asked.append(number)
            yield np.array([False, True, True, True])

    assert drawn_p_value(batches(), 5) == PValue(5 / 7, 7, pytest.approx(5 / 7 * math.sqrt(2 / 35)))
    assert asked == [0, 1]


def test_the_standard_error_is_the_deviation_of_the_p_value():
    for h, most, q in ((100, 9_999, 0.3), (100, 9_999, 0.05), (100, 9_999, 0.002)):
        p_value, mass = law_of(h, most, q)
        deviation = math.sqrt(mass @ p_value**2 - (mass @ p_value) ** 2)
        draws = np.zeros(most, dtype=bool)
        draws[np.linspace(0, most - 1, round(q * most)).astype(int)] = True
        assert drawn_p_value([draws]).error == pytest.approx(deviation, rel=0.12)
