"""Clusters whose rows share their fate: the guarantee holds, and rows taken as independent fail."""

import numpy as np
import pytest

import calibrant as cb
from validity.simulation import too_many


def patients(clusters, seed, tied_size):
    """Scores uniform in [0.3, 0.7]; all rows of a cluster are off by the same +-0.25.

    With `tied_size` the clusters off upwards have 1 row and the others 4, so that the two
    estimands differ: per cluster the errors cancel, per row they do not.
    """
    rng = np.random.default_rng(seed)
    off = rng.choice([-0.25, 0.25], clusters)
    rows = np.where(off > 0, 1, 4) if tied_size else rng.integers(1, 5, clusters)
    who = np.repeat(np.arange(clusters), rows)
    score = 0.3 + 0.4 * rng.random(clusters)[who]
    return rng.random(len(who)) < score + off[who], score, who


def truth(estimand, tied_size):
    if estimand == "cluster" or not tied_size:
        return 0.0
    return 0.25 * (4 - 1) / (4 + 1)


@pytest.mark.parametrize("tied_size", [False, True])
@pytest.mark.parametrize("estimand", ["row", "cluster"])
@pytest.mark.parametrize("method", ["certified", "betting"])
@pytest.mark.parametrize(
    ("clusters", "times"),
    [(2, 60), (100, 60), pytest.param(400, 600, marks=pytest.mark.validity)],
)
def test_the_promise_holds(estimand, method, tied_size, clusters, times):
    size = {"max_cluster_size": 4} if estimand == "row" else {}
    missed = 0
    for seed in range(times):
        y_true, score, who = patients(clusters, seed, tied_size)
        data = cb.Predictions(y_true, score, clusters=who)
        data.warnings = ()  # a single class, now and then
        found = cb.certify(data, method=method, estimand=estimand, **size)
        missed += truth(estimand, tied_size) > found.upper + 1e-12
    assert not too_many(missed, times)


def test_rows_taken_as_independent_break_it():
    """Clusters of ten that all see the same outcome are ten times fewer than they seem."""
    missed = kept = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        outcome = rng.random(60) < 0.7
        y_true, who = np.repeat(outcome, 10), np.repeat(np.arange(60), 10)
        score = np.full(600, 0.5)
        missed += cb.certify(y_true, score).upper < 0.2
        kept += cb.certify(y_true, score, clusters=who, estimand="cluster").upper < 0.2
    assert too_many(missed, 200)
    assert not too_many(kept, 200)


def test_groups_hold_all_at_once():
    times, missed = 80, 0
    for seed in range(times):
        rng = np.random.default_rng(seed)
        score = rng.random(1000)
        groups = rng.integers(0, 10, 1000)
        y_true = rng.random(1000) < np.clip(score + 0.05, 0, 1)
        found = cb.certify_many(y_true, score, groups=groups)
        # E min(0.05, 1 - f) for f uniform
        true_error = 0.05 - 0.05**2 / 2
        missed += any(one.upper < true_error for one in found.values())
    assert not too_many(missed, times)
