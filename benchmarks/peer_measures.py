"""Small tables, what is right about them by counting, and what measures of peers say."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

import calibrant as cb

Answer = float | str
Function = Callable[..., float]

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


def probcal_metric(name: str, **options: Any) -> Function:
    """Return a metric; of the two numbers of `ecce` the largest difference, not the mean one."""
    metric = getattr(importlib.import_module("probcal.metrics"), name)

    def measured(y: np.ndarray, p: np.ndarray, **weights: Any) -> float:
        found = metric(y, p, **weights, **options)
        return float(getattr(found, "stat_max", found))

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
    Measure("probcal", "ecce", "one end", partial(probcal_metric, "ecce"), True),
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
        "probcal",
        "ece",
        "bins",
        partial(probcal_metric, "ece", n_bins=BINS, strategy="width"),
        True,
    ),
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
    Measure(
        "probcal",
        "ece_debiased",
        "bins, bias removed",
        partial(probcal_metric, "ece_debiased"),
        True,
    ),
    Measure("probcal", "smooth_ece", "smooth", partial(probcal_metric, "smooth_ece"), True),
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
