"""Pairs of models on the same rows whose true calibration errors are equal.

Whoever says that one of the two is better calibrated is wrong. Equal errors above 0 are the least
favourable case: an error of 0 has nothing to fall below.
"""

from collections import Counter

import numpy as np
from scipy.stats import binom

import calibrant as cb

DELTA = 0.05


def both_right(rng, rows):
    """True probabilities, and the mean of each fifth of them: no error."""
    p = rng.random(rows)
    return p, p, (np.floor(5 * p) + 0.5) / 5


def either_side(rng, rows):
    """One is 0.05 too high everywhere, one too low: what moves one error moves the other back."""
    p = rng.uniform(0.1, 0.9, rows)
    return p, p + 0.05, p - 0.05


def apart(rng, rows):
    """Each is off by 0.1 on a half of the rows where the other is right: an error of 0.05."""
    p = rng.uniform(0.1, 0.9, rows)
    low = p < 0.5
    return p, np.where(low, p - 0.1, p), np.where(low, p, p + 0.1)


def rare(rng, rows):
    """The same among rare events: an error of 0.004."""
    some = rng.random(rows) < 0.5
    p = np.where(some, 0.01, 0.02)
    return p, np.where(some, p - 0.008, p), np.where(some, p, p - 0.008)


def constant(rng, rows):
    """Scores of 0, and scores twice as high as they should be."""
    return np.full(rows, 0.02), np.zeros(rows), np.full(rows, 0.04)


def certain(rng, rows):
    """Scores of 0 and 1 that are wrong on 5% of the rows, and scores of 0.1 and 0.9."""
    side = rng.random(rows) < 0.5
    return np.where(side, 0.95, 0.05), side * 1.0, np.where(side, 0.9, 0.1)


def unlike(rng, rows):
    """One is off where nothing happens, one where outcomes vary most: an error of 0.018."""
    quiet = rng.random(rows) < 0.9
    p = np.where(quiet, 0.0, 0.5)
    return p, np.where(quiet, 0.02, 0.5), np.where(quiet, 0.0, 0.32)


EQUALLY_WRONG = [both_right, either_side, apart, rare, constant, certain, unlike]


def false_claims(law, rows, times, first_seed=0):
    """Count the samples on which something is said to be proved, or at least to be significant."""
    found = Counter(proved=0, significant=0)
    for seed in range(first_seed, first_seed + times):
        rng = np.random.default_rng(seed)
        p, one, other = law(rng, rows)
        y_true = (rng.random(rows) < p).astype(int)
        [pair] = cb.compare(y_true, {"one": one, "other": other}).differences
        found["proved"] += pair.evidence == "proved"
        found["significant"] += pair.evidence != "none"
    return found


def too_many(claims, times, level=DELTA):
    """Whether so many false claims are next to impossible at this level."""
    return bool(binom.sf(claims - 1, times, level) < 1e-6)
