"""Sums: what a cell gathers from its rows, added up by numpy; `compiled_sums` has the twins."""

from __future__ import annotations

import numpy as np

from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.core.tally import Cells, Totals
from calibrant.data.memory.kernel import Rows

_MANY_SLOTS = 1 << 18
#: Weighted rows added up in one go.
_SHORT = 1 << 13


class _OneScore:
    """Finds out which slots have seen one distinct score only.

    One representative is kept for each slot and compared with every later row of it. Slots
    known to hold several scores are passed over, which for spread-out scores is nearly all.
    """

    def __init__(self, slots: int) -> None:
        self._score = np.full(slots, np.nan)
        self._several = np.zeros(slots, dtype=bool)

    def see(self, slot: IntArray, score: FloatArray) -> None:
        known = self._several.take(slot)
        if known.any():
            row = np.flatnonzero(~known)
            slot, score = slot[row], score[row]
        differs = self._score.take(slot) != score
        if not differs.any():
            return
        slot, score = slot[differs], score[differs]
        new = np.isnan(self._score.take(slot))
        self._score[slot[new]] = score[new]
        self._several[slot[self._score.take(slot) != score]] = True

    def scores(self, slot: IntArray) -> FloatArray:
        """Return the one score of each slot, NaN where there are several."""
        score = self._score[slot] + 0.0  # -0.0 and 0.0 are one score
        score[self._several[slot]] = np.nan
        return score


def _add(table: AnyArray, slot: IntArray, values: FloatArray | None) -> None:
    """Add each row's value (1 if None) to its slot of the table."""
    if len(slot) << 1 < len(table):  # bincount makes a table of its own: too dear for few rows
        np.add.at(table, slot, table.dtype.type(1) if values is None else values)
    else:
        table += np.bincount(slot, weights=values, minlength=len(table))


class CountSums:
    """Sums for 0/1 labels without weights: two tables with an entry for each cell and label."""

    def __init__(self, slots: int, rows: int) -> None:
        # a large table of small numbers fits the cache better
        small = slots > _MANY_SLOTS and rows < 2**31
        self._rows: AnyArray = np.zeros(2 * slots, dtype=np.int32 if small else np.int64)
        self._inside = np.zeros(2 * slots)
        self._one = _OneScore(slots)

    def add(self, slot: IntArray, inside: FloatArray, rows: Rows) -> None:
        """Add rows; the array `slot` is used up.

        What is summed is the place inside the cell, not the score: adding one and the same
        score a million times would round a million times in one direction.
        """
        self._one.see(slot, rows.score)
        slot <<= 1
        slot += rows.label.astype(np.int64, copy=False)
        _add(self._rows, slot, None)
        _add(self._inside, slot, inside)

    def filled(self) -> IntArray:
        """Return the slots that are not empty."""
        return np.flatnonzero(self._rows.reshape(-1, 2).any(axis=1))

    def cells(self, level: IntArray, cell: IntArray) -> Cells:
        """Return the non-empty slots; `level` and `cell` name the cell of each slot."""
        slot = self.filled()
        rows = tuple(self._rows[2 * slot + label].astype(np.int64) for label in (0, 1))
        inside = self._inside[2 * slot], self._inside[2 * slot + 1]
        return counted(level[slot], cell[slot], (rows[0], rows[1]), inside, self._one.scores(slot))


def counted(
    level: IntArray,
    cell: IntArray,
    rows: tuple[IntArray, IntArray],
    inside: tuple[FloatArray, FloatArray],
    score: FloatArray,
) -> Cells:
    """Return cells from their rows with label 0 and 1, and the places of these inside, summed."""
    negatives, positives = rows
    whole = cell.astype(np.float64)  # times rows it would not fit an integer
    low_mass = np.ldexp(whole * negatives + inside[0], -level)
    high_mass = np.ldexp(whole * positives + inside[1], -level)
    total, ones = negatives + positives, positives.astype(np.float64)
    return Cells(
        level=level,
        cell=cell,
        rows=total,
        weight=total.astype(np.float64),
        positives=ones,
        rise=np.maximum(ones - high_mass, 0.0),  # against rounding below 0
        fall=low_mass,
        score=score,
    )


class WeightedSums:
    """Sums for weights and fractional labels: one table for each sum of a cell."""

    def __init__(self, slots: int) -> None:
        self._rows = np.zeros(slots, dtype=np.int64)
        self._sums = np.zeros((4, slots))
        self._one = _OneScore(slots)

    def add(self, slot: IntArray, inside: FloatArray, rows: Rows) -> None:
        """Add rows, few at a time: short sums of equal numbers round less than long ones."""
        del inside  # weights leave no whole part to split off
        self._one.see(slot, rows.score)
        _add(self._rows, slot, None)
        weight = np.ones(len(slot)) if rows.weight is None else rows.weight
        step = rows.label - rows.score
        rise, fall = weight * np.maximum(step, 0.0), weight * np.maximum(-step, 0.0)
        for table, values in zip(
            self._sums, (weight, weight * rows.label, rise, fall), strict=True
        ):
            for start in range(0, len(slot), _SHORT):
                _add(table, slot[start : start + _SHORT], values[start : start + _SHORT])

    def filled(self) -> IntArray:
        """Return the slots that are not empty."""
        return np.flatnonzero(self._rows)

    def cells(self, level: IntArray, cell: IntArray) -> Cells:
        """Return the non-empty slots; `level` and `cell` name the cell of each slot."""
        slot = self.filled()
        weight, positives, rise, fall = self._sums[:, slot]
        return Cells(
            level=level[slot],
            cell=cell[slot],
            rows=self._rows[slot],
            weight=weight,
            positives=positives,
            rise=rise,
            fall=fall,
            score=self._one.scores(slot),
        )


class Squares:
    """The totals that cells do not hold: sums of products of score, label and weight."""

    def __init__(self, labels_binary: bool) -> None:
        self._known_binary = labels_binary
        self._binary = self._integer = True
        self._ff = self._fy = self._yy = 0.0

    def add(self, rows: Rows) -> None:
        """Add rows."""
        # einsum, not dot: BLAS would start threads for a few microseconds of work
        score, label, weight = rows
        if weight is not None:
            self._integer = self._integer and bool((np.rint(weight) == weight).all())
        weighted = score if weight is None else score * weight
        self._ff += float(np.einsum("i,i->", weighted, score))
        if not self._known_binary:
            self._binary = self._binary and not bool(((label > 0) & (label < 1)).any())
            weighted_label = label if weight is None else label * weight
            self._yy += float(np.einsum("i,i->", weighted_label, label))
            self._fy += float(np.einsum("i,i->", weighted, label))

    def totals(self, cells: Cells) -> Totals:
        """Return what was added up; for 0/1 labels y^2 = y and y f = y - y (1 - f)."""
        if self._known_binary:
            self._yy = float(cells.positives.sum())
            self._fy = float((cells.positives - cells.rise).sum())
        return Totals(self._ff, self._fy, self._yy, self._binary, self._integer)
