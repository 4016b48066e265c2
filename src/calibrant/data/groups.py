"""Groups: rows tallied for every group in one pass, and opened where a group still needs it.

Every combination of the columns' values is tallied; the groups of one column, or of two, are sums
of these tallies. A value, or a pair of values, with too few rows to say anything is pooled with
the others of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import Diagram, Needs, Source, nothing, resolve
from calibrant.core.extremes import reaching, reaching_extremes
from calibrant.core.tally import Cells, Totals, pooled_cells
from calibrant.data.grouped_cells import Stack

#: Values, and pairs of values, with fewer rows than this are pooled if there are several; so are
#: those past the largest thousand of a column, or of a pair of columns.
LEAST_ROWS, MOST_NAMED = 100, 1000
#: Entries of the table of combinations and cells, as a power of two.
_TABLE_BITS = 20
#: A group with more rows than this, in cells too wide for it, is read on its own.
_LARGE = 1 << 17


@dataclass(frozen=True, eq=False, slots=True)
class Split:
    """What a column says of each row: which of its values, the last one being all that are pooled.

    Attributes
    ----------
    name : str
        The column.
    values : list
        The values that stand for themselves.
    pooled : int
        How many values are pooled.
    """

    name: str
    values: list[Any]
    pooled: int

    @property
    def codes(self) -> int:
        """Different codes that rows may have."""
        return len(self.values) + (self.pooled > 0)


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """The groups of one column, or of a pair of columns.

    Attributes
    ----------
    columns : tuple of int
        Which columns.
    group_of : int array
        The group of each combination.
    members : list of int array
        For each group the codes of these columns, a row each.
    rows : int array
        Rows of each group.
    pooled : int
        How many small groups the last one pools; 0 if none.
    """

    columns: tuple[int, ...]
    group_of: IntArray
    members: list[IntArray]
    rows: IntArray
    pooled: int

    def __len__(self) -> int:
        return len(self.members)


class Grouped(Protocol):
    """Rows that fall into combinations of codes, wherever they live."""

    splits: list[Split]
    #: The codes of each combination, a row each; how many rows have it; and how many it stands
    #: for, each counted as often as it weighs if weights are whole numbers.
    combos: IntArray
    rows: IntArray
    sizes: IntArray
    #: How fine cells should be for a number of rows: less where each one is sent over.
    finest: int

    def tally(self, level: int) -> tuple[IntArray, Cells, list[Totals]]:
        """Tally all rows: the combination of each cell, the cells, the totals of combinations."""

    def opened(self, view: View, level: int, group: IntArray, wanted: Cells) -> Cells:
        """Pool by score the rows in some cells of some groups of a view, given in order of both."""

    def alone(self, view: View, group: int) -> Source:
        """Return the rows of one group as a source of its own."""


def crossings(grouped: Grouped, first: int | None = None) -> list[tuple[int, ...]]:
    """Return the pairs of columns with more than one code each, among all or the first ones."""
    several = [k for k, split in enumerate(grouped.splits[:first]) if split.codes > 1]
    return list(combinations(several, 2))


def views_of(grouped: Grouped, pairs: Sequence[tuple[int, ...]]) -> Iterator[View]:
    """Give the groups of every column by itself, then those of some pairs of columns."""
    for columns in [*((k,) for k in range(len(grouped.splits))), *pairs]:
        yield _view(grouped, columns)


def _view(grouped: Grouped, columns: tuple[int, ...]) -> View:
    codes = [grouped.combos[:, k] for k in columns]
    key = np.ravel_multi_index(codes, [int(column.max()) + 1 for column in codes])
    _, first, group_of = np.unique(key, return_index=True, return_inverse=True)
    members = grouped.combos[first][:, columns]
    rows, sizes = (
        np.bincount(group_of, counts, len(members)).astype(np.int64)
        for counts in (grouped.rows, grouped.sizes)
    )
    if len(columns) == 1:  # values with few rows are pooled already
        return View(columns, group_of, list(members[:, None, :]), rows, 0)
    named = np.zeros(len(members), dtype=bool)
    named[name_values(sizes)[0]] = True
    number = np.where(named, np.cumsum(named) - 1, named.sum())
    groups = list(members[named][:, None, :])
    counts = rows[named]
    if not named.all():
        groups.append(members[~named])
        counts = np.append(counts, rows[~named].sum())
    return View(columns, number[group_of], groups, counts, int((~named).sum()))


def resolve_groups(
    grouped: Grouped, *needs: Needs, pairs: Sequence[tuple[int, ...]] = ()
) -> Iterator[tuple[View, list[Diagram]]]:
    """Sum up all groups in one pass, and open what their extremes need, and more if asked.

    Other statistics than the extremes of the walk say by `needs` what they must have opened.
    Views come one by one, because those of many columns do not fit into memory together.
    """
    level = _level(grouped.rows, grouped.finest)
    combo, cells, totals = grouped.tally(level)
    sums = np.array([(one.ff, one.fy, one.yy) for one in totals])
    kinds = [(one.labels_binary, one.weights_integer) for one in totals]
    binary, whole = (all(kind) for kind in zip(*kinds, strict=True))
    for view in views_of(grouped, pairs):
        key, merged = pooled_cells((view.group_of[combo] << level) + cells.cell, cells)
        stack = Stack(merged, np.searchsorted(key >> level, np.arange(len(view) + 1)))
        columns = [np.bincount(view.group_of, values, len(view)) for values in sums.T]
        added = [Totals(ff, fy, yy, binary, whole) for ff, fy, yy in np.transpose(columns).tolist()]
        yield view, _resolved(grouped, view, stack, added, needs)


def _level(rows: IntArray, finest: int) -> int:
    """Choose the cells: as many as suit a combination, but no more than a table can hold."""
    suits = int(np.log2(rows.sum() / len(rows)) / 2) + finest
    room = _TABLE_BITS - (len(rows) - 1).bit_length()
    return max(2, min(14, suits, room))


def _resolved(
    grouped: Grouped,
    view: View,
    stack: Stack,
    totals: list[Totals],
    needs: Sequence[Needs],
) -> list[Diagram]:
    level = int(stack.cells.level[0])
    large = (view.rows > _LARGE) & (_fitting(view.rows) > level + 1)
    marks = reaching(stack.cells, stack.starts) & ~large[stack.group]
    while True:
        if marks.any():
            wanted = stack.cells.take(marks)
            stack = stack.replace(marks, grouped.opened(view, level, stack.group[marks], wanted))
        diagrams = [Diagram(stack.of(group), total) for group, total in enumerate(totals)]
        marks = np.concatenate(
            [
                nothing(diagram) if alone else _wanted(diagram, needs)
                for diagram, alone in zip(diagrams, large.tolist(), strict=True)
            ]
        )
        if not marks.any():
            break
    for group in np.flatnonzero(large).tolist():
        diagrams[group] = resolve(grouped.alone(view, group), reaching_extremes, *needs)
    return diagrams


def _fitting(rows: IntArray) -> FloatArray:
    """Return the level that suits each number of rows."""
    suits: FloatArray = np.minimum(14, np.log2(np.maximum(rows, 1)) / 2 + 3)
    return suits


def _wanted(diagram: Diagram, needs: Sequence[Needs]) -> BoolArray:
    wanted = np.zeros(len(diagram.cells), dtype=bool)
    for need in needs:
        wanted |= need(diagram)
    return wanted & ~diagram.single if needs else wanted


def name_values(sizes: IntArray) -> tuple[list[int], int]:
    """Say which of some values in order stand for themselves, and how many others there are."""
    largest = np.argsort(-sizes, kind="stable")[:MOST_NAMED]
    named = sorted(int(place) for place in largest if sizes[place] >= LEAST_ROWS)
    counted = np.flatnonzero(sizes > 0).tolist()
    if 0 < len(named) < MOST_NAMED and len(counted) == len(named) + 1:
        return counted, 0  # there is no other to pool the last one with
    return named, len(counted) - len(named)


def plain_value(value: Any) -> Any:
    """Return a group's value as a number, a word, a truth value or None; dates as text."""
    if value is None or isinstance(value, str | bool | int | float):
        return 0.0 if value == 0 and isinstance(value, float) else value  # no sign on a zero
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        midnight = value.time() == time() and value.tzinfo is None
        return str(value.date() if midnight else value)
    return str(value)


def order_of(value: Any) -> tuple[int, Any]:
    """Sort numbers, then words, then whatever else there is; missing values last."""
    if value is None:
        return 3, ""
    if isinstance(value, int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, repr(value))
