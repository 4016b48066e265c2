"""The range of Brownian motion: what n c_emp / sqrt(sum f(1 - f)) tends to if c(f) = 0.

Feller, "The asymptotic distribution of the range of sums of independent random variables",
Annals of Mathematical Statistics 1951.
"""

from __future__ import annotations

import math

import numpy as np

#: E of the range on [0, 1].
MEAN_RANGE = math.sqrt(8 / math.pi)
_TERMS = np.arange(1, 60)
_SIGNS = np.where(_TERMS % 2 == 1, 1.0, -1.0)


def range_tail(r: float) -> float:
    """Return P(range > r); accurate relative to its size down to 1e-300.

    Examples
    --------
    >>> round(range_tail(2.498), 4)
    0.05
    """
    from scipy.special import ndtr

    if r <= 0:
        return 1.0
    if r < 1.5:  # the other series converges slowly there
        a = (2 * _TERMS - 1) ** 2 * math.pi**2
        return 1 - 8 * float(((1 / r**2 + 1 / a) * np.exp(-a / (2 * r * r))).sum())
    return min(1.0, 8 * float((_SIGNS * _TERMS * ndtr(-_TERMS * r)).sum()))


def range_quantile(tail: float) -> float:
    """Return the r that the range passes with probability `tail`.

    Examples
    --------
    >>> round(range_quantile(0.05), 3), round(range_quantile(0.025), 3)
    (2.498, 2.734)
    """
    from scipy.optimize import brentq

    return float(brentq(lambda r: range_tail(r) - tail, 0.2, 40.0, xtol=1e-12))
