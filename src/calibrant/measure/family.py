"""The family: every measure next to the calibration error, computed together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from calibrant import _checks
from calibrant.diagram import Diagram, Needs, Source
from calibrant.measure.binned import binned_error_of, bins_need, kolmogorov_of
from calibrant.measure.clinical import Estimate, logistic_of, ratio_of
from calibrant.measure.extremes import extremes_need
from calibrant.measure.parts import ScoreParts, brier_parts_of, log_loss_parts_of
from calibrant.measure.ranking import auc_need_if_few, auc_of
from calibrant.measure.unverifiable import unverifiable_l1_of, unverifiable_need
from calibrant.minorant import minorant, minorant_need

_N_BINS = 15
_BINS_NEED = partial(bins_need, n_bins=_N_BINS, strategy="uniform")
#: What a diagram must be resolved for.
FAMILY_NEEDS: tuple[Needs, ...] = (minorant_need, auc_need_if_few, _BINS_NEED)


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
        What clinicians report, with intervals.
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


def measures_of(
    source: Source, diagram: Diagram, confidence: float
) -> tuple[Measures, tuple[str, ...]]:
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
    logistic = _logistic(source, diagram, confidence, notes)
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
        observed_expected=_ratio(diagram, confidence, notes),
        unverifiable_l1=unverifiable_l1_of(diagram) if halves else None,
    )
    return measures, tuple(notes)


def _logistic(
    source: Source, diagram: Diagram, confidence: float, notes: list[str]
) -> dict[str, Estimate]:
    try:
        found = logistic_of(source, diagram, confidence, "slope", "intercept")
    except _checks.InputError as error:
        notes.append(f"No calibration slope and intercept: {error}")
        return {}
    notes += [str(error) for error in found.values() if isinstance(error, _checks.InputError)]
    return {name: one for name, one in found.items() if isinstance(one, Estimate)}


def _ratio(diagram: Diagram, confidence: float, notes: list[str]) -> Estimate | None:
    try:
        return ratio_of(diagram, confidence)
    except _checks.InputError as error:
        notes.append(f"No observed/expected ratio: {error}")
        return None
