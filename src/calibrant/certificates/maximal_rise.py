"""Maximal rises of random walks: what the complexity of given scores comes down to.

Put the rows in the order of their scores and add up their random signs. The sum over an interval
of scores is how far that walk rises between two places, so the largest sum is its maximal rise:
the largest value of the reflected walk Q_k = max(0, Q_{k-1} + step). Rows with one score are one
step, because an interval cannot part them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibrant._types import FloatArray, IntArray

#: Signs that are held at a time in a simulation.
_SIGNS = 1 << 21
#: A step with less than this chance is left out. What it loses makes the result larger, not less.
_NEVER = 1e-25


def expected_maximal_rise(atoms: IntArray) -> float:
    """Return the expected maximal rise of a walk of random signs, by dynamic programming.

    Parameters
    ----------
    atoms : int array
        Rows at each distinct score, in order. Each atom is one step, the sum of its signs.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.certificates.maximal_rise import expected_maximal_rise
    >>> expected_maximal_rise(np.array([1, 1]))  # signs ++, +-, -+, -- rise by 2, 1, 1, 0
    1.0
    """
    n = int(atoms.sum())
    # cosh(a Q_k) / cosh(a)^k is a supermartingale, so that the rise reaches t with a chance of
    # 2 exp(-t^2 / 2n) at most: under 2e-13 beyond this
    top = min(n, int(np.ceil(np.sqrt(60 * n))))
    place = np.arange(top)
    # entry [t - 1, q]: the chance that Q is q now and has never reached t
    chance = np.zeros((top, top))
    chance[:, 0] = 1
    below = place <= place[:, None]
    for rows in atoms:
        chance = _after_atom(chance, int(rows)) * below
    # the mean of a whole number is the sum over t of the chance to reach t
    return float((1 - chance.sum(axis=1)).sum())


def _after_atom(chance: FloatArray, rows: int) -> FloatArray:
    """Move every walk by the sum of `rows` signs, and back to 0 from below."""
    top, after = len(chance), np.zeros_like(chance)
    for plus in range(rows + 1):
        step, weight = 2 * plus - rows, math.comb(rows, plus) / 2**rows
        if weight < _NEVER or step >= top:
            continue
        if step >= 0:
            after[:, step:] += weight * chance[:, : top - step]
            continue
        after[:, 0] += weight * chance[:, :-step].sum(axis=1)
        if -step < top:
            after[:, : top + step] += weight * chance[:, -step:]
    return after


class Order:
    """The order of one model's scores, with the places where an interval can end."""

    def __init__(self, scores: FloatArray) -> None:
        self._order = np.argsort(scores, kind="stable")
        ordered = scores[self._order]
        self._ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))

    @property
    def atoms(self) -> IntArray:
        """Rows at each distinct score, in order."""
        sizes: IntArray = np.diff(self._ends, prepend=-1).astype(np.int64)
        return sizes

    def maximal_rise(self, signs: NDArray[np.int8]) -> IntArray:
        """Return the maximal rise for each line of signs."""
        walk = signs[:, self._order].cumsum(axis=1, dtype=np.int64)[:, self._ends]
        # the walk starts at 0, so that is the lowest it has been at first
        lowest = np.minimum(np.minimum.accumulate(walk, axis=1), 0)
        rise: IntArray = (walk - lowest).max(axis=1)
        return np.maximum(rise, 0)


def simulated_maximal_rise(models: Sequence[Order], rows: int, draws: int, seed: int) -> float:
    """Return the mean, over draws of signs, of the largest rise among all models."""
    rng = np.random.default_rng(seed)
    total, left = 0, draws
    while left:
        some = min(left, max(1, _SIGNS // rows))
        signs = 2 * rng.integers(0, 2, (some, rows), dtype=np.int8) - 1
        largest = models[0].maximal_rise(signs)
        for model in models[1:]:
            largest = np.maximum(largest, model.maximal_rise(signs))
        total += int(largest.sum())
        left -= some
    return total / draws
