"""What do calibrant's peers answer? The same small tables, in their present versions, one run.

Next to every answer stands what is right: a brute force over all ranges of scores, in fractions.
``make bench`` writes what was found to docs/peers.json, and docs/peers.py the tables of the pages.
A peer that is not there, or fails, is recorded with the reason.
"""

import argparse
import contextlib
import importlib
import inspect
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

import calibrant as cb
from measure import show

Answer = float | str
Function = Callable[..., float]

PEERS = (
    "calibrant",
    "scikit-learn",
    "netcal",
    "mapie",
    "mcgrad",
    "probmetrics",
    "torchmetrics",
    "model-diagnostics",
    "uncertainty-calibration",
    "relplot",
    "betacal",
    "venn-abers",
)
BINS = 10
ORDERS = 20
#: Labels, scores and weights. Scores are fractions of 20 and lie inside bins, never on an edge.
TABLES: dict[str, tuple[list[int], list[float], list[int]]] = {
    "ties": ([1] * 5 + [0] * 15 + [1] * 15 + [0] * 5, [0.25] * 20 + [0.75] * 20, []),
    "one row": ([0], [0.55], []),
    "three rows": ([0, 0, 0], [0.25, 0.45, 0.65], []),
    "one class": ([1, 1, 1], [0.25, 0.45, 0.65], []),
    "weights": ([0, 1, 1, 0], [0.15, 0.35, 0.65, 0.85], [3, 1, 2, 4]),
    "outside": ([0, 1, 1, 0], [0.15, 0.85, 1.25, 0.35], []),
    "not a number": ([0, 1, 1, 0], [0.15, 0.85, float("nan"), 0.35], []),
    "no rows": ([], [], []),
}


# -- what is right, by counting -----------------------------------------------------------------


def gaps(table: str) -> list[tuple[Fraction, Fraction]]:
    """Each distinct score, and its events minus what it predicts, as a share of all rows."""
    labels, scores, weights = TABLES[table]
    weights = weights or [1] * len(labels)
    found: dict[Fraction, Fraction] = {}
    for label, score, weight in zip(labels, scores, weights, strict=True):
        exact = Fraction(round(20 * score), 20)
        found[exact] = found.get(exact, Fraction(0)) + weight * (label - exact)
    return [(score, gap / sum(weights)) for score, gap in sorted(found.items())]


def over_all_ranges(table: str) -> Fraction:
    parts = [gap for _, gap in gaps(table)]
    ranges = combinations(range(len(parts) + 1), 2)
    return max(abs(sum(parts[first:end], Fraction(0))) for first, end in ranges)


def from_the_lowest(table: str) -> Fraction:
    parts = [gap for _, gap in gaps(table)]
    return max(abs(sum(parts[:end], Fraction(0))) for end in range(1, len(parts) + 1))


def over_bins(table: str) -> Fraction:
    edges = [Fraction(edge, BINS) for edge in range(BINS + 1)]
    inside = [
        sum((gap for score, gap in gaps(table) if low < score <= high), Fraction(0))
        for low, high in pairwise(edges)
    ]
    return sum(map(abs, inside), Fraction(0))


RIGHT = {"range": over_all_ranges, "one end": from_the_lowest, "bins": over_bins}
COUNTED = ("ties", "one row", "three rows", "one class", "weights")


# -- the measures -------------------------------------------------------------------------------


def ours(name: str, **options: Any) -> Function:
    function = getattr(cb, name)
    return lambda y, p, **weights: function(y, p, **weights, **options)


def mapie_scaled(name: str) -> Function:
    """Undo the scale of a statistic of MAPIE, with MAPIE's own function."""
    from mapie.metrics import calibration

    statistic = getattr(calibration, name)
    return lambda y, p: statistic(y, p) * calibration.length_scale(p)


def mapie_ece() -> Function:
    from mapie.metrics.calibration import expected_calibration_error

    # of num_bins edges it makes one bin less
    return lambda y, p: expected_calibration_error(y, p, num_bins=BINS + 1)


