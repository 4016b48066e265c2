"""Where peers mean the same as calibrant: how far their numbers are apart, and what netcal does."""

import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calibrant as cb
from peer_measures import BINS, MEASURES, Answer, Function, rounded, said


def rows() -> tuple[np.ndarray, np.ndarray]:
    """2,000 rows whose scores all differ, and where the worst range begins above the lowest."""
    y, p, _ = cb.simulate.overconfident().draw(2000, seed=1)
    assert len(np.unique(p)) == len(p)
    return y.astype(np.int64), p


GRID = np.linspace(0.005, 0.995, 100)


def by_netcal(module: str, name: str, mine: cb.Calibrator) -> float:
    y, p = rows()
    theirs = getattr(importlib.import_module(f"netcal.{module}"), name)()
    theirs.fit(p, y)
    return float(np.abs(np.ravel(theirs.transform(GRID)) - mine.fit(p, y).predict(GRID)).max())


def by_measure(peer: str, name: str, mine: Function) -> float:
    y, p = rows()
    [measure] = [one for one in MEASURES if (one.peer, one.name) == (peer, name)]
    return abs(measure.load()(y, p) - mine(y, p))


def by_quantile_bins() -> float:
    from netcal.metrics import ECE

    y, p = rows()
    # 15 does not divide the rows, so that an edge lies between two of them here and there
    theirs = ECE(15, equal_intervals=False).measure(p, y)
    return abs(theirs - cb.expected_calibration_error(y, p, n_bins=15, strategy="quantile"))


def by_p_value(module: str, name: str) -> float:
    y, p, _ = cb.simulate.calibrated().draw(2000, seed=3)
    y = y.astype(np.int64)
    theirs = getattr(importlib.import_module(module), name)(y, p)
    return abs(float(theirs) - cb.calibration_test(y, p, method="asymptotic").p_value)


def by_decompose() -> float:
    from model_diagnostics.scoring import SquaredError, decompose

    y, p = rows()
    theirs = decompose(y, p, scoring_function=SquaredError()).to_dicts()[0]
    mine = cb.brier_parts(y, p)
    return max(
        abs(theirs[name] - getattr(mine, name)) for name in ("miscalibration", "uncertainty")
    )


def by_isotonic() -> float:
    from sklearn.isotonic import IsotonicRegression

    y, p = rows()
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y).predict(GRID)
    return float(np.abs(theirs - cb.IsotonicCalibrator("linear").fit(p, y).predict(GRID)).max())


def by_betacal() -> float:
    from betacal import BetaCalibration

    y, p = rows()
    theirs = BetaCalibration("abm").fit(p.reshape(-1, 1), y).predict(GRID.reshape(-1, 1))
    return float(np.abs(theirs - cb.BetaCalibrator().fit(p, y).predict(GRID)).max())


def by_venn_abers() -> float:
    from venn_abers import VennAbers

    y, p = rows()
    theirs = VennAbers()
    theirs.fit(np.stack([1 - p, p], axis=1), y)
    pairs = theirs.predict_proba(np.stack([1 - GRID, GRID], axis=1))[1]
    return float(np.abs(pairs - cb.VennAbersCalibrator().fit(p, y).predict_pair(GRID)).max())


#: Where dcurves is, with the older pandas that it needs.
OLDER = Path(sys.prefix) / "older"
THRESHOLDS = [0.1, 0.25, 0.5, 0.75]
DCURVES = """
import json, sys
from importlib.metadata import version
import pandas as pd
from dcurves import dca
given = json.load(sys.stdin)
data = pd.DataFrame({"y": given["y"], "p": given["p"]})
found = dca(data=data, outcome="y", modelnames=["p"], thresholds=given["at"])
found = found[found["model"] == "p"].sort_values("threshold")
print(json.dumps([version("dcurves"), found["net_benefit"].tolist()]))
"""


