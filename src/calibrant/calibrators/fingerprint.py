"""Fingerprints: whether scores are the ones that a calibrator was fitted to.

A hash of the tally of scores: how many rows fall into each cell, labels left out. Whoever has the
scores can make it again, in any order. From fewer than 50 rows none is made, because so few could
be found by trying; of more, no row can be read from it, unless all the others are known.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from calibrant._types import AnyArray, IntArray
from calibrant.certificates.evidence import MANY_ROWS
from calibrant.core.tally import DEFAULT_LEVEL
from calibrant.data.predictions import Predictions

#: Hexadecimal digits that are kept.
LENGTH = 16
#: Up to so many rows cells are so narrow that they hold one score each; with more, counts in 16,384
#: cells are as good, and a fit has them already.
_FEW_ROWS, _NARROW = 1 << 16, 40


def fingerprint_level(rows: int) -> int:
    """Return the level of the cells that so many rows are counted in."""
    return _NARROW if rows < _FEW_ROWS else DEFAULT_LEVEL


def fingerprint(cell: IntArray, rows: AnyArray) -> str | None:
    """Hash the rows in each non-empty cell, which may come in any order and in several parts."""
    cells, which = np.unique(cell, return_inverse=True)
    counts = np.bincount(which, rows).astype("<i8")
    if counts.sum() < MANY_ROWS:
        return None
    return sha256(cells.astype("<i8").tobytes() + counts.tobytes()).hexdigest()[:LENGTH]


def fingerprint_of(data: Predictions) -> str | None:
    """Hash the scores of rows that count; None if they are few."""
    cells, _ = data.source.start()
    total = int(cells.rows.sum())
    if total < MANY_ROWS:
        return None
    level = fingerprint_level(total)
    score, rows = cells.low, cells.rows
    if total < _FEW_ROWS:
        each = data.source.rows()
        score = each.score if each.weight is None else each.score[each.weight > 0]
        rows = np.ones(len(score), dtype=np.int64)
    elif (~cells.single & (cells.level < level)).any():
        tallied = data.source.tally(level).cells
        score, rows = tallied.low, tallied.rows
    # a score of 1 is in the last cell
    place = np.minimum((score * float(1 << level)).astype(np.int64), (1 << level) - 1)
    return fingerprint(place, rows)
