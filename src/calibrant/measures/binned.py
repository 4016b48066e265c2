"""Errors with bins, or with one end fixed: what other papers and libraries report."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from calibrant import errors
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import Diagram, resolve
from calibrant.core.extremes import extremes, extremes_need
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.data.predictions import data_of, warn
from calibrant.measures.decomposition import refuse_closed

Strategy = Literal["uniform", "quantile"]


def _inner_edges(n_bins: int) -> FloatArray:
    return np.arange(1, n_bins) / n_bins


def bins_need(diagram: Diagram, n_bins: int, strategy: Strategy) -> BoolArray:
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


def binned_error_of(diagram: Diagram, n_bins: int, strategy: Strategy) -> float:
    """Read the expected calibration error off a diagram resolved for its bins."""
    at_edges = diagram.walk[_bin_points(diagram, n_bins, strategy)]
    return min(1.0, float(np.abs(np.diff(at_edges)).sum()) / diagram.weight)


def kolmogorov_of(diagram: Diagram) -> float:
    """Read the Kolmogorov-Smirnov error off a diagram resolved for its extremes."""
    found = extremes(diagram)
    return min(1.0, max(found.high, -found.low) / diagram.weight)


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
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    need = partial(bins_need, n_bins=n_bins, strategy=strategy)
    diagram = resolve(data.source, need)
    warn(data.warnings, stacklevel=2)
    refuse_closed(diagram, need(diagram), "the expected calibration error")
    return binned_error_of(diagram, n_bins, strategy)


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
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    diagram = resolve(data.source, extremes_need)
    warn(data.warnings, stacklevel=2)
    refuse_closed(diagram, extremes_need(diagram), "the Kolmogorov-Smirnov error")
    return kolmogorov_of(diagram)
