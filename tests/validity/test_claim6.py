"""Claim 6: isotonic regression adds up to the truth along all thresholds, within its bound."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.certificates.complexity import of_scores
from validity.simulation import too_many

DELTA = 0.05
#: Scores at which the population is summed up: they are uniform, so that F(t) = t.
GRID = (np.arange(20_000) + 0.5) / 20_000
TRUTHS = {
    "calibrated": lambda t: t,
    "squared": lambda t: t**2,
    "steps": lambda t: np.where(t < 0.3, 0.1, np.where(t < 0.7, 0.4, 0.95)),
    "falling": lambda t: 1 - t,
    "wavy": lambda t: (t + 0.2 * np.sin(20 * t)).clip(0, 1),
}


def minorant(values):
    """Return the greatest convex minorant of values at 0, 1, 2, ..., by its lower hull."""
    hull = []
    for point in enumerate(values.tolist()):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (y1 - y0) * (point[0] - x1) < (point[1] - y1) * (x1 - x0):
                break
            hull.pop()
        hull.append(point)
    return np.interp(np.arange(len(values)), *zip(*hull, strict=True))


def distances(truth, n, times):
    """Return sup over t of |G_e(t) - cv(F(t))| for isotonic regression on n rows, often."""
    goal = minorant(np.append(0, np.cumsum(truth(GRID)) / len(GRID)))[1:]
    found = []
    for seed in range(times):
        rng = np.random.default_rng([seed, n])
        scores = rng.random(n)
        calibrator = cb.IsotonicCalibrator().fit(scores, rng.random(n) < truth(scores))
        added = np.cumsum(calibrator.predict(GRID)) / len(GRID)
        found.append(float(np.abs(added - goal).max()))
    return np.array(found)


def bound(n):
    """Return the claim's 2 eps, with the eps that the proof of Theorem 2 supports."""
    return 2 * of_scores(np.linspace(0, 1, n)).width(1 - DELTA, reading="proved")


@pytest.mark.parametrize("name", TRUTHS)
def test_the_distance_stays_within_the_bound_and_falls(name):
    few, many = (distances(TRUTHS[name], n, 40) for n in (300, 4800))
    for n, found in ((300, few), (4800, many)):
        assert not too_many(int((found > bound(n)).sum()), len(found), 5 * DELTA)
    # the distance falls as the root of n does, a quarter at 16 times the rows
    assert np.median(many) < 0.4 * np.median(few)
    # the bound is loose, and would be broken if it were 20 times smaller
    assert np.median(few) > bound(300) / 100
    assert (few > bound(300) / 100).mean() > 0.5


def test_a_minorant_by_hand():
    assert minorant(np.array([0.0, 1.0, 1.0])).tolist() == [0.0, 0.5, 1.0]
    assert minorant(np.array([0.0, 0.0, 1.0, 3.0])).tolist() == [0.0, 0.0, 1.0, 3.0]
