"""Planning: how many labels a certificate takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant.certificates.brownian import MEAN_RANGE, range_quantile
from calibrant.certificates.evidence import Evidence, evidence_of
from calibrant.certificates.specification import METHODS, Method, formula
from calibrant.core.diagram import Diagram
from calibrant.data.memory.columns import Column
from calibrant.data.predictions import predictions_of
from calibrant.errors import InputError

#: Past this many rows doubles no longer count one by one.
_MOST_ROWS = 2**53


def expected_evidence(
    n: int, v0: float, method: str = "certified", spread: float = MEAN_RANGE
) -> Evidence:
    """Return what n rows of a calibrated classifier show on average, or in so wide a `spread`.

    n c_emp tends to the range of a Brownian motion of variance n v0, whose mean and quantiles are
    known (Feller, 1951). Isotonic regression leaves no error on its fitting rows (Claim 5 of the
    paper).
    """
    c_emp = 0.0 if method == "isotonic" else min(1.0, spread * math.sqrt(v0 / n))
    return Evidence(n, c_emp, c_emp, v0, v0)


def sample_size(
    epsilon: float,
    *,
    confidence: float = 0.95,
    method: Method = "certified",
    scores: Any = None,
    assurance: float | None = None,
) -> int:
    """Say how many labelled rows it takes to certify a calibration error of at most `epsilon`.

    The n at which the mean upper bound of a calibrated classifier falls to `epsilon`: about half of
    the samples of that size will do. With `assurance=0.9` it is the n at which 90% of them will. A
    classifier that is not calibrated takes more, or never gets there.

    The size is for the method named here: name it to `certify` as well. Below 3,000 rows `certify`
    bets by default, which is wider than "certified" for common events from about 1,000 rows on, and
    narrower for rare ones.

    Parameters
    ----------
    epsilon : float
        The bound to reach, between 0 and 1.
    confidence : float, default 0.95
        Confidence level of the certificate.
    method : str, default "certified"
        As for `certify`; "betting" has no formula, and "auto" is planned as "certified".
    scores : array_like, optional
        Scores of the classifier, which need no labels. Scores near 0 and 1 take fewer rows;
        without them the worst case is taken, all scores at 1/2.
    assurance : float, optional
        The share of samples of that size whose bound should be at most `epsilon`.

    Returns
    -------
    int
        Rows with a label.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.sample_size(0.01)
    28043
    >>> cb.sample_size(0.01, assurance=0.9)
    39724
    >>> cb.sample_size(0.01, method="gao2017")
    1484271
    """
    confidence = errors.inner_share("confidence", confidence)
    epsilon = errors.inner_share("epsilon", epsilon)
    errors.one_of("method", method, METHODS)
    if method == "betting":
        raise _no_formula(method)
    spread = MEAN_RANGE
    if assurance is not None:
        spread = range_quantile(1 - errors.inner_share("assurance", assurance))
    bound = formula("certified" if method == "auto" else method)
    v0 = 0.25 if scores is None else _mean_variance(scores)

    def upper(n: int) -> float:
        evidence = expected_evidence(n, v0, method, spread)
        return bound(evidence, 1 - confidence, "upper").upper

    def enough(n: int) -> bool:
        return upper(n) <= epsilon

    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_ROWS:
            raise _size_uncounted(epsilon, _up(upper(_MOST_ROWS)))
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _up(value: float) -> float:
    """Round up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit) * unit:.1e}")


def _mean_variance(scores: Any) -> float:
    """Return the mean of f (1 - f); labels play no part in it."""
    nothing = np.broadcast_to(False, len(Column(scores, "scores")))
    data = predictions_of(nothing, scores, names=errors.Names(prob="scores"))
    return evidence_of(Diagram(*data.source.start())).v0


def _no_formula(method: str) -> InputError:
    return InputError(
        f'method="{method}" has no formula for the rows it takes, because its bound depends on '
        'each row. Plan with method="certified", and name it to certify as well.'
    )


def _size_uncounted(epsilon: float, least: float) -> InputError:
    return InputError(
        f"epsilon={shown(epsilon)} takes more than 2**53 rows, past which doubles no longer count "
        f"one by one. Plan for epsilon={shown(least)} or more."
    )
