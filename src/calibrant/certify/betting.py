"""Betting: the tightest upper bound for few rows, by playing against every candidate at once.

For a candidate m a gambler bets, row after row, that the mean of X = +-1{f in I} (Y - f) is less
than m. If m is the true c(f) and I its worst interval, the capital is a fair game, and it passes
1 / delta with probability at most delta (Ville). So every m at which the capital of all intervals,
for both signs, has passed 1 / delta is ruled out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant import _checks
from calibrant._types import FloatArray, IntArray
from calibrant.certify.bounds import FIXED_MODEL, INDEPENDENT, Bound
from calibrant.certify.evidence import MOST_ROWS, Counts

#: No bet risks more than this share of the capital.
LARGEST_BET = 0.9
#: Bets are never sized for less confidence than 90%: there the best size changes so fast that a
#: bound at 80% could pass the one at 85%.
LEAST_GOAL = math.log(10)
THEOREM = "Ville's inequality for betting against all intervals, rows in a seeded random order"


@dataclass(frozen=True, eq=False, slots=True)
class Game:
    """Rows in order of score, each with the bet that was placed on it.

    Attributes
    ----------
    z : float array
        y - f of each row.
    bet : float array
        The share of the capital risked on it.
    part : float array or None
        The part of its cluster that the row is; None if rows stand for themselves.
    ends : int array
        The last row of every distinct score: an interval never splits equal scores.
    """

    z: FloatArray
    bet: FloatArray
    part: FloatArray | None
    ends: IntArray

    def least_capital(self, m: float) -> float:
        """Return the least log capital over all intervals and both signs, for candidate m."""
        outside = self._times(np.log1p(self.bet * m))
        gain = [self._times(np.log1p(self.bet * (m - z))) - outside for z in (self.z, -self.z)]
        return float(outside.sum()) + min(self._least_interval(steps) for steps in gain)

    def _times(self, logs: FloatArray) -> FloatArray:
        return logs if self.part is None else logs * self.part

    def _least_interval(self, steps: FloatArray) -> float:
        """Return the smallest sum over an interval, the empty one included (Kadane's scan)."""
        walk = np.append(0.0, np.cumsum(steps)[self.ends])
        return float((walk - np.maximum.accumulate(walk)).min())


def ruled_out(capital: Callable[[float], float], low: float, delta: float) -> float:
    """Find the least m in [low, 1] from which on the capital has passed 1 / delta, or 1.

    The capital grows with m, so bisection is right; the upper end is on the safe side.
    """
    goal = math.log(1 / delta)
    if capital(low) >= goal:
        return low
    high = 1.0
    if capital(high) < goal:
        return high
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if capital(middle) >= goal else (middle, high)
    return high


def bets(squares: FloatArray, delta: float) -> FloatArray:
    """Size each bet by the squares seen before it; 1/4 stands for what is not known yet."""
    n = len(squares)
    seen = 0.25 + np.append(0.0, np.cumsum(squares)[:-1])
    variance = seen / np.arange(1, n + 1)
    goal = max(math.log(1 / delta), LEAST_GOAL)
    return np.minimum(np.sqrt(2 * goal / (n * variance)), LARGEST_BET)


def betting(counts: Counts, c_emp: float, delta: float, *, seed: int = 0) -> Bound:
    """Bound c(f) from above by betting: finite-sample, distribution-free, best for few rows.

    Parameters
    ----------
    counts : Counts
        Rows and positives at every score.
    c_emp : float
        The calibration error measured on them.
    delta : float
        1 - confidence.
    seed : int
        Seed of the order in which rows are bet on. The claim is over data and seed together, so
        fix it before you look at the data.

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B
    2024, for one mean; here for the least favourable interval.
    """
    if counts.n > MOST_ROWS:
        raise _checks.too_many_rows("rows", counts.n, MOST_ROWS)
    # sorted by score, then label: how the rows arrived plays no part
    pairs = np.stack([counts.rows - counts.positives, counts.positives], axis=1).ravel()
    label = np.tile([0.0, 1.0], len(counts.score))
    z = np.repeat(label - np.repeat(counts.score, 2), pairs)
    order = np.random.default_rng(seed).permutation(len(z))
    bet = np.empty(len(z))
    bet[order] = bets(np.square(z[order]), delta)
    game = Game(z, bet, None, np.cumsum(counts.rows) - 1)
    upper = ruled_out(game.least_capital, c_emp, delta)
    return Bound(0.0, upper, (INDEPENDENT, FIXED_MODEL), THEOREM)
