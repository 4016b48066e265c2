"""Sums of rows in cells, added up by the compiled kernel: the twins of those in `sums`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.core.compiled import COUNTS, MOST_ROWS, WEIGHTED, Kernel
from calibrant.core.tally import Cells
from calibrant.data.memory.kernel import Rows
from calibrant.data.memory.sums import counted


class CompiledCounts:
    """Sums for labels 0 and 1, in whole numbers: any order of rows gives the same bits."""

    def __init__(self, kernel: Kernel, slots: int) -> None:
        self._kernel, self._slots = kernel, slots
        self._tables = [np.zeros(slots, dtype=COUNTS)]
        self._rows = 0

    def add(self, slot: IntArray, inside: FloatArray, rows: Rows) -> None:
        """Add rows."""
        if self._rows + len(slot) > MOST_ROWS:  # sums of one table could overflow
            self._tables.append(np.zeros(self._slots, dtype=COUNTS))
            self._rows = 0
        self._rows += len(slot)
        self._kernel.add_counts((slot, inside), rows.score, rows.label, self._tables[-1])

    def filled(self) -> IntArray:
        """Return the slots that are not empty."""
        return filled(self._tables)

    def cells(self, level: IntArray, cell: IntArray) -> Cells:
        """Return the non-empty slots; `level` and `cell` name the cell of each slot."""
        slot = self.filled()
        return cells_of(self._tables, slot, level[slot], cell[slot])


class CompiledWeighted:
    """Sums for weights and fractional labels, in twice the digits of a double."""

    def __init__(self, kernel: Kernel, slots: int) -> None:
        self._kernel = kernel
        self._table = np.zeros(slots, dtype=WEIGHTED)

    def add(self, slot: IntArray, inside: FloatArray, rows: Rows) -> None:
        """Add rows of positive weight."""
        del inside  # weights leave no whole part to split off
        self._kernel.add_weighted(slot, rows.score, rows.label, rows.weight, self._table)

    def filled(self) -> IntArray:
        """Return the slots that are not empty."""
        return np.flatnonzero(self._table["rows"])

    def cells(self, level: IntArray, cell: IntArray) -> Cells:
        """Return the non-empty slots; `level` and `cell` name the cell of each slot."""
        slot = self.filled()
        found = self._table[slot]
        weight, positives, rise, fall = (found["sum"] + found["rest"]).T
        rows, score = found["rows"].copy(), found["one"].copy()
        return Cells(level[slot], cell[slot], rows, weight, positives, rise, fall, score)


def filled(tables: Sequence[AnyArray]) -> IntArray:
    """Return the slots that are not empty in one of these tables."""
    rows = tables[0]["rows"][:, 0] | tables[0]["rows"][:, 1]
    for table in tables[1:]:
        rows = rows | table["rows"][:, 0] | table["rows"][:, 1]
    return np.flatnonzero(rows)


def cells_of(tables: Sequence[AnyArray], slot: IntArray, level: IntArray, cell: IntArray) -> Cells:
    """Return slots of tables whose sums add up, as the cells of these levels and numbers."""
    first, *others = (table[slot] for table in tables)
    rows, one = first["rows"].astype(np.int64), first["one"]
    carried, parts = first["carried"].astype(np.int64), first["inside"]
    for table in others:
        here = table["rows"].any(axis=1)
        differs = here & rows.any(axis=1) & ~(one == table["one"])
        one = np.where(differs, np.nan, np.where(here, table["one"], one))
        rows = rows + table["rows"]
        parts = parts + table["inside"]
        carried = carried + table["carried"] + (parts < table["inside"])
    inside: FloatArray = np.ldexp(carried.astype(np.float64), 2) + np.ldexp(
        parts.astype(float), -62
    )
    # where there is one score its place is known to the last bit
    known = np.flatnonzero(~np.isnan(one))
    place = np.ldexp(one[known], level[known]) - cell[known]
    inside[known] = rows[known] * place[:, None]
    return counted(level, cell, (rows[:, 0], rows[:, 1]), (inside[:, 0], inside[:, 1]), one.copy())
