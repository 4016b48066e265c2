"""c_emp and its witness by a full sort, in extended precision: for samples of any size."""

import numpy as np


def sorted_error(y_true, y_prob, weight=None):
    """Return (c_emp, p1, p2), ties by the rule of the lowest p1, then the lowest p2."""
    f = np.asarray(y_prob, dtype=float)
    w = np.ones(len(f)) if weight is None else np.asarray(weight, dtype=float)
    order = np.argsort(f, kind="stable")
    order = order[w[order] > 0]
    f, y, w = f[order], np.asarray(y_true, dtype=float)[order], w[order]
    steps = w.astype(np.longdouble) * (y.astype(np.longdouble) - f)
    last = np.append(f[1:] != f[:-1], True)
    scores = f[last]
    levels = np.concatenate([[0], np.cumsum(steps)[last]])
    slack = 1e-12 * w.sum()
    top = int(np.argmax(levels >= levels.max() - slack))
    bottom = int(np.argmax(levels <= levels.min() + slack))
    first, second = (top, top + 1) if top == bottom else sorted((top, bottom))
    p1 = None if first == 0 else float(scores[first - 1])
    return float((levels.max() - levels.min()) / w.sum()), p1, float(scores[second - 1])
