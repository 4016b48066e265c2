"""Guarantees against laws whose truth is known, at every number of rows."""

import math

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import binom

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.betting import betting
from calibrant.certificates.evidence import Counts, Evidence, counts_of
from calibrant.certificates.testing import suited_test
from calibrant.simulate import calibrated, constant, laws, overconfident, wavy
from reference.sorted_path import sorted_error
from validity.simulation import drawn, misses, too_many

LAWS = pytest.mark.parametrize("law", laws(), ids=str)
#: rows: samples drawn, in the short version and in the long one.
FEW = {1: 40, 5: 40, 50: 40, 200: 30, 1000: 15}
MANY = {1: 600, 5: 600, 50: 600, 200: 600, 1000: 600, 10_000: 150}


def check_misses(law, rows, times):
    found = misses(law, rows, times)
    broken = {name: count for name, count in found.items() if too_many(count, times)}
    assert not broken, f"{law}, {rows} rows, {times} samples"


@LAWS
def test_proved_bounds_hold(law):
    for rows, times in FEW.items():
        check_misses(law, rows, times)


@pytest.mark.validity
@LAWS
@pytest.mark.parametrize("rows", MANY)
def test_proved_bounds_hold_in_long_runs(law, rows):
    check_misses(law, rows, MANY[rows])


def test_a_bound_that_is_too_small_is_caught():
    """The count can fail: a normal limit without the search over intervals would not pass."""
    law, rows, times = constant(0.0, 0.01), 200, 300
    missed = 0
    for seed in range(times):
        evidence = drawn(law, rows, seed)[1]
        wald = evidence.c_emp + 1.645 * math.sqrt(evidence.brier / rows)
        missed += law.calibration_error > wald
    assert too_many(missed, times)


def seeded_bound(counts, c_emp, delta, seed):
    """Bet on rows in an order drawn with a seed, each bet sized by the rows before it."""
    pairs = np.stack([counts.rows - counts.positives, counts.positives], axis=1).ravel()
    z = np.repeat(np.tile([0.0, 1.0], len(counts.score)) - np.repeat(counts.score, 2), pairs)
    n, goal = len(z), math.log(1 / delta)
    order = np.random.default_rng(seed).permutation(n)
    seen = 0.25 + np.append(0, np.cumsum(z[order] ** 2)[:-1])
    bet = np.empty(n)
    bet[order] = np.minimum(np.sqrt(2 * goal / (n * seen / np.arange(1, n + 1))), 0.9)
    low, high = c_emp, 1.0
    while high - low > 1e-9:
        m = (low + high) / 2
        passed = np.log1p(bet * (m - z)).sum() >= goal and np.log1p(bet * m).sum() >= goal
        low, high = (low, m) if passed else (m, high)
    return high


def test_an_order_drawn_with_a_fixed_seed_is_caught():
    """With the seed fixed, the order is a function of the data: the sum over k shows it."""
    n, rate = 2059, 0.0032951
    k = np.arange(20)
    counts = [Counts(np.zeros(1), np.array([n]), np.array([events])) for events in k]
    fixed = [seeded_bound(one, e / n, 0.05, 0) for one, e in zip(counts, k, strict=True)]
    mixed = [betting(one, e / n, 0.05).upper for one, e in zip(counts, k, strict=True)]
    chance = binom.pmf(k, n, rate)
    assert chance[np.array(fixed) < rate].sum() == pytest.approx(0.193, abs=1e-3)
    assert chance[np.array(mixed) < rate].sum() <= 0.05


def asymptotic_misses(law, rows, times):
    both = upper = 0
    for seed in range(times):
        diagram, evidence, _ = drawn(law, rows, seed)
        p_value = suited_test(diagram, evidence, 999, seed).p_value
        bound = bounds.asymptotic(evidence, 0.05, "both", p_value=p_value)
        both += not bound.lower - 1e-12 <= law.calibration_error <= bound.upper + 1e-12
        one_sided = bounds.asymptotic(evidence, 0.05).upper
        upper += law.calibration_error > one_sided + 1e-12
    return both, upper


@LAWS
def test_the_asymptotic_interval_covers_as_often_as_it_says(law):
    both, upper = asymptotic_misses(law, 200, 60)
    assert not too_many(both, 60, 0.038)
    assert not too_many(upper, 60, 0.058)


