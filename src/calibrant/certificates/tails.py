"""Tails: how far the mean of n bounded draws can fall below its expectation.

An upper bound on c(f) needs no uniform convergence: at the population's worst interval, which is
fixed, c_emp is at least the mean of n draws whose expectation is c(f). So inequalities for one
mean are enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from calibrant._types import FloatArray

#: Edges of the cells of variance that `worst_tail` looks at, as shares of the largest one, and
#: the edges that split one of these cells.
_SHARES = np.exp(np.linspace(-25, 0, 251))
_SPLIT = np.exp(np.linspace(-0.1, 0, 101))


def chernoff(n: float, t: float, bound: float, variance: FloatArray) -> FloatArray:
    """Bound P(mean >= t) for draws <= bound of mean 0, by Hoeffding's two-point law.

    References
    ----------
    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 1963,
    Theorem 3 in the form that the proof gives.
    """
    if t >= bound:
        return np.zeros_like(variance)
    high = (variance + t * bound) / (bound**2 + variance)
    # kl(high, low) for low = variance / (bound^2 + variance), where high / low = 1 + t bound /
    # variance and (1 - high) / (1 - low) = 1 - t / bound
    divergence = high * np.log1p(t * bound / variance) + (1 - high) * math.log1p(-t / bound)
    tail: FloatArray = np.exp(-n * np.maximum(divergence, 0.0))
    return tail


def berry_esseen(
    n: float, t: float, bound: float, deviation: FloatArray, least: FloatArray
) -> FloatArray:
    """Bound P(mean >= t) for draws in [-bound, bound] whose deviation lies in [least, deviation].

    References
    ----------
    Shevtsova, "On the absolute constants in the Berry-Esseen inequality and its structural and
    nonuniform improvements", Informatics and its Applications 2013.
    """
    from scipy.special import ndtr

    rho = np.maximum(1.0, bound / least)  # E|D|^3 <= bound E D^2
    constant = np.minimum(0.4690 * rho, 0.3322 * (rho + 0.429))
    constant = np.minimum(constant, 0.3031 * (rho + 0.646))
    tail: FloatArray = ndtr(-t * math.sqrt(n) / deviation) + constant / math.sqrt(n)
    return tail


def worst_tail(n: float, t: float, bound: float, variance: float) -> float:
    """Bound P(mean >= t) for draws in [-bound, bound] of mean 0 and at most this variance.

    For each variance the better of the two inequalities counts, and the worst variance decides.
    The first inequality grows with the variance, the second both grows and shrinks, so that each
    cell takes its larger end in the one place and its smaller end in the other.
    """
    if t <= 0:
        return 1.0
    if t >= bound or variance <= 0:
        return 0.0
    edges = variance * _SHARES
    attained, coarse = _cells(n, t, bound, edges[:-1], edges[1:])
    # only a cell that could pass what is attained somewhere is worth a closer look
    unclear = coarse > attained
    fine = edges[1:][unclear, None] * _SPLIT
    _, split = _cells(n, t, bound, fine[:, :-1], fine[:, 1:])
    below = float(chernoff(n, t, bound, edges[:1])[0])
    return max(below, float(coarse[~unclear].max(initial=0)), float(split.max(initial=0)))


def _cells(
    n: float, t: float, bound: float, low: FloatArray, high: FloatArray
) -> tuple[float, FloatArray]:
    """Bound the tail in cells of variance; also return the most that is attained at an end."""
    by_chernoff = chernoff(n, t, bound, high)
    ends = np.sqrt(high)
    at_ends = np.minimum(by_chernoff, berry_esseen(n, t, bound, ends, ends))
    inside = np.minimum(by_chernoff, berry_esseen(n, t, bound, ends, np.sqrt(low)))
    return float(at_ends.max(initial=0)), inside


def largest(tail: Callable[[float], float], low: float, level: float) -> float:
    """Find the largest c in [low, 1] with tail(c) > level, for a tail that falls from 1 at `low`.

    What comes back is on the safe side: its tail is at most the level, or it is 1.
    """
    from scipy.optimize import brentq  # here: scipy.optimize is slow to import

    if tail(1.0) > level or low >= 1:
        return 1.0

    def gap(c: float) -> float:
        return math.log(max(tail(c), 1e-300) / level)

    step = 1e-13
    found = float(brentq(gap, low, 1.0, xtol=step, rtol=1e-15))
    while tail(found) > level and found < 1:
        found, step = found + step, 2 * step
    return min(1.0, found)


def mean_at_most(mean: float, n: float, highest: float, delta: float) -> float:
    """Bound from above the expectation of draws in [0, highest], from the mean of n of them.

    Below its expectation v the mean has a sub-Gaussian tail of variance factor E W^2 <= highest v
    (Maurer 2003), so v - sqrt(2 v highest l / n) <= mean with confidence 1 - delta; solve for v.
    """
    slack = highest * math.log(1 / delta) / (2 * n)
    return min(highest, (math.sqrt(slack) + math.sqrt(mean + slack)) ** 2)
