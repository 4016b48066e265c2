"""Tell whether a classifier's scores can be used as probabilities.

`calibrant` measures the calibration error of Gao, Parameswaran and Peng (AISTATS 2017) exactly,
proves what can be promised about the true one, shows where it lies, and reports it in words.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant._version import __version__
from calibrant.advice import Advice
from calibrant.audit import Audit, advise, audit
from calibrant.certify.bands import Band, confidence_band, consistency_band
from calibrant.certify.certificate import Certificate
from calibrant.certify.certify import certify
from calibrant.certify.many import certify_many
from calibrant.certify.plan import sample_size
from calibrant.certify.testing import CalibrationTest, calibration_test
from calibrant.certify.training import TrainingCertificate, certify_estimator
from calibrant.compare import Comparison, compare
from calibrant.decide.costs import bayes_threshold, decide
from calibrant.decide.curve import CostCurve, NetBenefit, cost_curve, net_benefit
from calibrant.decide.price import Price, price_of_miscalibration
from calibrant.decide.ratio import LossRatio, loss_ratio
from calibrant.decide.regret import DecisionCost, best_threshold, expected_cost
from calibrant.groups import GroupFinding
from calibrant.measure.binned import expected_calibration_error, kolmogorov_error
from calibrant.measure.clinical import (
    Estimate,
    calibration_intercept,
    calibration_slope,
    observed_expected_ratio,
)
from calibrant.measure.curve import CumulativeCurve, cumulative_curve
from calibrant.measure.error import assert_calibrated, calibration_error
from calibrant.measure.interval import Interval, worst_interval
from calibrant.measure.parts import ScoreParts, brier_parts, log_loss_parts
from calibrant.measure.ranking import roc_auc
from calibrant.measure.unverifiable import unverifiable_l1
from calibrant.recalibrate.prior import adjust_prior
from calibrant.regions import audit_regions
from calibrant.sources.predictions import Predictions
from calibrant.sources.sql import sql_table
from calibrant.tally import Tally

if TYPE_CHECKING:
    from calibrant import simulate
    from calibrant.decide.classifier import CostSensitiveClassifier
    from calibrant.learn.isotron import IsotronClassifier
    from calibrant.learn.linear import CalibratedLinearClassifier
    from calibrant.learn.partition import PartitionClassifier
    from calibrant.measure.scorer import calibration_error_scorer
    from calibrant.recalibrate.classifier import CalibratedClassifier
    from calibrant.recalibrate.estimators import (
        BetaCalibrator,
        Calibrator,
        HistogramCalibrator,
        IsotonicCalibrator,
        PlattCalibrator,
        TemperatureCalibrator,
        VennAbersCalibrator,
    )
    from calibrant.report.displays import (
        CostDisplay,
        CumulativeDisplay,
        GroupsDisplay,
        ReliabilityDisplay,
    )

__all__ = [
    "Advice",
    "Audit",
    "Band",
    "BetaCalibrator",
    "CalibratedClassifier",
    "CalibratedLinearClassifier",
    "CalibrationTest",
    "Calibrator",
    "Certificate",
    "Comparison",
    "CostCurve",
    "CostDisplay",
    "CostSensitiveClassifier",
    "CumulativeCurve",
    "CumulativeDisplay",
    "DecisionCost",
    "Estimate",
    "GroupFinding",
    "GroupsDisplay",
    "HistogramCalibrator",
    "Interval",
    "IsotonicCalibrator",
    "IsotronClassifier",
    "LossRatio",
    "NetBenefit",
    "PartitionClassifier",
    "PlattCalibrator",
    "Predictions",
    "Price",
    "ReliabilityDisplay",
    "ScoreParts",
    "Tally",
    "TemperatureCalibrator",
    "TrainingCertificate",
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
    "roc_auc",
    "sample_size",
    "simulate",
    "sql_table",
    "unverifiable_l1",
    "worst_interval",
]


#: What is loaded when first asked for: scikit-learn takes a second to import, and most programs
#: draw nothing.
_LAZY = {
    "calibration_error_scorer": "calibrant.measure.scorer",
    "CalibratedClassifier": "calibrant.recalibrate.classifier",
    "CostSensitiveClassifier": "calibrant.decide.classifier",
    "CalibratedLinearClassifier": "calibrant.learn.linear",
    "IsotronClassifier": "calibrant.learn.isotron",
    "PartitionClassifier": "calibrant.learn.partition",
    **dict.fromkeys(
        (
            "BetaCalibrator",
            "Calibrator",
            "HistogramCalibrator",
            "IsotonicCalibrator",
            "PlattCalibrator",
            "TemperatureCalibrator",
            "VennAbersCalibrator",
        ),
        "calibrant.recalibrate.estimators",
    ),
    **dict.fromkeys(
        ("CostDisplay", "CumulativeDisplay", "GroupsDisplay", "ReliabilityDisplay"),
        "calibrant.report.displays",
    ),
}


def __getattr__(name: str) -> Any:
    if name == "simulate":
        return import_module("calibrant.simulate")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
