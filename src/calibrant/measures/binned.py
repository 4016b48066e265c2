"""Errors with bins, or with one end fixed: what other papers and libraries report."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from calibrant import errors
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import Diagram
from calibrant.core.extremes import extremes, extremes_need
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.core.statistic import RowSums, Statistic
from calibrant.measures.measured import measured

Strategy = Literal["uniform", "quantile"]


def _inner_edges(n_bins: int) -> FloatArray:
    return np.arange(1, n_bins) / n_bins


def _bins_need(diagram: Diagram, n_bins: int, strategy: Strategy) -> BoolArray:
    """Mark the cells that hold the edge of a bin."""
    edges = _inner_edges(n_bins)
    if strategy == "quantile":
        return quantiles_need(diagram, edges)
    cell = np.searchsorted(diagram.cells.low, edges, side="right") - 1
    split = (cell >= 0) & (edges < diagram.cells.take(cell).high)
    needed = np.zeros(len(diagram.cells), dtype=bool)
    needed[cell[split]] = True
    return needed


def _bin_points(diagram: Diagram, n_bins: int, strategy: Strategy) -> IntArray:
    edges = _inner_edges(n_bins)
    if strategy == "quantile":
        inner = quantile_points(diagram, edges)
    else:  # bins (a, b]: a score on the edge belongs to the bin that ends there
        inner = np.searchsorted(diagram.cells.high, edges, side="right")
    return np.concatenate([[0], inner, [len(diagram.cells)]])


def _binned_error_of(diagram: Diagram, n_bins: int, strategy: Strategy) -> float:
    at_edges = diagram.walk[_bin_points(diagram, n_bins, strategy)]
    return min(1.0, float(np.abs(np.diff(at_edges)).sum()) / diagram.weight)


def binned_error(n_bins: int, strategy: Strategy) -> Statistic[float]:
    """Return the expected calibration error over some bins as a statistic."""
    return Statistic(
        "the expected calibration error",
        lambda diagram, _sums: _binned_error_of(diagram, n_bins, strategy),
        partial(_bins_need, n_bins=n_bins, strategy=strategy),
    )


def _kolmogorov_of(diagram: Diagram, _sums: RowSums) -> float:
    found = extremes(diagram)
    return min(1.0, max(found.high, -found.low) / diagram.weight)


KOLMOGOROV: Statistic[float] = Statistic(
    "the Kolmogorov-Smirnov error", _kolmogorov_of, extremes_need
)


def expected_calibration_error(
    y_true: Any,
    y_prob: Any = None,
    *,
    n_bins: int = 15,
    strategy: Strategy = "uniform",
    sample_weight: Any = None,
    pos_label: object = None,
) -> float:
    """Measure the expected calibration error (ECE) over bins.

    The weighted mean over bins of the distance between observed rate and mean prediction. It
    depends on the bins, and differences inside a bin cancel: `calibration_error` needs none.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    n_bins : int, default 15
        Number of bins (a, b]; the first one includes 0.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or of about equal weight. Equal scores are never split.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob = [0, 1, 0, 1], [0.1, 0.2, 0.6, 0.9]
    >>> round(cb.expected_calibration_error(y_true, y_prob, n_bins=2), 12)
    0.3
    """
    n_bins = errors.whole_number("n_bins", n_bins, 1, errors.MOST_ENTRIES)
    errors.one_of("strategy", strategy, ("uniform", "quantile"))
    return measured(binned_error(n_bins, strategy), y_true, y_prob, sample_weight, pos_label)


def kolmogorov_error(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: object = None
) -> float:
    """Measure the Kolmogorov-Smirnov calibration error: intervals that start at the lowest score.

    It is at most the calibration error, and at least half of it.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`. A Tally is refused where it does not give the answer
        exactly.
    y_prob : array_like
        Predicted probabilities.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    float
        Between 0 and 1; 0 is best.

    References
    ----------
    Gupta et al., "Calibration of neural networks using splines", ICLR 2021; ECCE-MAD of
    Arrieta-Ibarra et al., JMLR 2022.

    Examples
    --------
    >>> import calibrant as cb
    >>> round(cb.kolmogorov_error([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4]), 12)
    0.1
    """
    return measured(KOLMOGOROV, y_true, y_prob, sample_weight, pos_label)