def mcgrad_ecce() -> Function:
    from mcgrad.metrics import ecce

    return lambda y, p, **weights: float(ecce(y, p, **weights))


def mcgrad_ece() -> Function:
    from mcgrad.metrics import expected_calibration_error

    return lambda y, p, **weights: expected_calibration_error(y, p, num_bins=BINS, **weights)


def curve_ece() -> Function:
    """The ECE out of scikit-learn's curve: bins that hold rows, each with its share."""
    from sklearn.calibration import calibration_curve

    def measured(y: np.ndarray, p: np.ndarray) -> float:
        observed, predicted = calibration_curve(y, p, n_bins=BINS)
        count = np.bincount(np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], p))
        return float(np.abs(observed - predicted) @ count[count > 0] / len(p))

    return measured


def netcal_metric(name: str) -> Function:
    metric = getattr(importlib.import_module("netcal.metrics"), name)(BINS)
    return lambda y, p: float(metric.measure(p, y))


def torchmetrics_error() -> Function:
    import torch
    from torchmetrics.classification import BinaryCalibrationError

    return lambda y, p: float(BinaryCalibrationError(BINS)(torch.tensor(p), torch.tensor(y)))


def probmetrics_metric(name: str) -> Function:
    import torch
    from probmetrics import metrics

    kind = getattr(metrics, name)
    metric = kind(BINS) if name == "CalibrationError" else kind()

    def measured(y: np.ndarray, p: np.ndarray) -> float:
        both = torch.tensor(np.stack([1 - p, p], axis=1))
        found = metric.compute_all_from_labels_probs(torch.tensor(y), both)
        return float(next(iter(found.values())))

    return measured


def uncertainty_ece(debias: bool) -> Function:
    import calibration

    # without bias it takes two rows in every bin
    bins = 2 if debias else BINS
    return lambda y, p: float(calibration.get_ece(p, y, debias=debias, num_bins=bins))


def relplot_metric(name: str) -> Function:
    from relplot import metrics

    return lambda y, p: float(getattr(metrics, name)(p, y))


@dataclass(frozen=True)
class Measure:
    peer: str
    name: str
    target: str  # what it measures, a key of RIGHT if that can be counted
    load: Callable[[], Function]
    weights: bool = False


MEASURES = (
    Measure("calibrant", "calibration_error", "range", partial(ours, "calibration_error"), True),
    Measure("mapie", "kuiper_statistic", "range", partial(mapie_scaled, "kuiper_statistic")),
    Measure("mcgrad", "ecce", "range", mcgrad_ecce, True),
    Measure(
        "probmetrics",
        "KuiperCalibrationMetric",
        "range",
        partial(probmetrics_metric, "KuiperCalibrationMetric"),
    ),
    Measure("calibrant", "kolmogorov_error", "one end", partial(ours, "kolmogorov_error"), True),
    Measure(
        "mapie",
        "kolmogorov_smirnov_statistic",
        "one end",
        partial(mapie_scaled, "kolmogorov_smirnov_statistic"),
    ),
    Measure(
        "probmetrics",
        "KolmogorovSmirnovCalibrationMetric",
        "one end",
        partial(probmetrics_metric, "KolmogorovSmirnovCalibrationMetric"),
    ),
    Measure(
        "calibrant",
        "expected_calibration_error",
        "bins",
        partial(ours, "expected_calibration_error", n_bins=BINS),
        True,
    ),
    Measure("scikit-learn", "calibration_curve", "bins", curve_ece),
    Measure("netcal", "ECE", "bins", partial(netcal_metric, "ECE")),
    Measure("mapie", "expected_calibration_error", "bins", mapie_ece),
    Measure("mcgrad", "expected_calibration_error", "bins", mcgrad_ece, True),
    Measure("torchmetrics", "BinaryCalibrationError", "bins", torchmetrics_error),
    Measure(
        "probmetrics", "CalibrationError", "bins", partial(probmetrics_metric, "CalibrationError")
    ),
    Measure("uncertainty-calibration", "get_ece", "bins", partial(uncertainty_ece, False)),
    Measure("netcal", "MCE", "largest bin", partial(netcal_metric, "MCE")),
    Measure("netcal", "ACE", "mean bin", partial(netcal_metric, "ACE")),
    Measure(
        "uncertainty-calibration",
        "get_ece(debias=True)",
        "two bins, bias removed",
        partial(uncertainty_ece, True),
    ),
    Measure("relplot", "smECE", "smooth", partial(relplot_metric, "smECE")),
    Measure(
        "relplot",
        "laplace_calibration_approx",
        "kernel",
        partial(relplot_metric, "laplace_calibration_approx"),
    ),
)


