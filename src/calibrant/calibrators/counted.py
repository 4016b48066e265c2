"""Counted: cross-fitting on counts by score and label, which takes memory with the scores alone.

Folds are dealt as counts on the pooled scores. What a fold's calibrator makes of its held-out rows
is pooled again at once, so that nothing of the size of rows times folds is ever held.

Beyond `MOST_SCORES` the scores are pooled into cells of level 20, each of which stands at its mean,
and the calibrators of the folds are fitted to these means. What they make of the rows themselves is
then bounded: a calibrator is monotone between neighbouring scores that it was fitted on, so in a
cell, which holds one, it lies between the least and the most of its values at the ends and at the
mean. That is a band [lo, hi] for the calibrated value g of every held-out row.

From bands come bounds. Losses are monotone in g. A pair of rows is ranked if its bands are apart.
The walk over calibrated values, at t, is the sum of y - g over rows with g <= t: a positive adds
1 - g >= 0, and surely so if hi <= t; a negative takes g away, and surely so if hi <= t. So it is
at least sum[hi <= t] pos (1 - hi) - sum[lo <= t] neg hi, and at most
sum[lo <= t] pos (1 - lo) - sum[hi <= t] neg lo; the calibration error is its range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import xlog1py, xlogy
from sklearn.base import clone

from calibrant._types import AnyArray, BoolArray, FloatArray, IntArray
from calibrant.calibrators.document import Function
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.estimators.links import LinkCalibrator
from calibrant.calibrators.estimators.steps import HistogramCalibrator, IsotonicCalibrator
from calibrant.calibrators.folds import FOLDS, Deal, class_too_small_for_folds, too_few_for_folds
from calibrant.calibrators.pool import CHUNK, Pool
from calibrant.calibrators.streamed import Chunks, PooledScores
from calibrant.core.arrays import Sums
from calibrant.core.diagram import Diagram
from calibrant.core.double_double import running_sum
from calibrant.core.minorant import minorant
from calibrant.core.tally import POINT, Cells, Totals, pooled_cells

#: The level of the cells that the counts of a fold are added up in.
_LEVEL = 17
#: By such a share calibrated values may be out of order, because they are rounded.
_ROUNDING = 1e-9


#: Values in order, each once, and the rows of either class.
Pooled: TypeAlias = tuple[FloatArray, AnyArray, AnyArray]
#: Calibration error, Brier score, log loss and ROC AUC.
Measured: TypeAlias = tuple[float, float, float, float]
Side: TypeAlias = Literal["left", "right"]


class Held(NamedTuple):
    """Held-out rows pooled by calibrated value, in any order, each with a band around it."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    negatives: AnyArray
    positives: AnyArray


class Ends(NamedTuple):
    """The least and the most that the four measures can be."""

    calibration_error: tuple[float, float]
    brier_score: tuple[float, float]
    log_loss: tuple[float, float]
    roc_auc: tuple[float, float]


def as_they_are(pool: Pool) -> Held:
    """Return the rows as they are, not calibrated."""
    return Held(pool.score, pool.score, pool.score, pool.negatives, pool.positives)


def held_out(pool: Pool, calibrator: Calibrator, *, folds: int = FOLDS, seed: int = 0) -> Held:
    """Calibrate every row by a calibrator fitted on the other folds, and pool what comes out."""
    parts = list(chain.from_iterable(_calibrated_chunks(pool, calibrator, folds, seed)))
    return _joined(parts)


def measured_held_out(
    pool: Pool, calibrator: Calibrator, *, folds: int = FOLDS, seed: int = 0
) -> Measured:
    """Measure held-out rows, as `measured` does, without holding what calibrators make of them.

    A calibrator that keeps the order of scores gives its values in order, so that those of all
    folds can be merged as they come.
    """
    chunks = _calibrated_chunks(pool, calibrator, folds, seed)
    if calibrator.monotone:
        return _summed_up(_merged(chunks))
    return measured(_joined(list(chain.from_iterable(chunks))))


