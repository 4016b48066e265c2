"""c_emp and its witness by a full sort, in integers of any length: for samples of any size."""

from itertools import accumulate
from math import ldexp

import numpy as np

#: Numbers are rounded to whole multiples of 2^-120, and from there on nothing is.
_BITS = 120


def _whole(values):
    return [int(ldexp(value, _BITS)) for value in values.tolist()]


def sorted_error(y_true, y_prob, weight=None):
    """Return (c_emp, p1, p2), ties by the rule of the lowest p1, then the lowest p2."""
    f = np.asarray(y_prob, dtype=float)
    w = np.ones(len(f)) if weight is None else np.asarray(weight, dtype=float)
    order = np.argsort(f, kind="stable")
    order = order[w[order] > 0]
    f, y, w = f[order], np.asarray(y_true, dtype=float)[order], w[order]
    weights = _whole(w)
    rows = zip(weights, _whole(y), _whole(f), strict=True)
    walk = list(accumulate(heavy * (label - score) for heavy, label, score in rows))
    last = np.flatnonzero(np.append(f[1:] != f[:-1], True)).tolist()
    levels = [0, *(walk[place] for place in last)]
    high, low = max(levels), min(levels)
    total = sum(weights) << _BITS  # a product has twice the bits after the point
    slack = total // 10**12
    top = next(i for i, level in enumerate(levels) if level >= high - slack)
    bottom = next(i for i, level in enumerate(levels) if level <= low + slack)
    first, second = (top, top + 1) if top == bottom else sorted((top, bottom))
    p1 = None if first == 0 else float(f[last[first - 1]])
    return (high - low) / total, p1, float(f[last[second - 1]])
