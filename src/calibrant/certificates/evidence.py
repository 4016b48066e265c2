"""Evidence: the few numbers of a diagram that a certificate needs, and the counts behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibrant import errors
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import TOLERANCE, Diagram, everything
from calibrant.errors import InputError
from calibrant.measures.error import error_of

#: The most distinct scores, and the most rows, that methods which look at each of them take.
MOST_ROWS = 1 << 24
#: So many rows without any calibration error are hardly chance.
MANY_ROWS = 50
WERE_THESE = "were these the rows that a calibrator was fitted to?"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a sample says, in the four numbers that bounds are made of.

    Attributes
    ----------
    n : int
        Rows; a weight counts its row that many times.
    c_emp, c_emp_at_most : float
        The calibration error measured. They differ only for a tally, which bounds it.
    v0 : float
        Mean of f (1 - f): what the variance of an outcome would be if the scores were right.
    brier : float
        Mean of (y - f)^2.
    """

    n: int
    c_emp: float
    c_emp_at_most: float
    v0: float
    brier: float


def evidence_of(diagram: Diagram, what: str = "a certificate") -> Evidence:
    """Read the evidence off a diagram resolved for its extremes."""
    check_rows(diagram, what)
    totals, n = diagram.totals, diagram.weight
    c_emp, at_most = error_of(diagram)
    return Evidence(
        n=round(n),
        c_emp=c_emp,
        c_emp_at_most=at_most,
        v0=mean_variance(diagram),
        brier=min(1.0, max(0.0, (totals.yy - 2 * totals.fy + totals.ff) / n)),
    )


def mean_variance(diagram: Diagram) -> float:
    """Return v0, the mean of f (1 - f)."""
    positives, walk = float(diagram.cells.positives.sum()), float(diagram.walk[-1])
    return min(0.25, max(0.0, (positives - walk - diagram.totals.ff) / diagram.weight))


def check_rows(diagram: Diagram, what: str) -> None:
    """Refuse soft labels and non-integer weights: the claim is about rows."""
    if diagram.weight > 2**53:
        raise _counts_too_large(diagram.weight)
    diagram.totals.check_counts(what)


def too_good(diagram: Diagram, error: float | None = None) -> bool:
    """Whether many rows have no calibration error, as those that a calibrator was fitted to.

    Scores that were rounded, or kept in single precision, leave some: a millionth of what it would
    vary by chance is none. A diagram that is not resolved for its extremes needs the `error`.
    """
    totals = diagram.totals
    if not (totals.are_counts and diagram.count >= MANY_ROWS):
        return False
    chance = math.sqrt(mean_variance(diagram) / diagram.weight)
    most = error_of(diagram)[1] if error is None else error
    return most <= max(TOLERANCE, 1e-6 * chance)


@dataclass(frozen=True, eq=False, slots=True)
class Counts:
    """Rows and positives at every distinct score, in order: all that a sample of rows is.

    Attributes
    ----------
    score : float array
        The distinct scores.
    rows, positives : int array
        How many rows have it, and in how many of them the event happened.
    """

    score: FloatArray
    rows: IntArray
    positives: IntArray

    @property
    def n(self) -> int:
        """Rows in all."""
        return int(self.rows.sum())


def counted(number: int, unit: str, units: str | None = None) -> str:
    """Say how many there are."""
    return f"{number:,} {unit if number == 1 else units or f'{unit}s'}"


def every_cell(diagram: Diagram) -> BoolArray:
    """Mark every cell; refuse tables that may be too large to be held as counts."""
    single = diagram.cells.single
    distinct = int(single.sum()) + int(diagram.cells.rows[~single].sum())
    if distinct > MOST_ROWS:
        raise too_many_rows("distinct scores", distinct, MOST_ROWS)
    return everything(diagram)


def counts_of(diagram: Diagram, what: str) -> Counts:
    """Read the counts off a diagram whose cells are all opened."""
    check_rows(diagram, what)
    cells = diagram.cells
    if not diagram.open:
        raise errors.tally_hides(what)
    rows = np.rint(cells.weight).astype(np.int64)
    return Counts(cells.score, rows, np.rint(cells.positives).astype(np.int64))


def _counts_too_large(total: float) -> InputError:
    return InputError(
        f"Weights are row counts here, and their sum {total:.3g} is past 2**53, where doubles no "
        "longer count one by one."
    )


def too_many_rows(what: str, count: int, most: int) -> InputError:
    """Refuse a table too long for what looks at each row."""
    return InputError(
        f"There may be {count:,} {what}, and this method looks at each: it takes at most {most:,}. "
        'Use one that works on sums: method="certified", or method="asymptotic" for the test.'
    )