def asymptotic_worst(n, score, expected=0.0):
    """The worst miss at 95% over rates with so many rows of either outcome expected, exactly."""
    k = np.arange(n + 1)
    v0 = score * (1 - score)
    gap = np.abs(k / n - score)
    uppers = np.array([bounds.asymptotic(Evidence(n, c, c, v0, c), 0.05).upper for c in gap])
    # a rate just above the bound of k events is missed by k events and fewer
    above, below = score + uppers, score - uppers
    worst = 0.0
    for rate, chance in (
        (above, binom.cdf(k, n, np.minimum(above, 1))),
        (below, binom.sf(k - 1, n, np.maximum(below, 0))),
    ):
        counts = (rate > 0) & (rate < 1) & (n * np.minimum(rate, 1 - rate) >= expected)
        worst = max(worst, chance[counts].max(initial=0))
    return worst


def test_the_worst_case_known_of_the_asymptotic_bound():
    """Scores of 0 where nearly every row is an event: exact binomial sums, as documented."""
    for n, documented in ((1, 0.0728), (5, 0.0676), (50, 0.0686), (1000, 0.0687)):
        assert asymptotic_worst(n, 0.0) == pytest.approx(documented, abs=5e-4)
        assert all(asymptotic_worst(n, score) <= 0.073 for score in (0.001, 0.01, 0.5))
    words = bounds.asymptotic.__doc__
    assert "missed by 7.3% of samples" in words
    assert "stays at 6.9% however many rows" in words
    assert "as soon as five rows of either outcome are expected" in " ".join(words.split())


@pytest.mark.parametrize("n", [10, 20, 50, 200, 2000])
def test_the_asymptotic_bound_with_five_rows_of_either_outcome(n):
    for score in (0.0, 0.001, 0.01, 0.1, 0.5, 0.9):
        assert asymptotic_worst(n, score, expected=5) <= 0.06


@pytest.mark.validity
@LAWS
@pytest.mark.parametrize(("rows", "times"), [(200, 600), (1000, 400), (10_000, 120)])
def test_the_asymptotic_interval_in_long_runs(law, rows, times):
    both, upper = asymptotic_misses(law, rows, times)
    assert not too_many(both, times, 0.038)
    assert not too_many(upper, times, 0.058)


def isotonic_errors(law, rows, times):
    """The true error of isotonic regression on the rows it was fitted on, and its bound."""
    population = law.draw(200_000, seed=10**6)
    for seed in range(times):
        y_true, y_prob, _ = law.draw(rows, seed=seed)
        scores, which, weight = np.unique(y_prob, return_inverse=True, return_counts=True)
        rate = np.bincount(which, y_true) / weight
        fit = isotonic_regression(rate, weights=weight.astype(float)).x
        own = cb.audit(y_true, fit[which], method="isotonic")
        assert own.calibration_error < 1e-9
        place = np.clip(np.searchsorted(scores, population.y_prob), 0, len(scores) - 1)
        truth = sorted_error(population.true_prob, fit[place])[0]
        yield truth, own.certificate.upper


@pytest.mark.validity
@pytest.mark.parametrize("law", [calibrated(), wavy(), overconfident()], ids=str)
def test_isotonic_on_its_own_rows(law):
    found = np.array(list(isotonic_errors(law, 500, 20)))
    assert (found[:, 0] <= found[:, 1]).all()
    # the bound is far from tight, so a holdout is better advice
    assert np.quantile(found[:, 0], 0.95) * math.sqrt(500) < 1.5


def oracle_width(law, rows):
    """1.645 deviations of the mean at the population's worst interval, which nobody knows."""
    population = law.draw(200_000, seed=10**6)
    inside = np.ones(200_000, dtype=bool)
    if law.calibration_error > 1e-9:
        _, p1, p2 = sorted_error(population.true_prob, population.y_prob)
        low = -1.0 if p1 is None else p1
        inside = (population.y_prob > low) & (population.y_prob <= p2)
    gap = population.true_prob - population.y_prob
    square = gap**2 + population.true_prob * (1 - population.true_prob)
    variance = (inside * square).mean() - (inside * gap).mean() ** 2
    return 1.645 * math.sqrt(variance / rows)


@pytest.mark.validity
@LAWS
def test_no_bound_is_shorter_than_the_oracle_on_average(law):
    rows, times = 1000, 12
    widths = {"certified": [], "betting": [], "band": []}
    for seed in range(times):
        diagram, evidence, _ = drawn(law, rows, seed)
        bound = {
            "certified": bounds.certified(evidence, 0.05),
            "betting": betting(counts_of(diagram, "a bet"), evidence.c_emp, 0.05),
            "band": bounds.band(evidence, 0.05),
        }
        for name, one in bound.items():
            widths[name].append(one.upper - evidence.c_emp)
    for name, each in widths.items():
        assert np.mean(each) >= oracle_width(law, rows), name
