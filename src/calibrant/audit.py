"""Audit: everything the library can say about one set of predictions, computed once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from calibrant import _checks
from calibrant._version import __version__
from calibrant.diagram import TOLERANCE, Diagram, Needs, Source, resolve
from calibrant.measure.binned import binned_error_of, bins_need, kolmogorov_of
from calibrant.measure.clinical import Estimate, logistic_of, ratio_of
from calibrant.measure.error import error_of
from calibrant.measure.extremes import extremes_need
from calibrant.measure.interval import Interval, intervals_need, worst_intervals_of
from calibrant.measure.parts import ScoreParts, brier_parts_of, log_loss_parts_of
from calibrant.measure.ranking import auc_need_if_few, auc_of
from calibrant.measure.reliability import reliability_need, reliability_of
from calibrant.measure.unverifiable import unverifiable_l1_of, unverifiable_need
from calibrant.minorant import minorant, minorant_need
from calibrant.sources.predictions import data_of

SCHEMA_VERSION = 1
#: Worst intervals that an audit names.
_WORST = 3
_N_BINS = 15
_BINS_NEED = partial(bins_need, n_bins=_N_BINS, strategy="uniform")
_CONFIDENCE = 0.95


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
class Measures:
    """The family next to the calibration error; None where the data do not give it.

    Attributes
    ----------
    brier, log_loss : ScoreParts or None
        The losses, split into miscalibration, discrimination and uncertainty.
    expected_calibration_error : float or None
        ECE over 15 bins of equal width.
    kolmogorov_error : float or None
        The calibration error of intervals that start at the lowest score.
    roc_auc : float or None
        Area under the ROC curve, off by at most `roc_auc_within`.
    roc_auc_within : float
        0 up to 131,072 rows; beyond, what the order of rows inside closed cells leaves open.
    slope, intercept, observed_expected : Estimate or None
        What clinicians report, with 95% intervals.
    unverifiable_l1 : float or None
        The l1 error that no test can exclude (Theorem 1).
    """

    brier: ScoreParts | None
    log_loss: ScoreParts | None
    expected_calibration_error: float | None
    kolmogorov_error: float | None
    roc_auc: float | None
    roc_auc_within: float
    slope: Estimate | None
    intercept: Estimate | None
    observed_expected: Estimate | None
    unverifiable_l1: float | None


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
    measures : Measures
        The measures that others report, next to the calibration error.
    """

    data: DataFacts
    calibration_error: float
    calibration_error_at_most: float
    worst_intervals: tuple[Interval, ...]
    reliability: tuple[Interval, ...]
    warnings: tuple[str, ...]
    provenance: Provenance
    measures: Measures

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
            "measures": _plain(asdict(self.measures)),
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
            **self._flat_measures(),
        }

    def _flat_measures(self) -> dict[str, float]:
        """Return the measures there are; an estimate as its value, parts of a loss by name."""
        flat: dict[str, float] = {}
        for name, value in asdict(self.measures).items():
            if isinstance(value, dict) and "value" in value:
                flat[name] = value["value"]
            elif isinstance(value, dict):
                flat.update({f"{name}_{part}": number for part, number in value.items()})
            elif value is not None:
                flat[name] = value
        return flat


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
    data = data_of(y_true, y_prob, sample_weight, pos_label, fine=True)
    diagram = resolve(
        data.source,
        partial(intervals_need, k=_WORST),
        reliability_need,
        minorant_need,
        auc_need_if_few,
        _BINS_NEED,
    )
    error, at_most = error_of(diagram)
    measures, notes = _measures(data.source, diagram)
    origin = data.origin
    return Audit(
        data=_facts(diagram, origin.dropped),
        calibration_error=error,
        calibration_error_at_most=at_most,
        worst_intervals=worst_intervals_of(diagram, _WORST),
        reliability=reliability_of(diagram),
        warnings=data.warnings + notes,
        measures=measures,
        provenance=Provenance(
            calibrant=__version__,
            numpy=np.__version__,
            rows=len(data) + origin.dropped,
            file=origin.file,
            file_sha256=origin.sha256,
        ),
    )


def _measures(source: Source, diagram: Diagram) -> tuple[Measures, tuple[str, ...]]:
    """Compute what the data give, and say why the rest is left out."""
    notes: list[str] = []

    log_loss = source.log_loss()

    def given(need: Needs, name: str) -> bool:
        # with rows there is nothing left to open; a tally may hide what is needed
        if log_loss is not None or not (need(diagram) & ~diagram.cells.single).any():
            return True
        notes.append(f"A tally does not give {name} exactly, so it is left out.")
        return False

    parts = given(minorant_need, "the parts of the losses")
    blocks = minorant(diagram) if parts else None
    binned = given(_BINS_NEED, "the expected calibration error")
    extremes = given(extremes_need, "the Kolmogorov-Smirnov error")
    halves = given(unverifiable_need, "the l1 error that no test excludes")
    area, area_within = auc_of(diagram)
    logistic = _logistic(source, diagram, notes)
    measures = Measures(
        brier=None if blocks is None else brier_parts_of(diagram, blocks),
        log_loss=(
            None
            if blocks is None or log_loss is None
            else log_loss_parts_of(diagram, blocks, log_loss)
        ),
        expected_calibration_error=(
            binned_error_of(diagram, _N_BINS, "uniform") if binned else None
        ),
        kolmogorov_error=kolmogorov_of(diagram) if extremes else None,
        roc_auc=None if np.isnan(area) else area,
        roc_auc_within=area_within,
        slope=logistic.get("slope"),
        intercept=logistic.get("intercept"),
        observed_expected=_ratio(diagram, notes),
        unverifiable_l1=unverifiable_l1_of(diagram) if halves else None,
    )
    return measures, tuple(notes)


def _logistic(source: Source, diagram: Diagram, notes: list[str]) -> dict[str, Estimate]:
    try:
        found = logistic_of(source, diagram, _CONFIDENCE, "slope", "intercept")
    except _checks.InputError as error:
        notes.append(f"No calibration slope and intercept: {error}")
        return {}
    notes += [str(error) for error in found.values() if isinstance(error, _checks.InputError)]
    return {name: one for name, one in found.items() if isinstance(one, Estimate)}


def _ratio(diagram: Diagram, notes: list[str]) -> Estimate | None:
    try:
        return ratio_of(diagram, _CONFIDENCE)
    except _checks.InputError as error:
        notes.append(f"No observed/expected ratio: {error}")
        return None


def _plain(value: Any) -> Any:
    """Spell an infinite number as a word, because JSON has none."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


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
