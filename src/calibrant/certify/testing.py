"""Is it calibrated? Tests of c(f) = 0: exact by simulation, or by the range of Brownian motion."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from calibrant import _checks
from calibrant._progress import progress_bar
from calibrant.certify.brownian import range_tail
from calibrant.certify.evidence import (
    Counts,
    Evidence,
    check_rows,
    counted,
    counts_of,
    every_cell,
    evidence_of,
    mean_variance,
)
from calibrant.certify.null import null_ranges, walk_range
from calibrant.diagram import TOLERANCE, Diagram, resolve
from calibrant.measure.extremes import extremes_need
from calibrant.sources.predictions import data_of, warn

TestMethod: TypeAlias = Literal["auto", "exact", "brownian"]
TEST_METHODS = ("auto", "exact", "brownian")
#: Fewer rows, or less expected variance, than this and the limit is not to be trusted.
_LEAST_ROWS, _LEAST_VARIANCE = 2000, 50.0
#: Values of n c_emp this close, and this share of n, are equal, or rounding would decide ties.
_SAME, _SAME_SHARE = 1e-9, 1e-13
#: From this many outcomes on, drawing takes long enough for a bar.
_LONG = 3 * 10**8
DRAWS = 999


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """How likely so large a calibration error is if the scores are right.

    Attributes
    ----------
    statistic : float
        c_emp.
    p_value : float
        The chance, if c(f) = 0, of a calibration error at least as large.
    method : str
        "exact" or "brownian".
    n : int
        Rows.
    draws, seed : int or None
        Samples drawn for the exact test, and their seed.
    p_value_error : float or None
        Standard error of the p-value from the number of draws: another seed moves it this much.
        None for "brownian", which is a limit of many rows.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(5000, seed=1)
    >>> test = cb.calibration_test(y_true, y_prob)
    >>> test.method, round(test.p_value, 3)
    ('brownian', 0.998)
    >>> test
    There is no evidence against calibration: if the scores were right, a calibration error
    of 0.004327 or more on 5,000 rows would have probability 0.998 (brownian test).
    """

    statistic: float
    p_value: float
    method: str
    n: int
    draws: int | None = None
    seed: int | None = None
    p_value_error: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    def __repr__(self) -> str:
        sense = "evidence against" if self.p_value <= 0.05 else "no evidence against"
        how = f"{self.method} test"
        if self.draws is not None:
            how += f", {self.draws:,} draws, standard error {self.p_value_error:.2g}"
        return (
            f"There is {sense} calibration: if the scores were right, a calibration error of "
            f"{self.statistic:.4g} or more on {counted(self.n, 'row')} would have probability "
            f"{chance(self)} ({how})."
        )


def chance(test: CalibrationTest) -> str:
    """Return a p-value in words: neither 0 nor the least that draws can show is its value."""
    if test.p_value == 0:
        return "under 1e-300"
    least = test.draws is not None and test.p_value <= 1 / (test.draws + 1)
    return f"{'at most ' * least}{test.p_value:.3g}"


def needs_exact(n: int, v0: float) -> bool:
    """Whether the Brownian limit is not to be trusted: few rows, or few events expected."""
    return n < _LEAST_ROWS or n * v0 < _LEAST_VARIANCE


def brownian_test(evidence: Evidence) -> CalibrationTest:
    """Test c(f) = 0 by the limit law of c_emp: the range of Brownian motion.

    References
    ----------
    Feller (1951); Arrieta-Ibarra et al., "Metrics of calibration for probabilistic predictions",
    JMLR 2022.
    """
    if evidence.v0 > 0:
        p_value = range_tail(evidence.c_emp * math.sqrt(evidence.n) / math.sqrt(evidence.v0))
    else:  # scores of 0 and 1 alone leave nothing to chance
        p_value = 1.0 if evidence.c_emp <= TOLERANCE else 0.0
    return CalibrationTest(evidence.c_emp, p_value, "brownian", evidence.n)


def exact_test(counts: Counts, *, draws: int = DRAWS, seed: int = 0) -> CalibrationTest:
    """Test c(f) = 0 by drawing outcomes from the scores: its size is exact for any n.

    References
    ----------
    Barnard (1963): the observed sample ranks uniformly among draws from the same law.
    """
    n = counts.n
    observed = float(walk_range((counts.positives - counts.rows * counts.score)[None])[0])
    with _bar(len(counts.score) * draws, draws) as told:
        ranges = null_ranges(counts, draws, seed, told)
    passed = int(np.count_nonzero(ranges >= observed - _SAME - _SAME_SHARE * n))
    p_value = (1 + passed) / (draws + 1)
    error = math.sqrt(p_value * (1 - p_value) / draws)
    return CalibrationTest(observed / n, p_value, "exact", n, draws, seed, error)


def _bar(outcomes: int, draws: int) -> Any:
    from contextlib import nullcontext

    if outcomes < _LONG:
        return nullcontext(lambda _: None)
    return progress_bar("Drawing samples", draws)


def suited_test(diagram: Diagram, evidence: Evidence, draws: int, seed: int) -> CalibrationTest:
    """Run the test that `needs_exact` asks for; an exact one needs every cell opened."""
    if needs_exact(evidence.n, evidence.v0):
        return exact_test(counts_of(diagram, "an exact test"), draws=draws, seed=seed)
    return brownian_test(evidence)


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
    method : {"auto", "exact", "brownian"}
        "exact" draws outcomes from the scores; its size holds for any number of rows.
        "brownian" is a formula for many rows, good down to p = 1e-300. "auto" takes the exact
        one below 2000 rows, or where the sum of f (1 - f) is under 50.
    draws : int, default 999
        Samples for the exact test; its smallest p-value is 1 / (draws + 1).
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

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(1000, seed=1)
    >>> cb.calibration_test(y_true, y_prob).p_value
    0.001
    """
    if method not in TEST_METHODS:
        raise _checks.not_among("method", method, TEST_METHODS)
    draws = _checks.whole_number("draws", draws, least=1)
    seed = _checks.whole_number("seed", seed, least=0)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if data.clusters is not None:
        raise _checks.not_for_clusters("calibration_test", "certify")
    diagram = Diagram(*data.source.start())
    check_rows(diagram, "a test")
    warn(data.warnings, stacklevel=2)
    if method == "auto":
        few = needs_exact(round(diagram.weight), mean_variance(diagram))
        method = "exact" if few else "brownian"
    if method == "brownian":
        return brownian_test(evidence_of(resolve(data.source, extremes_need)))
    counts = counts_of(resolve(data.source, every_cell), "an exact test")
    return exact_test(counts, draws=draws, seed=seed)
