"""The far tail: a proved bound on how likely a calibration error is if the scores are right.

The limit of many rows (`brownian.py`) has a normal tail, which is far too small where events are
rare: sums of rare events are skewed. This bound holds for any number of rows.

Given the scores, Z = Y - f has mean 0 if c(f) = 0. Let Q be the walk S - F minus its running
minimum, lambda >= 0, and g = min(f, 1 - f). One more row takes Q to max(Q + Z, 0), so that

    E cosh(lambda max(Q + Z, 0)) <= E cosh(lambda (Q + Z))
                                 <= cosh(lambda Q) max(E e^(lambda Z), E e^(-lambda Z)),

and the logarithm of that maximum is h(g) = ln(1 + g (e^lambda - 1)) - lambda g: the two are h(f)
and h(1 - f), and h(g) - h(1 - g) is concave on [0, 1/2] and 0 at both ends. So cosh(lambda Q)
over the product of these maxima is a supermartingale, and by Ville's inequality

    P(some Q >= x) <= exp(sum of h(g)) / cosh(lambda x) <= 2 exp(sum of h(g) - lambda x).

n c_emp is at most the larger of the largest Q and its mirror image, the largest fall of the walk
from its running maximum: P(n c_emp >= x) <= 4 exp(sum of h(g) - lambda x), for every lambda.

References
----------
Ville, "Etude critique de la notion de collectif", 1939; Hoeffding, "Probability inequalities for
sums of bounded random variables", JASA 1963, for one sum.
"""

from __future__ import annotations

import math

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import TOLERANCE
from calibrant.core.tally import Cells

#: Rows are summed up in cells of this level, so that the bound does not depend on which cells were
#: opened: narrow enough to cost little, wide enough that any source but a coarse tally has them.
GRID = 10
#: e^lambda must fit a double. The bound holds for every lambda, so a limit costs tightness alone.
_MOST_LAMBDA = 700.0


def far_tail(cells: Cells, x: float) -> float:
    """Bound the probability, if the scores are right, that n c_emp is x or more.

    Parameters
    ----------
    cells : Cells
        Cells and pooled scores. Closed cells that are `too_wide` only make the bound larger.
    x : float
        Events: n times a calibration error.

    Returns
    -------
    float
        At least the probability; 1 at most.

    Examples
    --------
    A million rows of one score, 51 events expected, 150 observed: the binomial tail is 2.5e-29.

    >>> import numpy as np
    >>> rows = np.array([10**6])
    >>> cells = Cells.points(np.array([51e-6]), rows, rows.astype(float), np.array([150.0]))
    >>> f"{far_tail(cells, 150 - 51):.1e}"
    '2.1e-27'
    """
    if x <= 0:
        return 1.0
    tail = _Tail(cells)
    if tail.variance == 0:  # scores of 0 and 1 alone leave nothing to chance
        return 0.0
    best = _best_lambda(tail, x)
    return min(1.0, 4 * math.exp(tail.exponent(best) - best * x))


def too_wide(cells: Cells) -> BoolArray:
    """Mark the closed cells that are wider than those of the grid."""
    return ~cells.single & (cells.level < GRID)


def _in_grid(cells: Cells) -> tuple[IntArray, FloatArray]:
    """Return the number of each cell's place in the grid, wide cells having their own, and F."""
    wide = too_wide(cells)
    place = np.minimum(np.floor(cells.low * 2.0**GRID), 2.0**GRID - 1)
    place = np.where(wide, 2.0**GRID + np.arange(len(cells)), place)
    mass = np.where(cells.single, cells.weight * cells.score, cells.mass)
    return np.unique(place, return_inverse=True)[1], mass


class _Tail:
    """The sum of h(g) over all rows as a function of lambda, or a bound on it.

    h is concave in g, so the rows of a cell times h at their mean of g is a bound. No cell of level
    1 or more crosses 1/2, so that this mean is known from the mean of f. In the one cell of level 0
    it is only known to be at most min(mean of f, 1 - mean of f). h rises up to g* = 1/lambda -
    1/(e^lambda - 1) and falls from there, so the largest h that the mean allows is at the value
    nearest to g*.
    """

    def __init__(self, cells: Cells) -> None:
        place, mass = _in_grid(cells)
        self._rows = np.bincount(place, cells.weight)
        score = np.zeros(len(self._rows))
        score[place] = cells.score
        pooled = np.isnan(score) | (np.bincount(place) > 1)
        mean = np.clip(np.bincount(place, mass) / self._rows, 0.0, 1.0)
        mean = np.where(pooled, mean, score)
        g = np.minimum(mean, 1 - mean)
        # sums round
        slack = np.where(pooled, TOLERANCE, 0.0)
        unknown = np.bincount(place, ~cells.single & (cells.level < 1)) > 0
        self._least = np.where(unknown, 0.0, np.maximum(g - slack, 0.0))
        self._most = np.minimum(g + slack, 0.5)
        self.variance = float(np.sum(self._rows * self._most * (1 - self._most)))

    def _worst(self, lam: float) -> FloatArray:
        # by its series near 0, where the difference would round
        peak = 0.5 - lam / 12 if lam < 1e-4 else 1 / lam - 1 / math.expm1(lam)
        worst: FloatArray = np.clip(peak, self._least, self._most)
        return worst

    def exponent(self, lam: float) -> float:
        """Return the sum of h(g)."""
        g = self._worst(lam)
        return float(np.sum(self._rows * (np.log1p(g * math.expm1(lam)) - lam * g)))

    def slope(self, lam: float) -> float:
        """Return its derivative, which rises with lambda."""
        g, more = self._worst(lam), math.expm1(lam)
        return float(np.sum(self._rows * g * (1 - g) * (more / (1 + g * more))))


def _best_lambda(tail: _Tail, x: float) -> float:
    """Minimise the exponent minus lambda x, which is convex."""
    from scipy.optimize import brentq

    # Bennett (1962): the slope is at most the variance times e^lambda - 1
    low = min(_MOST_LAMBDA, math.log1p(x / tail.variance))
    high = low
    while tail.slope(high) < x:
        if high >= _MOST_LAMBDA:
            return high
        low, high = high, min(_MOST_LAMBDA, 2 * high)
    if low == high:
        return low
    return float(brentq(lambda lam: tail.slope(lam) - x, low, high, xtol=1e-12, rtol=1e-12))
