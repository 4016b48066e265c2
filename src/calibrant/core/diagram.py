"""Diagram: the cumulative diagram, and how much of it must be opened.

Order the predictions by score, pool equal scores, and walk along them with running totals of
weight W, positives S and score mass F. Everything the library says about calibration is read
off this walk. At the edges of cells it is exact; inside a cell S - F can rise at most by the
cell's `rise` and fall at most by its `fall`, so that most cells never need to be opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.core.arrays import Sums
from calibrant.core.double_double import running_sum
from calibrant.core.tally import Cells, Totals

T = TypeVar("T")
#: Values of the walk that differ by less than this share of the total weight are equal.
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Diagram:
    """The cumulative diagram: cells and pooled scores in order, with the walk along them.

    Point i of the walk lies before cell i; point 0 is the start, where all totals are 0.
    """

    cells: Cells
    totals: Totals

    def __reduce__(self) -> tuple[type[Diagram], tuple[Cells, Totals]]:
        """Leave out what is read off it: functions that no pickle could hold are its names."""
        return Diagram, (self.cells, self.totals)

    @cached_property
    def _known(self) -> dict[Callable[[Diagram], Any], Any]:
        return {}

    def once(self, read: Callable[[Diagram], T]) -> T:
        """Return what a function reads off this diagram, worked out when first asked for."""
        if read not in self._known:
            self._known[read] = read(self)
        found: T = self._known[read]
        return found

    @cached_property
    def weight(self) -> float:
        """Total weight."""
        return float(self.weight_before[-1])

    @cached_property
    def count(self) -> int:
        """Rows, each counted as often as it weighs if weights are whole numbers."""
        rows = int(self.cells.rows.sum())
        return round(self.weight) if self.totals.weights_integer else rows

    @cached_property
    def tolerance(self) -> float:
        """Values of the walk this close are equal (the rule for ties)."""
        return TOLERANCE * self.weight

    @cached_property
    def weight_before(self) -> FloatArray:
        """W at every edge: the weight of the rows so far."""
        before = np.zeros(len(self.cells) + 1)
        np.cumsum(self.cells.weight, out=before[1:])
        return before

    @cached_property
    def walk(self) -> FloatArray:
        """S - F at every edge: positives observed minus positives predicted so far.

        Where the walk is flat near its top, the rounding of a hundred thousand sums of doubles
        would decide which point is the first that ties.
        """
        return running_sum(self.cells.rise - self.cells.fall).high

    @cached_property
    def single(self) -> BoolArray:
        """Cells with one distinct score: there is nothing in them to open."""
        return self.cells.single

    @cached_property
    def highest(self) -> FloatArray:
        """The most that the walk can reach inside each cell, its right edge included."""
        return np.where(self.single, self.walk[1:], self.walk[:-1] + self.cells.rise)

    @cached_property
    def lowest(self) -> FloatArray:
        """The least that the walk can reach inside each cell, its right edge included."""
        return np.where(self.single, self.walk[1:], self.walk[:-1] - self.cells.fall)

    @cached_property
    def positives(self) -> float:
        """Weight of the events."""
        return float(self.cells.positives.sum())

    @cached_property
    def rate(self) -> float:
        """Share of the weight where the event happened."""
        return min(1.0, self.positives / self.weight)

    @cached_property
    def mean_score(self) -> float:
        """Weighted mean of the scores."""
        return min(1.0, max(0.0, (self.positives - float(self.walk[-1])) / self.weight))

    @cached_property
    def open(self) -> bool:
        """Whether every cell is open: the diagram holds every distinct score."""
        return bool(self.single.all())

    def hides(self, needs: Needs) -> bool:
        """Whether a cell is closed that a statistic needs opened: there were no rows to look at."""
        return not self.open and bool((self.once(needs) & ~self.single).any())

    def replace(self, closed: BoolArray, opened: Cells) -> Diagram:
        """Return the diagram with the cells marked `closed` replaced by what was in them."""
        return Diagram(self.cells.replace(closed, opened), self.totals)


class Source(Protocol):
    """Where rows live: it can sum them up in cells, and open cells."""

    def start(self) -> tuple[Cells, Totals]:
        """Sum up all rows in cells of a width that suits their number."""

    def zoom(self, cells: Cells, /) -> Cells | None:
        """Open closed cells.

        Gives back their pooled scores, or finer cells when too many rows would come back, or
        None where there are no rows to look at.
        """

    def total(self, sums: Sums, /, **numbers: float) -> FloatArray | None:
        """Add up expressions of the columns `SCORE` and `LABEL`, in one pass over the rows.

        Each row counts with its weight; numbers stand where expressions have columns of their
        names. None where there are no rows to look at.
        """

    def release(self) -> None:
        """Let go of what is kept open; the next question opens it again."""


#: The half of a statistic that says which cells must still be opened for it.
Needs: TypeAlias = Callable[[Diagram], BoolArray]


def everything(diagram: Diagram) -> BoolArray:
    """Mark every cell: the full table of distinct scores is needed."""
    return np.ones(len(diagram.cells), dtype=bool)


def nothing(diagram: Diagram) -> BoolArray:
    """Mark no cell: totals are enough."""
    return np.zeros(len(diagram.cells), dtype=bool)


def resolve(source: Source, *needs: Needs, start: Diagram | None = None) -> Diagram:
    """Sum up a source in cells, and open cells until no statistic needs another one.

    Every round drops or splits the cells it asks for, so it ends. A source without rows (a
    stored tally) leaves the cells closed, and the statistics then carry their bounds. `start` is
    a diagram of the same source to go on from.
    """
    diagram = Diagram(*source.start()) if start is None else start
    while not diagram.open:
        wanted = np.zeros(len(diagram.cells), dtype=bool)
        for need in needs:
            wanted |= diagram.once(need)
        wanted &= ~diagram.single
        if not wanted.any():
            return diagram
        opened = source.zoom(diagram.cells.take(wanted))
        if opened is None:
            return diagram
        diagram = diagram.replace(wanted, opened)
    return diagram
