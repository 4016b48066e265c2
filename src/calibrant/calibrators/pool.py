"""Pools: rows as counts by score and label, which take memory with the scores alone.

Beyond `MOST_SCORES` the scores are pooled into cells of level 20, each of which stands at its mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from calibrant._types import AnyArray, FloatArray
from calibrant.calibrators.streamed import Chunks, PooledScores
from calibrant.core.tally import Cells
from calibrant.data.predictions import Predictions

#: Distinct scores that are kept apart, and the level of the cells that more are pooled into.
MOST_SCORES, CELL_LEVEL = 1 << 24, 20
#: Pooled scores that are worked through at a time.
CHUNK = 1 << 18
#: Rows whose scores are looked at in one query, and such queries at most.
_OPENED, _MOST_PARTS = 1 << 21, 64
#: Up to so many rows one query looks at all of them.
_AT_ONCE = 1 << 22


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


def pool_of(data: Predictions) -> Pool:
    """Count rows by score and label; beyond `MOST_SCORES` by cell and label."""
    source = data.source
    cells = source.start()[0]
    rows = int(cells.rows.sum())
    if rows <= min(_AT_ONCE, MOST_SCORES):
        score, negatives, positives = source.counts()
        return Pool(score, _narrow(negatives), _narrow(positives))
    if rows > MOST_SCORES:
        cells = source.tally(CELL_LEVEL).cells
    return _opened(source, cells) or _of_cells(cells)


def _of_cells(cells: Cells) -> Pool:
    mean = cells.mass / cells.weight
    return Pool(np.clip(mean, cells.low, cells.high), *_counts(cells), cells)


def _opened(source: Counted, cells: Cells) -> Pool | None:
    """Count one range of scores after the other, until all are known or there are too many."""
    parts, scores = [], 0
    rows = np.cumsum(np.where(cells.single, 0, cells.rows))
    part = max(_OPENED, int(rows[-1]) // _MOST_PARTS)
    starts = np.flatnonzero(np.append(True, np.diff(rows // part) > 0))
    edges = [*cells.low[starts].tolist(), np.inf]
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


def chunks_of(pool: Pool) -> Chunks:
    """Return pooled scores chunk by chunk, with their weight and events."""

    def chunks() -> Iterator[PooledScores]:
        for start in range(0, len(pool.score), CHUNK):
            some = slice(start, start + CHUNK)
            positives = pool.positives[some].astype(np.float64)
            yield PooledScores(pool.score[some], positives + pool.negatives[some], positives)

    return chunks
