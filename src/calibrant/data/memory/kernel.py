"""Kernel: which cell a row falls in, and which rows fall in some cells.

This is how numpy does it, and it says what is right; the compiled kernel does it where it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core import compiled as library
from calibrant.core.compiled import compiled
from calibrant.core.tally import Cells
from calibrant.data.refusals import rows_change

#: Levels of the table that rows are looked up in.
_LEAST_TABLE, _MOST_TABLE = 8, 18
#: The smallest double is 2**-1074, so below the octave that it opens there is only 0.
_LAST_OCTAVE = 1074
#: Rows in a block.
_BLOCK = 1 << 14


class Rows(NamedTuple):
    """Some rows: scores, labels (fractions or whole 0/1), and weights (None if all are 1)."""

    score: FloatArray
    label: FloatArray | BoolArray
    weight: FloatArray | None

    @property
    def each_weight(self) -> FloatArray:
        """The weight of each row."""
        return np.ones(len(self.score)) if self.weight is None else self.weight

    def take(self, index: BoolArray | IntArray | slice) -> Rows:
        """Return the rows at `index`."""
        weight = None if self.weight is None else self.weight[index]
        return Rows(self.score[index], self.label[index], weight)

    def blocks(self) -> Iterator[Rows]:
        """Yield the rows in blocks of 128 KiB a column.

        Temporaries of that size stay in cache, and malloc uses them again; larger ones it may
        return to the system after every operation, which then takes three times as long.
        """
        if len(self.score) <= _BLOCK:
            yield self
            return
        for start in range(0, len(self.score), _BLOCK):
            yield self.take(slice(start, start + _BLOCK))

    @staticmethod
    def concatenate(parts: Sequence[Rows]) -> Rows:
        """Put the rows of several parts after one another."""
        weights = [part.weight for part in parts if part.weight is not None]
        return Rows(
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.label for part in parts]),
            np.concatenate(weights) if weights else None,
        )


def _scaled_and_cell(score: FloatArray, level: int) -> tuple[FloatArray, IntArray]:
    """Return f * 2**level, which is exact, and its floor; a score of 1 is in the last cell."""
    scaled = score * float(2**level)
    cell = scaled.astype(np.int64)  # truncation is floor: no score is negative
    if score.size and score.max() == 1:
        np.minimum(cell, 2**level - 1, out=cell)
    return scaled, cell


def place_in_cell(score: FloatArray, level: int) -> tuple[IntArray, FloatArray]:
    """Return the cell of each score, and how far inside it the score lies, from 0 to 1."""
    scaled, cell = _scaled_and_cell(score, level)
    scaled -= cell
    return cell, scaled


def start_level(rows: int | None, *, fine: bool) -> int:
    """Return the level of the first tally of so many rows, or of rows not yet counted.

    Cells for a minorant should be finer, because more of them could hold a vertex.
    """
    suits = 14 if rows is None else min(14, int(np.log2(rows) / 2) + 3)
    return suits + (3 if fine else 0)


class Grid:
    """Cells of one level, or of two: finer ones for the scores under 2**-crowd.

    Where nearly all scores crowd near zero (fraud, rare diseases), cells of one width would
    hold too many rows each, and a second pass would have to split them.
    """

    def __init__(self, level: int, crowd: int = 0) -> None:
        self._level = level
        self._crowd = min(crowd, level)  # else one coarse cell would overlap all fine ones
        self.levels = level, self._crowd
        self.slots = (2 if crowd else 1) << level

    def place(self, score: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the slot of each score, and how far inside its cell it lies."""
        kernel = compiled()
        if kernel is not None:
            return kernel.place(score, *self.levels)
        slot, inside = place_in_cell(score, self._level + self._crowd)
        if self._crowd:
            above = np.flatnonzero(slot >= 1 << self._level)
            coarse, inside[above] = place_in_cell(score[above], self._level)
            slot[above] = coarse + (1 << self._level)
        return slot, inside

    def marks(self, cells: Cells) -> library.SlotMarks:
        """Mark the slots that closed cells lie in; they are slots, or parts of one each."""
        slot, _ = self.place(cells.low)
        marks = np.zeros(self.slots, dtype=np.uint8)
        marks[slot] = library.SOME
        marks[slot[self.named(slot)[0] == cells.level]] = library.ALL
        return library.SlotMarks(*self.levels, marks)

    def names(self) -> tuple[IntArray, IntArray]:
        """Return the level and the cell of each slot, in order of score."""
        return self.named(np.arange(self.slots))

    def named(self, slot: IntArray) -> tuple[IntArray, IntArray]:
        """Return the level and the cell of some slots."""
        if not self._crowd:
            return np.full(len(slot), self._level), slot
        fine = slot < (1 << self._level)
        level = np.where(fine, self._level + self._crowd, self._level)
        return level, np.where(fine, slot, slot - (1 << self._level))


