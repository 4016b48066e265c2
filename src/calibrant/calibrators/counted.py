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
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import xlog1py, xlogy
from sklearn.base import clone

from calibrant._types import AnyArray, FloatArray
from calibrant.calibrators.document import Function
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.estimators.steps import IsotonicCalibrator
from calibrant.calibrators.folds import FOLDS, Deal, class_too_small_for_folds, too_few_for_folds
from calibrant.core.diagram import Diagram
from calibrant.core.double_double import running_sum
from calibrant.core.minorant import minorant
from calibrant.core.tally import POINT, Cells, Totals
from calibrant.data.predictions import Predictions

#: Distinct scores that are kept apart, and the level of the cells that more are pooled into.
MOST_SCORES, CELL_LEVEL = 1 << 24, 20
#: Pooled scores that are worked through at a time.
_CHUNK = 1 << 18
#: Rows whose scores are looked at in one query, and such queries at most.
_OPENED, _MOST_PARTS = 1 << 21, 64


class Counted(Protocol):
    """Where rows live, asked for counts alone."""

    def counts(
        self, low: float = 0.0, high: float = np.inf
    ) -> tuple[FloatArray, AnyArray, AnyArray]:
        """Return the scores from `low` up to `high`, each once, and its rows of either label."""


class Pool(NamedTuple):
    """Rows as counts: scores in order, rows of either class, and the cells if they are cells."""

    score: FloatArray
    negatives: AnyArray
    positives: AnyArray
    cells: Cells | None = None


class Held(NamedTuple):
    """Held-out rows pooled by calibrated value, in any order, each with a band around it."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    negatives: FloatArray
    positives: FloatArray


class Ends(NamedTuple):
    """The least and the most that the four measures can be."""

    calibration_error: tuple[float, float]
    brier_score: tuple[float, float]
    log_loss: tuple[float, float]
    roc_auc: tuple[float, float]


def pool_of(data: Predictions) -> Pool:
    """Count rows by score and label; beyond `MOST_SCORES` by cell and label."""
    source = data.source
    if int(source.start()[0].rows.sum()) <= MOST_SCORES:
        score, negatives, positives = source.counts()
        return Pool(score, _narrow(negatives), _narrow(positives))
    tallied = source.tally(CELL_LEVEL)
    return _opened(source, tallied.cells) or _of_cells(tallied.cells)


def _of_cells(cells: Cells) -> Pool:
    mean = cells.mass / cells.weight
    return Pool(np.clip(mean, cells.low, cells.high), *_counts(cells), cells)


def _opened(source: Counted, cells: Cells) -> Pool | None:
    """Count one range of scores after the other, until all are known or there are too many."""
    parts, scores = [], 0
    rows = np.cumsum(np.where(cells.single, 0, cells.rows))
    part = max(_OPENED, int(rows[-1]) // _MOST_PARTS)
    starts = np.flatnonzero(np.append(True, np.diff(rows // part) > 0))
    edges = [*np.ldexp(cells.cell[starts].astype(np.float64), -CELL_LEVEL).tolist(), np.inf]
    for low, high in pairwise(edges):
        score, *counts = source.counts(low, high)
        scores += len(score)
        if scores > MOST_SCORES:
            return None
        parts.append((score, *map(_narrow, counts)))
    score, negatives, positives = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Pool(score, negatives, positives)


def _counts(cells: Cells) -> tuple[AnyArray, AnyArray]:
    positives = np.rint(cells.positives).astype(np.int64)
    return _narrow(np.rint(cells.weight).astype(np.int64) - positives), _narrow(positives)


def _narrow(counts: AnyArray) -> AnyArray:
    """Return counts in as few bytes as they fit."""
    return np.rint(counts).astype(np.min_scalar_type(int(counts.max(initial=0))))


def as_they_are(pool: Pool) -> Held:
    """Return the rows as they are, not calibrated."""
    counts = pool.negatives.astype(np.float64), pool.positives.astype(np.float64)
    return Held(pool.score, pool.score, pool.score, *counts)


def held_out(pool: Pool, calibrator: Calibrator, *, folds: int = FOLDS, seed: int = 0) -> Held:
    """Calibrate every row by a calibrator fitted on the other folds, and pool what comes out."""
    _check(pool, folds)
    rng = np.random.default_rng(seed)
    deals = Deal(pool.negatives, folds, rng), Deal(pool.positives, folds, rng)
    parts: list[Held] = []
    for fold in range(folds):
        fitted = _fitted(pool, deals, fold, calibrator)
        for part in range(0, len(pool.score), _CHUNK):
            chunk = slice(part, part + _CHUNK)
            parts.append(_calibrated(pool, deals, fold, fitted, chunk))
    return Held(*(np.concatenate(column) for column in zip(*parts, strict=True)))


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

    def zoom(self, _cells: Cells) -> None:
        """Return nothing: no cell is closed."""


def _others(
    pool: Pool, deals: tuple[Deal, Deal], fold: int
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Yield score, weight and positives of what the other folds have, chunk by chunk."""
    for part in range(0, len(pool.score), _CHUNK):
        chunk = slice(part, part + _CHUNK)
        positives = (pool.positives[chunk] - deals[1].of(fold, chunk)).astype(np.float64)
        weight = positives + (pool.negatives[chunk] - deals[0].of(fold, chunk))
        there = weight > 0
        yield pool.score[chunk][there], weight[there], positives[there]