def asked_dcurves() -> tuple[str, list[float]]:
    """Ask dcurves, in a process of its own."""
    y, p = rows()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DCURVES],
        input=json.dumps({"y": y.tolist(), "p": p.tolist(), "at": THRESHOLDS}),
        env=os.environ | {"PYTHONPATH": str(OLDER)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found, benefits = json.loads(done.stdout)
    return found, benefits


def by_dcurves() -> float:
    y, p = rows()
    mine = cb.net_benefit(y, p, at=THRESHOLDS).model
    return float(np.abs(np.array(asked_dcurves()[1]) - mine).max())


def by_probcal(name: str, mine: cb.Calibrator) -> float:
    import probcal

    y, p = rows()
    theirs = getattr(probcal, name)().fit(p, y).predict_proba(GRID)
    return float(np.abs(theirs - mine.fit(p, y).predict(GRID)).max())


def by_probcal_pairs() -> float:
    from probcal import VennAbersCalibrator

    y, p = rows()
    theirs = VennAbersCalibrator().fit(p, y).predict_interval(GRID)
    return float(np.abs(theirs - cb.VennAbersCalibrator().fit(p, y).predict_pair(GRID)).max())


def by_corp() -> float:
    from probcal import corp_reliability

    y, p = rows()
    theirs, mine = corp_reliability(y, p), cb.brier_parts(y, p)
    pairs = ((theirs.brier_mcb, mine.miscalibration), (theirs.brier_unc, mine.uncertainty))
    return max(abs(one - other) for one, other in pairs)


ECE_OF_OURS = partial(cb.expected_calibration_error, n_bins=BINS)
#: A peer, what it is called there and here, and the largest difference, in a function.
SAME: tuple[tuple[str, str, str, Callable[[], float]], ...] = (
    ("mapie", "kuiper_statistic, scale undone", "calibration_error",
     partial(by_measure, "mapie", "kuiper_statistic", cb.calibration_error)),
    ("mapie", "kuiper_p_value", 'calibration_test(method="asymptotic")',
     partial(by_p_value, "mapie.metrics.calibration", "kuiper_p_value")),
    ("mcgrad", "ecce", "calibration_error",
     partial(by_measure, "mcgrad", "ecce", cb.calibration_error)),
    ("mcgrad", "ecce_pvalue", 'calibration_test(method="asymptotic")',
     partial(by_p_value, "mcgrad.metrics", "ecce_pvalue")),
    ("probmetrics", "KuiperCalibrationMetric", "calibration_error",
     partial(by_measure, "probmetrics", "KuiperCalibrationMetric", cb.calibration_error)),
    ("scikit-learn", "calibration_curve, added up", "expected_calibration_error",
     partial(by_measure, "scikit-learn", "calibration_curve", ECE_OF_OURS)),
    ("torchmetrics", "BinaryCalibrationError", "expected_calibration_error",
     partial(by_measure, "torchmetrics", "BinaryCalibrationError", ECE_OF_OURS)),
    ("uncertainty-calibration", "get_ece", "expected_calibration_error",
     partial(by_measure, "uncertainty-calibration", "get_ece", ECE_OF_OURS)),
    ("netcal", "ECE", "expected_calibration_error",
     partial(by_measure, "netcal", "ECE", ECE_OF_OURS)),
    ("netcal", "IsotonicRegression", 'IsotonicCalibrator("linear")',
     partial(by_netcal, "binning", "IsotonicRegression", cb.IsotonicCalibrator("linear"))),
    ("netcal", "TemperatureScaling", "TemperatureCalibrator",
     partial(by_netcal, "scaling", "TemperatureScaling", cb.TemperatureCalibrator())),
    ("netcal", "BetaCalibration", "BetaCalibrator",
     partial(by_netcal, "scaling", "BetaCalibration", cb.BetaCalibrator())),
    ("scikit-learn", "IsotonicRegression", 'IsotonicCalibrator("linear")', by_isotonic),
    ("betacal", 'BetaCalibration("abm")', "BetaCalibrator", by_betacal),
    ("venn-abers", "VennAbers", "VennAbersCalibrator.predict_pair", by_venn_abers),
    ("model-diagnostics", "decompose", "brier_parts", by_decompose),
    ("dcurves", "dca", "net_benefit", by_dcurves),
    ("probcal", "ecce, its maximum", "kolmogorov_error",
     partial(by_measure, "probcal", "ecce", cb.kolmogorov_error)),
    ("probcal", 'ece(strategy="width")', "expected_calibration_error",
     partial(by_measure, "probcal", "ece", ECE_OF_OURS)),
    ("probcal", "corp_reliability", "brier_parts", by_corp),
    ("probcal", "IsotonicCalibrator", "IsotonicCalibrator",
     partial(by_probcal, "IsotonicCalibrator", cb.IsotonicCalibrator())),
    ("probcal", "PlattCalibrator", "PlattCalibrator",
     partial(by_probcal, "PlattCalibrator", cb.PlattCalibrator())),
    ("probcal", "TemperatureCalibrator", "TemperatureCalibrator",
     partial(by_probcal, "TemperatureCalibrator", cb.TemperatureCalibrator())),
    ("probcal", "BetaCalibrator", "BetaCalibrator",
     partial(by_probcal, "BetaCalibrator", cb.BetaCalibrator())),
    ("probcal", "VennAbersCalibrator.predict_interval", "VennAbersCalibrator.predict_pair",
     by_probcal_pairs),
    ("netcal", "ECE(equal_intervals=False)", 'expected_calibration_error(strategy="quantile")',
     by_quantile_bins),
    ("netcal", "LogisticCalibration", "PlattCalibrator",
     partial(by_netcal, "scaling", "LogisticCalibration", cb.PlattCalibrator())),
    ("netcal", "HistogramBinning", "HistogramCalibrator",
     partial(by_netcal, "binning", "HistogramBinning", cb.HistogramCalibrator())),
)  # fmt: skip


def same(peer: str, theirs: str, mine: str, difference: Callable[[], float]) -> dict[str, Any]:
    entry: dict[str, Any] = {"peer": peer, "theirs": theirs, "ours": mine}
    try:
        return entry | {"difference": float(f"{difference():.0e}")}
    except Exception as error:
        return entry | {"failed": said(error)}


# -- netcal, and what its rows say --------------------------------------------------------------

EDGE = ([0, 1, 1, 1, 0], [0.1, 0.25, 0.25, 0.3, 0.6])


def netcal_edge() -> Answer:
    """What a histogram of four bins says to 0.25, where both rows it was fitted on are events."""
    from netcal.binning import HistogramBinning

    fitted = HistogramBinning(bins=4)
    fitted.fit(np.array(EDGE[1]), np.array(EDGE[0]))
    return rounded(fitted.transform(np.array([0.25]))[0])


def netcal_quantiles() -> Answer:
    from netcal.binning import HistogramBinning

    y, p = rows()
    fitted = HistogramBinning(equal_intervals=False)
    fitted.fit(p, y)
    return rounded(fitted.transform(GRID)[0])


def netcal_kept() -> Answer:
    """Save a model, and load it again."""
    from netcal.scaling import TemperatureScaling

    y, p = rows()
    fitted = TemperatureScaling()
    fitted.fit(p, y)
    with tempfile.TemporaryDirectory() as folder:
        fitted.save_model(f"{folder}/model")
        again = TemperatureScaling().load_model(f"{folder}/model")
    return rounded(np.abs(again.transform(GRID) - fitted.transform(GRID)).max())


def netcal_weights() -> Answer:
    from netcal.scaling import TemperatureScaling

    named = inspect.signature(TemperatureScaling().fit).parameters
    return "sample_weight" if "sample_weight" in named else "no sample_weight"


NETCAL: dict[str, Callable[[], Answer]] = {
    "edge": netcal_edge,
    "quantile bins": netcal_quantiles,
    "saved and loaded": netcal_kept,
    "weights": netcal_weights,
}


def tried(function: Callable[[], Answer]) -> Answer:
    try:
        return function()
    except Exception as error:
        return said(error)
