"""Tails of means: the least of three constants, and suprema that are reached."""

import math
from fractions import Fraction

import numpy as np
import pytest

from calibrant.certificates import bounds
from calibrant.certificates.tails import berry_esseen, chernoff, mean_at_most, worst_tail


def dense_tail(n, t, bound, variance, cells=400_000):
    """The sup over variances by looking at very many of them: a lower bound, almost tight."""
    s2 = variance * np.exp(np.linspace(-25, 0, cells))
    s = np.sqrt(s2)
    return np.minimum(chernoff(n, t, bound, s2), berry_esseen(n, t, bound, s, s)).max()


@pytest.mark.parametrize("n", [5, 50, 1000, 10**5])
@pytest.mark.parametrize("variance", [0.25, 0.01, 1e-5])
def test_the_worst_tail_is_the_sup_over_variances_and_never_less(n, variance):
    for level in (0.2, 0.05, 1e-4):
        deviation = math.sqrt(variance / n)
        t = min(0.9, deviation * math.sqrt(2 * math.log(1 / level)))
        dense = dense_tail(n, t, 1.1, variance)
        found = worst_tail(n, t, 1.1, variance)
        assert dense <= found * (1 + 1e-12)
        assert found == pytest.approx(dense, rel=2e-3)


def test_chernoff_is_the_divergence_of_two_coins():
    n, t, b, s2 = 40, 0.1, 1.2, 0.2
    low, high = s2 / (b * b + s2), (s2 + t * b) / (b * b + s2)
    divergence = high * math.log(high / low) + (1 - high) * math.log((1 - high) / (1 - low))
    assert chernoff(n, t, b, np.array([s2]))[0] == pytest.approx(math.exp(-n * divergence))
    assert chernoff(n, 1.2, b, np.array([s2]))[0] == 0


def test_berry_esseen_takes_the_least_of_three_constants():
    def constant(rho):
        s = np.array([1 / rho])
        return berry_esseen(1, 0.0, 1.0, s, s)[0] - 0.5

    for rho in (1.0, 1.5, 10.0):
        best = min(0.4690 * rho, 0.3322 * (rho + 0.429), 0.3031 * (rho + 0.646))
        assert constant(rho) == pytest.approx(best)


def test_the_chance_of_the_exact_poisson_number():
    for n in (1, 2, 7, 99, 100, 150):
        exact = 1 - Fraction(n) ** n / math.factorial(n) * Fraction(math.exp(-n))
        assert bounds.poisson_gap(n) == pytest.approx(float(exact), rel=1e-12)
    gaps = [bounds.poisson_gap(n) for n in (1, 10, 99, 100, 10**6, 10**15)]
    assert gaps == sorted(gaps)


def test_a_mean_is_bounded_by_the_root_of_its_quadratic():
    v = mean_at_most(0.1, 100, 0.25, 0.01)
    assert v - math.sqrt(2 * v * 0.25 * math.log(100) / 100) == pytest.approx(0.1)
    assert mean_at_most(0.24, 10, 0.25, 0.01) == 0.25
