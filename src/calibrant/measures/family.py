"""The family: every measure next to the calibration error, computed together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import NamedTuple

import numpy as np

from calibrant import errors
from calibrant.core.diagram import Diagram, Needs, Source
from calibrant.core.extremes import extremes_need
from calibrant.core.minorant import minorant, minorant_need
from calibrant.measures.binned import binned_error_of, bins_need, kolmogorov_of
from calibrant.measures.clinical import Estimate, logistic_of, ratio_of
from calibrant.measures.decomposition import ScoreParts, brier_parts_of, log_loss_parts_of
from calibrant.measures.ranking import auc_need_if_few, auc_of
from calibrant.measures.unverifiable import unverifiable_l1_of, unverifiable_need

_N_BINS = 15
_BINS_NEED = partial(bins_need, n_bins=_N_BINS, strategy="uniform")
#: Measures with parts, and their names.
_LOSSES = ("brier", "log_loss")
_PARTS = tuple(part.name for part in fields(ScoreParts))
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
    clip : float or None
        Scores were moved into [clip, 1 - clip] for slope and intercept alone; None if they were
        taken as they are.
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
    clip: float | None = None

    def to_metrics(self) -> dict[str, float]:
        """Return every number by name, NaN where there is none.

        An estimate gives its value, and a loss its parts by name, as ``brier_score``.
        """
        flat: dict[str, float] = {}
        for name, value in asdict(self).items():
            if name in _LOSSES:
                found = value or dict.fromkeys(_PARTS, np.nan)
                flat |= {f"{name}_{part}": found[part] for part in _PARTS}
            elif name != "clip":
                number = value["value"] if isinstance(value, dict) else value
                flat[name] = np.nan if number is None else number
        return flat


class Gap(NamedTuple):
    """Numbers that there are none of, by their names in `Audit.to_metrics`, and why."""

    names: tuple[str, ...]
    reason: str


def measures_of(
    source: Source, diagram: Diagram, confidence: float, clip: float | None = None
) -> tuple[Measures, tuple[Gap, ...]]:
    """Compute what the data give, and say why the rest is left out."""
    gaps: list[Gap] = []

    log_loss = source.log_loss()

    def given(need: Needs, words: str, *names: str) -> bool:
        # with rows there is nothing left to open; a tally may hide what is needed
        if log_loss is not None or not (need(diagram) & ~diagram.cells.single).any():
            return True
        gaps.append(Gap(names, f"A tally does not give {words} exactly, so it is left out."))
        return False

    losses = [f"{loss}_{part}" for loss in _LOSSES for part in _PARTS]
    parts = given(minorant_need, "the parts of the losses", *losses)
    blocks = minorant(diagram) if parts else None
    if parts and log_loss is None:
        names = tuple(f"log_loss_{part}" for part in _PARTS)
        gaps.append(Gap(names, "A tally does not hold the log loss, so it is left out."))
    binned = given(_BINS_NEED, "the expected calibration error", "expected_calibration_error")
    extremes = given(extremes_need, "the Kolmogorov-Smirnov error", "kolmogorov_error")
    halves = given(unverifiable_need, "the l1 error that no test excludes", "unverifiable_l1")
    logistic = _logistic(source, diagram, confidence, clip, gaps)
    ratio = _ratio(diagram, confidence, gaps)
    area, area_within = auc_of(diagram)
    if np.isnan(area):
        gaps.append(Gap(("roc_auc",), "No ROC AUC: there is only one class."))
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
        observed_expected=ratio,
        unverifiable_l1=unverifiable_l1_of(diagram) if halves else None,
        clip=clip,
    )
    return measures, tuple(gaps)


def _logistic(
    source: Source, diagram: Diagram, confidence: float, clip: float | None, gaps: list[Gap]
) -> dict[str, Estimate]:
    wanted = ("slope", "intercept")
    try:
        found = logistic_of(source, diagram, confidence, *wanted, clip=clip)
    except errors.InputError as error:
        gaps.append(Gap(wanted, f"No calibration slope and intercept: {error}"))
        return {}
    estimates: dict[str, Estimate] = {}
    for name, one in found.items():
        if isinstance(one, Estimate):
            estimates[name] = one
        else:
            gaps.append(Gap((name,), str(one)))
    return estimates


def _ratio(diagram: Diagram, confidence: float, gaps: list[Gap]) -> Estimate | None:
    try:
        return ratio_of(diagram, confidence)
    except errors.InputError as error:
        gaps.append(Gap(("observed_expected",), f"No observed/expected ratio: {error}"))
        return None
