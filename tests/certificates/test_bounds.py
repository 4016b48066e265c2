"""The formulas: known tables to the printed digits, brute force, and order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from calibrant.certificates import bounds
from calibrant.certificates.brownian import MEAN_RANGE, range_quantile
from calibrant.certificates.evidence import Evidence
from calibrant.certificates.specification import METHODS, formula
from calibrant.certificates.tails import chernoff, worst_tail

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
