"""Folds: rows that are counts, dealt out at random."""

from __future__ import annotations

import numpy as np

from calibrant._types import AnyArray, FloatArray

FOLDS = 5


def dealt(counts: AnyArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """Deal rows out to folds of equal size at random: draws without replacement."""
    left, total = counts.copy(), int(counts.sum())
    dealt = np.zeros((folds, len(counts)))
    for fold in range(folds):
        size = total // folds + (fold < total % folds)
        taken = rng.multivariate_hypergeometric(left, size, method="marginals")
        dealt[fold], left = taken, left - taken
    return dealt
