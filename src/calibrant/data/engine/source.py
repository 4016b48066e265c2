"""Frames: a table in an engine, tallied and opened by queries. Its rows stay where they are.

One class for every engine that works lazily. Each pass is one aggregation; what
comes back is a number for each cell, or the pooled scores of the few cells that were opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import narwhals as nw
import numpy as np

from calibrant import errors
from calibrant._types import AnyArray, FloatArray
from calibrant.core.arrays import Sums
from calibrant.core.expressions import Expression, col, count, kept, lit, plain, staged
from calibrant.core.tally import MAX_LEVEL, Cells, Tally, Totals
from calibrant.data import refusals
from calibrant.data.engine.aggregate import (
    Placed,
    decoded,
    joined,
    listed,
    part_of,
    plain_sums,
    points,
    pooled,
    summed,
    within,
)
from calibrant.data.engine.checks import Facts, facts_of
from calibrant.data.engine.narwhals_table import lazy_table
from calibrant.data.engine.scan import plain_totals, scan
from calibrant.data.engine.table import Fetched, Table
from calibrant.data.grouped_cells import counted_rows, order_by_score
from calibrant.data.memory.columns import numbers
from calibrant.data.memory.kernel import Rows, start_level
from calibrant.data.rules import Roles
from calibrant.errors import InputError

#: Rows that may be fetched at once, for what is not a sum over scores.
MOST_FETCHED = 1 << 24
#: The finest level that a tally of all rows may have.
_DENSEST_LEVEL = 20
#: Up to this level one query tallies all rows; beyond, if they are many, so many one by one.
_WHOLE_LEVEL, _TALLY_PARTS = 17, 4
#: Opening this many rows is always cheap; otherwise up to this share of them, as a power of two,
#: while they are not too many to be sent.
_FEW_ROWS, _FEW_SHARE, _MOST_OPENED = 1 << 16, 5, 1 << 22
#: Scores often tie if cells with one score only hold more than this share of the rows.
_TIED = 0.1
#: Cells that a finer tally may have, as a power of two.
_FINER_BITS, _LEAST_BITS = 16, 3
#: A cell's number, and one more bit for the label, must be whole as a double.
_CELL_BITS = 52


class FrameSource:
    """Rows of a lazy table; the pass before the first tally checks them."""

    def __init__(
        self,
        table: Table,
        roles: Roles,
        pos_label: object = None,
        *,
        fine: bool = False,
        tallied: bool = True,
    ) -> None:
        self._names, self._roles = roles.names(), roles
        self._whole = table
        self._table = table.columns(roles.columns())
        self._fine = fine
        self._start: tuple[Cells, Totals] | None = None
        self.facts: Facts = self._look(pos_label, tallied=tallied)
        self._length, self._count = self.facts.rows, self.facts.counted
        self.weighted = roles.weight is not None
        self.plain = self.facts.binary and not self.weighted
        self._rows = self.read()
        self._fetched: Fetched | None = None

    def _look(self, pos_label: object, *, tallied: bool) -> Facts:
        """Check the rows, and tally them by the way if that is wanted and possible."""
        known = (self._table, self._roles, pos_label)
        found = scan(*known, fine=self._fine) if tallied else None
        if found is None:
            return facts_of(*known)
        self._start = (found.cells, found.totals)
        return found.facts

    def __len__(self) -> int:
        return self._length

    def part(self, rows: Table, count: int) -> FrameSource:
        """Return some of the rows, which were checked before, as a source of their own."""
        some = copy(self)
        some._rows, some._length, some._count, some._start = rows, count, count, None
        return some

    def start(self) -> tuple[Cells, Totals]:
        """Return the cells of the first pass, whose width suits the number of rows."""
        if self._start is None:
            level, crowd = start_level(len(self), fine=self._fine), self.facts.crowd
            self._start = self._tallied(Placed(level - 1, crowd) if crowd else Placed(level))
        return self._start

    @property
    def often_tied(self) -> bool:
        """Whether many scores tie; taken to be so unless the rows are tallied already."""
        if self._start is None:
            return True
        cells = self._start[0]
        return int(cells.rows[cells.single].sum()) > _TIED * len(self)

    def tally(self, level: int) -> Tally:
        """Tally all rows at the level given."""
        level = errors.whole_number("level", level, least=0, most=_DENSEST_LEVEL)
        if level <= _WHOLE_LEVEL or len(self) <= MOST_FETCHED:
            return Tally(level, *self._tallied(Placed(level)))
        return self._tallied_in_parts(level)

    def _tallied_in_parts(self, level: int) -> Tally:
        """Tally ranges of scores one by one, because millions of groups take a gigabyte."""
        total: Tally | None = None
        for part in range(_TALLY_PARTS):
            score = col("f")
            inside = (score >= part / _TALLY_PARTS) & (
                score <= 1.0 if part == _TALLY_PARTS - 1 else score < (part + 1) / _TALLY_PARTS
            )
            rows = self._rows.filter(inside)
            cells, found = self._summed(rows, Placed(level))
            if len(cells):
                some = Tally(level, cells, self._totals(cells, found))
                total = some if total is None else total + some
        if total is None:  # rows were counted before
            raise refusals.table_changes(0, self._count)
        check_same(total.cells.rows, self._count)
        return total

    def zoom(self, cells: Cells) -> Cells:
        """Open cells: pooled scores if they are few, else cells finer by several levels."""
        share = min(len(self) >> _FEW_SHARE, _MOST_OPENED)
        few = int(cells.rows.sum()) <= max(_FEW_ROWS, share)
        bits = max(_LEAST_BITS, _FINER_BITS - (len(cells) - 1).bit_length())
        parts = []
        for level in np.unique(cells.level).tolist():
            some = cells.take(cells.level == level)
            rows = within(self._rows, level, some.cell)
            room = min(_CELL_BITS - int(some.cell.max()).bit_length(), MAX_LEVEL - level)
            if few or room < _LEAST_BITS:  # so deep that they hold a few distinct scores
                parts.append(self._pooled(rows))
            else:
                parts.append(self._summed(rows, Placed(level + min(bits, room)))[0])
        opened = joined(parts)
        check_same(opened.rows, cells.rows)
        if self.plain:
            check_same(opened.positives, cells.positives)
        return opened

    def release(self) -> None:
        """Let the engine close what it keeps open, until it is asked again."""
        self._whole.release()

    def rows(self) -> Rows:
        """Return every row at once, also those of weight 0, in the order the engine gives."""
        found = self._everything()
        columns = {name: numbers(found[name], 0, name) for name in "fyw" if name in found}
        label = columns["y"] == 1 if self.facts.binary else columns["y"]
        return Rows(columns["f"] + 0.0, label, columns.get("w"))

    def counts(
        self, low: float = 0.0, high: float = np.inf
    ) -> tuple[FloatArray, AnyArray, AnyArray]:
        """Return the scores from `low` up to `high`, each once, and its rows with label 0 and 1."""
        rows = self._rows
        if low > 0 or high <= 1:
            rows = rows.filter((col("f") >= low) & (col("f") < min(high, 2.0)))
        if self.plain and not self.often_tied:
            found = rows.select(f=col("f"), y=col("y").whole(narrow=True)).fetch()
            return counted_rows(found["f"], found["y"])
        cells = self._pooled(rows)
        return cells.score, cells.weight - cells.positives, cells.positives

    def clusters(self) -> AnyArray:
        """Return which cluster each row is in, in the order of `rows`."""
        return self._everything()["clusters"]

    def _everything(self) -> Fetched:
        """Fetch all rows, once: two queries may give them in different order."""
        if len(self) > MOST_FETCHED:
            raise _table_too_long(len(self), MOST_FETCHED)
        if self._fetched is None:
            more = kept("clusters") if self._roles.clusters else {}
            self._fetched = self._table.select(**self._columns(), **more).fetch()
        return self._fetched

    def total(self, sums: Sums, /, **numbers: float) -> FloatArray:
        """Add up expressions of score and label, times the weight of each row, in one pass."""
        if any(_asks_odds(one) for one in sums.each):
            self._refuse_ends()
        stages, each = staged(plain(sums.each, **numbers))
        rows = self._rows.with_columns(part=part_of(col("f")))
        for stage in stages:
            rows = rows.with_columns(**stage)
        weight = col("w") if self.weighted else lit(1.0)
        rows = rows.with_columns(**{f"sum_{k}": one.weighed(weight) for k, one in enumerate(each)})
        names = [f"sum_{k}" for k in range(len(each))]
        found = rows.grouped(["part"], **{name: col(name).sum() for name in names}).numbers()
        return np.array([float(found[name].sum()) for name in names])

    def _refuse_ends(self) -> None:
        """Refuse scores of exactly 0 or 1, which have no log-odds, in rows that count."""
        score = col("f")
        counted_ends = count((score == 0) | (score == 1))
        if not self._rows.number(counted_ends):
            return
        score = col("prob").double()
        ends = (score == 0) | (score == 1)
        wrong = int(self._table.number(count(ends)))
        row, value = self._table.first(ends, score)
        raise refusals.scores_without_odds(self._names.prob, wrong, row, float(value))

    def read(self, more: Mapping[str, str] | None = None) -> Table:
        """Return score, outcome and weight of every row that counts, and more columns."""
        more = more or {}
        table = self._whole.columns({**self._roles.columns(), **more})
        rows = table.select(**self._columns(), **kept(*more))
        return rows.filter(col("w") > 0) if self.weighted else rows

    def _columns(self) -> dict[str, Expression]:
        columns = {"f": col("prob").double(), "y": self.facts.outcome}
        if self.weighted:
            columns["w"] = col("weight").double()
        return columns

    def _tallied(self, placed: Placed) -> tuple[Cells, Totals]:
        cells, found = self._summed(self._rows, placed)
        check_same(cells.rows, self._count)
        return cells, self._totals(cells, found)

    def _totals(self, cells: Cells, found: dict[str, FloatArray]) -> Totals:
        ff = float(found["ff"].sum())
        if self.plain:
            return plain_totals(cells, ff)
        fy, yy = float(found["fy"].sum()), float(found["yy"].sum())
        return Totals(ff, fy, yy, self.facts.binary, self.facts.whole_weights)

    def _summed(self, rows: Table, placed: Placed) -> tuple[Cells, dict[str, FloatArray]]:
        """Add up rows in cells, in the engine."""
        if self.plain:
            found = plain_sums(rows, placed)
        else:
            found = summed(rows, placed, plain=False, weighted=self.weighted).numbers()
        key = found["key"].astype(np.int64)
        return decoded(key, found, placed, plain=self.plain)[1], found

    def _pooled(self, rows: Table) -> Cells:
        """Pool rows by score: in the engine, unless scores seldom tie."""
        ask = pooled if self.often_tied else listed
        found = ask(rows, weighted=self.weighted).numbers()
        return points(found, *order_by_score(found["f"]))


def _asks_odds(one: object) -> bool:
    """Whether an expression asks for the log-odds of scores as they are."""
    if not isinstance(one, Expression):
        return False
    if one.what == "odds" and one.parts[0].what == "column":
        return True
    return any(_asks_odds(part) for part in one.parts)


def check_same(found: AnyArray, expected: AnyArray | int) -> None:
    """Refuse a table whose rows are others each time it is read."""
    if int(found.sum()) != int(np.sum(expected)):
        raise refusals.table_changes(int(found.sum()), int(np.sum(expected)))


def open_table(table: Any) -> nw.DataFrame[Any] | Table:
    """Return a table in memory as narwhals sees it, and any other as what it can be asked."""
    if isinstance(table, Table):
        return table
    try:
        frame = nw.from_native(table, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            names = frame.columns
            if len(set(names)) < len(names):
                raise refusals.columns_twice(names)
    except nw.exceptions.DuplicateError:
        raise refusals.columns_twice(list(table.columns)) from None
    if isinstance(frame, nw.DataFrame):
        return frame
    if isinstance(frame, nw.LazyFrame):
        return lazy_table(frame)
    raise _not_a_table(type(table).__name__)


def named_columns(frame: nw.DataFrame[Any], names: list[str]) -> None:
    """Refuse names that the table does not have."""
    for name in names:
        if name not in frame.columns:
            raise refusals.unknown_column(name, frame.columns, "the table")


def _table_too_long(rows: int, most: int) -> InputError:
    return InputError(
        f"This needs every row in memory, up to {most:,} of them, but the table has {rows:,}. "
        "Pass a random sample of the rows."
    )


def _not_a_table(kind: str) -> InputError:
    return InputError(
        f"label= and prob= name columns of a table, but this is a {kind}. Pass a pandas, polars or "
        "pyarrow table, a polars LazyFrame or a DuckDB relation; or arrays, as (y_true, y_prob)."
    )
