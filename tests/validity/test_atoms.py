"""One atom: c_emp is |k / n - f|, so that coverage is a binomial sum and nothing is simulated."""

import numpy as np
import pytest
from scipy.stats import binom

from calibrant.certificates import bounds
from calibrant.certificates.evidence import Evidence

SCORES = (0.0, 0.01, 0.2, 0.5, 0.97, 1.0)
RATES = np.unique(np.concatenate([np.linspace(0, 1, 41), [0.001, 0.004, 0.01, 0.99]]))
METHODS = {
    "certified": (bounds.certified, "upper"),
    "certified, both": (bounds.certified, "both"),
    "band": (bounds.band, "both"),
    "fixed_design": (bounds.fixed_design, "both"),
}


def coverage(n, score, method, sided, delta):
    """The chance that the interval holds |rate - score|, for every rate."""
    k = np.arange(n + 1)
    ends = []
    for events in k:
        c_emp = abs(events / n - score)
        brier = (events * (1 - score) ** 2 + (n - events) * score**2) / n
        evidence = Evidence(n, c_emp, c_emp, score * (1 - score), brier)
        bound = method(evidence, delta, sided)
        ends.append((bound.lower, bound.upper))
    lower, upper = np.array(ends).T
    truth = np.abs(RATES - score)[:, None]
    holds = (lower - 1e-12 <= truth) & (truth <= upper + 1e-12)
    return (binom.pmf(k, n, RATES[:, None]) * holds).sum(axis=1)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n", [1, 2, 5, 20, 50, pytest.param(200, marks=pytest.mark.validity)])
def test_coverage_is_never_under_nominal(n, name):
    for score in SCORES:
        for delta in (0.05, 0.2):
            found = coverage(n, score, *METHODS[name], delta)
            assert found.min() >= 1 - delta - 1e-9, (score, RATES[found.argmin()])


@pytest.mark.validity
def test_coverage_of_certified_for_a_thousand_rows():
    for score in SCORES:
        found = coverage(1000, score, *METHODS["certified"], 0.05)
        assert found.min() >= 0.95 - 1e-9


def test_a_narrower_bound_would_fall_short():
    """The sum can fail: six tenths of the width are not enough somewhere."""

    def narrow(evidence, delta, sided):
        bound = bounds.certified(evidence, delta, sided)
        width = 0.6 * (bound.upper - evidence.c_emp)
        return bounds.Bound(0.0, evidence.c_emp + width, bound.assumptions, bound.theorem)

    lowest = min(coverage(50, score, narrow, "upper", 0.05).min() for score in SCORES)
    assert lowest < 0.95