class Wanted:
    """Some closed cells, and which rows fall in them."""

    def __init__(self, cells: Cells, rows: int) -> None:
        self.cells, self._low, self._high = cells, cells.low, cells.high
        kernel = compiled()
        if kernel is None:
            self._make_table(cells, rows)
        else:
            self.of_library = library.WantedCells(library.Index.of(self._low), self._high)

    def _make_table(self, cells: Cells, rows: int) -> None:
        # A table with an entry for each cell of one level tells which scores are worth a look,
        # and in which wanted cell they are if none of those is finer. It is as fine as pays.
        finest = int(cells.level.max())
        self._level = min(finest, max(_LEAST_TABLE, min(_MOST_TABLE, rows.bit_length() - 5)))
        self._exact = finest == self._level
        shift = cells.level - self._level
        coarser = -shift.clip(max=0)
        first = (cells.cell << coarser) >> shift.clip(min=0, max=63)
        size = np.int64(1) << coarser
        self._which = np.zeros(1 << self._level, dtype=np.int32)
        self._which[first] = np.arange(len(cells))
        np.maximum.accumulate(self._which, out=self._which)
        inside = np.arange(1 << self._level) - first[self._which]
        self._marked = (inside >= 0) & (inside < size[self._which])
        changes = np.zeros(1 << 11, dtype=np.int64)
        np.add.at(changes, _octave_of(self._low), 1)
        np.add.at(changes, _octave_of(self._high) + 1, -1)
        self._octaves = np.cumsum(changes) > 0

    def inside(self, other: Wanted) -> bool:
        """Whether every cell lies in a cell of the other."""
        which = np.searchsorted(other._low, self._low, side="right") - 1
        return bool((which >= 0).all() and (self._high <= other._high[which]).all())

    def among(self, keys: IntArray) -> IntArray:
        """Return those of sorted keys, a score and a label each, that lie in the cells."""
        first = np.searchsorted(keys, (self._low + 0.0).view(np.int64) << 1)
        after = np.searchsorted(keys, (self._high.view(np.int64) << 1) | 1, side="right")
        sizes = after - first
        before = np.cumsum(sizes) - sizes
        found: IntArray = keys[np.arange(sizes.sum()) + np.repeat(first - before, sizes)]
        return found

    def rows(self, score: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the rows of a chunk that are wanted, and which wanted cell each is in."""
        kernel = compiled()
        if kernel is not None:
            found = kernel.select(score, self.of_library)
            if found is None:
                raise rows_change()
            return found
        _, entry = _scaled_and_cell(score, self._level)
        row = np.flatnonzero(self._marked.take(entry))
        if self._exact:
            return row, self._which.take(entry[row]).astype(np.int64)
        # where scores crowd at zero, most rows are in the first cell or below it
        near = score[row]
        low = near <= self._high[0]
        first = row.take(np.flatnonzero(low & (near >= self._low[0])))
        row = row.take(np.flatnonzero(~low))  # faster than a mask
        # and others share a few entries of the table, but not their octaves
        row = row.take(np.flatnonzero(self._octaves.take(_octave_of(score.take(row)))))
        near = score[row]
        which = np.searchsorted(self._low, near, side="right") - 1
        inside = np.flatnonzero(near <= self._high.take(which))
        return (
            np.concatenate([first, row[inside]]),
            np.concatenate([np.zeros(len(first), dtype=np.int64), which[inside]]),
        )


def _octave_of(score: FloatArray) -> IntArray:
    """Return the exponent field of each double: which power of two it lies above."""
    octave: IntArray = (score + 0.0).view(np.int64) >> 52  # + 0.0: no sign on a zero
    return octave


class Finer:
    """The cells that closed cells split into: 2**bits each, and octaves for the one at zero.

    Scores near zero often spread over many orders of magnitude, so the cell [0, 2**-L) splits
    into [2**-l, 2**-(l - 1)) for every l, which are cells again: the second one of level l.
    """

    def __init__(self, cells: Cells, bits: int) -> None:
        self._bits = bits
        self._level = cells.level + bits
        self._scale = np.ldexp(1.0, np.minimum(self._level, 1000))
        self._first = cells.cell << bits
        zero = np.flatnonzero(cells.cell == 0)
        self._zero = int(zero[0]) if zero.size else -1
        self._above_zero = int(cells.level[self._zero])
        self._octaves = _LAST_OCTAVE - self._above_zero if zero.size else -1
        split = (self._first, self._level, bits, self._zero, self._octaves)
        self.of_library = library.CellSplit(*split)
        self.slots = self.of_library.slots

    def place(self, score: FloatArray, which: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the slot of each score, given its closed cell, and how far inside it lies."""
        kernel = compiled()
        if kernel is not None:
            return kernel.place_finer(score, which, self.of_library)
        at_zero = which == self._zero
        if not at_zero.any():
            return self._uniform(score, which)
        slot, inside = np.empty(len(score), dtype=np.int64), np.empty(len(score))
        row, other = np.flatnonzero(at_zero), np.flatnonzero(~at_zero)
        slot[row], inside[row] = self._octave(score[row])
        slot[other], inside[other] = self._uniform(score[other], which[other])
        return slot, inside

    def _uniform(self, score: FloatArray, which: IntArray) -> tuple[IntArray, FloatArray]:
        inside = self._scaled(score, which)
        first = self._first.take(which)
        slot = np.minimum(inside.astype(np.int64), first + ((1 << self._bits) - 1))  # a score of 1
        inside -= slot
        slot += (which << self._bits) - first
        return slot, inside

    def _scaled(self, score: FloatArray, which: IntArray) -> FloatArray:
        """Return f * 2**level; a product unless the power of two is past the largest double."""
        if self._level.max() > 1000:
            return np.ldexp(score, self._level.take(which))
        scaled: FloatArray = score * self._scale.take(which)
        return scaled

    def _octave(self, score: FloatArray) -> tuple[IntArray, FloatArray]:
        mantissa, exponent = np.frexp(score)  # f = m 2**e with m in [1/2, 1): level 1 - e, cell 1
        octave = np.where(score > 0, -self._above_zero - exponent, self._octaves)
        first = self.slots - self._octaves - 1
        return first + octave, np.where(score > 0, 2 * mantissa - 1, 0.0)

    def names(self) -> tuple[IntArray, IntArray]:
        """Return the level and the cell of each slot."""
        cell = (self._first[:, None] + np.arange(1 << self._bits)).ravel()
        level = np.repeat(self._level, 1 << self._bits)
        octave = np.arange(self._octaves + 1)
        octave_level = np.minimum(self._above_zero + 1 + octave, _LAST_OCTAVE)
        octave_cell = (octave < self._octaves).astype(np.int64)  # the last one holds 0 itself
        return np.concatenate([level, octave_level]), np.concatenate([cell, octave_cell])
