"""Queries: how rows are placed in cells, added up and pooled by an engine.

Each is one aggregation, written once for every engine; its answer becomes the cells of a diagram.
"""

from __future__ import annotations

import numpy as np

from calibrant._types import FloatArray, IntArray
from calibrant.core.expressions import SMALLEST, Expression, col, how_many, kept, lit, when
from calibrant.core.tally import Cells
from calibrant.data.engine.group_keys import Joint
from calibrant.data.engine.table import Table
from calibrant.data.memory.kernel import Grid
from calibrant.data.memory.sums import counted

#: Sums over all rows are taken in so many parts, because long ones round more than short ones.
_PARTS = 64.0


class Placed(Grid):
    """A grid whose rows are placed by the engine."""

    def expressions(self) -> tuple[Expression, Expression]:
        """Return the slot of each score, and how far inside its cell it lies."""
        score, size = col("f"), float(2**self._level)
        x = score * size
        cell = self._cell(score, size)
        if not self._crowd:
            return cell, x - cell
        fine = score * float(2 ** (self._level + self._crowd))
        near = score < 2.0**-self._crowd
        slot = when(near, fine.floor(), cell + size)
        inside = when(near, fine - fine.floor(), x - cell)
        return slot, inside

    def _cell(self, score: Expression, size: float) -> Expression:
        return when(score >= 1, size - 1, (score * size).floor())


def summed(
    rows: Table,
    placed: Placed,
    *,
    plain: bool,
    weighted: bool,
    by: tuple[str, ...] = (),
    joint: Joint | None = None,
    squares: bool = True,
    ends: bool = True,
) -> Table:
    """Say how rows are added up in cells; plain ones are 0/1 without weights.

    Groups are told apart by more columns, or by a joint key for the column `group` and the cell.
    Plain rows need not have their squared scores summed in each cell, if the totals are known.
    The ends of a cell's scores tell where it has one only; where scores seldom tie, that is rare.
    """
    slot, inside = placed.expressions()
    f, y = col("f"), col("y")
    if plain:
        table = rows.with_columns(slot=slot, inside=inside, ff=f.squared())
        table = table.with_columns(key=col("slot") * 2 + y)
        names = ("inside", *(["ff"] if squares else []))
    else:
        w = col("w") if weighted else lit(1.0)
        step = (y - f).weighed(w)
        table = rows.with_columns(
            key=slot,
            weight=w,
            positives=y.weighed(w),
            rise=when(y > f, step, 0.0),
            fall=when(y < f, 0 - step, 0.0),
            ff=f.squared().weighed(w),
            fy=when(y > SMALLEST, f, 0.0).weighed(y).weighed(w),
            yy=y.squared().weighed(w),
        )
        names = ("weight", "positives", "rise", "fall", "ff", "fy", "yy")
    if joint is not None:
        table = table.with_columns(cell=col("key").whole()).with_columns(key=joint.key())
    sums = {name: col(name).sum() for name in names}
    if ends:
        sums |= {"low": f.min(), "high": f.max()}
    return table.grouped(("key", *by), n=how_many(), **sums)


def plain_sums(rows: Table, placed: Placed) -> dict[str, FloatArray]:
    """Add up plain rows in cells, by the outcome, in the way that suits the engine."""
    if rows.few_groups:
        return _by_label(_summed_in_cells(rows, placed).numbers())
    return summed(rows, placed, plain=True, weighted=False).numbers()


def _summed_in_cells(rows: Table, placed: Placed) -> Table:
    """Say how plain rows are added up in cells, events beside the others: half as many groups."""
    slot, inside = placed.expressions()
    f, y = col("f"), col("y")
    table = rows.with_columns(key=slot.whole(), inside=inside, ff=f.squared())
    table = table.with_columns(events=col("inside") * y)
    sums = {name: col(name).sum() for name in ("inside", "events", "ff")}
    ends = {"low": f.min(), "high": f.max()}
    return table.grouped(["key"], n=how_many(), positives=y.sum(), **sums, **ends)