def _points(score: FloatArray, weight: FloatArray, positives: FloatArray) -> Diagram:
    """Pooled scores as a diagram, without the sums that no fit reads."""
    nothing = np.broadcast_to(0.0, len(score))
    level = np.broadcast_to(POINT, len(score))
    rows = weight.astype(np.int64)
    cells = Cells(level, level, rows, weight, positives, nothing, nothing, score)
    return Diagram(cells, Totals(0.0, 0.0, 0.0, labels_binary=True, weights_integer=True))


def _fitted(pool: Pool, deals: tuple[Deal, Deal], fold: int, calibrator: Calibrator) -> Function:
    step = isinstance(calibrator, IsotonicCalibrator) and calibrator.interpolation == "step"
    parts = (
        _pre_pooled(*some) if step else some for some in _others(pool, deals, fold) if len(some[0])
    )
    score, weight, positives = (np.concatenate(column) for column in zip(*parts, strict=True))
    cells = _points(score, weight, positives).cells
    fresh = clone(calibrator)
    fresh._check()
    fitted: Function = fresh._function(_PooledData(cells, len(pool.score)))
    return fitted


def _pre_pooled(
    score: FloatArray, weight: FloatArray, positives: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pool a chunk as isotonic regression does: the whole then pools the same blocks further."""
    found = minorant(_points(score, weight, positives))
    return score[found.first], found.weight, found.positives


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


def measured(held: Held) -> tuple[float, float, float, float]:
    """Return calibration error, Brier score, log loss and ROC AUC of pooled values."""
    value, negatives, positives = _in_order(held)
    below = last = high = low = wins = brier = loss = 0.0
    for part in range(0, len(value), _CHUNK):
        v, n, p = (one[part : part + _CHUNK] for one in (value, negatives, positives))
        walk = running_sum(np.append(last, p - (n + p) * v)).high[1:]
        last = float(walk[-1])
        high, low = max(high, float(walk.max())), min(low, float(walk.min()))
        under = below + np.cumsum(n) - n / 2
        wins += float((p * under).sum())
        below += float(n.sum())
        brier += _brier(v, v, n, p)
        loss += _log_loss(v, v, n, p)
    events = float(positives.sum())
    total, pairs = below + events, below * events
    area = wins / pairs if pairs else np.nan
    return min(1.0, (high - low) / total), brier / total, loss / total, area


def _in_order(held: Held) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return values in order, each once, and the rows of either class."""
    value, negatives, positives = held.value, held.negatives, held.positives
    if (value[1:] > value[:-1]).all():
        return value, negatives, positives
    order = np.argsort(value)
    value = value[order]
    first = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    return (
        value[first],
        np.add.reduceat(negatives[order], first),
        np.add.reduceat(positives[order], first),
    )


def ends_of(held: Held) -> Ends:
    """Return the least and the most that each measure can be, given the bands."""
    _, low, high, negatives, positives = held
    total = float(negatives.sum() + positives.sum())
    by_low, by_high = np.argsort(low), np.argsort(high)
    at = np.unique(np.concatenate([low, high]))

    def up_to(order: AnyArray, ends: FloatArray, amount: FloatArray) -> FloatArray:
        sums = np.append(0.0, np.cumsum(amount[order]))
        found: FloatArray = sums[np.searchsorted(ends[order], at, side="right")]
        return found

    least = up_to(by_high, high, positives * (1 - high)) - up_to(by_low, low, negatives * high)
    most = up_to(by_low, low, positives * (1 - low)) - up_to(by_high, high, negatives * low)
    error = (
        max(0.0, float(least.max())) - min(0.0, float(most.min())),
        max(0.0, float(most.max())) - min(0.0, float(least.min())),
    )
    pairs = float(negatives.sum()) * float(positives.sum())
    under = np.append(0.0, np.cumsum(negatives[by_high]))
    sure = under[np.searchsorted(high[by_high], low, side="left")]
    maybe = np.append(0.0, np.cumsum(negatives[by_low]))
    could = maybe[np.searchsorted(low[by_low], high, side="right")]
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
        (float((positives * sure).sum()) / pairs, float((positives * could).sum()) / pairs),
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
