"""Intervals of ratio, slope and intercept where the logistic form is wrong, against the truth.

A law has a few scores, each with its mass and its rate of events. A sample is then a row for each
score and outcome, with its count as weight, and the truth is the same estimate on the law itself.
"""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import beta, binom, binomtest, norm

import calibrant as cb
from calibrant.core.diagram import Diagram
from calibrant.core.statistic import values_of
from calibrant.measures.clinical import Estimate, logistic, ratio
from validity.simulation import too_many

SCORES = (np.arange(40) + 0.5) / 40
SHARP = expit(norm.ppf(SCORES) * 4)
RARE = beta(0.5, 9.5).ppf(SCORES)
#: Scores, their masses (None: equal) and their rates; the logistic form is wrong in all of them.
LAWS = {
    "wavy": (SCORES, None, (SCORES + 0.25 * np.sin(4 * np.pi * SCORES)).clip(0.01, 0.99)),
    "squared": (SCORES, None, SCORES**2),
    "a step": (SCORES, None, np.where(SCORES < 0.5, 0.2, 0.7)),
    "far too sure": (SHARP, None, 0.1 + 0.8 * expit(logit(SHARP) / 3)),
    "reversed": (np.array([0.01, 0.5, 0.99]), None, np.array([0.9, 0.2, 0.3])),
    "some far out": (
        np.array([0.0001, 0.05, 0.95, 0.9999]),
        np.array([0.05, 0.45, 0.45, 0.05]),
        np.array([0.5, 0.01, 0.99, 0.5]),
    ),
    "rare": (RARE, None, np.where(RARE < 0.2, 0.02, 0.8)),
    "a forest": (
        np.array([0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999]),
        np.array([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2]),
        np.array([0.05, 0.12, 0.3, 0.5, 0.65, 0.8, 0.93]),
    ),
}
NAMES = ("ratio", "slope", "intercept")


def masses(law):
    return np.full(len(law[0]), 1 / len(law[0])) if law[1] is None else law[1]


def truth(law):
    """The ratio, slope and intercept of the law itself."""
    score, _, rate = law
    mass, odds = masses(law), logit(score)

    def left(a, b):
        return mass * (rate - expit(a + b * odds))

    def level(b):
        return brentq(lambda a: left(a, b).sum(), -500, 500, xtol=1e-13)

    slope = brentq(lambda b: (left(level(b), b) * odds).sum(), -20, 20, xtol=1e-13)
    return {"ratio": mass @ rate / (mass @ score), "slope": slope, "intercept": level(1.0)}


def drawn(law, rows, rng):
    """A sample: labels, scores and how often each of them is there."""
    score, _, rate = law
    count = rng.multinomial(rows, masses(law))
    events = rng.binomial(count, rate)
    weight = np.concatenate([events, count - events])
    kept = weight > 0
    return np.repeat([1, 0], len(score))[kept], np.tile(score, 2)[kept], weight[kept]


def estimates(law, rows, rng):
    """Ratio, slope and intercept of a sample, those that there are."""
    label, score, weight = drawn(law, rows, rng)
    data = cb.Predictions(label, score, sample_weight=weight)
    diagram = Diagram(*data.source.start())
    statistics = ratio(0.95), logistic(0.95, None, "slope", "intercept")
    observed_expected, fitted = values_of(data.source, diagram, *statistics)
    return {"ratio": observed_expected, **fitted}


def missed(law, rows, times, seed=0):
    """Of how many intervals each, how many miss the truth."""
    rng, true = np.random.default_rng(seed), truth(law)
    found = [estimates(law, rows, rng) for _ in range(times)]
    counts = {}
    for name in NAMES:
        each = [one[name] for one in found if isinstance(one[name], Estimate)]
        misses = sum(not one.lower <= true[name] <= one.upper for one in each)
        counts[name] = (misses, len(each))
    return counts


def check(law, rows, times, delta=0.06):
    for name, (misses, known) in missed(law, rows, times).items():
        assert known > 0.9 * times, name
        assert not too_many(misses, known, delta), (name, misses, known)


@pytest.mark.parametrize("name", LAWS)
def test_intervals_cover_where_the_form_is_wrong(name):
    check(LAWS[name], 400, 120)


@pytest.mark.validity
@pytest.mark.parametrize("rows", [200, 2000, 20_000])
@pytest.mark.parametrize("name", LAWS)
def test_intervals_cover_in_long_runs(name, rows):
    check(LAWS[name], rows, 3000)


def own_width(label, score, weight, slope):
    """1.96 deviations of the slope if the logistic form were right."""
    odds = logit(score)

    def mean(a):
        return expit(a + slope * odds)

    level = brentq(lambda a: (weight * (label - mean(a))).sum(), -500, 500)
    spread = weight * mean(level) * (1 - mean(level))
    x = np.column_stack([np.ones(len(odds)), odds])
    return 1.96 * np.sqrt(np.linalg.inv(x.T @ (x * spread[:, None]))[1, 1])


def test_the_model_own_limits_are_caught():
    """The count can fail: limits that take the logistic form for right are too narrow."""
    law, times, rng = LAWS["rare"], 100, np.random.default_rng(0)
    misses = 0
    for _ in range(times):
        label, score, weight = drawn(law, 2000, rng)
        slope = cb.calibration_slope(label, score, sample_weight=weight).value
        misses += abs(slope - truth(law)["slope"]) > own_width(label, score, weight, slope)
    assert too_many(misses, times)


def test_limits_given_the_scores_are_caught():
    """The count can fail: Clopper and Pearson's limits take the mean score for known."""
    law, times = (np.array([0.01, 0.99]), None, np.array([0.99, 0.01])), 200
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(times):
        label, score, weight = drawn(law, 2000, rng)
        exact = binomtest(int(weight @ label), 2000).proportion_ci(0.95, method="exact")
        mean = weight @ score / 2000
        misses += not exact.low / mean <= truth(law)["ratio"] <= exact.high / mean
    assert too_many(misses, times)
    found = [estimates(law, 2000, rng)["ratio"] for _ in range(times)]
    assert not too_many(sum(not one.lower <= 1 <= one.upper for one in found), times, 0.06)


@pytest.mark.parametrize("rows", [30, 200, pytest.param(1000, marks=pytest.mark.validity)])
def test_the_ratio_of_one_score_covers_everywhere(rows):
    """Coverage is a binomial sum, least just beyond an end of one of the intervals."""
    events = np.arange(rows + 1)
    ends = []
    for k in events:
        weight = np.array([k, rows - k])
        kept = weight > 0
        data = cb.Predictions(
            np.array([1, 0])[kept], np.full(kept.sum(), 0.3), sample_weight=weight[kept]
        )
        [found] = values_of(data.source, Diagram(*data.source.start()), ratio(0.95))
        ends.append((0.3 * found.lower, 0.3 * found.upper))
    lower, upper = np.array(ends).T
    rates = np.concatenate([lower * (1 - 1e-9), upper * (1 + 1e-9)])
    rates = rates[(rates > 0) & (rates < 1)]
    holds = (lower <= rates[:, None]) & (rates[:, None] <= upper)
    covered = (binom.pmf(events, rows, rates[:, None]) * holds).sum(axis=1)
    assert covered.min() >= 0.942