# -- what they answer ---------------------------------------------------------------------------


def rounded(value: float) -> Answer:
    """A number of JSON: NaN, which JSON has not, becomes its name."""
    return "nan" if np.isnan(value) else round(float(value) + 0.0, 6)


def said(error: BaseException) -> str:
    """The kind of an error and the first sentence of its message, on one line."""
    first = " ".join(str(error).split()).split(". ")[0]
    return f"{type(error).__name__}: {first[:80].rstrip('.')}"


def arrays(table: str) -> tuple[np.ndarray, np.ndarray]:
    labels, scores, _ = TABLES[table]
    return np.array(labels, dtype=np.int64), np.array(scores, dtype=np.float64)


def asked(function: Function, table: str) -> Answer:
    try:
        return rounded(function(*arrays(table)))
    except Exception as error:
        return said(error)


def orders(labels: np.ndarray) -> Iterator[np.ndarray]:
    """Orders of the same rows: events first, events last, and others at random."""
    yield np.argsort(-labels, kind="stable")
    yield np.argsort(labels, kind="stable")
    rng = np.random.default_rng(0)
    for _ in range(ORDERS - 2):
        yield rng.permutation(len(labels))


def answers(measure: Measure, function: Function) -> dict[str, Any]:
    y, p = arrays("ties")
    tied = [rounded(function(y[order], p[order])) for order in orders(y)]
    again = [rounded(function(*arrays("ties"))) for _ in range(5)]
    found: dict[str, Any] = {
        "ties": {"least": min(tied), "most": max(tied)},
        "same twice": len(set(again)) == 1,
    }
    for table in TABLES:
        if table not in {"ties", "weights"}:
            found[table] = asked(function, table)
    if measure.weights:
        found["weights"] = rounded(function(*arrays("weights"), sample_weight=weights_of()))
    return found


def weights_of() -> np.ndarray:
    return np.array(TABLES["weights"][2], dtype=np.float64)


def recorded(measure: Measure) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "peer": measure.peer,
        "name": measure.name,
        "target": measure.target,
    }
    np.random.seed(0)  # some peers draw from numpy's global generator
    try:
        return entry | {"answers": answers(measure, measure.load())}
    except Exception as error:
        return entry | {"failed": said(error)}


TIMES = 100


def p_values(peer: str, name: str, load: Callable[[], Function]) -> dict[str, Any]:
    """The p-values of the table of ties, many times over, in the same orders as before."""
    entry: dict[str, Any] = {"peer": peer, "name": name}
    try:
        test, (y, p) = load(), (np.tile(column, TIMES) for column in arrays("ties"))
        found = [rounded(test(y[order], p[order])) for order in orders(y)]
        return entry | {"least": min(found), "most": max(found)}
    except Exception as error:
        return entry | {"failed": said(error)}


def our_p_value() -> Function:
    return lambda y, p: cb.calibration_test(y, p).p_value


def their_p_value(module: str, name: str) -> Function:
    test: Function = getattr(importlib.import_module(module), name)
    return test


TESTS: tuple[tuple[str, str, Callable[[], Function]], ...] = (
    ("calibrant", "calibration_test", our_p_value),
    (
        "mapie",
        "kuiper_p_value",
        partial(their_p_value, "mapie.metrics.calibration", "kuiper_p_value"),
    ),
    ("mcgrad", "ecce_pvalue", partial(their_p_value, "mcgrad.metrics", "ecce_pvalue")),
)


# -- where the numbers are the same -------------------------------------------------------------


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
    return abs(float(theirs) - cb.calibration_test(y, p, method="brownian").p_value)


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


