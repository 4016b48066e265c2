"""Arrays: rows in memory, tallied and opened chunk by chunk.

A chunk's temporaries stay in cache, and nothing of the size of the input is ever allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from calibrant import errors
from calibrant._types import AnyArray, BoolArray, FloatArray, IntArray
from calibrant.core.arrays import NoOddsError, Sums
from calibrant.core.compiled import compiled, takes
from calibrant.core.tally import Cells, Tally, Totals
from calibrant.core.threads import side_by_side, threads
from calibrant.data.grouped_cells import counted_rows, order_by_score
from calibrant.data.memory.columns import Column, numbers
from calibrant.data.memory.compiled_sums import CompiledCounts, CompiledWeighted
from calibrant.data.memory.kernel import (
    Finer,
    Grid,
    Rows,
    Wanted,
    start_level,
)
from calibrant.data.memory.labels import Labels
from calibrant.data.memory.plain import PlainRows
from calibrant.data.memory.sums import CountSums, Squares, WeightedSums
from calibrant.data.refusals import rows_change
from calibrant.data.rules import check_unit, ends_of

#: What adds up rows in cells.
Accumulator: TypeAlias = CountSums | WeightedSums | CompiledCounts | CompiledWeighted
#: The table of sums has an entry for every cell, also for empty ones, so it must end somewhere.
DENSEST_LEVEL = 20
#: Cells that a finer tally may have, as a power of two.
_FINER_BITS = 13
#: A cell is split by at least this many levels, if its number has room for them. A closed cell
#: holds two doubles at least, so its number is under 2**53 and there is always room for nine.
_LEAST_BITS, _MOST_BITS = 3, 62
#: Up to this many steps over the rows are taken one after another.
_FEW_STEPS = 4
#: Up to this many rows are sorted at once.
_SORTED = 1 << 12
#: The same for a minorant, with the compiled kernel: it would open many cells.
_SORTED_FINE = 1 << 15
#: Opening this many rows is always cheap.
_FEW_ROWS = 1 << 12


class ArraySource:
    """Rows in memory; the pass that tallies them checks that scores lie in [0, 1]."""

    def __init__(
        self,
        labels: Labels,
        prob: Column,
        weight: Column | None,
        *,
        fine: bool = False,
        start: tuple[Cells, Totals] | None = None,
    ) -> None:
        self._labels = labels
        self._prob = prob
        self._weight = weight
        self._nearby: tuple[Wanted, list[Rows]] | None = None
        # what pays in time for a minorant is more memory than a calibration error should take
        self._keep = len(prob) // (5 if fine else 12)
        few = max(1 << 14, len(prob) >> 8) if compiled() else max(_FEW_ROWS, len(prob) >> 8)
        self._few = max(1 << 16, len(prob) >> 7) if fine else few
        self._plain: PlainRows | None = None
        if start is None:
            few = len(prob) <= _SORTED
            start = self._pooled() if few else self._tallied(_grid_for(prob, fine))
        self._start = start

    @classmethod
    def of_columns(cls, label: Column, prob: Column, *, fine: bool) -> ArraySource | None:
        """Read and check two columns in one pass; None if that cannot be done, or finds a fault.

        It can be done where numbers 0 and 1 lie next to scores in plain arrays. Faults are left to
        those who can say in words what and where they are.
        """
        kernel, score, outcome = compiled(), prob.array, label.array
        if kernel is None or score is None or outcome is None or not takes(score, outcome):
            return None
        plain = PlainRows(kernel, score, outcome)
        few = len(prob) <= (_SORTED_FINE if fine else _SORTED)
        start = plain.pooled() if few else plain.tally(_grid_for(prob, fine))
        if start is None:
            return None
        source = cls(Labels.plain(label), prob, None, fine=fine, start=start)
        source._plain = plain
        return source

    def __len__(self) -> int:
        return len(self._prob)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what holds the compiled kernel, which may not be where a copy is unpickled."""
        return {**self.__dict__, "_plain": None, "_nearby": None}

    @property
    def first_fraction(self) -> tuple[int, float] | None:
        """Row and value of the first soft label, None if labels are two values."""
        return self._labels.first_fraction

    def start(self) -> tuple[Cells, Totals]:
        """Return the cells of the first pass, whose width suits the number of rows."""
        return self._start

    def tally(self, level: int) -> Tally:
        """Tally all rows at the level given."""
        level = errors.whole_number("level", level, least=0, most=DENSEST_LEVEL)
        return Tally(level, *self._tallied(Grid(level)))

    def zoom(self, cells: Cells) -> Cells:
        """Open cells: pooled scores if they are few, else cells finer by several levels."""
        rows = int(cells.rows.sum())
        keep, grid = rows <= self._keep, None if rows <= self._few else _finer(cells)
        if self._plain is not None:
            return self._plain.zoom(cells, grid, keep=keep)
        chunks = self._chunks_in(Wanted(cells, len(self)), keep=keep)
        if grid is None:
            parts = [found for _, found in chunks]
            if sum(len(part.score) for part in parts) != rows:
                raise rows_change()
            opened = Rows.concatenate(parts)
            return pooled_rows(opened, *order_by_score(opened.score))
        sums = self.accumulator(grid.slots)
        for which, found in chunks:
            sums.add(*grid.place(found.score, which), found)
        finer = sums.cells(*grid.names())
        if int(finer.rows.sum()) != rows:
            raise rows_change()
        return finer

    def rows(self) -> Rows:
        """Return every row at once, also those of weight 0, in the order they came in.

        For what is not a sum over scores, such as clusters; it takes memory with the rows.
        """
        parts = [self._rows(start, score, slice(None)) for start, score in self._scores()]
        return Rows.concatenate(parts)

    def counts(
        self, low: float = 0.0, high: float = np.inf
    ) -> tuple[FloatArray, AnyArray, AnyArray]:
        """Return the scores from `low` up to `high`, each once, and its rows with label 0 and 1."""
        rows = self.rows()
        if low > 0 or high <= 1:
            rows = rows.take((rows.score >= low) & (rows.score < high))
        if rows.weight is None:
            return counted_rows(rows.score, rows.label)
        rows = rows.take(rows.weight > 0)
        cells = pooled_rows(rows, *order_by_score(rows.score))
        return cells.score, cells.weight - cells.positives, cells.positives

    @staticmethod
    def of_rows(rows: Rows, whole: Totals) -> ArraySource:
        """Return some rows, checked before, as a source; what they are is said of the whole."""
        weight = None if rows.weight is None else Column(rows.weight, "sample_weight")
        label, prob = Column(rows.label, "y_true"), Column(rows.score, "y_prob")
        part = ArraySource(Labels(label), prob, weight)
        cells, totals = part._start
        part._start = (
            cells,
            replace(
                totals,
                labels_binary=whole.labels_binary,
                weights_integer=whole.weights_integer,
            ),
        )
        return part

    @property
    def step(self) -> int:
        """Rows in a chunk."""
        return self._prob.step

    def weights(self) -> FloatArray | None:
        """Return the weight of each row; None if all weigh 1."""
        if self._weight is None:
            return None
        parts = [numbers(raw, start, self._weight.name) for start, raw in self._weight.chunks()]
        return np.concatenate(parts)

    def numbered_chunks(self) -> Iterator[tuple[int, BoolArray | None, Rows]]:
        """Yield the rows of positive weight: where a chunk starts, which they are, and the rows."""
        for start, score in self._scores():
            rows = self._rows(start, score, slice(None))
            if rows.weight is None:
                yield start, None, rows
            else:
                kept = rows.weight > 0
                yield start, kept, rows.take(kept)

    def release(self) -> None:
        """Do nothing: nothing is open."""

    def total(self, sums: Sums, /, **numbers: float) -> FloatArray:
        """Add up expressions of score and label, times the weight of each row, in one pass."""

        def over(rows: Rows) -> FloatArray:
            try:
                columns = {"f": rows.score, "y": rows.label, **numbers}
                return sums.over(columns, rows.weight)
            except NoOddsError:
                raise ends_of(self._prob) from None

        return self._total(over)

    def _total(self, summed: Callable[[Rows], AnyArray]) -> AnyArray:
        """Add up a function of the rows, chunks side by side on the processor's cores.

        The parts are added in the order of the chunks, so that the cores change no digit.
        """
        step = 2 * self._prob.step  # longer, because a core waits for its turn between two
        starts = range(0, len(self), step)
        if len(starts) <= _FEW_STEPS:  # threads would wait for each other longer than they work
            blocks = (block for start in starts for block in self._chunk(start, step).blocks())
            return sum((summed(rows) for rows in blocks), start=np.array(0.0))
        workers = threads(len(self))
        parts = side_by_side(lambda start: summed(self._chunk(start, step)), starts, workers)
        return sum(parts, start=np.array(0.0))

    def _tallied(self, grid: Grid) -> tuple[Cells, Totals]:
        sums, squares = self.accumulator(grid.slots), Squares(self._labels.binary)
        for rows in self._chunks():
            squares.add(rows)
            sums.add(*grid.place(rows.score), rows)
        cells = sums.cells(*grid.names())
        return cells, squares.totals(cells)

    def _pooled(self) -> tuple[Cells, Totals]:
        """Sort rows that are few, each score once; nothing is left to be opened."""
        rows = Rows.concatenate([*self._chunks()])
        if self._labels.binary and rows.weight is None:
            score, negatives, positives = counted_rows(rows.score, rows.label)
            count = negatives + positives
            cells = Cells.points(
                score, count, count.astype(np.float64), positives.astype(np.float64)
            )
            return cells, Totals.of_points(cells)
        squares = Squares(labels_binary=False)  # cells of one score do not hold their sums
        squares.add(rows)
        cells = pooled_rows(rows, *order_by_score(rows.score))
        return cells, squares.totals(cells)

    def accumulator(self, slots: int) -> Accumulator:
        """Return tables that add up rows such as these."""
        simple, kernel = self._labels.binary and self._weight is None, compiled()
        if kernel is not None:
            return CompiledCounts(kernel, slots) if simple else CompiledWeighted(kernel, slots)
        return CountSums(slots, len(self)) if simple else WeightedSums(slots)

    def _chunks(self) -> Iterator[Rows]:
        """Yield the rows of positive weight, chunk by chunk, checked."""
        for start in range(0, len(self), self._prob.step):
            yield self._chunk(start)

    def _chunk(self, start: int, rows: int | None = None) -> Rows:
        score = numbers(self._prob.chunk(start, rows), start, self._prob.name)
        check_unit(score, self._prob)
        found = self._rows(start, score, slice(None), rows)
        return found if found.weight is None else found.take(found.weight > 0)

    def _chunks_in(self, wanted: Wanted, keep: bool) -> Iterator[tuple[IntArray, Rows]]:
        """Yield the rows of positive weight in wanted cells, and which one each is in.

        If they are few (`keep`), they are remembered, because the next cells to be opened are
        most often inside these, and then there is no need to read all rows again.
        """
        if self._nearby is not None and wanted.inside(self._nearby[0]):
            for rows in self._nearby[1]:
                row, which = wanted.rows(rows.score)
                if row.size:
                    yield which, rows.take(row)
            return
        kept: list[Rows] = []
        for start, score in self._scores():
            row, which = wanted.rows(score)
            if row.size == 0:
                continue
            rows = self._rows(start, score, row)
            if rows.weight is not None:
                counted = rows.weight > 0
                which, rows = which[counted], rows.take(counted)
            if keep:
                kept.append(rows)
            yield which, rows
        if keep:
            self._nearby = wanted, kept

    def _scores(self) -> Iterator[tuple[int, FloatArray]]:
        for start, raw in self._prob.chunks():
            yield start, numbers(raw, start, self._prob.name)

    def _rows(
        self, start: int, score: FloatArray, row: IntArray | slice, rows: int | None = None
    ) -> Rows:
        label = self._labels.chunk(start, row, rows)
        if self._weight is None:
            return Rows(score[row], label, None)
        weight = numbers(self._weight.chunk(start, rows)[row], start, self._weight.name)
        return Rows(score[row], label, weight)


