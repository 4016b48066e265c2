"""Example 2: thresholds fixed in advance give a far smaller class than thresholds left free.

F has 2^n classifiers over the points 1, ..., n: f_i(x) = i / 2^n - 1{x in A_i} / 2^(n+1), where
A_1, A_2, ... are all subsets of the points. H_{p1,p2} holds 1{p1 < f <= p2} for f in F, and H is
the union of these over all thresholds. Everything is found by enumeration.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.errors import InputError

#: With more points than this there are too many pairs of thresholds to look at.
MOST_POINTS = 7


def all_patterns(points: int) -> BoolArray:
    """Return all subsets of some points, a row each.

    Examples
    --------
    >>> from calibrant.experiments.thresholds import all_patterns
    >>> all_patterns(2).astype(int).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    points = errors.whole_number("points", points, least=1, most=20)
    return np.array(list(product((False, True), repeat=points)))


def vc_dimension(patterns: Any) -> int:
    """Return the size of the largest set of points on which every labelling occurs.

    Parameters
    ----------
    patterns : array_like, classifiers by points
        What each classifier says at each point, 0 or 1.

    Returns
    -------
    int
        0 for a single classifier.

    Examples
    --------
    >>> from calibrant.experiments.thresholds import all_patterns, vc_dimension
    >>> vc_dimension(all_patterns(3))
    3
    >>> vc_dimension([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    1
    """
    table = _class(patterns)
    dimension, points = 0, len(table.T)
    # a subset of a shattered set is shattered, so the first size without one ends the search
    while dimension < points and any(
        _shattered(table[:, chosen]) for chosen in _choices(points, dimension + 1)
    ):
        dimension += 1
    return dimension


def _choices(points: int, size: int) -> Iterator[list[int]]:
    return (list(chosen) for chosen in combinations(range(points), size))


def _shattered(table: BoolArray) -> bool:
    """Whether all 2^k labellings of k points occur."""
    codes = table @ (1 << np.arange(len(table.T)))
    return bool(len(np.unique(codes)) == 2 ** len(table.T))


def rademacher(patterns: Any) -> float:
    """Return the Rademacher complexity on the points themselves, over all vectors of signs.

    It is E sup over classifiers of (1/n) sum of sigma_i h(x_i), the signs sigma_i = 1 or -1
    with equal chances. It is 1/2 if every labelling occurs.

    References
    ----------
    Shalev-Shwartz and Ben-David, "Understanding machine learning", 2014, chapter 26.

    Examples
    --------
    >>> from calibrant.experiments.thresholds import all_patterns, rademacher
    >>> rademacher(all_patterns(4)), rademacher([[0, 1, 1, 0]])
    (0.5, 0.0)
    """
    table = _class(patterns)
    points = len(table.T)
    signs = 2 * all_patterns(points).astype(np.int64) - 1
    best = (signs @ table.T.astype(np.int64)).max(axis=1)
    return int(best.sum()) / len(best) / points


def _class(patterns: Any) -> BoolArray:
    table = np.asarray(patterns)
    if table.ndim != 2 or 0 in table.shape or not np.isin(table, (0, 1)).all():
        raise _not_a_class(table.shape)
    return np.unique(table.astype(bool), axis=0)


def scores(n: int, seed: int | None = None) -> FloatArray:
    """Return f_i(x) of Example 2, classifiers by points.

    Parameters
    ----------
    n : int
        Points.
    seed : int, optional
        The example allows any order of the subsets: this draws one.

    Examples
    --------
    >>> from calibrant.experiments.thresholds import scores
    >>> scores(1).tolist()
    [[0.5], [0.75]]
    """
    found: FloatArray = _steps(n, seed) / float(2 ** (n + 1))
    return found


def _steps(n: int, seed: int | None) -> IntArray:
    """Return 2^(n+1) f_i(x), which is a whole number, so that thresholds are exact."""
    n = errors.whole_number("n", n, least=1, most=MOST_POINTS)
    subsets = all_patterns(n).astype(np.int64)
    if seed is not None:
        rng = np.random.default_rng(errors.whole_number("seed", seed, least=0))
        subsets = rng.permutation(subsets)
    steps: IntArray = 2 * np.arange(1, 2**n + 1)[:, None] - subsets
    return steps


def example2(n: int, seed: int | None = None) -> dict[str, Any]:
    """Compare thresholds fixed in advance with free ones, by enumeration.

    Only thresholds among the values of f and one below them matter; a pair with p1 >= p2 selects
    nothing, and is left out.

    Parameters
    ----------
    n : int
        Points, up to 7.
    seed : int, optional
        Draws the order of the subsets.

    Returns
    -------
    dict
        For fixed thresholds the largest VC dimension and Rademacher complexity over all pairs,
        with a pair that attains each; the same two for free thresholds. All plain values.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Example 2 of the appendix.

    Examples
    --------
    >>> from calibrant.experiments.thresholds import example2
    >>> found = example2(4)
    >>> found["fixed"]["vc_dimension"], found["free"]["vc_dimension"]
    (2, 4)
    """
    steps = _steps(n, seed)
    values = [0, *np.unique(steps).tolist()]
    known: dict[bytes, tuple[int, float]] = {}
    found: dict[tuple[int, int], tuple[int, float]] = {}
    every: list[BoolArray] = []
    for pair in combinations(values, 2):
        patterns = np.unique((pair[0] < steps) & (steps <= pair[1]), axis=0)
        key = patterns.tobytes()
        if key not in known:  # many pairs give the same class
            known[key] = vc_dimension(patterns), rademacher(patterns)
            every.append(patterns)
        found[pair] = known[key]
    free = np.concatenate(every)
    return {
        "n": n,
        "classifiers": len(steps),
        "pairs": len(found),
        "classes": len(known),
        "fixed": _largest(found, 2 ** (n + 1)),
        "free": {"vc_dimension": vc_dimension(free), "rademacher": rademacher(free)},
    }


def _largest(found: dict[tuple[int, int], tuple[int, float]], scale: int) -> dict[str, Any]:
    """Return the largest dimension and complexity, each with the first pair that attains it."""
    by_dimension = max(found, key=lambda pair: found[pair][0])
    by_complexity = max(found, key=lambda pair: found[pair][1])
    return {
        "vc_dimension": found[by_dimension][0],
        "vc_dimension_at": [p / scale for p in by_dimension],
        "rademacher": found[by_complexity][1],
        "rademacher_at": [p / scale for p in by_complexity],
    }


def _not_a_class(shape: tuple[int, ...]) -> InputError:
    return InputError(
        "patterns must be a table of 0 and 1 with a row for each classifier and a column for each "
        f"point, one or more of both, but its shape is {shape}."
    )
