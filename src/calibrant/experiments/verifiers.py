"""Verifiers: functions of a sample that try to say whether scores are the true probabilities."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, entr

from calibrant import errors
from calibrant._types import BoolArray, IntArray
from calibrant.experiments.points import Scores
from calibrant.measures.error import calibration_error

#: What counts as 0, from rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Verifier:
    """A rule that accepts f or not, from a sample and f.

    Attributes
    ----------
    name : str
        What it is called.
    rule : str
        When it accepts, in words.
    accepts : callable
        Decides, from points, labels and f.
    """

    name: str
    rule: str
    accepts: Callable[[IntArray, BoolArray, Scores], bool]


def by_calibration(threshold: float) -> Verifier:
    """Accept if the calibration error c_emp on the sample is small.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.experiments.verifiers import by_calibration
    >>> x, y = np.arange(4), np.array([True, False, True, False])
    >>> by_calibration(0.2).accepts(x, y, lambda x: np.full(len(x), 0.5))
    True
    """
    threshold = errors.share("threshold", threshold)

    def accepts(x: IntArray, y: BoolArray, f: Scores) -> bool:
        with warnings.catch_warnings():  # on one point all labels may be the same, as they should
            warnings.filterwarnings("ignore", "y_true holds a single value")
            return calibration_error(y, f(x)) <= threshold

    return Verifier("calibration error", f"c_emp is at most {threshold:.3g}", accepts)


def by_log_loss(deviations: float = 1.5) -> Verifier:
    """Accept if the log loss is as f says it should be: a z-test.

    Under f the loss of a row has mean -f log f - (1-f) log(1-f) and variance
    f (1-f) log(f / (1-f))^2. A label that f says is impossible is never accepted.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.experiments.verifiers import by_log_loss
    >>> x, y = np.arange(100), np.arange(100) < 99
    >>> by_log_loss().accepts(x, y, lambda x: np.full(len(x), 0.8))
    False
    """
    deviations = _positive("deviations", deviations)

    def accepts(x: IntArray, y: BoolArray, f: Scores) -> bool:
        scores = f(x)
        said = np.where(y, scores, 1 - scores)
        if not said.all():
            return False
        open_ones = scores[(scores > 0) & (scores < 1)]
        expected = float((entr(scores) + entr(1 - scores)).sum())
        log_odds = np.log(open_ones) - np.log1p(-open_ones)
        variance = float((open_ones * (1 - open_ones) * log_odds**2).sum())
        excess = -float(np.log(said).sum()) - expected
        return _plausible(excess, variance, deviations)

    rule = f"the log loss is within {deviations:g} deviations of its mean under f"
    return Verifier("log loss", rule, accepts)


def by_bins(bins: int = 10, level: float = 0.2) -> Verifier:
    """Accept if labels are as frequent as f says in each stretch of x: a chi-square test.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.experiments.verifiers import by_bins
    >>> x, y = np.arange(100), np.arange(100) < 50
    >>> by_bins().accepts(x, y, lambda x: np.full(len(x), 0.5))
    False
    """
    bins = errors.whole_number("bins", bins, least=1)
    level = errors.inner_share("level", level)
    limit = float(chdtri(bins, level))

    def accepts(x: IntArray, y: BoolArray, f: Scores) -> bool:
        statistic = 0.0
        for rows in np.array_split(np.argsort(x, kind="stable"), bins):
            scores = f(x[rows])
            variance = float((scores * (1 - scores)).sum())
            miss = float((y[rows] - scores).sum()) ** 2
            if variance > 0:
                statistic += miss / variance
            elif miss > 0:
                return False
        return statistic <= limit

    rule = f"chi-square over {bins} bins of x is at most its {1 - level:g} quantile"
    return Verifier("bins of x", rule, accepts)


def by_neighbours(deviations: float = 1.5) -> Verifier:
    """Accept if the residuals y - f of neighbours in x are not related: a z-test.

    Under f the products of residuals of neighbours have mean 0, and are not correlated with each
    other.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.experiments.verifiers import by_neighbours
    >>> x, y = np.arange(100), np.arange(100) % 20 < 10
    >>> by_neighbours().accepts(x, y, lambda x: np.full(len(x), 0.5))
    False
    """
    deviations = _positive("deviations", deviations)

    def accepts(x: IntArray, y: BoolArray, f: Scores) -> bool:
        order = np.argsort(x, kind="stable")
        scores = f(x[order])
        residual, variance = y[order] - scores, scores * (1 - scores)
        together = float(residual[:-1] @ residual[1:])
        return _plausible(together, float(variance[:-1] @ variance[1:]), deviations)

    rule = f"products of neighbours' residuals are within {deviations:g} deviations of 0"
    return Verifier("neighbours in x", rule, accepts)


def by_repeats(share: float = 0.5) -> Verifier:
    """Accept if rows with the same x differ in label about as often as f says.

    Of k rows with the same x, f expects k (k-1) f (1-f) pairs with different labels. Under an
    adversary there are none. Where no x comes twice there is nothing to go by: it accepts.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.experiments.verifiers import by_repeats
    >>> x, half = np.zeros(20, dtype=int), lambda x: np.full(len(x), 0.5)
    >>> [by_repeats().accepts(x, y, half) for y in (np.arange(20) < 10, np.arange(20) < 0)]
    [True, False]
    """
    share = errors.share("share", share)

    def accepts(x: IntArray, y: BoolArray, f: Scores) -> bool:
        points, place, rows = np.unique(x, return_inverse=True, return_counts=True)
        ones = np.bincount(place, weights=y)
        scores = f(points)
        expected = float((rows * (rows - 1) * scores * (1 - scores)).sum())
        return float((ones * (rows - ones)).sum()) >= share * expected

    rule = f"pairs of rows with the same x and different labels are {share:g} of those expected"
    return Verifier("repeated x", f"{rule}, or more", accepts)


def _positive(name: str, value: object) -> float:
    if not (isinstance(value, (int, float)) and 0 < value < math.inf):
        raise errors.out_of_range(name, "a number over 0", value)
    return float(value)


def _plausible(sum_: float, variance: float, deviations: float) -> bool:
    """Whether a sum of mean 0 lies within some deviations; rounding noise counts as 0."""
    return abs(sum_) <= deviations * math.sqrt(variance) + _ROUNDING


def verifiers(n: int) -> tuple[Verifier, ...]:
    """Return one verifier of every kind, for n rows.

    Examples
    --------
    >>> from calibrant.experiments.verifiers import verifiers
    >>> [verifier.name for verifier in verifiers(100)]
    ['calibration error', 'log loss', 'bins of x', 'neighbours in x', 'repeated x']
    """
    n = errors.whole_number("n", n, least=1)
    return (
        by_calibration(1 / math.sqrt(n)),
        by_log_loss(),
        by_bins(),
        by_neighbours(),
        by_repeats(),
    )
