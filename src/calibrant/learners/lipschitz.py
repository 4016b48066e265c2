"""Lipschitz isotonic regression: a monotone link that rises no faster than its score.

Kakade, Kalai, Kanade and Shamir (2011) keep the link 1-Lipschitz, which their proof needs. The
constraint costs the empirical calibration that plain isotonic regression has: of the outcomes 0
and 1 at the scores 0 and 0.1 it makes 0.45 and 0.55, whose calibration error is 0.225.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._types import FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class LipschitzLink:
    """A function of the score, straight between knots.

    Attributes
    ----------
    score, value : float array
        The knots, in order of score.
    """

    score: FloatArray
    value: FloatArray

    def predict(self, y_prob: FloatArray) -> FloatArray:
        """Return the probability of each score; beyond the knots it stays what it is there."""
        return np.interp(y_prob, self.score, self.value)


def lipschitz_regression(
    score: FloatArray, rate: FloatArray, weight: FloatArray, slope: float
) -> FloatArray:
    """Return the values v that minimise sum of weight (rate - v)^2 under 0 <= v' <= slope.

    The scores must increase. With C_i(t) the least cost of the first i + 1 points if the last
    value is t, C_{i+1}(t) = min over s in [t - gap, t] of C_i(s), plus the new point's cost. The
    derivative of C_i is increasing and straight between knots, so that the minimum keeps what is
    left of its zero, shifts what is right of it by the gap, and is flat in between.
    """
    gap = slope * np.diff(score)
    best = np.empty(len(score))
    knots, values = np.empty(0), np.empty(0)
    outer = weight[0]  # the derivative's slope before the first knot and after the last
    best[0] = rate[0]
    for i in range(1, len(score)):
        zero = best[i - 1]
        left = int(np.searchsorted(values, 0.0))
        right = int(np.searchsorted(values, 0.0, side="right"))
        knots = np.concatenate(
            [knots[:left], [zero, zero + gap[i - 1]], knots[right:] + gap[i - 1]]
        )
        values = np.concatenate([values[:left], [0.0, 0.0], values[right:]])
        values += weight[i] * (knots - rate[i])
        outer += weight[i]
        best[i] = _zero(knots, values, outer)
    found = best.copy()
    for i in range(len(score) - 2, -1, -1):  # what suits the next one, as near as may be to best
        found[i] = min(max(best[i], found[i + 1] - gap[i]), found[i + 1])
    return found.clip(0.0, 1.0)


def _zero(knots: FloatArray, values: FloatArray, outer: float) -> float:
    """Return where an increasing function, straight between knots, is 0."""
    right = int(np.searchsorted(values, 0.0))
    if right == 0:
        return float(knots[0] - values[0] / outer)
    if right == len(knots):
        return float(knots[-1] - values[-1] / outer)
    rise = values[right] - values[right - 1]
    share = -values[right - 1] / rise
    return float(knots[right - 1] + share * (knots[right] - knots[right - 1]))
