"""Discrimination: how well the scores rank, because calibration without it is empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._types import BoolArray
from calibrant.core.diagram import Diagram
from calibrant.core.statistic import RowSums, Statistic
from calibrant.measures.measured import measured

#: Up to this many rows an audit opens every cell to rank them; beyond, it states a bound.
_FEW_ROWS = 1 << 17


def auc_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that hold positives and negatives whose order is not known."""
    cells = diagram.cells
    return (cells.positives > 0) & (cells.positives < cells.weight)


def auc_need_if_few(diagram: Diagram) -> BoolArray:
    """Mark the same cells if there are few rows, else none."""
    if diagram.count > _FEW_ROWS:
        return np.zeros(len(diagram.cells), dtype=bool)
    return auc_need(diagram)


def auc_of(diagram: Diagram) -> tuple[float, float]:
    """Return the area under the ROC curve, and how far off closed cells can put it.

    A pair of a positive and a negative counts 1 if the positive scores higher, 1/2 on a tie.
    Pairs inside a closed cell count 1/2 as well, so they are off by at most 1/2 each. NaN if
    there is only one class.
    """
    cells = diagram.cells
    positives = cells.positives / diagram.weight  # shares: products of weights could overflow
    negatives = cells.weight / diagram.weight - positives
    pairs = float(positives.sum()) * float(negatives.sum())
    if pairs <= 0:
        return np.nan, 0.0
    below = np.cumsum(negatives) - negatives
    won = float((positives * (below + negatives / 2)).sum()) / pairs
    unknown = float((positives * negatives)[~cells.single].sum()) / 2 / pairs
    return min(1.0, max(0.0, won)), unknown


def _auc_of(diagram: Diagram, _sums: RowSums) -> tuple[float, float]:
    return auc_of(diagram)


ROC_AUC: Statistic[tuple[float, float]] = Statistic(
    "the area under the ROC curve", _auc_of, auc_need
)
#: The same, with a bound where ranking would take too many rows.
ROC_AUC_OR_BOUND: Statistic[tuple[float, float]] = Statistic(
    "the area under the ROC curve", _auc_of, auc_need_if_few, bounded=True
)


def roc_auc(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: object = None
) -> float:
    """Measure the area under the ROC curve, exactly.

    The chance that a positive scores higher than a negative, ties counting half. A constant
    prediction at the base rate has no calibration error and an area of 1/2.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`. With soft labels each row is a positive with that
        weight, and a negative with the rest.
    y_prob : array_like
        Predicted probabilities.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    float
        Between 0 and 1; NaN if there is only one class.

    Notes
    -----
    Ranking needs every score, so this opens all cells and takes memory with the rows. An audit
    of more than 131,072 rows gives the area with a bound instead.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return measured(ROC_AUC, y_true, y_prob, sample_weight, pos_label)[0]
