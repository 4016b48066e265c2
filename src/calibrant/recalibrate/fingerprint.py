"""Fingerprints: whether scores are the ones that a calibrator was fitted to.

A hash of the tally of scores: how many rows fall into each cell, labels left out. Whoever has the
scores can make it again, in any order; no row can be read from it.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from calibrant._types import IntArray
from calibrant.sources.predictions import Predictions
from calibrant.sources.slots import start_level
from calibrant.tally import DEFAULT_LEVEL

#: Hexadecimal digits that are kept: two sets of scores share them by chance once in 10^19.
LENGTH = 16


def fingerprint_level(rows: int) -> int:
    """Return the level of the tally: that of the first one in a fit, so that it costs nothing."""
    return min(DEFAULT_LEVEL, start_level(rows, fine=True))


def fingerprint(cell: IntArray, rows: IntArray) -> str:
    """Hash the rows in each non-empty cell, which may come in any order and in several parts."""
    cells, which = np.unique(cell, return_inverse=True)
    counts = np.bincount(which, rows).astype("<i8")
    return sha256(cells.astype("<i8").tobytes() + counts.tobytes()).hexdigest()[:LENGTH]


def fingerprint_of(data: Predictions) -> str:
    """Hash the scores of rows that count."""
    cells, _ = data.source.start()
    level = fingerprint_level(int(cells.rows.sum()))
    if (~cells.single & (cells.level < level)).any():
        cells = data.source.tally(level).cells
    # the cell that a finer one lies in; a score of 1 is in the last one
    place = np.minimum((cells.low * float(1 << level)).astype(np.int64), (1 << level) - 1)
    return fingerprint(place, cells.rows)
