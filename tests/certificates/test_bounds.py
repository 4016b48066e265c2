"""The formulas: known tables to the printed digits, brute force, and order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.optimize import brentq

from calibrant.certificates import bounds
from calibrant.certificates.brownian import MEAN_RANGE, range_quantile, range_tail
from calibrant.certificates.evidence import Evidence
from calibrant.certificates.specification import METHODS, formula
from calibrant.certificates.tails import berry_esseen, chernoff, mean_at_most, worst_tail
from reference import published

FORMULAS = [method for method in METHODS if method not in {"auto", "betting"}]


def evidence(n, c_emp=0.0, v0=0.25, brier=None):
    return Evidence(n, c_emp, c_emp, v0, v0 if brier is None else brier)


#: Widths at delta = 0.05, V = v0 = 1/4, c -> 0, for n = 1e3, 1e4, 1e5, 1e6.
WIDTHS = {
    "paper, printed": (".281", ".0888", ".0281", ".0089"),
    "paper, proof": (".360", ".1139", ".0360", ".0114"),
    "band": (".0544", ".0167", ".0052", ".0016"),
    "fixed design": (".0468", ".0148", ".0047", ".0015"),
    "Hoeffding": (".0774", ".0245", ".0077", ".0024"),
    "Chernoff": (".0394", ".0123", ".0039", ".0012"),
    "Chernoff + Berry-Esseen": (".0311", ".0086", ".0026", ".00083"),
    "oracle, upper": (".0260", ".0082", ".0026", ".00082"),
    "oracle, range": (".0395", ".0125", ".0040", ".00125"),
}
QUARTER = np.array([0.25])


def width(name, n):
    return {
        "paper, printed": lambda: bounds.gao2017_width(n, 0.05, printed=True),
        "paper, proof": lambda: bounds.gao2017_width(n, 0.05),
        "band": lambda: bounds.known_band_width(n, 0.25, 0.05),
        "fixed design": lambda: bounds.fixed_design_width(n, 0.05),
        "Hoeffding": lambda: math.sqrt(2 * math.log(20) / n),
        "Chernoff": lambda: brentq(lambda t: chernoff(n, t, 1, QUARTER)[0] - 0.05, 1e-6, 0.9),
        "Chernoff + Berry-Esseen": lambda: brentq(
            lambda t: worst_tail(n, t, 1, 0.25) - 0.05, 1e-6, 0.9
        ),
        "oracle, upper": lambda: 1.6449 * 0.5 / math.sqrt(n),
        "oracle, range": lambda: range_quantile(0.05) * 0.5 / math.sqrt(n),
    }[name]()


@pytest.mark.parametrize("name", WIDTHS)
def test_widths_are_those_of_the_table(name):
    for n, printed in zip((10**3, 10**4, 10**5, 10**6), WIDTHS[name], strict=True):
        digit = 10.0 ** -len(printed.split(".")[1])
        assert width(name, n) == pytest.approx(float(printed), abs=0.51 * digit), n


def test_the_full_width_for_uniform_scores():
    for n, printed in ((10**4, 0.0077), (10**5, 0.0022), (10**6, 0.0007)):
        c_emp = MEAN_RANGE * math.sqrt(1 / 6 / n)
        found = bounds.certified(evidence(n, c_emp, 1 / 6), 0.05).upper - c_emp
        assert found == pytest.approx(printed, abs=5e-5)


def test_tiny_samples():
    for n, printed in ((1, 0.9989), (2, 0.976), (5, 0.839)):
        assert bounds.certified(evidence(n), 0.05).upper == pytest.approx(printed, abs=5e-4)


def test_isotonic_on_its_own_rows():
    u = math.log(8 * math.e / 0.05)
    assert 2 * math.sqrt(u) == pytest.approx(4.93, abs=0.005)
    assert bounds.isotonic_width(2000, 0.05) * math.sqrt(2000) == pytest.approx(5.07, abs=0.005)


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


def test_the_asymptotic_bound_solves_its_equation():
    z2 = 1.6448536269514722**2
    for n, c_emp, v0 in ((100, 0.05, 0.2), (10_000, 0.3, 0.1), (50, 0.9, 0.0)):
        c = bounds.asymptotic(evidence(n, c_emp, v0), 0.05).upper
        center = c_emp + 1 / (2 * n)
        assert (c - center) ** 2 == pytest.approx(z2 * (v0 + c - c * c) / n)
    assert bounds.asymptotic(evidence(30, 1.0, 0.0, 1.0), 0.05).upper == 1.0


def test_the_asymptotic_lower_end_waits_for_the_test():
    sure = evidence(1000, 0.1, 0.25)
    rejected = bounds.asymptotic(sure, 0.05, "both", p_value=0.001)
    assert rejected.lower == pytest.approx(0.1 - 2.734 * 0.5 / math.sqrt(1000), abs=1e-4)
    assert bounds.asymptotic(sure, 0.05, "both", p_value=0.03).lower == 0
    assert bounds.asymptotic(sure, 0.05).lower == 0


@pytest.mark.parametrize("method", FORMULAS)
@given(
    n=st.integers(1, 10**7),
    c_emp=st.floats(0, 1),
    v0=st.floats(0, 0.25),
    delta=st.floats(1e-9, 0.6),
)
def test_every_bound_is_in_order(method, n, c_emp, v0, delta):
    one = evidence(n, c_emp, v0, min(1.0, v0 + c_emp))
    for sided in ("upper", "both"):
        bound = formula(method)(one, delta, sided)
        assert 0 <= bound.lower <= c_emp <= bound.upper <= 1
        surer = formula(method)(one, delta / 3, sided)
        assert surer.lower <= bound.lower + 1e-12
        assert surer.upper >= bound.upper - 1e-12
        assert bound.assumptions
        assert bound.theorem
    more = formula(method)(evidence(4 * n, c_emp, v0, one.brier), delta, "upper")
    assert more.upper <= formula(method)(one, delta, "upper").upper + 1e-9


def test_larger_errors_and_variances_give_larger_bounds():
    grid = np.linspace(0, 0.9, 10)
    for n in (10, 300, 10**5):
        uppers = [bounds.certified(evidence(n, c, 0.1), 0.05).upper for c in grid]
        assert uppers == sorted(uppers)
        by_variance = [bounds.certified(evidence(n, 0.02, v), 0.05).upper for v in grid[:4] / 4]
        assert by_variance == sorted(by_variance)


def test_the_tail_that_certified_inverts_falls_with_the_candidate():
    for n in (3, 40, 1000):
        for c_emp, v0 in ((0.0, 0.02), (0.2, 0.25)):
            grid = np.linspace(c_emp + 1e-6, 1, 300)
            tails = [
                worst_tail(n, c - c_emp, 1 + c, min(1 - c * c, v0 + c * (1 - c))) for c in grid
            ]
            assert (np.diff(tails) <= 2e-3 * np.array(tails[:-1]) + 1e-12).all()


def test_the_range_of_brownian_motion():
    assert range_tail(0.0) == 1
    for r, below in published.RANGE_CDF:
        assert 1 - range_tail(r) == pytest.approx(below, abs=5e-7)
    for r, above in published.RANGE_TAIL:
        assert range_tail(r) == pytest.approx(above, rel=0.02)
    assert range_quantile(0.05) == pytest.approx(2.498, abs=5e-4)
    assert range_quantile(0.025) == pytest.approx(2.734, abs=5e-4)
    # the two series meet
    assert range_tail(1.5 - 1e-9) == pytest.approx(range_tail(1.5), abs=1e-8)
    r = np.linspace(0.01, 6, 2000)
    tails = np.array([range_tail(x) for x in r])
    assert (np.diff(tails) <= 1e-15).all()
    assert tails[0] == 1
    # the mean is the integral of the tail
    assert trapezoid(tails, r) + 0.01 == pytest.approx(MEAN_RANGE, abs=1e-6)
    # far out the first term is all: 8 times the normal tail, to its last digits
    assert range_tail(36.0) == pytest.approx(8 * 4.182624065797386e-284, rel=1e-6)
    assert 0 < range_tail(37.0) < 1e-298
