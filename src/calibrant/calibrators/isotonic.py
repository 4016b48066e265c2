"""Isotonic regression (PAV) at the speed of a tally: blocks read off the convex minorant.

Algorithm 1 of Gao, Parameswaran and Peng (2017). Among all nondecreasing functions of the score it
minimises squared loss, log loss and the calibration error alike (Claims 3 and 5).
"""

from __future__ import annotations

import numpy as np

from calibrant._types import BoolArray
from calibrant.calibrators.blocks import Blocks
from calibrant.core.diagram import Diagram
from calibrant.core.minorant import minorant, minorant_need
from calibrant.core.quantiles import quantile_points, quantiles_need


def isotonic_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that can hold a vertex, and those at the ends of blocks.

    Their scores say where a block begins and ends, once no vertex moves any more.
    """
    needed = minorant_need(diagram)
    if not diagram.hides(minorant_need):
        first = minorant(diagram).first
        needed[first] = True
        needed[np.append(first[1:], len(diagram.cells)) - 1] = True
    return needed


def isotonic_of(diagram: Diagram, interpolation: str) -> Blocks:
    """Read the blocks off a diagram resolved for them."""
    found = minorant(diagram)
    # neighbours with one value are one block
    starts = np.append(True, found.value[1:] > found.value[:-1])
    return _blocks(diagram, found.first[starts], interpolation)


def histogram_shares(n_bins: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the shares of the weight at which bins begin and end."""
    return np.linspace(0, 1, n_bins + 1)


def histogram_need(diagram: Diagram, n_bins: int) -> BoolArray:
    """Mark the cells that hold the edge of a bin, and where the next bin begins."""
    shares = histogram_shares(n_bins)
    needed = quantiles_need(diagram, shares)
    point = quantile_points(diagram, shares)
    needed[point[point < len(diagram.cells)]] = True
    return needed


def histogram_of(diagram: Diagram, n_bins: int) -> Blocks:
    """Read bins of about equal weight off the diagram; equal scores share a bin.

    Zadrozny and Elkan, "Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers", ICML 2001.
    """
    edges = np.unique(quantile_points(diagram, histogram_shares(n_bins)))
    return _blocks(diagram, edges[edges < len(diagram.cells)], "step")


def _blocks(
    diagram: Diagram, first: np.ndarray[tuple[int], np.dtype[np.int64]], interpolation: str
) -> Blocks:
    """Sum up the cells from each of `first` to the next."""
    cells = diagram.cells
    weight = np.add.reduceat(cells.weight, first)
    positives = np.add.reduceat(cells.positives, first)
    last = np.append(first[1:], len(cells)) - 1
    return Blocks(
        low=cells.low[first],
        high=cells.high[last],
        weight=weight,
        positives=positives,
        value=np.minimum(positives / weight, 1.0),
        interpolation=interpolation,
    )