def _by_label(found: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Split sums over cells into those of either outcome, as `summed` gives them."""
    n, positives = found["n"], found["positives"]
    events = {"n": positives, "inside": found["events"], "key": 2 * found["key"] + 1}
    others = {
        "n": n - positives,
        # exactly 0 if there are none, whatever the sums were rounded to
        "inside": np.where(n > positives, found["inside"] - found["events"], 0.0),
        "key": 2 * found["key"],
    }
    both = {name: np.concatenate([events[name], others[name]]) for name in events}
    both |= {name: np.tile(found[name], 2) for name in ("low", "high")}
    some = positives > 0  # the squares of all scores go with the events, if there are any
    both["ff"] = np.append(np.where(some, found["ff"], 0.0), np.where(some, 0.0, found["ff"]))
    there = both["n"] != 0
    return {name: values[there] for name, values in both.items()}


def decoded(
    key: IntArray, found: dict[str, FloatArray], placed: Placed, *, plain: bool
) -> tuple[IntArray, Cells]:
    """Turn the answer of an engine into slots in order, and their cells."""
    order = np.argsort(key)
    key = key[order]
    each = {name: values[order] for name, values in found.items()}
    if "low" not in each:  # not known: as if there were several scores in every cell
        each["low"], each["high"] = np.full(len(key), -np.inf), np.full(len(key), np.inf)
    if not plain:
        level, cell = placed.named(key)
        one = np.where(each["low"] == each["high"], each["low"] + 0.0, np.nan)
        return key, Cells(
            level=level,
            cell=cell,
            rows=each["n"].astype(np.int64),
            weight=each["weight"],
            positives=each["positives"],
            rise=each["rise"],
            fall=each["fall"],
            score=one,
        )
    slot, label = key >> 1, key & 1
    new = np.append(True, slot[1:] != slot[:-1])
    begin, place = np.flatnonzero(new), np.cumsum(new) - 1
    slot = slot[begin]
    rows, inside = np.zeros((2, len(slot)), dtype=np.int64), np.zeros((2, len(slot)))
    rows[label, place], inside[label, place] = each["n"], each["inside"]
    low = np.minimum.reduceat(each["low"], begin)
    high = np.maximum.reduceat(each["high"], begin)
    one = np.where(low == high, low + 0.0, np.nan)  # -0.0 and 0.0 are one score
    cells = counted(*placed.named(slot), (rows[0], rows[1]), (inside[0], inside[1]), one)
    return slot, cells


def coarser(cells: Cells, bits: int) -> Cells:
    """Join cells of one level, in order, into cells wider by some bits."""
    cell = cells.cell >> bits
    begin = np.flatnonzero(np.diff(cell, prepend=-1))
    low, high = (ends.reduceat(cells.score, begin) for ends in (np.minimum, np.maximum))
    return Cells(
        level=cells.level[begin] - bits,
        cell=cell[begin],
        rows=np.add.reduceat(cells.rows, begin),
        weight=np.add.reduceat(cells.weight, begin),
        positives=np.add.reduceat(cells.positives, begin),
        rise=np.add.reduceat(cells.rise, begin),
        fall=np.add.reduceat(cells.fall, begin),
        score=np.where(low == high, low, np.nan),
    )


def pooled(rows: Table, *, weighted: bool, by: tuple[str, ...] = ()) -> Table:
    """Say how rows are pooled by score; `points` does the rest."""
    if not weighted:
        return rows.grouped(("f", *by), n=how_many(), positives=col("y").sum())
    table = rows.with_columns(positives=col("y").weighed(col("w")))
    sums = {"positives": col("positives").sum(), "weight": col("w").sum()}
    return table.grouped(("f", *by), n=how_many(), **sums)


def listed(rows: Table, *, weighted: bool, by: tuple[str, ...] = ()) -> Table:
    """Say how rows are fetched one by one, which is faster than pooling if scores seldom tie."""
    weight = col("w") if weighted else lit(1)
    columns = {"n": lit(1), "positives": col("y").weighed(weight)}
    columns |= {"weight": weight} if weighted else {}
    return rows.select(**kept("f", *by), **columns)


def points(found: dict[str, FloatArray], order: IntArray, begin: IntArray) -> Cells:
    """Turn scores, pooled or not, into cells, given their order and where another one begins."""

    def total(name: str) -> FloatArray:
        each = found[name][order]
        return each if len(begin) == len(each) else np.add.reduceat(each, begin)

    count = total("n")
    weight = total("weight") if "weight" in found else count
    score = found["f"][order][begin] + 0.0  # -0.0 and 0.0 are one score
    return Cells.points(score, count.astype(np.int64), weight, total("positives"))


def within(rows: Table, level: int, cells: IntArray) -> Table:
    """Keep the rows that fall in some cells of one level."""
    return rows.with_columns(cell=cell_of(level)).keep_in("cell", cells.tolist())


def cell_of(level: int) -> Expression:
    """Return the cell of each score, as a whole number; a score of 1 is in the last cell."""
    score, size = col("f"), float(2**level)
    cell = when(score >= 1, size - 1, (score * size).floor())
    return cell.whole()


def joined(parts: list[Cells]) -> Cells:
    """Put disjoint cells together, in order of score."""
    first, *others = parts
    for other in others:
        first = first.replace(np.zeros(len(first), dtype=bool), other)
    return first


def part_of(score: Expression) -> Expression:
    """Return which of some parts of the rows a score falls in."""
    return (score * _PARTS).floor()
