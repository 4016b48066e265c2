"""Groups: rows tallied for every group in one pass, and opened where a group still needs it.

Every combination of the columns' values is tallied; the groups of one column, or of two, are sums
of these tallies. A value, or a pair of values, with too few rows to say anything is pooled with
the others of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from calibrant._types import FloatArray, IntArray
from calibrant.diagram import Diagram, Needs, Source, resolve
from calibrant.tally import Cells, Totals, pooled_cells

#: Values, and pairs of values, with fewer rows than this are pooled; so are those past the largest
#: thousand of a column, or of a pair of columns.
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
    #: The codes of each combination, a row each, and how many rows have it.
    combos: IntArray
    rows: IntArray

    def tally(self, level: int) -> tuple[IntArray, Cells, list[Totals]]:
        """Tally all rows: the combination of each cell, the cells, the totals of combinations."""

    def opened(self, view: View, level: int, wanted: dict[int, Cells]) -> dict[int, Cells]:
        """Pool by score the rows in some cells of some groups of a view."""

    def alone(self, view: View, group: int) -> Source:
        """Return the rows of one group as a source of its own."""


def views_of(grouped: Grouped) -> list[View]:
    """Return every column by itself, and every pair of columns with more than one code each."""
    several = [k for k, split in enumerate(grouped.splits) if split.codes > 1]
    single = [(k,) for k in range(len(grouped.splits))]
    return [_view(grouped, columns) for columns in [*single, *combinations(several, 2)]]


def _view(grouped: Grouped, columns: tuple[int, ...]) -> View:
    members, group_of = np.unique(grouped.combos[:, columns], axis=0, return_inverse=True)
    group_of = group_of.ravel()
    rows = np.bincount(group_of, weights=grouped.rows, minlength=len(members)).astype(np.int64)
    if len(columns) == 1:  # values with few rows are pooled already
        return View(columns, group_of, list(members[:, None, :]), rows, 0)
    largest = np.argsort(-rows, kind="stable")[:MOST_NAMED]
    named = np.zeros(len(members), dtype=bool)
    named[largest] = rows[largest] >= LEAST_ROWS
    number = np.where(named, np.cumsum(named) - 1, named.sum())
    groups = list(members[named][:, None, :])
    counts = rows[named]
    if not named.all():
        groups.append(members[~named])
        counts = np.append(counts, rows[~named].sum())
    return View(columns, number[group_of], groups, counts, int((~named).sum()))


def resolve_groups(grouped: Grouped, *needs: Needs) -> Iterator[tuple[View, list[Diagram]]]:
    """Sum up all groups in one pass, and open the cells that their statistics need."""
    level = _level(grouped.rows)
    combo, cells, totals = grouped.tally(level)
    for view in views_of(grouped):
        yield view, _resolved(grouped, view, _diagrams(view, combo, cells, totals, level), needs)


def _level(rows: IntArray) -> int:
    """Choose the cells: as many as suit a combination, but no more than a table can hold."""
    suits = int(np.log2(rows.sum() / len(rows)) / 2) + 3
    room = _TABLE_BITS - (len(rows) - 1).bit_length()
    return max(2, min(14, suits, room))


def _diagrams(
    view: View, combo: IntArray, cells: Cells, totals: list[Totals], level: int
) -> list[Diagram]:
    """Add the tallies of combinations up to those of a view's groups."""
    group = view.group_of[combo]
    key, merged = pooled_cells((group << level) + cells.cell, cells)
    starts = np.searchsorted(key >> level, np.arange(len(view) + 1))
    sums: list[Totals | None] = [None] * len(view)
    for number, part in zip(view.group_of.tolist(), totals, strict=True):
        known = sums[number]
        sums[number] = part if known is None else known + part
    return [
        Diagram(merged.take(slice(first, last)), total)
        for first, last, total in zip(starts[:-1], starts[1:], sums, strict=True)
        if total is not None
    ]


def _resolved(
    grouped: Grouped, view: View, diagrams: list[Diagram], needs: Sequence[Needs]
) -> list[Diagram]:
    level = int(diagrams[0].cells.level[0])
    large = set(np.flatnonzero((view.rows > _LARGE) & (_fitting(view.rows) > level + 1)).tolist())
    for group in large:
        diagrams[group] = resolve(grouped.alone(view, group), *needs)
    marks = {
        group: _wanted(diagrams[group], needs) for group in range(len(view)) if group not in large
    }
    while True:
        wanted = {
            group: diagrams[group].cells.take(mark) for group, mark in marks.items() if mark.any()
        }
        if not wanted:
            return diagrams
        for group, cells in grouped.opened(view, level, wanted).items():
            diagrams[group] = diagrams[group].replace(marks[group], cells)
        marks = {group: _wanted(diagrams[group], needs) for group in wanted}


def _fitting(rows: IntArray) -> FloatArray:
    """Return the level that suits each number of rows."""
    suits: FloatArray = np.minimum(14, np.log2(np.maximum(rows, 1)) / 2 + 3)
    return suits


def _wanted(diagram: Diagram, needs: Sequence[Needs]) -> Any:
    wanted = np.zeros(len(diagram.cells), dtype=bool)
    for need in needs:
        wanted |= need(diagram)
    return wanted & ~diagram.single


def name_values(values: Sequence[Any], rows: IntArray) -> tuple[list[int], int]:
    """Say which values stand for themselves, in order, and how many are pooled."""
    largest = np.argsort(-rows, kind="stable")[:MOST_NAMED]
    named = sorted(int(place) for place in largest if rows[place] >= LEAST_ROWS)
    return named, len(values) - len(named)


def order_of(value: Any) -> tuple[int, Any]:
    """Sort numbers, then words, then whatever else there is; missing values last."""
    if value is None:
        return 3, ""
    if isinstance(value, int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, repr(value))