ECE_OF_OURS = partial(cb.expected_calibration_error, n_bins=BINS)
#: A peer, what it is called there and here, and the largest difference, in a function.
SAME: tuple[tuple[str, str, str, Callable[[], float]], ...] = (
    ("mapie", "kuiper_statistic, scale undone", "calibration_error",
     partial(by_measure, "mapie", "kuiper_statistic", cb.calibration_error)),
    ("mapie", "kuiper_p_value", 'calibration_test(method="brownian")',
     partial(by_p_value, "mapie.metrics.calibration", "kuiper_p_value")),
    ("mcgrad", "ecce", "calibration_error",
     partial(by_measure, "mcgrad", "ecce", cb.calibration_error)),
    ("mcgrad", "ecce_pvalue", 'calibration_test(method="brownian")',
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


# -- what is where ------------------------------------------------------------------------------

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
        "probmetrics": "probmetrics.metrics:CalibrationError",
        "torchmetrics": "torchmetrics.classification:BinaryCalibrationError",
        "uncertainty-calibration": "calibration:get_ece",
        "relplot": "relplot.metrics:binnedECE",
    },
    "an interval for it, by resampling": {
        "uncertainty-calibration": "calibration:get_calibration_error_uncertainties",
    },
    "smooth calibration error": {
        "probmetrics": "probmetrics.metrics:SmoothCalibrationError",
        "relplot": "relplot:smECE",
    },
    "weights in a calibration error": {
        "calibrant": "calibrant:calibration_error(sample_weight)",
        "mcgrad": "mcgrad.metrics:ecce(sample_weight)",
        "model-diagnostics": "model_diagnostics.scoring:decompose(weights)",
    },
    "p-value: can the scores be right?": {
        "calibrant": "calibrant:calibration_test",
        "mapie": "mapie.metrics.calibration:kuiper_p_value",
        "mcgrad": "mcgrad.metrics:ecce_pvalue",
    },
    "bound on the true error, for any number of rows": {"calibrant": "calibrant:certify"},
    "error or bias of each group": {
        "calibrant": "calibrant:audit(by)",
        "mcgrad": "mcgrad.metrics:MulticalibrationError",
        "model-diagnostics": "model_diagnostics.calibration:compute_bias",
    },
    "bounds for all groups at once": {"calibrant": "calibrant:certify_many(groups)"},
    "loss split into calibration and discrimination": {
        "calibrant": "calibrant:brier_parts",
        "probmetrics": "probmetrics.metrics:MetricsWithCalibration",
        "model-diagnostics": "model_diagnostics.scoring:decompose",
    },
    "reliability diagram": {
        "calibrant": "calibrant:ReliabilityDisplay",
        "scikit-learn": "sklearn.calibration:CalibrationDisplay",
        "netcal": "netcal.presentation:ReliabilityDiagram",
        "mcgrad": "mcgrad.plotting:plot_global_calibration_curve",
        "model-diagnostics": "model_diagnostics.calibration:plot_reliability_diagram",
        "relplot": "relplot:rel_diagram",
    },
    "report for a reader": {"calibrant": "calibrant:Audit.to_html"},
    "isotonic regression": {
        "calibrant": "calibrant:IsotonicCalibrator",
        "scikit-learn": "sklearn.calibration:CalibratedClassifierCV",
        "netcal": "netcal.binning:IsotonicRegression",
        "mapie": "mapie.calibration:TopLabelCalibrator(calibrator)",
        "mcgrad": "mcgrad.methods:IsotonicRegression",
        "probmetrics": "probmetrics.calibrators:CenteredIsotonicRegressionCalibrator",
    },
    "Platt or logistic scaling": {
        "calibrant": "calibrant:PlattCalibrator",
        "scikit-learn": "sklearn.calibration:CalibratedClassifierCV",
        "netcal": "netcal.scaling:LogisticCalibration",
        "mapie": "mapie.calibration:TopLabelCalibrator(calibrator)",
        "mcgrad": "mcgrad.methods:PlattScaling",
        "probmetrics": "probmetrics.calibrators:LogisticCalibrator",
        "uncertainty-calibration": "calibration:PlattCalibrator",
    },
    "temperature scaling": {
        "calibrant": "calibrant:TemperatureCalibrator",
        "scikit-learn": "sklearn.calibration:_TemperatureScaling",
        "netcal": "netcal.scaling:TemperatureScaling",
        "probmetrics": "probmetrics.calibrators:TemperatureScalingCalibrator",
    },
    "beta calibration": {
        "calibrant": "calibrant:BetaCalibrator",
        "netcal": "netcal.scaling:BetaCalibration",
        "probmetrics": "probmetrics.calibrators:BetacalCalibrator",
        "betacal": "betacal:BetaCalibration",
    },
    "Venn-Abers": {
        "calibrant": "calibrant:VennAbersCalibrator",
        "mapie": "mapie.calibration:VennAbersCalibrator",
        "probmetrics": "probmetrics.calibrators:VennAbersCalibrator",
        "venn-abers": "venn_abers:VennAbers",
    },
    "histogram binning": {
        "calibrant": "calibrant:HistogramCalibrator",
        "netcal": "netcal.binning:HistogramBinning",
        "probmetrics": "probmetrics.calibrators:BinaryHistogramBinningCalibrator",
        "uncertainty-calibration": "calibration:HistogramCalibrator",
    },
    "Bayesian binning, near-isotonic ensembles": {
        "netcal": "netcal.binning:BBQ",
        "probmetrics": "probmetrics.calibrators:NetcalBBQCalibrator",
    },
    "a distribution over the calibrator's parameters": {
        "netcal": "netcal.scaling:LogisticCalibration.mcmc",
    },
    "multicalibration: calibrated in groups found by itself": {"mcgrad": "mcgrad.methods:MCGrad"},
    "a calibrator kept as text, without pickle": {
        "calibrant": "calibrant:Calibrator.to_json",
        "mcgrad": "mcgrad.methods:MCGrad.serialize",
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


# -- all of it ----------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    found = {}
    for name in (*PEERS, "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError as error:
            found[name] = said(error)
    try:
        found["dcurves"] = asked_dcurves()[0]
    except (RuntimeError, OSError) as error:
        found["dcurves"] = said(error)
    return found


def inputs() -> dict[str, dict[str, Any]]:
    """The small tables, for whoever wants to ask again; JSON has no NaN, so that is null."""
    return {
        name: {
            "y_true": labels,
            "y_prob": [None if np.isnan(score) else score for score in scores],
            "sample_weight": weights or None,
        }
        for name, (labels, scores, weights) in TABLES.items()
    }


def results() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "versions": versions(),
        "bins": BINS,
        "orders": ORDERS,
        "times": TIMES,
        "inputs": inputs(),
        "right": {
            target: {table: float(count(table)) for table in COUNTED}
            for target, count in RIGHT.items()
        },
        "measures": [recorded(measure) for measure in MEASURES],
        "p_values": [p_values(*one) for one in TESTS],
        "same": [same(*one) for one in SAME],
        "netcal": {name: tried(function) for name, function in NETCAL.items()},
        "features": features(),
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """What was found, for the terminal."""
    for one in found["measures"]:
        yield f"{one['peer']} {one['name']}: {one.get('answers', one.get('failed'))}"
    for one in found["p_values"]:
        yield f"{one['peer']} {one['name']}: {one}"
    for one in found["same"]:
        yield f"{one['peer']} {one['theirs']}: {one.get('difference', one.get('failed'))}"
    for name, answer in found["netcal"].items():
        yield f"netcal, {name}: {answer}"
    missing = sum(map(len, FEATURES.values())) - sum(map(len, found["features"].values()))
    yield f"{missing} names of features not found"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write what was found to this file, as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # peers warn of their own business
    with contextlib.redirect_stdout(io.StringIO()):  # and print it
        found = results()
    show(lines(found), None)
    if options.save:
        text = json.dumps(found, indent=1, allow_nan=False)
        options.save.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
