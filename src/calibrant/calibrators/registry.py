"""The calibrators there are: what JSON and the command line call each, and where it is found.

A calibrator is added by its class, its entry here and its name in `calibrant/__init__.py`. Nothing
of `estimators` is imported until it is asked for: scikit-learn takes a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from calibrant.calibrators.links import LinkFamily

#: What a calibrator is called.
CalibratorName: TypeAlias = Literal[
    "isotonic", "platt", "beta", "temperature", "histogram", "venn_abers", "identity"
]


class Kind(NamedTuple):
    """A calibrator: the module and the name of its class, its name in prose, and its link."""

    module: str
    name: str
    words: str
    family: LinkFamily | None = None


_STEPS = "calibrant.calibrators.estimators.steps"
_LINKS = "calibrant.calibrators.estimators.links"
_VENN_ABERS = "calibrant.calibrators.estimators.venn_abers"
_PLATT = LinkFamily(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), slopes=1, platts_targets=True)
_TEMPERATURE = LinkFamily(np.array([[1.0], [1.0], [0.0]]), slopes=1)
#: Every calibrator, the recommended one first.
KINDS: dict[str, Kind] = {
    "isotonic": Kind(_STEPS, "IsotonicCalibrator", "isotonic regression"),
    "platt": Kind(_LINKS, "PlattCalibrator", "Platt scaling", _PLATT),
    "beta": Kind(_LINKS, "BetaCalibrator", "beta calibration", LinkFamily(np.eye(3), slopes=2)),
    "temperature": Kind(_LINKS, "TemperatureCalibrator", "temperature scaling", _TEMPERATURE),
    "histogram": Kind(_STEPS, "HistogramCalibrator", "histogram binning"),
    "venn_abers": Kind(_VENN_ABERS, "VennAbersCalibrator", "Venn-Abers prediction"),
    "identity": Kind(_STEPS, "IdentityCalibrator", "leaving the scores as they are"),
}


def family_of(method: str) -> LinkFamily:
    """Return the family of a link."""
    family = KINDS[method].family
    if family is None:
        raise TypeError(f"{method} is no link")
    return family


def calibrator_class(method: str) -> Any:
    """Load the class of a calibrator."""
    kind = KINDS[method]
    return getattr(import_module(kind.module), kind.name)
