"""Grouped arrays: rows in memory, split by the values of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from calibrant._text import shown
from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.core.tally import Cells, Totals
from calibrant.data import refusals
from calibrant.data.grouped_cells import order_in_groups
from calibrant.data.groups import Split, View, name_values
from calibrant.data.memory.columns import Column
from calibrant.data.memory.factorize import codes_of
from calibrant.data.memory.kernel import Rows, place_in_cell
from calibrant.data.memory.source import ArraySource, pooled_rows

#: Combinations that a table may have an entry for.
_MOST_CODES = 1 << 22


class GroupedArrays:
    """Rows of an ArraySource, and their group columns."""

    finest = 3

    def __init__(self, source: ArraySource, columns: Mapping[str, Any]) -> None:
        self._source = source
        weight = source.weights()
        counts = None if weight is None else weight > 0
        whole = source.start()[1].weights_integer
        size = weight if whole else counts
        self.splits: list[Split] = []
        code = np.zeros(len(source), dtype=np.int64)
        parts: list[IntArray] = []
        for name, values in columns.items():
            column = Column(values, f"by column {shown(name)}")
            if len(column) != len(source):
                raise refusals.lengths_differ([("y_true", len(source)), (column.name, len(column))])
            split, codes = _split(name, column, size)
            self.splits.append(split)
            parts.append(codes)
            code *= max(1, split.codes)
            code += codes
            code = _dense(code)  # many columns have more combinations than there are numbers
        first = np.zeros(int(code.max()) + 1, dtype=np.int64)
        first[code] = np.arange(len(code))
        rows = np.bincount(code, counts)
        found = np.flatnonzero(rows)
        number = np.full(len(first), -1, dtype=np.int32)  # where all rows have weight 0
        number[found] = np.arange(len(found))
        self._code = number[code]
        self.rows = rows[found].astype(np.int64)
        self.sizes = np.bincount(code, size)[found].astype(np.int64)
        self.combos = np.stack([codes[first[found]] for codes in parts], axis=1)

    def tally(self, level: int) -> tuple[IntArray, Cells, list[Totals]]:
        """Tally all rows in one pass."""
        sums = self._source.accumulator(len(self.rows) << level)
        squares = np.zeros((3, len(self.rows)))
        whole = self._source.start()[1]
        for code, rows in self._chunks():
            cell, inside = place_in_cell(rows.score, level)
            cell += code << level
            _add_squares(squares, code, rows, binary=whole.labels_binary)
            sums.add(cell, inside, rows)
        filled = sums.filled()
        combo = filled >> level
        slot = np.arange(len(self.rows) << level)
        cells = sums.cells(np.full(len(slot), level), slot & ((1 << level) - 1))
        if whole.labels_binary:  # y^2 = y and y f = y - y (1 - f)
            squares[1] = np.bincount(combo, cells.positives - cells.rise, len(self.rows))
            squares[2] = np.bincount(combo, cells.positives, len(self.rows))
        kinds = whole.labels_binary, whole.weights_integer
        return combo, cells, [Totals(ff, fy, yy, *kinds) for ff, fy, yy in squares.T.tolist()]

    def opened(self, view: View, level: int, group: IntArray, wanted: Cells) -> Cells:
        """Pool by score the rows in some cells of some groups of a view, given in order of both."""
        marks = np.zeros(len(view) << level, dtype=bool)
        marks[(group << level) + wanted.cell] = True
        groups: list[IntArray] = []
        parts: list[Rows] = []
        for code, rows in self._chunks():
            group_of_row = view.group_of[code]
            cell, _ = place_in_cell(rows.score, level)
            kept = np.flatnonzero(marks.take((group_of_row << level) + cell))
            groups.append(group_of_row[kept])
            parts.append(rows.take(kept))
        found, kept_rows = np.concatenate(groups), Rows.concatenate(parts)
        return pooled_rows(kept_rows, *order_in_groups(found, kept_rows.score, len(view)))

    def alone(self, view: View, group: int) -> ArraySource:
        """Return the rows of one group as a source of its own."""
        inside = view.group_of == group
        parts = [rows.take(inside[code]) for code, rows in self._chunks()]
        return ArraySource.of_rows(Rows.concatenate(parts), self._source.start()[1])

    def _chunks(self) -> Iterator[tuple[IntArray, Rows]]:
        """Yield the rows of positive weight, chunk by chunk, and their combinations."""
        for start, kept, rows in self._source.numbered_chunks():
            code = self._code[start : start + self._source.step]
            yield (code if kept is None else code[kept]).astype(np.int64), rows


def _add_squares(squares: FloatArray, code: IntArray, rows: Rows, *, binary: bool) -> None:
    """Add up w f^2 for each combination, and w f y and w y^2 where cells do not hold them."""
    score, label, weight = rows
    weighted = score if weight is None else score * weight
    squares[0] += np.bincount(code, weighted * score, squares.shape[1])
    if not binary:
        outcome = label if weight is None else label * weight
        squares[1] += np.bincount(code, outcome * score, squares.shape[1])
        squares[2] += np.bincount(code, outcome * label, squares.shape[1])


def _split(name: str, column: Column, size: AnyArray | None) -> tuple[Split, IntArray]:
    """Give every row the number of its value; values with few rows share the last one."""
    values, codes = codes_of(column)
    named, pooled = name_values(np.bincount(codes, size, len(values)).astype(np.int64))
    number = np.full(len(values), len(named))
    number[named] = np.arange(len(named))
    return Split(name, [values[place] for place in named], pooled), number[codes]


def _dense(code: IntArray) -> IntArray:
    """Give codes that have become large new numbers, from 0 on."""
    if int(code.max()) < _MOST_CODES:
        return code
    return np.unique(code, return_inverse=True)[1].ravel()
