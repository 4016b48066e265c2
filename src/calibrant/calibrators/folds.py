"""Folds: rows that are counts, dealt out at random."""

from __future__ import annotations

import numpy as np

from calibrant._types import AnyArray, FloatArray
from calibrant.errors import InputError

FOLDS = 5
#: Up to so many rows, folds are dealt to rows in order of score: if scores differ in their last
#: digits, as between processors, so does the fold of those rows alone that change places.
_FEW_ROWS = 1 << 17
#: numpy draws without replacement from fewer than this.
_MOST_DEALT = 10**9
#: Beyond so many pooled scores, rows are shuffled instead: the same law, in other draws. One byte
#: a row is held, for no more rows than this.
_MANY_SCORES, _MOST_SHUFFLED = 1 << 20, 1 << 27


def dealt(counts: AnyArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """Deal rows out to folds of equal size at random: draws without replacement."""
    total = int(counts.sum())
    if total <= _FEW_ROWS:
        score = np.repeat(np.arange(len(counts)), counts)
        place = _shuffled(total, folds, rng).astype(np.int64) * len(counts) + score
        each = np.bincount(place, minlength=folds * len(counts)).astype(np.float64)
        return each.reshape(folds, len(counts))
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


def _shuffled(total: int, folds: int, rng: np.random.Generator) -> AnyArray:
    """Return the fold of each row."""
    sizes = [total // folds + (fold < total % folds) for fold in range(folds)]
    fold = np.repeat(np.arange(folds, dtype=np.uint8), sizes)
    rng.shuffle(fold)
    return fold


class Deal:
    """Rows of one class, as counts by score, dealt out to folds of equal size."""

    def __init__(self, counts: AnyArray, folds: int, rng: np.random.Generator) -> None:
        total = int(counts.sum())
        self._dealt: AnyArray | None = None
        if len(counts) <= _MANY_SCORES or total > _MOST_SHUFFLED:
            size = np.min_scalar_type(int(counts.max(initial=0)))
            self._dealt = dealt(counts.astype(np.int64), folds, rng).astype(size)
            return
        self._fold = _shuffled(total, folds, rng)
        self._before = np.append(0, np.cumsum(counts, dtype=np.int64))

    def of(self, fold: int, some: slice) -> AnyArray:
        """Return how many rows of some scores are in a fold."""
        if self._dealt is not None:
            return self._dealt[fold, some].astype(np.int64)
        before = self._before[some.start : some.stop + 1]
        mine = np.append(0, np.cumsum(self._fold[before[0] : before[-1]] == fold))
        found: AnyArray = np.diff(mine[before - before[0]])
        return found


def too_few_for_folds(rows: float, folds: int) -> InputError:
    """Refuse fewer rows than folds."""
    return InputError(
        f"Held-out results need at least {folds} rows, one for each fold, but there are {rows:g}."
    )


def class_too_small_for_folds(rows: float) -> InputError:
    """Refuse a class that is not in every fitting part."""
    return InputError(
        f"Held-out results need two rows of each class at least, but one class has {rows:g}. "
        "Add rows of it."
    )