def _finer(cells: Cells) -> Finer:
    """Choose how closed cells split."""
    bits = max(_LEAST_BITS, _FINER_BITS - (len(cells) - 1).bit_length())
    return Finer(cells, min(bits, _MOST_BITS - int(cells.cell.max()).bit_length()))


def _grid_for(prob: Column, fine: bool) -> Grid:
    """Choose the cells: about eight times the square root of the rows, and a look at where.

    The choice costs or saves time and memory (measured); it never changes a result.
    """
    level = start_level(len(prob), fine=fine)
    crowd = _crowd(prob)
    return Grid(level - 1, crowd) if crowd else Grid(level)


def _crowd(prob: Column) -> int:
    """Return c such that nearly all scores are under 2**-c; 0 if they do not crowd."""
    starts = np.linspace(0, len(prob) - 1, 64).astype(int)
    if len(prob) <= prob.step or prob.array is not None:  # 64 parts one by one would take longer
        places = (starts[:, None] + np.arange(16)).ravel()
        whole = prob.chunk(0) if prob.array is None else prob.array
        peek = numbers(whole[places[places < len(prob)]], 0, prob.name)
    else:
        parts = [numbers(prob.chunk(k, 16), k, prob.name) for k in starts.tolist()]
        peek = np.concatenate(parts)
    high = float(np.sort(peek)[int(0.97 * len(peek))])
    return min(20, int(-np.log2(high))) if 0 < high < 2**-3 else 0


def pooled_rows(rows: Rows, order: IntArray, first: IntArray) -> Cells:
    """Pool rows by score, given their order and where in it another score begins."""
    score, label = rows.score[order], rows.label[order].astype(np.float64)
    count = np.diff(np.append(first, len(score)))
    weight = count.astype(np.float64)
    if rows.weight is not None:
        each = rows.weight[order]
        weight, label = np.add.reduceat(each, first), label * each
    return Cells.points(score[first] + 0.0, count, weight, np.add.reduceat(label, first))
