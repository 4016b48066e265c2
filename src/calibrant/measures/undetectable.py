"""The smallest undetectable L1 error behind perfectly calibrated scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._types import BoolArray
from calibrant.core.diagram import Diagram
from calibrant.core.statistic import RowSums, Statistic
from calibrant.data.memory.columns import Column
from calibrant.data.predictions import Predictions
from calibrant.measures.measured import measured


def _undetectable_need(diagram: Diagram) -> BoolArray:
    """Mark the cell that holds 1/2 inside: there is one at level 0 only."""
    whole: BoolArray = diagram.cells.level == 0
    return whole


def _undetectable_l1_of(diagram: Diagram, _sums: RowSums) -> float:
    cells = diagram.cells
    lower = np.where(cells.low < 0.5, cells.mass, cells.weight - cells.mass)
    return min(0.5, max(0.0, float(lower.sum()) / diagram.weight))


UNDETECTABLE_L1: Statistic[float] = Statistic(
    "the smallest undetectable L1 error", _undetectable_l1_of, _undetectable_need
)


def undetectable_l1(y_prob: Any, *, sample_weight: Any = None) -> float:
    """Return B_f = E min(f, 1 - f): the l1 error that no amount of data can exclude.

    Whatever rows show, the true probabilities could all be 0 or 1, and then the scores are off
    by at least this much on average. That is why calibration is measured and not accuracy of
    single probabilities.

    Parameters
    ----------
    y_prob : array_like
        Predicted probabilities, in [0, 1].
    sample_weight : array_like, optional
        Weight of each row.

    Returns
    -------
    float
        Between 0 and 1/2.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Theorem 1.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.undetectable_l1([0.25, 0.5, 1.0])
    0.25
    """
    rows = len(Column(y_prob, "y_prob"))
    nothing = np.broadcast_to(False, rows)  # labels play no part
    data = Predictions(nothing, y_prob, sample_weight=sample_weight)
    data.warnings = ()  # which are about labels
    return measured(UNDETECTABLE_L1, data)
