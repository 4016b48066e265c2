"""What a calibrator does, measured on rows that it was not fitted on."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from calibrant import errors
from calibrant._figures import figure, rounded_up
from calibrant._types import FloatArray
from calibrant.calibrators.counted import (
    Held,
    as_they_are,
    ends_of,
    held_out,
    measured,
    measured_held_out,
)
from calibrant.calibrators.crossfit import Crossfit, cross_fit
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.fitting import Objective
from calibrant.calibrators.folds import FOLDS
from calibrant.calibrators.pool import CELL_LEVEL, MOST_SCORES, Pool, pool_of
from calibrant.calibrators.registry import KINDS, calibrator_class
from calibrant.core.diagram import Diagram, resolve
from calibrant.core.statistic import values_of
from calibrant.data.predictions import Predictions
from calibrant.measures.decomposition import BRIER, LOG_LOSS
from calibrant.measures.error import ERROR
from calibrant.measures.ranking import auc_of


@dataclass(frozen=True, slots=True)
class Quality:
    """How good scores are.

    Attributes
    ----------
    calibration_error, brier_score, log_loss : float
        Smaller is better; the log loss is infinite if an outcome had probability 0.
    roc_auc : float or None
        Larger is better; None if there is one class only.
    """

    calibration_error: float
    brier_score: float
    log_loss: float
    roc_auc: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """A calibrator fitted on all rows, and what its like do to rows they were not fitted on.

    The numbers are estimates, without a confidence: the folds are dealt with a fixed seed.

    Attributes
    ----------
    calibrator : Calibrator
        Fitted on all rows.
    rows, folds : int
        Rows, and the folds of the cross-fit.
    before, after : Quality
        Of the scores as they are, and calibrated by a calibrator fitted on the other folds.
    dropped : int
        Rows left out because a value was missing.
    before_open, after_open : Quality or None
        None if every score was kept apart. With more than 2^24 distinct scores, the calibrators of
        the folds are fitted to the means of cells of width 2^-20; then how far each number can be
        from what these calibrators make of every row at its own score.
    """

    calibrator: Calibrator
    rows: int
    folds: int
    before: Quality
    after: Quality
    dropped: int = 0
    before_open: Quality | None = None
    after_open: Quality | None = None

    @property
    def headline(self) -> str:
        """The finding in one sentence."""
        before, after = self.before.calibration_error, self.after.calibration_error
        if self.calibrator.method == "identity":
            return (
                f"The calibrator leaves every score as it is (calibration error {figure(before)}, "
                f"Brier score {figure(self.before.brier_score)}, {self.rows:,} rows)."
            )
        verb = "lowers" if after < before else "does not lower"
        change = (
            f"from {figure(before)} to {figure(after)}"
            if after < before
            else f"({figure(before)} before)"
        )
        return (
            f"On held-out rows {KINDS[self.calibrator.method].words} {verb} the calibration error "
            f"{change}, and the Brier score goes from {figure(self.before.brier_score)} to "
            f"{figure(self.after.brier_score)}{self._worse()} ({self.rows:,} rows, {self.folds} "
            "folds)."
        )

    def _worse(self) -> str:
        """Say that the log loss has become infinite, which no gain elsewhere makes up for."""
        worse = math.isinf(self.after.log_loss) and not math.isinf(self.before.log_loss)
        return ", but the log loss becomes infinite" if worse else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        return {
            "schema": "calibrant.study",
            "schema_version": 1,
            "summary": [self.headline],
            "method": self.calibrator.method,
            "options": self.calibrator.get_params(deep=False),
            "rows": self.rows,
            "folds": self.folds,
            "dropped": self.dropped,
            "before": _plain(self.before),
            "after": _plain(self.after),
            "before_open": None if self.before_open is None else _plain(self.before_open),
            "after_open": None if self.after_open is None else _plain(self.after_open),
        }

    @property
    def note(self) -> str | None:
        """What pooling scores into cells leaves open, in words; None if nothing."""
        if self.after_open is None:
            return None
        return (
            f"With more than {MOST_SCORES:,} distinct scores, the calibrators of the folds were "
            f"fitted to the means of cells of width 2^-{CELL_LEVEL}. What they make of every row "
            "at its own score has a calibration error that differs by at most "
            f"{rounded_up(self.after_open.calibration_error, 2)}, and a Brier score by at most "
            f"{rounded_up(self.after_open.brier_score, 2)}."
        )


def _plain(quality: Quality) -> dict[str, Any]:
    """Spell an infinite loss as a word, because JSON has none."""
    return {
        name: "inf" if value is not None and math.isinf(value) else value
        for name, value in asdict(quality).items()
    }


def calibrator_named(method: str, objective: Objective = "log_loss") -> Calibrator:
    """Return an unfitted calibrator; isotonic and histogram minimise every objective at once."""
    if method not in KINDS:
        raise errors.not_among("method", method, list(KINDS))
    kind: type[Calibrator] = calibrator_class(method)
    takes = "objective" in kind._get_param_names()
    return kind(objective=objective) if takes else kind()


def evaluate_calibrator(data: Predictions, calibrator: Calibrator) -> Evaluation:
    """Fit on all rows, and measure by cross-fitting."""
    calibrator.fit(data)
    cells, totals = data.source.start()
    about = calibrator, int(cells.rows.sum()), FOLDS
    if totals.are_counts:
        pool = pool_of(data)
        before, before_open = _before(data, pool)
        after, after_open = _after(pool, calibrator)
        return Evaluation(*about, before, after, data.origin.dropped, before_open, after_open)
    found = cross_fit(data, calibrator)
    before, after = (_quality(found, value) for value in (found.before, found.after))
    return Evaluation(*about, before, after, data.origin.dropped)


def _before(data: Predictions, pool: Pool) -> tuple[Quality, Quality | None]:
    """Measure the scores as they are; of cells the ranking alone is left open."""
    if pool.cells is None:
        return _named(*measured(as_they_are(pool))), None
    diagram = resolve(data.source, ERROR.needs)
    # shares of cells, whose totals the area does not read
    area, unknown = auc_of(Diagram(pool.cells, diagram.totals))
    (error, _), brier, loss = values_of(data.source, diagram, ERROR, BRIER, LOG_LOSS)
    return _named(error, brier, loss, area), Quality(0.0, 0.0, 0.0, unknown)


def _after(pool: Pool, calibrator: Calibrator) -> tuple[Quality, Quality | None]:
    """Measure held-out rows, calibrated; of cells with how far off each number can be."""
    if pool.cells is None:
        return _named(*measured_held_out(pool, calibrator)), None
    held = held_out(pool, calibrator)
    found = _named(*measured(held))
    values = (found.calibration_error, found.brier_score, found.log_loss, found.roc_auc or 0.0)
    pairs = zip(values, ends_of(held), strict=True)
    # an infinite loss that stays so is off by nothing
    return found, Quality(*(max(_gap(high, one), _gap(one, low)) for one, (low, high) in pairs))


def _gap(high: float, low: float) -> float:
    return 0.0 if high == low else high - low


def _named(error: float, brier: float, loss: float, area: float) -> Quality:
    return Quality(error, brier, loss, None if math.isnan(area) else area)


def _quality(rows: Crossfit, value: FloatArray) -> Quality:
    """Measure rows of any weight: each is so much of an event, and the rest of none."""
    events, others = rows.weight * rows.label, rows.weight * (1 - rows.label)
    return _named(*measured(Held(value, value, value, others, events)))
