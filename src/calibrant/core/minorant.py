"""The greatest convex minorant of a diagram: isotonic regression read off (W, S).

Plot positives S against weight W along the scores. The greatest convex curve below that path has
as its slopes the values of the pool-adjacent-violators algorithm (Algorithm 1 of Gao,
Parameswaran and Peng, 2017; the paper's "convex hull" is the lower one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.compiled import compiled
from calibrant.core.diagram import Diagram


@dataclass(frozen=True, eq=False, slots=True)
class Minorant:
    """Blocks of cells with one value each, in order of score.

    Attributes
    ----------
    first : int array
        The first cell of each block.
    weight, positives : float array
        Sums over each block.
    value : float array
        positives / weight, not decreasing: what isotonic regression predicts in the block.
    """

    first: IntArray
    weight: FloatArray
    positives: FloatArray
    value: FloatArray


def minorant(diagram: Diagram) -> Minorant:
    """Find the greatest convex minorant of the points that are known."""
    return diagram.once(_minorant)


def _minorant(diagram: Diagram) -> Minorant:
    cells = diagram.cells
    first = _first_of_blocks(cells.weight, cells.positives)
    # from the sums of the block, so that all its rows get one value to the bit
    weight = np.add.reduceat(cells.weight, first)
    positives = np.add.reduceat(cells.positives, first)
    return Minorant(first, weight, positives, np.minimum(positives / weight, 1.0))


def _first_of_blocks(weight: FloatArray, positives: FloatArray) -> IntArray:
    kernel = compiled()
    if kernel is not None:
        return kernel.pool(weight, positives)
    from scipy.optimize import isotonic_regression  # here: scipy.optimize is slow to import

    pooled = isotonic_regression(positives / weight, weights=weight)
    first: IntArray = pooled.blocks[:-1].astype(np.int64)
    return first


def minorant_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that can hold a vertex of the minorant.

    Labels lie in [0, 1], so inside a cell the path stays above the corner where all of its
    negatives come first. If even that corner is not below the minorant of the edges, nothing in
    the cell is, and opening others only lowers the minorant.
    """
    cells, found = diagram.cells, minorant(diagram)
    blocks = np.diff(np.append(found.first, len(cells)))
    slope = np.repeat(found.value, blocks)
    # how far the path is above the minorant at the left edge of each cell
    steps = cells.positives - slope * cells.weight
    above = np.cumsum(steps) - steps
    corner = above - slope * (cells.weight - cells.positives)
    return corner < -diagram.tolerance
