"""Complexity of classes: all linear classifiers, all trees, all with few outputs.

Nothing is needed but sizes, and the bounds hold for any rows: also those that a classifier of the
class was fitted on. See `calibrant.certificates.complexity` for what they bound.
"""

from __future__ import annotations

import math

import numpy as np

from calibrant import errors
from calibrant.certificates.complexity import MOST, Complexity, massart
from calibrant.certificates.evidence import counted


def of_linear(rows: int, features: int) -> Complexity:
    """Bound the complexity of all linear classifiers with a monotone link, such as logistic ones.

    Their intervals are slabs p1 < w'x + b <= p2. It holds for the rows that they were fitted on.

    Parameters
    ----------
    rows : int
        Rows.
    features : int
        Features, the constant not among them.

    Examples
    --------
    >>> from calibrant.certificates import classes
    >>> round(classes.of_linear(100_000, 10).value, 3)
    0.024
    """
    n = errors.whole_number("rows", rows, least=1)
    d = errors.whole_number("features", features, least=1)
    return Complexity(
        value=massart(_log_slabs(n, d), n),
        exact=False,
        rows=n,
        about=f"linear classifiers of {counted(d, 'feature')} with a monotone link",
        theorem="Massart's lemma for the labelings by slabs; Cover (1965) counts them",
    )


def _log_slabs(n: int, d: int) -> float:
    """Return the logarithm of (1/2) sum over k <= d + 1 of C(2n - 1, k), plus 1.

    A slab is a point (w, p1, p2) of R^(d+2), and its labeling changes only across the 2n central
    hyperplanes w'x_i = p1 and w'x_i = p2, which make at most 2 sum C(2n - 1, k) cells (Cover,
    1965). To swap p1 and p2, or to reflect to (-w, -p2, -p1), leads to another cell with the same
    labeling. So each labeling has four cells, but for the empty and the full one, which have two
    at least: four times the labelings are at most four more than the cells.
    """
    if d >= n:  # all of them, for rows in general position
        return n * math.log(2)
    from scipy.special import logsumexp

    # factor by factor: differences of log-gammas have no digits left for very large n
    k = np.arange(1, min(d + 1, 2 * n - 1) + 1)
    steps = np.log(float(2 * n) - k) - np.log(k)
    choices = np.append(0.0, np.cumsum(steps))
    return float(np.logaddexp(logsumexp(choices) - math.log(2), 0))


def of_finite_outputs(
    rows: int, outputs: int, vc_dimension: int, *, printed: bool = False
) -> Complexity:
    """Bound the complexity of classifiers with finitely many outputs, the same for all of them.

    Parameters
    ----------
    rows : int
        Rows.
    outputs : int
        K, how many values the scores can take.
    vc_dimension : int
        d, the most that 1{p1 < f <= p2} has for any fixed p1 and p2, over all f of the class.
    printed : bool, default False
        Whether to give the bound as the paper prints it, which is about twice as large.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Claim 4. Here with h - 1/2 in place of h, and with the
    K (K + 1) / 2 intervals of outputs that are not empty counted once.

    Examples
    --------
    >>> from calibrant.certificates import classes
    >>> round(classes.of_finite_outputs(1000, 10, 3).value, 4)
    0.1106
    >>> round(classes.of_finite_outputs(1000, 10, 3, printed=True).value, 4)
    0.2246
    """
    n = errors.whole_number("rows", rows, least=1)
    k = errors.whole_number("outputs", outputs, least=1)
    d = errors.whole_number("vc_dimension", vc_dimension, least=0)
    log_each = _log_sauer(n, d)
    value = massart(_log_outputs(n, k, d), n)
    if printed:
        value = min(MOST, math.sqrt((2 * log_each + 4 * math.log(k + 1)) / n))
    return Complexity(
        value=value,
        exact=False,
        rows=n,
        about=f"classifiers with {counted(k, 'output')}, VC dimension {d} at fixed thresholds",
        theorem="Gao, Parameswaran and Peng (2017), Claim 4"
        + (", as printed" if printed else ", with Massart's lemma centred"),
    )


def _log_sauer(n: int, d: int) -> float:
    """Return the logarithm of (e n / d)^d, or of 2^n if there are no more rows than dimensions."""
    if n <= d:
        return n * math.log(2)
    return d * (math.log(n / d) + 1) if d else 0.0


def _log_outputs(n: int, outputs: int, d: int) -> float:
    """Return the logarithm of Sauer's bound, once for each interval of outputs and for none."""
    return _log_sauer(n, d) + math.log(outputs * (outputs + 1) / 2 + 1)


def of_tree(rows: int, leaves: int, features: int) -> Complexity:
    """Bound the complexity of all classification trees with so many leaves at most.

    Splits compare one numeric feature with a threshold. It holds for the rows that the tree was
    grown on.

    Parameters
    ----------
    rows : int
        Rows.
    leaves : int
        The most leaves, set before growing.
    features : int
        Numeric features; a category counts as one for each of its values.

    Examples
    --------
    >>> from calibrant.certificates import classes
    >>> round(classes.of_tree(100_000, 8, 10).value, 3)
    0.023
    """
    n = errors.whole_number("rows", rows, least=1)
    most = errors.whole_number("leaves", leaves, least=1)
    d = errors.whole_number("features", features, least=1)
    return Complexity(
        value=massart(_log_trees(n, most, d), n),
        exact=False,
        rows=n,
        about=f"trees with at most {counted(most, 'leaf').replace('leafs', 'leaves')} "
        f"on {counted(d, 'numeric feature')}",
        theorem="Massart's lemma for the labelings by trees, counted by their splits",
    )


def _log_trees(n: int, leaves: int, features: int) -> float:
    """Return the logarithm of Catalan(L - 1) (d (n - 1))^(L - 1) 2^L.

    Shapes of binary trees with L leaves; for each of the L - 1 inner nodes a feature and one of
    the n - 1 gaps between its values on the rows; for each leaf whether its output lies in the
    interval. A smaller tree is one of these too, with a leaf split and both parts treated alike.
    """
    if n == 1:
        return math.log(2)
    inner = leaves - 1
    shapes = math.lgamma(2 * inner + 1) - math.lgamma(inner + 1) - math.lgamma(inner + 2)
    return shapes + inner * math.log(features * (n - 1)) + leaves * math.log(2)


def of_independent_rows(rows: int) -> Complexity:
    """Return the complexity of a linear class on linearly independent rows: 1/2, the most.

    Rows are so only if there are no more of them than features, as in a support vector machine
    with a rich kernel. Some classifier then fits any signs, so the rows it was fitted on certify
    nothing; held-out rows do.

    Parameters
    ----------
    rows : int
        Rows.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Claim 2, which holds for n = d too.

    Examples
    --------
    >>> from calibrant.certificates import classes
    >>> classes.of_independent_rows(500).width()
    1.0
    """
    n = errors.whole_number("rows", rows, least=1)
    return Complexity(
        value=MOST,
        exact=True,
        rows=n,
        about="linear classifiers on linearly independent rows",
        theorem="Gao, Parameswaran and Peng (2017), Claim 2",
    )
