"""Extremes: where the walk S - F is highest and lowest, the ends of the worst interval.

The calibration error of Gao, Parameswaran and Peng (2017, Definition 2) is the largest
difference between observed and predicted positives over the intervals (p1, p2], as a share of
all rows. That is the range of the walk, its starting 0 included, over the total weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._types import BoolArray, IntArray
from calibrant.core.diagram import TOLERANCE, Diagram
from calibrant.core.double_double import running_sum
from calibrant.core.tally import Cells


@dataclass(frozen=True, slots=True)
class Extremes:
    """The extremes of the walk between two of its points.

    Attributes
    ----------
    high, low : float
        Maximum and minimum over the points that are known.
    top, bottom : int
        The first point that ties with the maximum, and with the minimum.
    at_most : float
        What `range` could be if closed cells hid the worst they can.
    """

    high: float
    low: float
    top: int
    bottom: int
    at_most: float

    @property
    def range(self) -> float:
        """Maximum minus minimum: attained, and equal to `at_most` once resolved."""
        return self.high - self.low

    @property
    def ends(self) -> tuple[int, int]:
        """The worst interval's first and last point.

        The first top and the first bottom, whichever comes first, are the lowest p1 and then
        the lowest p2 among all intervals that tie. On a flat walk the first step is as bad as
        any.
        """
        if self.top == self.bottom:
            return self.top, self.top + 1
        return min(self.top, self.bottom), max(self.top, self.bottom)


def extremes(diagram: Diagram, start: int = 0, stop: int | None = None) -> Extremes:
    """Find the extremes of the walk between the points `start` and `stop`."""
    stop = len(diagram.cells) if stop is None else stop
    walk = diagram.walk[start : stop + 1]
    high, low = float(walk.max()), float(walk.min())
    top = start + int(np.argmax(walk >= high - diagram.tolerance))
    bottom = start + int(np.argmax(walk <= low + diagram.tolerance))
    if diagram.open:
        return Extremes(high, low, top, bottom, high - low)
    highest = max(high, float(diagram.highest[start:stop].max()))
    lowest = min(low, float(diagram.lowest[start:stop].min()))
    return Extremes(high, low, top, bottom, highest - lowest)


def extremes_need(diagram: Diagram, start: int = 0, stop: int | None = None) -> BoolArray:
    """Mark the cells that can beat an extreme, or tie with it at a lower score.

    A cell before the first top needs opening if it could tie with the maximum; a later one only
    if it could pass it. So the cells that hold the ends of the worst interval are opened too.
    """
    stop = len(diagram.cells) if stop is None else stop
    found = extremes(diagram, start, stop)
    cell = np.arange(start, stop)
    highest, lowest = diagram.highest[start:stop], diagram.lowest[start:stop]
    beats = (highest > found.high) | (lowest < found.low)
    ties_top = (highest >= found.high - diagram.tolerance) & (cell < found.top)
    ties_bottom = (lowest <= found.low + diagram.tolerance) & (cell < found.bottom)
    needed = np.zeros(len(diagram.cells), dtype=bool)
    needed[start:stop] = beats | ties_top | ties_bottom
    needed[start] |= found.top == found.bottom  # a flat walk: the first score is the answer
    return needed


def reaching_extremes(diagram: Diagram) -> BoolArray:
    """Mark the cells that can reach an extreme of the walk."""
    return reaching(diagram.cells, np.array([0, len(diagram.cells)]))


def reaching(cells: Cells, starts: IntArray) -> BoolArray:
    """Mark the cells of all groups that can reach an extreme of their group's walk.

    Opening a cell only moves an extreme outward, so that no other one can reach it afterwards:
    the extremes need nothing else. Done for all groups at once, because asking a thousand groups
    one by one takes as long as reading ten million rows.
    """
    step = cells.rise - cells.fall
    total = running_sum(step)
    first, sizes = starts[:-1], np.diff(starts)
    after = total[1:].minus(total[first].repeat(sizes))
    slack = TOLERANCE * np.repeat(np.add.reduceat(cells.weight, first), sizes)
    high = np.repeat(np.maximum.reduceat(after, first).clip(min=0), sizes)
    low = np.repeat(np.minimum.reduceat(after, first).clip(max=0), sizes)
    before = after - step
    reaches = (before + cells.rise >= high - slack) | (before - cells.fall <= low + slack)
    marks: BoolArray = reaches & ~cells.single
    return marks
