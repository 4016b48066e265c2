"""Plain rows: numbers 0 and 1 next to scores, in arrays that the compiled kernel reads in place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar

import numpy as np

from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.core.compiled import BLOCK, COUNTS, MOST_ROWS, Kernel, SlotMarks
from calibrant.core.tally import POINT, Cells, Totals
from calibrant.core.threads import ranges, side_by_side, threads
from calibrant.data.memory.compiled_sums import cells_of, filled
from calibrant.data.memory.kernel import Finer, Grid, Wanted
from calibrant.data.refusals import rows_change

#: Rows looked through at a time: the keys of those that are wanted stay in the cache.
_STEP = 1 << 16

R = TypeVar("R")


class PlainRows:
    """Scores and labels of 0 and 1 without weights, tallied and opened by the compiled kernel.

    Cores share the rows, which changes no bit: cells hold whole numbers, and f^2 is added up over
    blocks of rows that are the same for any number of cores.
    """

    def __init__(self, kernel: Kernel, score: AnyArray, label: AnyArray) -> None:
        self._kernel, self._score, self._label = kernel, score, label
        self._nearby: tuple[Wanted, IntArray] | None = None
        self._grid = Grid(0)

    def pooled(self) -> tuple[Cells, Totals] | None:
        """Sort the rows, each score once; None if they break a rule."""
        keys = self._kernel.keys(self._score, self._label)
        if keys is None:
            return None
        keys.sort()
        return self._points(keys)

    def tally(self, grid: Grid) -> tuple[Cells, Totals] | None:
        """Sum up the rows in the cells of a grid; None if they break a rule."""
        self._grid = grid

        def counted(part: slice) -> tuple[AnyArray, FloatArray | None]:
            table = np.zeros(grid.slots, dtype=COUNTS)
            score, label = self._score[part], self._label[part]
            return table, self._kernel.count_rows(score, label, grid.levels, table)

        found = self._each_part(counted)
        tables = [table for table, _ in found]
        squares = [part.tolist() for _, part in found if part is not None]
        if len(squares) < len(found):
            return None
        slot = filled(tables)
        cells = cells_of(tables, slot, *grid.named(slot))
        # y^2 = y, and y f = y - y (1 - f)
        yy, fy = float(cells.positives.sum()), float((cells.positives - cells.rise).sum())
        return cells, Totals(math.fsum(chain.from_iterable(squares)), fy, yy, True, True)

    def zoom(self, cells: Cells, grid: Finer | None, *, keep: bool) -> Cells:
        """Open cells: into pooled scores, or into the cells of a finer grid.

        If rows are to be kept, the next cells to be opened are looked for among these.
        """
        wanted = Wanted(cells, len(self._score))
        if keep or grid is None:
            keys = self._sorted_keys(wanted)
            self._nearby = (wanted, keys) if keep else self._nearby
            opened = self._points(keys)[0] if grid is None else self._split([keys], wanted, grid)
        else:
            opened = self._split_unsorted(wanted, grid)
        if int(opened.rows.sum()) != int(cells.rows.sum()):
            raise rows_change()
        return opened

    def _sorted_keys(self, wanted: Wanted) -> IntArray:
        """Return the keys of all wanted rows in order, from those that were kept if they can be."""
        if self._nearby is not None and wanted.inside(self._nearby[0]):
            return wanted.among(self._nearby[1])
        marks = self._grid.marks(wanted.cells)
        parts = self._each_part(
            lambda part: [keys.copy() for keys in self._keys(part, wanted, marks)]
        )
        keys = np.concatenate(list(chain.from_iterable(parts)))
        keys.sort()
        return keys

    def _split(self, parts: Iterable[IntArray], wanted: Wanted, grid: Finer) -> Cells:
        return _cells([self._counted(parts, wanted, grid)], grid)

    def _split_unsorted(self, wanted: Wanted, grid: Finer) -> Cells:
        """Split rows that are too many to be kept."""
        marks = self._grid.marks(wanted.cells)
        return _cells(
            self._each_part(
                lambda part: self._counted(self._keys(part, wanted, marks), wanted, grid)
            ),
            grid,
        )

    def _counted(self, parts: Iterable[IntArray], wanted: Wanted, grid: Finer) -> AnyArray:
        """Return the sums of wanted rows in the cells of a finer grid."""
        table = np.zeros(grid.slots, dtype=COUNTS)
        for keys in parts:
            if not self._kernel.count_finer(keys, wanted.of_library, grid.of_library, table):
                raise rows_change()
        return table

    def _keys(self, part: slice, wanted: Wanted, marks: SlotMarks) -> Iterator[IntArray]:
        for start in range(part.start, part.stop, _STEP):
            rows = slice(start, min(part.stop, start + _STEP))
            score, label = self._score[rows], self._label[rows]
            keys = self._kernel.keys(score, label, wanted.of_library, marks)
            if keys is None:
                raise rows_change()
            yield keys

    def _each_part(self, work: Callable[[slice], R]) -> list[R]:
        """Do some work on one part of the rows for each core."""
        rows = len(self._score)
        workers = threads(rows)
        parts = max(workers, -(-rows // (MOST_ROWS - BLOCK)))  # a table holds no more rows
        return side_by_side(work, ranges(rows, parts, BLOCK), workers)

    def _points(self, keys: IntArray) -> tuple[Cells, Totals]:
        rows, columns, totals = self._kernel.pool_keys(keys)
        score, weight, positives, rise, fall = columns
        level, cell = np.empty(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        level.fill(POINT)
        cells = Cells(level, cell, rows, weight, positives, rise, fall, score)
        ff, fy = totals.tolist()
        return cells, Totals(ff, fy, float(positives.sum()), True, True)


def _cells(tables: list[AnyArray], grid: Finer) -> Cells:
    slot = filled(tables)
    return cells_of(tables, slot, *(name[slot] for name in grid.names()))
