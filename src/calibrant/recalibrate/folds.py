"""Folds: rows that are counts, dealt out at random."""

from __future__ import annotations

import numpy as np

from calibrant._types import AnyArray, FloatArray

FOLDS = 5
#: numpy draws without replacement from fewer than this.
_MOST_DEALT = 10**9


def dealt(counts: AnyArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """Deal rows out to folds of equal size at random: draws without replacement."""
    total = int(counts.sum())
    if total >= _MOST_DEALT:  # so many that chance makes no difference but for the last few
        even = counts // folds
        rest = np.stack([rng.multinomial(left, [1 / folds] * folds) for left in counts % folds])
        return (even + rest.T).astype(np.float64)
    left = counts.copy()
    dealt = np.zeros((folds, len(counts)))
    for fold in range(folds):
        size = total // folds + (fold < total % folds)
        taken = rng.multivariate_hypergeometric(left, size, method="marginals")
        dealt[fold], left = taken, left - taken
    return dealt
