"""Quantiles: points of the walk at given shares of the total weight, ties never split."""

from __future__ import annotations

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import Diagram


def quantile_points(diagram: Diagram, shares: FloatArray) -> IntArray:
    """Return for each share the first point that has at least that much weight before it."""
    target = shares * diagram.weight - diagram.tolerance
    point = np.searchsorted(diagram.weight_before, target)
    point[shares >= 1] = len(diagram.cells)  # all of it, however little the last rows weigh
    return point


def quantiles_need(diagram: Diagram, shares: FloatArray) -> BoolArray:
    """Mark the cell before each point: the point may lie inside it, and its score does."""
    needed = np.zeros(len(diagram.cells), dtype=bool)
    point = quantile_points(diagram, shares)
    needed[point[point > 0] - 1] = True
    return needed
