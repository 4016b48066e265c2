"""Which package has what: names that are looked up in the versions at hand."""

import importlib
import inspect
import os
import subprocess
import sys
from typing import Any

from peer_agreement import OLDER

#: For each feature and each package the name that has it, looked up when this runs; a word in
#: brackets is an argument that the name must take. Without an entry we found none.
FEATURES: dict[str, dict[str, str]] = {
    "error over all ranges of scores, no bins": {
        "calibrant": "calibrant:calibration_error",
        "mapie": "mapie.metrics.calibration:kuiper_statistic",
        "mcgrad": "mcgrad.metrics:ecce",
        "probmetrics": "probmetrics.metrics:KuiperCalibrationMetric",
    },
    "names the worst range": {"calibrant": "calibrant:worst_interval"},
    "expected calibration error over bins": {
        "calibrant": "calibrant:expected_calibration_error",
        "netcal": "netcal.metrics:ECE",
        "mapie": "mapie.metrics.calibration:expected_calibration_error",
        "mcgrad": "mcgrad.metrics:expected_calibration_error",
        "probcal": "probcal.metrics:ece",
        "probmetrics": "probmetrics.metrics:CalibrationError",
        "torchmetrics": "torchmetrics.classification:BinaryCalibrationError",
        "uncertainty-calibration": "calibration:get_ece",
        "relplot": "relplot.metrics:binnedECE",
    },
    "an interval for it, by resampling": {
        "probcal": "probcal.metrics:evaluate(n_boot)",
        "uncertainty-calibration": "calibration:get_calibration_error_uncertainties",
    },
    "smooth calibration error": {
        "probcal": "probcal.metrics:smooth_ece",
        "probmetrics": "probmetrics.metrics:SmoothCalibrationError",
        "relplot": "relplot:smECE",
    },
    "weights in a calibration error": {
        "calibrant": "calibrant:calibration_error(sample_weight)",
        "mcgrad": "mcgrad.metrics:ecce(sample_weight)",
        "probcal": "probcal.metrics:ece(sample_weight)",
        "model-diagnostics": "model_diagnostics.scoring:decompose(weights)",
    },
    "p-value: can the scores be right?": {
        "calibrant": "calibrant:calibration_test",
        "mapie": "mapie.metrics.calibration:kuiper_p_value",
        "mcgrad": "mcgrad.metrics:ecce_pvalue",
        "probcal": "probcal.metrics:calibration_test",
    },
    "bound on the true error, for any number of rows": {"calibrant": "calibrant:certify"},
    "error or bias of each group": {
        "calibrant": "calibrant:audit(by)",
        "mcgrad": "mcgrad.metrics:MulticalibrationError",
        "probcal": "probcal.metrics:evaluate(by)",
        "model-diagnostics": "model_diagnostics.calibration:compute_bias",
    },
    "bounds for all groups at once": {"calibrant": "calibrant:certify_many(groups)"},
    "loss split into calibration and discrimination": {
        "calibrant": "calibrant:brier_parts",
        "probcal": "probcal:corp_reliability",
        "probmetrics": "probmetrics.metrics:MetricsWithCalibration",
        "model-diagnostics": "model_diagnostics.scoring:decompose",
    },
    "reliability diagram": {
        "calibrant": "calibrant:ReliabilityDisplay",
        "scikit-learn": "sklearn.calibration:CalibrationDisplay",
        "netcal": "netcal.presentation:ReliabilityDiagram",
        "mcgrad": "mcgrad.plotting:plot_global_calibration_curve",
        "probcal": "probcal.plots:plot_reliability",
        "model-diagnostics": "model_diagnostics.calibration:plot_reliability_diagram",
        "relplot": "relplot:rel_diagram",
    },
    "report for a reader": {
        "calibrant": "calibrant:Audit.to_html",
        "probcal": "probcal.report:validation_report",
    },
    "isotonic regression": {
        "calibrant": "calibrant:IsotonicCalibrator",
        "scikit-learn": "sklearn.calibration:CalibratedClassifierCV",
        "netcal": "netcal.binning:IsotonicRegression",
        "mapie": "mapie.calibration:TopLabelCalibrator(calibrator)",
        "mcgrad": "mcgrad.methods:IsotonicRegression",
        "probcal": "probcal:IsotonicCalibrator",
        "probmetrics": "probmetrics.calibrators:CenteredIsotonicRegressionCalibrator",
    },
    "Platt or logistic scaling": {
        "calibrant": "calibrant:PlattCalibrator",
        "scikit-learn": "sklearn.calibration:CalibratedClassifierCV",
        "netcal": "netcal.scaling:LogisticCalibration",
        "mapie": "mapie.calibration:TopLabelCalibrator(calibrator)",
        "mcgrad": "mcgrad.methods:PlattScaling",
        "probcal": "probcal:PlattCalibrator",
        "probmetrics": "probmetrics.calibrators:LogisticCalibrator",
        "uncertainty-calibration": "calibration:PlattCalibrator",
    },
    "temperature scaling": {
        "calibrant": "calibrant:TemperatureCalibrator",
        "scikit-learn": "sklearn.calibration:_TemperatureScaling",
        "netcal": "netcal.scaling:TemperatureScaling",
        "probcal": "probcal:TemperatureCalibrator",
        "probmetrics": "probmetrics.calibrators:TemperatureScalingCalibrator",
    },
    "beta calibration": {
        "calibrant": "calibrant:BetaCalibrator",
        "netcal": "netcal.scaling:BetaCalibration",
        "probcal": "probcal:BetaCalibrator",
        "probmetrics": "probmetrics.calibrators:BetacalCalibrator",
        "betacal": "betacal:BetaCalibration",
    },
    "Venn-Abers": {
        "calibrant": "calibrant:VennAbersCalibrator",
        "mapie": "mapie.calibration:VennAbersCalibrator",
        "probcal": "probcal:VennAbersCalibrator",
        "probmetrics": "probmetrics.calibrators:VennAbersCalibrator",
        "venn-abers": "venn_abers:VennAbers",
    },
    "histogram binning": {
        "calibrant": "calibrant:HistogramCalibrator",
        "netcal": "netcal.binning:HistogramBinning",
        "probcal": "probcal:HistogramBinningCalibrator",
        "probmetrics": "probmetrics.calibrators:BinaryHistogramBinningCalibrator",
        "uncertainty-calibration": "calibration:HistogramCalibrator",
    },
    "Bayesian binning, near-isotonic ensembles": {
        "netcal": "netcal.binning:BBQ",
        "probcal": "probcal:BBQCalibrator",
        "probmetrics": "probmetrics.calibrators:NetcalBBQCalibrator",
    },
    "a distribution over the calibrator's parameters": {
        "netcal": "netcal.scaling:LogisticCalibration.mcmc",
    },
    "multicalibration: calibrated in groups that it finds": {"mcgrad": "mcgrad.methods:MCGrad"},
    "a calibrator kept as text, without pickle": {
        "calibrant": "calibrant:Calibrator.to_json",
        "mcgrad": "mcgrad.methods:MCGrad.serialize",
        "probcal": "probcal:IsotonicCalibrator.to_json",
    },
    "a calibrator as SQL": {"calibrant": "calibrant:Calibrator.to_sql"},
    "a calibrator as ONNX": {"calibrant": "calibrant:Calibrator.to_onnx"},
    "the price of miscalibration under costs": {"calibrant": "calibrant:price_of_miscalibration"},
    "net benefit": {"calibrant": "calibrant:net_benefit", "dcurves": "dcurves:dca"},
    "a threshold tuned on data": {
        "calibrant": "calibrant:best_threshold",
        "scikit-learn": "sklearn.model_selection:TunedThresholdClassifierCV",
        "mapie": "mapie.risk_control:BinaryClassificationController",
    },
    "a threshold with a guarantee on precision or recall": {
        "mapie": "mapie.risk_control:BinaryClassificationController",
    },
    "DuckDB, Spark or SQL tables read in place": {"calibrant": "calibrant:sql_table"},
    "more than two classes": {
        "scikit-learn": "sklearn.calibration:CalibratedClassifierCV",
        "netcal": "netcal.scaling:TemperatureScaling",
        "mapie": "mapie.metrics.calibration:top_label_ece",
        "probmetrics": "probmetrics.calibrators:MatrixScalingCalibrator",
        "torchmetrics": "torchmetrics.classification:MulticlassCalibrationError",
        "uncertainty-calibration": "calibration:PlattBinnerMarginalCalibrator",
        "venn-abers": "venn_abers.venn_abers:VennAbersMultiClass",
    },
    "conformal prediction sets": {"mapie": "mapie.classification:SplitConformalClassifier"},
    "regression": {
        "netcal": "netcal.regression:VarianceScaling",
        "mapie": "mapie.regression:SplitConformalRegressor",
        "mcgrad": "mcgrad.methods:RegressionMCGrad",
        "probmetrics": "probmetrics.metrics:CRPS",
        "model-diagnostics": "model_diagnostics.scoring:PinballLoss",
        "venn-abers": "venn_abers.venn_abers:VennAbersRegressor",
    },
    "survival times": {"dcurves": "dcurves.risks:_calc_surv_risks"},
    "object detection": {"netcal": "netcal.scaling:LogisticCalibrationDependent"},
    "tests while rows come in": {
        "mapie": "mapie.exchangeability_testing:OnlineMartingaleTest",
        "probcal": "probcal.monitor:CalibrationMonitor",
    },
    "computed by torch, on a GPU if there is one": {
        "netcal": "netcal.scaling.AbstractLogisticRegression:AbstractLogisticRegression(use_cuda)",
        "probmetrics": "probmetrics.metrics:Metrics.compute_all_from_labels_probs",
        "torchmetrics": "torchmetrics.classification:BinaryCalibrationError.to",
    },
}


def there(where: str) -> bool:
    """Whether a name can be imported, and takes the argument in brackets."""
    path, _, argument = where.rstrip(")").partition("(")
    module, _, names = path.partition(":")
    if module.partition(".")[0] == "dcurves":  # in a folder of its own
        return not subprocess.run(
            [sys.executable, "-W", "ignore", "-c", f"from {module} import {names}"],
            env=os.environ | {"PYTHONPATH": str(OLDER)},
            capture_output=True,
            check=False,
        ).returncode
    try:
        found: Any = importlib.import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return False
    return not argument or argument in inspect.signature(found).parameters


def features() -> dict[str, dict[str, str]]:
    return {
        feature: {peer: where for peer, where in places.items() if there(where)}
        for feature, places in FEATURES.items()
    }
