"""Tally: one pass over the rows, a few sums for each cell of scores.

The cell of a score f at level J is ``floor(f * 2**J)``; f = 1 falls in the last cell.
Multiplying by a power of two is exact in binary floating point, so every engine puts a row
into the same cell, to the bit, and a larger J only splits cells.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import AnyArray, BoolArray, FloatArray, IntArray
from calibrant._writing import written

SCHEMA = "calibrant.tally"
SCHEMA_VERSION = 1
#: The level of tallies that are stored and added: 16,384 cells, at most about 1 MB of JSON.
DEFAULT_LEVEL = 14
#: floor(f * 2**62) is the finest that fits a signed 64-bit integer.
MAX_LEVEL = 62
#: What stands in `Cells.level` for one pooled score, which nothing can split.
POINT = -1


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """Non-empty cells in order of score, a column for each of their sums.

    Attributes
    ----------
    level, cell : int array
        Which cell; level `POINT` marks a single pooled score.
    rows : int array
        Rows of positive weight.
    weight, positives : float array
        Sum of w, and of w y.
    rise, fall : float array
        Sum of w max(y - f, 0), and of w max(f - y, 0): how far the walk S - F can go up, or
        down, inside the cell.
    score : float array
        The one distinct score of the cell, NaN if there are several.
    """

    level: IntArray
    cell: IntArray
    rows: IntArray
    weight: FloatArray
    positives: FloatArray
    rise: FloatArray
    fall: FloatArray
    score: FloatArray

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def single(self) -> BoolArray:
        """Cells with one distinct score: there is nothing in them to open."""
        return ~np.isnan(self.score)

    @property
    def mass(self) -> FloatArray:
        """Score mass F of each cell: the sum of w f."""
        mass = self.positives - self.rise + self.fall
        # tiny scores would be lost next to events
        return np.where(self.single, self.weight * self.score, mass)

    @property
    def low(self) -> FloatArray:
        """Lowest score that the cell admits (exact: an edge is a dyadic fraction)."""
        return np.where(self.single, self.score, np.ldexp(self.cell.astype(float), -self.level))

    @property
    def high(self) -> FloatArray:
        """Highest score that the cell admits: the last float under the next edge, or 1."""
        edge = np.ldexp(self.cell.astype(float) + 1.0, -self.level)
        return np.where(self.single, self.score, np.where(edge < 1, np.nextafter(edge, 0), 1.0))

    def take(self, index: BoolArray | IntArray | slice) -> Cells:
        """Return the cells at `index`."""
        return Cells(*(getattr(self, field.name)[index] for field in fields(self)))

    def replace(self, closed: BoolArray, opened: Cells) -> Cells:
        """Return the cells in order of score, with `opened` in place of those marked `closed`."""
        stay = ~closed
        order = np.argsort(np.concatenate([self.low[stay], opened.low]), kind="stable")
        # column by column, so that only one of them is in memory twice
        return Cells(
            *(
                np.concatenate([getattr(self, f.name)[stay], getattr(opened, f.name)])[order]
                for f in fields(self)
            )
        )

    @staticmethod
    def points(
        score: FloatArray, rows: IntArray, weight: FloatArray, positives: FloatArray
    ) -> Cells:
        """Pooled scores as cells of their own."""
        step = positives - weight * score
        level, cell = np.empty(len(score), dtype=np.int64), np.zeros(len(score), dtype=np.int64)
        level.fill(POINT)
        rise, fall = np.maximum(step, 0.0), np.maximum(-step, 0.0)
        return Cells(level, cell, rows, weight, positives, rise, fall, score)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all rows that cells do not hold, and what kind of rows they were.

    Attributes
    ----------
    ff, fy, yy : float
        Sum of w f^2, of w f y, and of w y^2.
    labels_binary : bool
        Every label is 0 or 1.
    weights_integer : bool
        Every weight is a whole number, so that weights can be row counts.
    """

    ff: float
    fy: float
    yy: float
    labels_binary: bool
    weights_integer: bool

    @staticmethod
    def of_points(cells: Cells) -> Totals:
        """Return the totals of pooled scores of rows with labels 0 and 1 and without weights."""
        score, positives = cells.score, cells.positives
        ff, fy = (
            np.einsum("i,i,i->", cells.weight, score, score),
            np.einsum("i,i->", positives, score),
        )
        return Totals(float(ff), float(fy), float(positives.sum()), True, True)

    @property
    def are_counts(self) -> bool:
        """Whether rows are counts of events and of others: 0/1 labels, whole weights."""
        return self.labels_binary and self.weights_integer

    def check_counts(self, what: str) -> None:
        """Refuse soft labels and non-integer weights: the claim is about rows."""
        if not self.labels_binary:
            raise errors.needs_binary(what)
        if not self.weights_integer:
            raise errors.InputError(
                f"Weights must be whole numbers (row counts) for {what}: it is a claim about rows."
            )

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.ff + other.ff,
            self.fy + other.fy,
            self.yy + other.yy,
            self.labels_binary and other.labels_binary,
            self.weights_integer and other.weights_integer,
        )


