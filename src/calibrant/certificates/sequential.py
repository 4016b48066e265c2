"""A p-value by drawing that stops as soon as it is clearly large."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from calibrant._types import BoolArray

#: Drawing stops when so many draws have reached what was observed: a number fixed beforehand.
ENOUGH = 100


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value by drawing.

    Attributes
    ----------
    p_value : float
        Valid over the draws and the data together: under the null hypothesis it is at most a with
        probability at most a.
    draws : int
        Draws that count.
    error : float
        Standard error of the p-value over the draws.
    """

    p_value: float
    draws: int
    error: float


def drawn_p_value(reached: Iterable[BoolArray], enough: int = ENOUGH) -> PValue:
    """Count draws that reach the observed value, until there are `enough` or no draws are left.

    If the h-th one is draw l the p-value is h / l. If there are only k < h in all N draws it is
    (1 + k) / (N + 1).

    Parameters
    ----------
    reached : iterable of bool arrays
        For each draw from the null distribution, in order and in batches of any size, whether it
        is at least the observed value. Draws after the one that stops it do not count.
    enough : int
        h, fixed beforehand.

    Returns
    -------
    PValue
        The standard error is p sqrt((1 - p) / h) if it stopped, because l has a negative binomial
        distribution, and sqrt(p (1 - p) / N) if not.

    Notes
    -----
    Under the null hypothesis the observed value and the draws are exchangeable. The p-value is at
    most h / l if and only if fewer than h of the first l - 1 draws reach the observed value, that
    is if this is among the h largest of l exchangeable values (ties count against it): the
    probability is at most h / l. It is at most (1 + k) / (N + 1) < h / N if and only if at most k
    of all N draws reach it: the probability is at most (1 + k) / (N + 1).

    References
    ----------
    Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 1991; Barnard (1963).

    Examples
    --------
    >>> import numpy as np
    >>> drawn_p_value([np.array([True, False, False, True, True])], enough=2).p_value
    0.5
    >>> drawn_p_value([np.array([True, False, False, False])], enough=2).p_value
    0.4
    """
    count = made = 0
    for part in reached:
        more = int(np.count_nonzero(part))
        if count + more >= enough:
            made += int(np.flatnonzero(part)[enough - count - 1]) + 1
            p_value = enough / made
            return PValue(p_value, made, p_value * math.sqrt((1 - p_value) / enough))
        count, made = count + more, made + len(part)
    p_value = (1 + count) / (made + 1)
    return PValue(p_value, made, math.sqrt(p_value * (1 - p_value) / made))
