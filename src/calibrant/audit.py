"""Audit: everything the library can say about one set of predictions, computed once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from calibrant._version import __version__
from calibrant.diagram import TOLERANCE, Diagram, resolve
from calibrant.measure.error import error_of
from calibrant.measure.interval import Interval, intervals_need, worst_intervals_of
from calibrant.measure.reliability import reliability_need, reliability_of
from calibrant.sources.predictions import data_of

SCHEMA_VERSION = 1
#: Worst intervals that an audit names.
_WORST = 3


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What the predictions are like, before any judgement.

    Attributes
    ----------
    rows : int
        Rows that count (of positive weight).
    weight : float
        Their total weight; equal to `rows` without weights.
    observed_rate : float
        Share of the weight where the event happened.
    mean_prediction : float
        Mean score.
    labels_binary : bool
        Labels are two values, not fractions.
    weights_integer : bool
        Weights are whole numbers, or there are none.
    dropped : int
        Rows left out because a value was missing.
    """

    rows: int
    weight: float
    observed_rate: float
    mean_prediction: float
    labels_binary: bool
    weights_integer: bool
    dropped: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a reviewer needs to repeat the audit.

    Attributes
    ----------
    calibrant, numpy : str
        Versions.
    rows : int
        Rows read, those without weight and those dropped included.
    file, file_sha256 : str or None
        The file the predictions came from, and its hash.
    seed : int or None
        The seed of anything random: nothing is, so far.
    command : str or None
        The command line that made the audit.
    """

    calibrant: str
    numpy: str
    rows: int
    file: str | None = None
    file_sha256: str | None = None
    seed: int | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """What can be said about a set of predictions; `audit` makes one.

    Attributes
    ----------
    data : DataFacts
        Rows, weight, rates.
    calibration_error : float
        c_emp, exact for rows. For a tally: its value at the edges of cells, a lower bound.
    calibration_error_at_most : float
        The same for rows. For a tally: the upper bound.
    worst_intervals : tuple of Interval
        Where predictions and outcomes differ most, worst first, disjoint.
    reliability : tuple of Interval
        Up to ten groups of about equal weight, in order of score.
    warnings : tuple of str
        What is allowed but should be known.
    provenance : Provenance
        Versions, file and command.
    """

    data: DataFacts
    calibration_error: float
    calibration_error_at_most: float
    worst_intervals: tuple[Interval, ...]
    reliability: tuple[Interval, ...]
    warnings: tuple[str, ...]
    provenance: Provenance

    @property
    def exact(self) -> bool:
        """Whether the calibration error is exact, not bounded."""
        return self.calibration_error_at_most - self.calibration_error <= TOLERANCE

    @property
    def headline(self) -> str:
        """The finding in one sentence."""
        unit = "rows" if self.data.weights_integer else "units of weight"
        found = f"{self.calibration_error:.4g}"
        if not self.exact:
            found += f" or up to {self.calibration_error_at_most - self.calibration_error:.2g} more"
        return (
            f"In no range of scores do predictions and outcomes differ by more than "
            f"{_events(self.calibration_error_at_most)} {unit} of these data "
            f"(calibration error {found}, {self.data.rows:,} rows)."
        )

    @property
    def where(self) -> str:
        """Where it fails most, in one sentence."""
        worst = self.worst_intervals[0]
        if worst.verdict == "exact":
            return "Predictions and outcomes agree in every range of scores."
        return (
            f"It fails most for {worst.where} ({worst.rows:,} rows): "
            f"{100 * worst.mean_prediction:.2f}% predicted on average, "
            f"{100 * worst.observed_rate:.2f}% observed, so these scores are {worst.verdict}."
        )

    def __repr__(self) -> str:
        return f"{self.headline} {self.where}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "schema": "calibrant.audit",
            "schema_version": SCHEMA_VERSION,
            "summary": [self.headline, self.where],
            "data": asdict(self.data),
            "calibration_error": self.calibration_error,
            "calibration_error_at_most": self.calibration_error_at_most,
            "worst_intervals": [interval.to_dict() for interval in self.worst_intervals],
            "reliability": [interval.to_dict() for interval in self.reliability],
            "warnings": list(self.warnings),
            "provenance": asdict(self.provenance),
        }

    def to_metrics(self) -> dict[str, float]:
        """Return the main numbers as a flat dict of floats, for experiment trackers."""
        worst = self.worst_intervals[0]
        return {
            "rows": float(self.data.rows),
            "weight": self.data.weight,
            "observed_rate": self.data.observed_rate,
            "mean_prediction": self.data.mean_prediction,
            "calibration_error": self.calibration_error,
            "calibration_error_at_most": self.calibration_error_at_most,
            "worst_interval_rows": float(worst.rows),
            "worst_interval_mean_prediction": worst.mean_prediction,
            "worst_interval_observed_rate": worst.observed_rate,
            "worst_interval_excess": worst.excess,
        }


def audit(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: object = None
) -> Audit:
    """Say what can be said about a classifier's probabilities, in words and numbers.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As for `calibration_error`. A Predictions or a Tally stands for all of them; what a
        Tally hides inside its cells shows as bounds.

    Returns
    -------
    Audit
        Its repr is a sentence; `to_dict` and `to_metrics` give the numbers.

    Examples
    --------
    >>> import calibrant as cb
    >>> found = cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    >>> found.calibration_error
    0.35
    >>> print(found.where)
    It fails most for scores above 0.4 up to 0.8 (2 rows): 70.00% predicted on average, ...
    """
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    diagram = resolve(data.source, partial(intervals_need, k=_WORST), reliability_need)
    error, at_most = error_of(diagram)
    origin = data.origin
    return Audit(
        data=_facts(diagram, origin.dropped),
        calibration_error=error,
        calibration_error_at_most=at_most,
        worst_intervals=worst_intervals_of(diagram, _WORST),
        reliability=reliability_of(diagram),
        warnings=data.warnings,
        provenance=Provenance(
            calibrant=__version__,
            numpy=np.__version__,
            rows=len(data) + origin.dropped,
            file=origin.file,
            file_sha256=origin.sha256,
        ),
    )


def _events(share: float) -> str:
    """Say a share as events per 100, or per a larger round number; rounded up, never down."""
    per = next((per for per in (100, 10_000, 1_000_000) if share * per >= 0.1), 100_000_000)
    return f"{math.ceil(share * per * 100 - 1e-9) / 100:.2f} events per {per:,}"


def _facts(diagram: Diagram, dropped: int) -> DataFacts:
    positives = float(diagram.cells.positives.sum())
    predicted = positives - float(diagram.walk[-1])
    return DataFacts(
        rows=int(diagram.cells.rows.sum()),
        weight=diagram.weight,
        observed_rate=min(1.0, positives / diagram.weight),
        mean_prediction=min(1.0, max(0.0, predicted / diagram.weight)),
        labels_binary=diagram.totals.labels_binary,
        weights_integer=diagram.totals.weights_integer,
        dropped=dropped,
    )
