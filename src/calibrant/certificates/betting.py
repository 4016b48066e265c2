"""Betting: the tightest upper bound for few rows, by playing against every candidate at once.

For a candidate m a gambler bets a fixed share theta of the capital, on every row, that the mean of
X = +-1{f in I} (Y - f) is less than m: each row multiplies the capital by
1 + theta (m - X) / (1 - m). If m is the true c(f) and I its worst interval, which are fixed, the
factors are independent and have mean 1, and so has their product: it passes 1 / delta with
probability at most delta (Markov). The same is true of a mixture of products over a fixed set of
shares, and more so if each is the least over all intervals. So every m at which the mixture of
least capitals, for both signs, has passed 1 / delta is ruled out.

Nothing in it depends on the order of rows, and nothing is drawn. An order drawn with a fixed seed
would be a function of the data, and a bet placed after a look at the outcomes proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._types import FloatArray, IntArray
from calibrant.certificates.bounds import FIXED_MODEL, INDEPENDENT, Bound
from calibrant.certificates.evidence import MOST_ROWS, Counts, too_many_rows

#: No bet risks more than this share of the capital: one surprise must not ruin it.
LARGEST_BET = 0.9
#: Bets are never sized for less confidence than 90%: below it all have the same bets, so that a
#: bound at less confidence is never above one at more.
_LEAST_GOAL = math.log(10)
#: How many shares are mixed, and the weight of the smallest, which suits a calibrated model.
_BETS, _FIRST = 8, 0.4
#: Logarithms taken in one go, so that the temporaries stay near the processor.
_BATCH = 1 << 17
#: A bound this close to 1 is 1.
_NEXT_TO_ONE = 1e-12
THEOREM = "Markov's inequality for a fixed mixture of bets against all intervals"


def mixture(n: int, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return the shares that are bet, and their weights: functions of n and delta alone."""
    least = math.sqrt(8 * max(math.log(1 / delta), _LEAST_GOAL) / n)
    if least >= LARGEST_BET:
        return np.array([LARGEST_BET]), np.ones(1)
    weight = np.full(_BETS, (1 - _FIRST) / (_BETS - 1))
    weight[0] = _FIRST
    return np.geomspace(least, LARGEST_BET, _BETS), weight


@dataclass(frozen=True, eq=False, slots=True)
class Game:
    """Rows in order of score, those alike together.

    Attributes
    ----------
    z : float array
        y - f.
    times : float array
        How often it counts: rows that are alike, or the part of its cluster that a row is.
    size : float array or float
        The part of a bet that is placed on it: the size of its cluster, 1 for rows.
    runs : int array
        The first entry of every run: scores whose rows all surprise in one direction, or one
        score with rows of both kinds. The least interval begins and ends between runs.
    share, weight : float array
        The mixture of bets.
    """

    z: FloatArray
    times: FloatArray
    size: FloatArray | float
    runs: IntArray
    share: FloatArray
    weight: FloatArray

    @staticmethod
    def of(
        z: FloatArray,
        times: FloatArray,
        size: FloatArray | float,
        first: IntArray,
        bets: tuple[FloatArray, FloatArray],
    ) -> Game:
        """Prepare a game; `first` is the first entry of every distinct score."""
        up = np.logical_and.reduceat(z >= 0, first)
        down = np.logical_and.reduceat(z <= 0, first) & ~up
        # an interval never splits equal scores, and it never pays to split one direction
        same = (up[1:] & up[:-1]) | (down[1:] & down[:-1])
        return Game(z, times, size, first[np.append(True, ~same)], *bets)

    def log_capital(self, m: float, sign: int) -> float:
        """Return the log of the mixture of least capitals over all intervals, for candidate m."""
        from scipy.special import logsumexp

        at_once = max(1, _BATCH // len(self.z))
        least = [
            self._least(self.share[start : start + at_once, None], m, sign)
            for start in range(0, len(self.share), at_once)
        ]
        return float(logsumexp(np.concatenate(least), b=self.weight))

    def _least(self, share: FloatArray, m: float, sign: int) -> FloatArray:
        """Return the least log capital over intervals, the empty one included (Kadane's scan)."""
        stake = share * self.size / (1 - m)
        outside = np.log1p(stake * m)
        inside = np.log1p(stake * (m - sign * self.z))
        steps = np.add.reduceat((inside - outside) * self.times, self.runs, axis=1)
        walk = np.cumsum(steps, axis=1)
        highest = np.maximum(np.maximum.accumulate(walk, axis=1), 0.0)
        least: FloatArray = (outside * self.times).sum(axis=1) + (walk - highest).min(axis=1)
        return least

    def upper(self, c_emp: float, delta: float) -> float:
        """Return the least m >= c_emp from which on every candidate is ruled out."""
        if 1 - c_emp < _NEXT_TO_ONE:
            return 1.0
        goal, found = math.log(1 / delta), c_emp
        # about as far above c_emp as the bound will be
        weight, square = self.times.sum(), (self.times * np.square(self.z)).sum()
        step = max((math.sqrt(2 * goal * square) + goal) / weight, 1e-9)
        # a sign with less capital at c_emp has further to go, and most often is all that counts
        for sign in sorted((1, -1), key=lambda sign: self.log_capital(c_emp, sign)):

            def over(m: float, sign: int = sign) -> float:
                return self.log_capital(m, sign) - goal

            found = _passed(over, found, step)
        return found


def _passed(over: Callable[[float], float], low: float, step: float) -> float:
    """Find where a growing function passes 0, in [low, 1); from the safe side, to 1e-12.

    Every factor grows with m, and without bound near 1, so there is one place.
    """
    from scipy.optimize import brentq

    if 1 - low < _NEXT_TO_ONE or over(low) >= 0:
        return low
    high = low + min(step, (1 - low) / 2)
    while over(high) < 0:
        if 1 - high < _NEXT_TO_ONE:
            return 1.0
        low, high = high, high + min(step / 2, (1 - high) / 2)
        step *= 2
    step = 1e-13
    found = float(brentq(over, low, high, xtol=step, rtol=1e-15))
    while over(found) < 0:
        found, step = min(found + step, high), 2 * step
    return found


def game_of(counts: Counts, delta: float) -> Game:
    """Prepare the game of a sample, which is no more than its counts by score and label."""
    pairs = np.stack([counts.rows - counts.positives, counts.positives], axis=1)
    seen = pairs > 0
    z = (np.array([0.0, 1.0]) - counts.score[:, None])[seen]
    first = np.cumsum(seen.sum(axis=1)) - seen.sum(axis=1)
    return Game.of(z, pairs[seen].astype(np.float64), 1.0, first, mixture(counts.n, delta))


def betting(counts: Counts, c_emp: float, delta: float) -> Bound:
    """Bound c(f) from above by betting: finite-sample, distribution-free, best for few rows.

    Parameters
    ----------
    counts : Counts
        Rows and positives at every score.
    c_emp : float
        The calibration error measured on them.
    delta : float
        1 - confidence.

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B
    2024, for one mean; here for the least favourable interval, with bets that are fixed.
    """
    if counts.n > MOST_ROWS:
        raise too_many_rows("rows", counts.n, MOST_ROWS)
    upper = game_of(counts, delta).upper(c_emp, delta)
    return Bound(0.0, upper, (INDEPENDENT, FIXED_MODEL), THEOREM)
