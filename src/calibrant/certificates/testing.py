"""Is it calibrated? Tests of c(f) = 0: exact by drawing, or asymptotic for many rows."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Literal, TypeAlias

from calibrant import errors
from calibrant._figures import figure
from calibrant._progress import progress_bar
from calibrant._types import BoolArray
from calibrant.certificates.brownian import range_tail
from calibrant.certificates.evidence import (
    Counts,
    Evidence,
    check_rows,
    counted,
    counts_of,
    every_cell,
    evidence_of,
    mean_variance,
)
from calibrant.certificates.far_tail import far_tail, too_wide
from calibrant.certificates.null_simulation import null_ranges, walk_range
from calibrant.certificates.sequential import drawn_p_value
from calibrant.core.diagram import TOLERANCE, Diagram, resolve
from calibrant.core.extremes import extremes_need
from calibrant.data.predictions import data_of, warn

TestMethod: TypeAlias = Literal["auto", "exact", "asymptotic"]
TEST_METHODS = ("auto", "exact", "asymptotic")
#: Fewer rows, or less expected variance, than this and the limit is not to be trusted.
_LEAST_ROWS, _LEAST_VARIANCE = 2000, 50.0
#: Values of n c_emp this close, and this share of n, are equal, or rounding would decide ties.
_SAME, _SAME_SHARE = 1e-9, 1e-13
#: Under this the limit's normal tail is too small for rare events, and a proved bound takes over.
_FAR = 1e-3
#: Seconds of drawing after which a bar shows how far it is.
_LONG = 1.0
#: The most samples that the exact test draws.
DRAWS = 9_999


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """How likely so large a calibration error is if the scores are right.

    Attributes
    ----------
    statistic : float
        c_emp.
    p_value : float
        The chance, if c(f) = 0, of a calibration error at least as large: 0 if it is too small for
        a double.
    method : str
        "exact" or "asymptotic".
    n : int
        Rows.
    draws, seed : int or None
        Samples that were drawn for the exact test, fewer where the p-value is large, and their
        seed.
    p_value_error : float or None
        Standard error of an exact test's p-value p over the draws: another seed moves it about
        this much. It is p sqrt((1 - p) / 100) if the test stopped at the 100th draw that reached
        the observed error, and sqrt(p (1 - p) / draws) if it made all draws.
    p_value_is_bound : bool
        The p-value is proved to be at least the chance given these scores, for any number of rows:
        an asymptotic test far in the tail. Otherwise an asymptotic p-value is an approximation
        for many rows, and 0.001 where the approximation is less than that but the bound is not.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(5000, seed=1)
    >>> test = cb.calibration_test(y_true, y_prob)
    >>> test.method, round(test.p_value, 3)
    ('asymptotic', 0.998)
    >>> test
    There is no evidence against calibration: if the scores were right, a calibration error
    of 0.004327 or more on 5,000 rows would have probability 0.998 (asymptotic test).
    """

    statistic: float
    p_value: float
    method: str
    n: int
    draws: int | None = None
    seed: int | None = None
    p_value_error: float | None = None
    p_value_is_bound: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    def __repr__(self) -> str:
        sense = "evidence against" if self.p_value <= 0.05 else "no evidence against"
        how = f"{self.method} test"
        if self.draws is not None:
            how += (
                f" over the draws and the data: {counted(self.draws, 'draw')}, "
                f"standard error {self.p_value_error:.2g}"
            )
        return (
            f"There is {sense} calibration: if the scores were right, a calibration error of "
            f"{figure(self.statistic)} or more on {counted(self.n, 'row')} would have probability "
            f"{chance(self)} ({how})."
        )


def chance(test: CalibrationTest, digits: int = 3) -> str:
    """Return a p-value in words, which say if it is a bound or the least that draws can show."""
    if test.p_value == 0:
        return "under 1e-300"
    if test.draws is not None and test.p_value <= 1 / (test.draws + 1):
        return f"under {_p_up(test.p_value, digits)}"
    if test.p_value_is_bound:
        return f"at most {_p_up(test.p_value, digits)}"
    return f"{test.p_value:.{digits}g}"


def _p_up(p_value: float, digits: int) -> str:
    """Round a p-value up; it may be far smaller than plain decimals can say."""
    kept = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(repr(p_value)))
    return f"{float(kept):.{digits}g}"


def needs_exact(n: int, v0: float) -> bool:
    """Whether the asymptotic test is not to be trusted: few rows, or few events expected."""
    return n < _LEAST_ROWS or n * v0 < _LEAST_VARIANCE


def asymptotic_test(diagram: Diagram, evidence: Evidence) -> CalibrationTest:
    """Test c(f) = 0 by the limit law of c_emp, and by a proved bound in the far tail.

    The limit is the range of Brownian motion. Under 1e-3 its normal tail is too small where events
    are rare, so that `far_tail` takes over; it is larger, so 1e-3 is the p-value in between, and
    the p-value never rises with the calibration error.

    References
    ----------
    Feller (1951); Arrieta-Ibarra et al., "Metrics of calibration for probabilistic predictions",
    JMLR 2022; `far_tail` for the bound.
    """
    c_emp, n = evidence.c_emp, evidence.n
    limit = _limit(evidence)
    if limit >= _FAR:
        return CalibrationTest(c_emp, limit, "asymptotic", n)
    bound = far_tail(diagram.cells, n * c_emp - _same(n))
    p_value = max(limit, min(_FAR, bound))
    # a bound over 1e-3 proves nothing about 1e-3, which then is an approximation like the limit
    return CalibrationTest(c_emp, p_value, "asymptotic", n, p_value_is_bound=bound <= _FAR)


def _limit(evidence: Evidence) -> float:
    if evidence.v0 > 0:
        return range_tail(evidence.c_emp * math.sqrt(evidence.n) / math.sqrt(evidence.v0))
    # scores of 0 and 1 alone leave nothing to chance
    return 1.0 if evidence.c_emp <= TOLERANCE else 0.0


def asymptotic_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that are too wide for the bound in the far tail, where it is asked for."""
    wide = too_wide(diagram.cells)
    return wide & (_limit(evidence_of(diagram)) < _FAR) if wide.any() else wide