@dataclass(frozen=True, eq=False, slots=True)
class Tally:
    """Sums of the rows in each cell of scores; tallies of one level add.

    A tally holds no row, so it can be stored for each day, or sent by each hospital, and
    added up. What is read off it is exact at the edges of the cells, with proved bounds inside.
    `Predictions.tally` makes one.

    Attributes
    ----------
    level : int
        A cell is 2^-level wide.
    cells : Cells
        The non-empty cells in order of score.
    totals : Totals
        Sums over all rows.

    Examples
    --------
    >>> import calibrant as cb
    >>> monday = cb.Predictions([0, 1, 1], [0.1, 0.7, 0.8]).tally()
    >>> tuesday = cb.Predictions([0, 0, 1], [0.2, 0.3, 0.9]).tally()
    >>> monday + tuesday
    <Tally of 6 rows in 6 cells at level 14>
    >>> cb.Tally.from_json(monday.to_json())
    <Tally of 3 rows in 3 cells at level 14>
    """

    level: int
    cells: Cells
    totals: Totals

    @property
    def rows(self) -> int:
        """Rows of positive weight."""
        return int(self.cells.rows.sum())

    def __repr__(self) -> str:
        return f"<Tally of {self.rows:,} rows in {len(self.cells):,} cells at level {self.level}>"

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.level != other.level:
            raise errors.InputError(
                f"Only tallies of one level add, but these are of level {self.level} and "
                f"{other.level}. Make both with the same level: Predictions(...).tally(level=...)."
            )
        return Tally(self.level, _merged(self.cells, other.cells), self.totals + other.totals)

    def __radd__(self, other: object) -> Tally:
        """Let ``sum(tallies)`` start from its 0."""
        return self if other == 0 else NotImplemented

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the tally as JSON text; `from_json` gives it back to the bit.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as well: whole or not at all.
        """
        cells = self.cells
        score = [None if np.isnan(value) else value for value in cells.score.tolist()]
        columns = {
            field.name: getattr(cells, field.name).tolist()
            for field in fields(cells)
            if field.name not in {"level", "score"}
        }
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "level": self.level}
        totals = {field.name: getattr(self.totals, field.name) for field in fields(Totals)}
        document = {**head, "totals": totals, "cells": {**columns, "score": score}}
        return written(json.dumps(document, allow_nan=False), path)

    @classmethod
    def from_json(cls, text: str) -> Tally:
        """Read a tally that `to_json` wrote; text that breaks the schema is refused."""
        return _from_document(_parsed(text))


def _merged(a: Cells, b: Cells) -> Cells:
    both = a.replace(np.zeros(len(a), dtype=bool), b)
    return pooled_cells(both.cell, both)[1]


def pooled_cells(key: IntArray, cells: Cells) -> tuple[IntArray, Cells]:
    """Add up cells that share a key, which must be cells of one number; the keys come in order."""
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(key[order]) > 0))
    if len(first) == len(key):
        return key[order], cells.take(order)

    def summed(values: Any) -> Any:
        return np.add.reduceat(values[order], first)

    # several scores on one side, or one on each that differ, leave low and high apart
    single, score = cells.single[order], cells.score[order]
    low = np.minimum.reduceat(np.where(single, score, -np.inf), first)
    high = np.maximum.reduceat(np.where(single, score, np.inf), first)
    return key[order][first], Cells(
        level=cells.level[order][first],
        cell=cells.cell[order][first],
        rows=summed(cells.rows),
        weight=summed(cells.weight),
        positives=summed(cells.positives),
        rise=summed(cells.rise),
        fall=summed(cells.fall),
        score=np.where(low == high, low, np.nan),
    )


def _refused(why: str) -> errors.InputError:
    return errors.InputError(
        f"This is not a tally that calibrant can read: {why}. Write it with Tally.to_json()."
    )


def _parsed(text: str) -> dict[str, Any]:
    way_out = "Read the file: Tally.from_json(Path(...).read_text())."
    errors.check_no_file_name(text, "tally", way_out)
    try:
        document = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise _refused(f"it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise _refused(f"its schema is not {SCHEMA!r}")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise _refused(
            f"its schema_version is {shown(document.get('schema_version'))}, "
            f"and this version of calibrant reads {SCHEMA_VERSION}"
        )
    return document


def _typed(value: Any, *kinds: type) -> Any:
    """Return a value of one of the JSON types asked for (exactly: to Python True is an int)."""
    if type(value) not in kinds:
        raise TypeError(f"{shown(value)} is of the wrong type")
    return value


def _column(columns: dict[str, Any], name: str, *kinds: type) -> AnyArray:
    values = [_typed(value, *kinds) for value in _typed(columns[name], list)]
    return np.array(values, dtype=np.int64 if kinds == (int,) else np.float64)


def _from_document(document: dict[str, Any]) -> Tally:
    try:
        level = _typed(document["level"], int)
        columns, sums = _typed(document["cells"], dict), _typed(document["totals"], dict)
        cell, rows = (_column(columns, name, int) for name in ("cell", "rows"))
        weight, positives, rise, fall = (
            _column(columns, name, float, int) for name in ("weight", "positives", "rise", "fall")
        )
        score = _column(columns, "score", float, int, type(None))
        ff, fy, yy = (float(_typed(sums[name], float, int)) for name in ("ff", "fy", "yy"))
        binary, integer = (
            _typed(sums[name], bool) for name in ("labels_binary", "weights_integer")
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _refused(f"a part is missing or of the wrong type ({shown(error)})") from None
    if not 0 <= level <= MAX_LEVEL:
        raise _refused(f"its level is {level}")
    cells = Cells(np.full(cell.size, level), cell, rows, weight, positives, rise, fall, score)
    totals = Totals(ff, fy, yy, binary, integer)
    _verify(level, cells, totals)
    return Tally(level, cells, totals)


def _verify(level: int, cells: Cells, totals: Totals) -> None:
    """Hold every sum to what rows with scores in these cells can add up to."""
    if len(cells) == 0 or any(
        len(getattr(cells, field.name)) != len(cells) for field in fields(Cells)
    ):
        raise _refused("its columns are empty or differ in length")
    if (np.diff(cells.cell) <= 0).any() or cells.cell[0] < 0 or cells.cell[-1] >= 2**level:
        raise _refused("its cells are not in increasing order, or out of range")
    if (cells.rows < 1).any() or float(cells.rows.sum(dtype=float)) > 2**53:
        raise _refused("a cell has no row, or there are too many")
    sums = (cells.weight, cells.positives, cells.rise, cells.fall)
    products = np.array([totals.ff, totals.fy, totals.yy])
    if not all(np.isfinite(values).all() and (values >= 0).all() for values in (*sums, products)):
        raise _refused("a sum is negative or not finite")
    with np.errstate(over="ignore"):
        total = float(cells.weight.sum())
    if not (cells.weight > 0).all() or not 1e-290 < total < 1e300:
        raise _refused("a cell has no weight, or all of them too little or too much")
    low, high = np.ldexp(cells.cell.astype(float), -level), np.ldexp(cells.cell + 1.0, -level)
    if (cells.single & ~((low <= cells.score) & (cells.score <= high))).any():
        raise _refused("a score lies outside its cell")
    low, high = np.where(cells.single, cells.score, low), np.where(cells.single, cells.score, high)
    mass = cells.mass
    slack = 1e-9 * cells.weight  # sums round
    possible = (
        (cells.positives <= cells.weight + slack)
        & (cells.rise <= cells.positives * (1 - low) + slack)
        & (cells.fall <= (cells.weight - cells.positives) * high + slack)
        & (low * cells.weight - slack <= mass)
        & (mass <= high * cells.weight + slack)
    )
    if not possible.all() or (products > total * (1 + 1e-9)).any():
        raise _refused("the sums of a cell contradict each other")
