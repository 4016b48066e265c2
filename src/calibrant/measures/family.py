"""The family: every other measure than the calibration error, computed together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from calibrant.core.diagram import Diagram, Needs, Source
from calibrant.core.statistic import Statistic, values_of
from calibrant.errors import InputError, TallyHidesError
from calibrant.measures.binned import KOLMOGOROV, binned_error
from calibrant.measures.clinical import Estimate, logistic, ratio
from calibrant.measures.decomposition import BRIER_PARTS, LOG_LOSS_PARTS, ScoreParts
from calibrant.measures.ranking import ROC_AUC_OR_BOUND
from calibrant.measures.undetectable import UNDETECTABLE_L1

_N_BINS = 15
#: Measures with parts, and their names.
_LOSSES = ("brier", "log_loss")
_PARTS = tuple(part.name for part in fields(ScoreParts))
_LOGISTIC = ("slope", "intercept")
#: In the order of reports: what each measure is called there, and what it is in one line.
LISTED = {
    "roc_auc": ("ranking (ROC AUC)", "area under the ROC curve"),
    "brier": ("Brier score", "mean squared difference of score and outcome"),
    "log_loss": ("log loss", "mean of -log of the probability given to the outcome"),
    "slope": ("calibration slope", "on the log-odds; 1 if scores are right"),
    "intercept": ("calibration intercept", "at slope 1; 0 if scores are right"),
    "observed_expected": (
        "observed / expected",
        "events over the sum of scores; 1 if scores are right",
    ),
    "expected_calibration_error": (f"ECE, {_N_BINS} bins", "expected calibration error"),
    "kolmogorov_error": (
        "Kolmogorov-Smirnov error",
        "calibration error over ranges that start at the lowest score",
    ),
    "undetectable_l1": (
        "smallest undetectable L1 error",
        "by how much single scores may be off on average without any test noticing",
    ),
}
#: How a sentence begins that says why there is no number.
_MISSING = {
    **dict.fromkeys(_LOGISTIC, "No calibration slope and intercept"),
    "observed_expected": "No observed/expected ratio",
    "roc_auc": "No ROC AUC",
}


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures besides the calibration error; None where the data do not give it.

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
    undetectable_l1 : float or None
        The smallest undetectable L1 error (Theorem 1).
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
    undetectable_l1: float | None
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


class Family:
    """The measures besides the calibration error, as statistics that are resolved together."""

    def __init__(self, confidence: float, clip: float | None = None) -> None:
        self._clip = clip
        #: By the field of `Measures` that each fills, or fills first.
        self._members: dict[str, Statistic[Any]] = {
            "brier": BRIER_PARTS,
            "log_loss": LOG_LOSS_PARTS,
            "expected_calibration_error": binned_error(_N_BINS, "uniform"),
            "kolmogorov_error": KOLMOGOROV,
            "undetectable_l1": UNDETECTABLE_L1,
            "slope": logistic(confidence, clip, *_LOGISTIC),
            "observed_expected": ratio(confidence),
            "roc_auc": ROC_AUC_OR_BOUND,
        }

    @property
    def needs(self) -> list[Needs]:
        """What must be opened for all of them."""
        return [one.needs for one in self._members.values()]

    def measures_of(self, source: Source, diagram: Diagram) -> tuple[Measures, tuple[Gap, ...]]:
        """Return what the data give, and why the rest is left out."""
        values = values_of(source, diagram, *self._members.values())
        found = dict(zip(self._members, values, strict=True))
        logistic_found = found["slope"]
        if isinstance(logistic_found, InputError):
            found["slope"] = found["intercept"] = logistic_found
        else:
            found |= logistic_found
        area, found["roc_auc_within"] = found["roc_auc"]
        found["roc_auc"] = InputError("there is only one class.") if np.isnan(area) else area
        gaps = self._gaps(found)
        known: dict[str, Any] = {
            name: None if isinstance(value, InputError) else value for name, value in found.items()
        }
        return Measures(**known, clip=self._clip), gaps

    def _gaps(self, found: dict[str, Any]) -> tuple[Gap, ...]:
        """Say why there is no number, once for all that lack it for the same reason."""
        reasons: dict[str, list[str]] = {}
        for name, value in found.items():
            if isinstance(value, InputError):
                names = [f"{name}_{part}" for part in _PARTS] if name in _LOSSES else [name]
                reasons.setdefault(_reason(name, value), []).extend(names)
        return tuple(Gap(tuple(names), reason) for reason, names in reasons.items())


def _reason(name: str, error: InputError) -> str:
    if isinstance(error, TallyHidesError):
        return f"A tally does not give {error.what} exactly, so it is left out."
    words = str(error)
    if words.startswith("There is no"):
        return words
    return f"{_MISSING.get(name, f'No {LISTED[name][0]}')}: {words}"