def exact_test(counts: Counts, *, draws: int = DRAWS, seed: int = 0) -> CalibrationTest:
    """Test c(f) = 0 by drawing outcomes from the scores: its size is at most the level for any n.

    That is its size over the draws and the data together. It stops early if the p-value is large.

    References
    ----------
    Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 1991: see `drawn_p_value`.
    """
    n = counts.n
    observed = float(walk_range((counts.positives - counts.rows * counts.score)[None])[0])
    with closing(_reached(counts, observed - _same(n), draws, seed)) as reached:
        found = drawn_p_value(reached)
    return CalibrationTest(observed / n, found.p_value, "exact", n, found.draws, seed, found.error)


def _same(n: int) -> float:
    """Return how close values of n c_emp must be to count as equal."""
    return _SAME + _SAME_SHARE * n


def _reached(counts: Counts, x: float, draws: int, seed: int) -> Generator[BoolArray]:
    """Draw samples in batches, and say which of them have an n c_emp of x or more."""
    start, done = time.monotonic(), 0
    with closing(null_ranges(counts, draws, seed)) as batches, ExitStack() as stack:
        told = None
        for ranges in batches:
            yield ranges >= x
            done += len(ranges)
            if told is None and time.monotonic() - start > _LONG:
                told = stack.enter_context(progress_bar("Drawing samples", draws))
            if told is not None:
                told(done)


def suited_test(diagram: Diagram, evidence: Evidence, draws: int, seed: int) -> CalibrationTest:
    """Run the test that `needs_exact` asks for; an exact one needs every cell opened."""
    if needs_exact(evidence.n, evidence.v0):
        return exact_test(counts_of(diagram, "an exact test"), draws=draws, seed=seed)
    return asymptotic_test(diagram, evidence)


def calibration_test(
    y_true: Any,
    y_prob: Any = None,
    *,
    method: TestMethod = "auto",
    draws: int = DRAWS,
    seed: int = 0,
    sample_weight: Any = None,
    pos_label: object = None,
) -> CalibrationTest:
    """Test whether the scores can be right: c(f) = 0.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    method : {"auto", "exact", "asymptotic"}
        "exact" draws outcomes from the scores; its size, over the draws and the data, is at most
        the level for any number of rows. "asymptotic" is a formula for many rows; below 0.001 its
        p-value is a proved bound, 0.001 itself is an approximation. "auto" takes the exact one
        below 2000 rows, or where the sum of f (1 - f) is under 50.
    draws : int, default 9999
        The most samples for the exact test, which stops early once 100 of them have a calibration
        error as large as the one observed. Its smallest p-value is 1 / (draws + 1).
    seed : int, default 0
        Seed of these samples.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    CalibrationTest
        statistic, p_value, method, and the p-value's own error where it is drawn.

    References
    ----------
    Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 1991, for when to stop.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(1000, seed=1)
    >>> cb.calibration_test(y_true, y_prob).p_value
    0.0004
    """
    errors.one_of("method", method, TEST_METHODS)
    draws = errors.whole_number("draws", draws, 1, errors.MOST_DRAWS)
    seed = errors.whole_number("seed", seed, least=0)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if data.clusters is not None:
        raise errors.not_for_clusters("calibration_test", "certify")
    diagram = Diagram(*data.source.start())
    check_rows(diagram, "a test")
    warn(data.warnings, stacklevel=2)
    if method == "auto":
        few = needs_exact(round(diagram.weight), mean_variance(diagram))
        method = "exact" if few else "asymptotic"
    if method == "asymptotic":
        diagram = resolve(data.source, extremes_need, asymptotic_need)
        return asymptotic_test(diagram, evidence_of(diagram))
    counts = counts_of(resolve(data.source, every_cell), "an exact test")
    return exact_test(counts, draws=draws, seed=seed)
