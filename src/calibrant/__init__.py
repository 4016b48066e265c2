"""Tell whether a classifier's scores can be used as probabilities.

`calibrant` measures the calibration error of Gao, Parameswaran and Peng (AISTATS 2017) exactly,
shows where it lies, and reports it in words.
"""

from typing import TYPE_CHECKING, Any

from calibrant._version import __version__
from calibrant.audit import Audit, audit
from calibrant.measure.curve import CumulativeCurve, cumulative_curve
from calibrant.measure.error import assert_calibrated, calibration_error
from calibrant.measure.interval import Interval, worst_interval
from calibrant.sources.predictions import Predictions
from calibrant.tally import Tally

if TYPE_CHECKING:
    from calibrant.measure.scorer import calibration_error_scorer

__all__ = [
    "Audit",
    "CumulativeCurve",
    "Interval",
    "Predictions",
    "Tally",
    "__version__",
    "assert_calibrated",
    "audit",
    "calibration_error",
    "calibration_error_scorer",
    "cumulative_curve",
    "worst_interval",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, so what needs it is loaded when first asked for
    if name == "calibration_error_scorer":
        from calibrant.measure.scorer import calibration_error_scorer

        return calibration_error_scorer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
