"""Tell whether a classifier's scores can be used as probabilities.

`calibrant` measures the calibration error of Gao, Parameswaran and Peng (AISTATS 2017) exactly,
proves what can be guaranteed about the true one, shows where it lies, and reports it in words.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant._version import __version__
from calibrant.auditing.compare import compare
from calibrant.auditing.regions import audit_regions
from calibrant.auditing.renderers import RENDERERS
from calibrant.auditing.result import Audit
from calibrant.auditing.run import advise, audit
from calibrant.calibrators.prior import adjust_prior
from calibrant.calibrators.registry import KINDS
from calibrant.certificates.bands import confidence_band, consistency_band
from calibrant.certificates.certify import certify
from calibrant.certificates.plan import sample_size
from calibrant.certificates.simultaneous import certify_many
from calibrant.certificates.testing import calibration_test
from calibrant.certificates.training import certify_estimator
from calibrant.core.tally import Tally
from calibrant.data.engine.sql_table import sql_table
from calibrant.data.predictions import Predictions
from calibrant.decisions.costs import bayes_threshold, decide
from calibrant.decisions.curve import cost_curve, net_benefit
from calibrant.decisions.price import price_of_miscalibration
from calibrant.decisions.ratio import loss_ratio
from calibrant.decisions.regret import best_threshold, expected_cost
from calibrant.errors import InputError
from calibrant.measures.binned import expected_calibration_error, kolmogorov_error
from calibrant.measures.clinical import (
    calibration_intercept,
    calibration_slope,
    observed_expected_ratio,
)
from calibrant.measures.cumulative import cumulative_curve
from calibrant.measures.decomposition import brier_parts, log_loss_parts
from calibrant.measures.error import assert_calibrated, calibration_error
from calibrant.measures.interval import worst_interval
from calibrant.measures.ranking import roc_auc
from calibrant.measures.undetectable import undetectable_l1

if TYPE_CHECKING:
    from calibrant import results, simulate
    from calibrant.calibrators.classifier import CalibratedClassifier
    from calibrant.calibrators.estimators.calibrator import Calibrator
    from calibrant.calibrators.estimators.links import (
        BetaCalibrator,
        PlattCalibrator,
        TemperatureCalibrator,
    )
    from calibrant.calibrators.estimators.steps import (
        HistogramCalibrator,
        IdentityCalibrator,
        IsotonicCalibrator,
    )
    from calibrant.calibrators.estimators.venn_abers import VennAbersCalibrator
    from calibrant.decisions.classifier import CostSensitiveClassifier
    from calibrant.learners.isotron import IsotronClassifier
    from calibrant.learners.linear import CalibratedLinearClassifier
    from calibrant.learners.partition import PartitionClassifier
    from calibrant.measures.scorer import calibration_error_scorer
    from calibrant.report.displays.cost import CostDisplay
    from calibrant.report.displays.cumulative import CumulativeDisplay
    from calibrant.report.displays.groups import GroupsDisplay
    from calibrant.report.displays.reliability import ReliabilityDisplay

__all__ = [
    "Audit",
    "BetaCalibrator",
    "CalibratedClassifier",
    "CalibratedLinearClassifier",
    "Calibrator",
    "CostDisplay",
    "CostSensitiveClassifier",
    "CumulativeDisplay",
    "GroupsDisplay",
    "HistogramCalibrator",
    "IdentityCalibrator",
    "InputError",
    "IsotonicCalibrator",
    "IsotronClassifier",
    "PartitionClassifier",
    "PlattCalibrator",
    "Predictions",
    "ReliabilityDisplay",
    "Tally",
    "TemperatureCalibrator",
    "VennAbersCalibrator",
    "__version__",
    "adjust_prior",
    "advise",
    "assert_calibrated",
    "audit",
    "audit_regions",
    "bayes_threshold",
    "best_threshold",
    "brier_parts",
    "calibration_error",
    "calibration_error_scorer",
    "calibration_intercept",
    "calibration_slope",
    "calibration_test",
    "certify",
    "certify_estimator",
    "certify_many",
    "compare",
    "confidence_band",
    "consistency_band",
    "cost_curve",
    "cumulative_curve",
    "decide",
    "expected_calibration_error",
    "expected_cost",
    "kolmogorov_error",
    "log_loss_parts",
    "loss_ratio",
    "net_benefit",
    "observed_expected_ratio",
    "price_of_miscalibration",
    "results",
    "roc_auc",
    "sample_size",
    "simulate",
    "sql_table",
    "undetectable_l1",
    "worst_interval",
]


RENDERERS |= {
    "html": ("calibrant.report.html", "html_of"),
    "markdown": ("calibrant.report.markdown", "markdown_of"),
    "findings": ("calibrant.report.findings", "to_list"),
    "comparison html": ("calibrant.report.comparison", "html_of"),
    "comparison text": ("calibrant.report.terminal", "comparison_text"),
}
#: What is loaded when first asked for: scikit-learn takes a second to import, and most programs
#: draw nothing.
_LAZY = {
    "calibration_error_scorer": "calibrant.measures.scorer",
    "CalibratedClassifier": "calibrant.calibrators.classifier",
    "CostSensitiveClassifier": "calibrant.decisions.classifier",
    "CalibratedLinearClassifier": "calibrant.learners.linear",
    "IsotronClassifier": "calibrant.learners.isotron",
    "PartitionClassifier": "calibrant.learners.partition",
    "Calibrator": "calibrant.calibrators.estimators.calibrator",
    **{kind.name: kind.module for kind in KINDS.values()},
    "CostDisplay": "calibrant.report.displays.cost",
    "CumulativeDisplay": "calibrant.report.displays.cumulative",
    "GroupsDisplay": "calibrant.report.displays.groups",
    "ReliabilityDisplay": "calibrant.report.displays.reliability",
}


def __getattr__(name: str) -> Any:
    if name in {"results", "simulate"}:
        return import_module(f"calibrant.{name}")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