def _calibrated_chunks(
    pool: Pool, calibrator: Calibrator, folds: int, seed: int
) -> Iterator[list[Held]]:
    """Yield what each fold's calibrator makes of its held-out rows, chunk by chunk of scores."""
    _check(pool, folds)
    rng = np.random.default_rng(seed)
    deals = Deal(pool.negatives, folds, rng), Deal(pool.positives, folds, rng)
    fitted = [_fitted(pool, deals, fold, calibrator) for fold in range(folds)]
    for part in range(0, len(pool.score), CHUNK):
        chunk = slice(part, part + CHUNK)
        yield [_calibrated(pool, deals, fold, one, chunk) for fold, one in enumerate(fitted)]


def _joined(parts: list[Held]) -> Held:
    return Held(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _merged(chunks: Iterator[list[Held]]) -> Iterator[Pooled]:
    """Yield values in order, each once, as soon as no fold can give a smaller one."""
    waiting: list[Held] = []
    for parts in chunks:
        waiting = [_joined([*waiting, *parts])]
        last = [float(part.value[-1]) for part in parts if len(part.value)]
        if len(last) < len(parts):
            continue  # a fold has no row here, and may fall behind
        held, bound = waiting[0], min(last) * (1 - _ROUNDING)
        sure = held.value < bound
        if sure.any():
            yield _in_order(_some(held, sure))
            waiting = [_some(held, ~sure)]
    if waiting:
        yield _in_order(waiting[0])


def _some(held: Held, which: BoolArray) -> Held:
    return Held(*(column[which] for column in held))


def _check(pool: Pool, folds: int) -> None:
    rows = np.array([pool.negatives.sum(), pool.positives.sum()], dtype=np.float64)
    if rows.sum() < folds:
        raise too_few_for_folds(float(rows.sum()), folds)
    if rows.min() < 2:
        raise class_too_small_for_folds(float(rows.min()))


class _PooledData:
    """Counts of the other folds, as much of `Predictions` as a fit reads."""

    def __init__(self, cells: Cells, scores: int) -> None:
        self.source = self
        self._cells, self._length = cells, scores

    def __len__(self) -> int:
        return 2 * self._length  # either class of every score

    def start(self) -> tuple[Cells, Totals]:
        """Return the counts."""
        return self._cells, Totals(0.0, 0.0, 0.0, labels_binary=True, weights_integer=True)

    def zoom(self, cells: Cells) -> Cells | None:  # noqa: ARG002 (as all sources)
        """Return nothing: no cell is closed."""
        return None

    def total(self, _sums: Sums, /, **_numbers: float) -> None:
        """Return nothing: counts stand for no rows one by one."""

    def release(self) -> None:
        """Do nothing: nothing is open."""


class _ChunkData(_PooledData):
    """Counts of the other folds in cells, which are opened where a fit asks for it."""

    def __init__(self, chunks: Chunks, scores: int) -> None:
        self._chunks = chunks
        cells = _concatenated([_in_cells(chunk) for chunk in chunks()])
        super().__init__(pooled_cells(cells.cell, cells)[1], scores)

    def zoom(self, cells: Cells) -> Cells:
        """Return the pooled scores in some cells."""
        wanted = np.zeros(1 << _LEVEL, dtype=bool)
        wanted[cells.cell] = True
        parts = []
        for chunk in self._chunks():
            inside = wanted[_cell_of(chunk.score)]
            parts.append(_points(*(column[inside] for column in chunk)).cells)
        return _concatenated(parts)


def _cell_of(score: FloatArray) -> IntArray:
    return np.minimum((score * float(1 << _LEVEL)).astype(np.int64), (1 << _LEVEL) - 1)


def _in_cells(chunk: PooledScores) -> Cells:
    cell = _cell_of(chunk.score)
    points = _points(*chunk).cells
    return pooled_cells(cell, replace(points, level=np.full(len(cell), _LEVEL), cell=cell))[1]


def _concatenated(parts: list[Cells]) -> Cells:
    columns = ([getattr(part, one.name) for part in parts] for one in fields(Cells))
    return Cells(*map(np.concatenate, columns))


def _others(pool: Pool, deals: tuple[Deal, Deal], fold: int) -> Iterator[PooledScores]:
    """Yield what the other folds have, chunk by chunk."""
    for part in range(0, len(pool.score), CHUNK):
        chunk = slice(part, part + CHUNK)
        positives = (pool.positives[chunk] - deals[1].of(fold, chunk)).astype(np.float64)
        weight = positives + (pool.negatives[chunk] - deals[0].of(fold, chunk))
        there = weight > 0
        if there.any():
            yield PooledScores(pool.score[chunk][there], weight[there], positives[there])


def _points(score: FloatArray, weight: FloatArray, positives: FloatArray) -> Diagram:
    """Pooled scores as a diagram, without the sums that no fit reads."""
    nothing = np.broadcast_to(0.0, len(score))
    level = np.broadcast_to(POINT, len(score))
    rows = weight.astype(np.int64)
    cells = Cells(level, level, rows, weight, positives, nothing, nothing, score)
    return Diagram(cells, Totals(0.0, 0.0, 0.0, labels_binary=True, weights_integer=True))


def _fitted(pool: Pool, deals: tuple[Deal, Deal], fold: int, calibrator: Calibrator) -> Function:
    fresh = clone(calibrator)
    fresh._check()
    if isinstance(fresh, LinkCalibrator) and len(pool.score) > fresh._most_at_once:
        return fresh._of_chunks(lambda: _others(pool, deals, fold))
    if isinstance(fresh, HistogramCalibrator) and len(pool.score) > CHUNK:
        data: Any = _ChunkData(lambda: _others(pool, deals, fold), len(pool.score))
        return fresh._function(data)
    step = isinstance(calibrator, IsotonicCalibrator) and calibrator.interpolation == "step"
    parts = (_pre_pooled(*some) if step else some for some in _others(pool, deals, fold))
    score, weight, positives = (np.concatenate(column) for column in zip(*parts, strict=True))
    cells = _points(score, weight, positives).cells
    fitted: Function = fresh._function(_PooledData(cells, len(pool.score)))
    return fitted


def _pre_pooled(score: FloatArray, weight: FloatArray, positives: FloatArray) -> PooledScores:
    """Pool a chunk as isotonic regression does: the whole then pools the same blocks further."""
    found = minorant(_points(score, weight, positives))
    return PooledScores(score[found.first], found.weight, found.positives)


def _calibrated(
    pool: Pool, deals: tuple[Deal, Deal], fold: int, fitted: Function, chunk: slice
) -> Held:
    """Return a chunk of the held-out rows of one fold, pooled by calibrated value."""
    negatives, positives = (deal.of(fold, chunk).astype(np.float64) for deal in deals)
    there = np.flatnonzero(negatives + positives)
    score, negatives, positives = pool.score[chunk][there], negatives[there], positives[there]
    value = fitted(score)
    low = high = value
    if pool.cells is not None:
        cells = pool.cells.take(chunk).take(there)
        inside = np.stack([fitted(cells.low), value, fitted(cells.high)])
        low, high = inside.min(axis=0), inside.max(axis=0)
    new = (np.diff(value) != 0) | (np.diff(low) != 0) | (np.diff(high) != 0)
    first = np.flatnonzero(np.append(True, new)[: len(value)])
    if len(first) < len(value):
        negatives, positives = (np.add.reduceat(one, first) for one in (negatives, positives))
        value, low, high = value[first], low[first], high[first]
    return Held(value, low, high, negatives, positives)


def measured(held: Held) -> Measured:
    """Return calibration error, Brier score, log loss and ROC AUC of pooled values."""
    return _summed_up(iter([_in_order(held)]))


def _summed_up(pieces: Iterator[Pooled]) -> Measured:
    """Measure values that come in order, each once."""
    below = events = last = high = low = wins = brier = loss = 0.0
    for v, some, more in _chunks(pieces):
        n, p = some.astype(np.float64), more.astype(np.float64)
        walk = running_sum(np.append(last, p - (n + p) * v)).high[1:]
        last = float(walk[-1])
        high, low = max(high, float(walk.max())), min(low, float(walk.min()))
        under = below + np.cumsum(n) - n / 2
        wins += float((p * under).sum())
        below, events = below + float(n.sum()), events + float(p.sum())
        brier += _brier(v, v, n, p)
        loss += _log_loss(v, v, n, p)
    total, pairs = below + events, below * events
    area = wins / pairs if pairs else np.nan
    return min(1.0, (high - low) / total), brier / total, loss / total, area


def _chunks(pieces: Iterator[Pooled]) -> Iterator[Pooled]:
    for value, negatives, positives in pieces:
        for part in range(0, len(value), CHUNK):
            chunk = slice(part, part + CHUNK)
            yield value[chunk], negatives[chunk], positives[chunk]


def _in_order(held: Held) -> Pooled:
    """Return values in order, each once, and the rows of either class."""
    value, negatives, positives = held.value, held.negatives, held.positives
    if (value[1:] > value[:-1]).all():
        return value, negatives, positives
    order = np.argsort(value)
    value = value[order]
    first = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    return (
        value[first],
        np.add.reduceat(negatives[order].astype(np.float64), first),
        np.add.reduceat(positives[order].astype(np.float64), first),
    )


def ends_of(held: Held) -> Ends:
    """Return the least and the most that each measure can be, given the bands."""
    _, low, high, negatives, positives = held
    total = float(negatives.sum() + positives.sum())
    error = _error_ends(held)
    pairs = float(negatives.sum()) * float(positives.sum())
    sure = _up_to(high, negatives, low, positives, side="left")
    could = _up_to(low, negatives, high, positives, side="right")
    return Ends(
        (error[0] / total, min(1.0, error[1] / total)),
        (
            _brier(low, high, negatives, positives) / total,
            _brier(high, low, negatives, positives) / total,
        ),
        (
            _log_loss(low, high, negatives, positives) / total,
            _log_loss(high, low, negatives, positives) / total,
        ),
        (sure / pairs, could / pairs),
    )


def _up_to(
    ends: FloatArray, amount: AnyArray, at: FloatArray, weight: AnyArray, *, side: Side
) -> float:
    """Add up, with weights, the amounts whose ends lie under each of some points."""
    order = np.argsort(ends)
    sums = np.append(0.0, np.cumsum(amount[order]))
    ends = ends[order]
    found = 0.0
    for part in range(0, len(at), CHUNK):
        some = slice(part, part + CHUNK)
        found += float((weight[some] * sums[np.searchsorted(ends, at[some], side=side)]).sum())
    return found


def _error_ends(held: Held) -> tuple[float, float]:
    """Return the least and the most that the range of the walk can be, times the rows."""
    _, low, high, negatives, positives = held

    def running(amount: FloatArray, order: AnyArray) -> FloatArray:
        return np.append(0.0, np.cumsum(amount[order]))

    order = np.argsort(high)
    by_high = high[order]
    sure_up, sure_down = running(positives * (1 - high), order), running(negatives * low, order)
    order = np.argsort(low)
    by_low = low[order]
    down, up = running(negatives * high, order), running(positives * (1 - low), order)
    least_high = most_high = -np.inf
    least_low = most_low = np.inf
    for ends in (by_low, by_high):
        for part in range(0, len(ends), CHUNK):
            at = ends[part : part + CHUNK]
            whole = np.searchsorted(by_high, at, side="right")
            begun = np.searchsorted(by_low, at, side="right")
            least, most = sure_up[whole] - down[begun], up[begun] - sure_down[whole]
            least_high, least_low = max(least_high, least.max()), min(least_low, least.min())
            most_high, most_low = max(most_high, most.max()), min(most_low, most.min())
    return (
        max(0.0, float(least_high)) - min(0.0, float(most_low)),
        max(0.0, float(most_high)) - min(0.0, float(least_low)),
    )


def _brier(
    of_negatives: FloatArray, of_positives: FloatArray, negatives: FloatArray, positives: FloatArray
) -> float:
    return float((negatives * of_negatives**2 + positives * (1 - of_positives) ** 2).sum())


def _log_loss(
    of_negatives: FloatArray, of_positives: FloatArray, negatives: FloatArray, positives: FloatArray
) -> float:
    loss = xlog1py(negatives, -of_negatives) + xlogy(positives, of_positives)
    return -float(loss.sum())
