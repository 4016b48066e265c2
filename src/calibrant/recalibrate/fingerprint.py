"""Fingerprints: whether scores are the ones that a calibrator was fitted to.

A hash of the tally of scores: how many rows fall into each cell, labels left out. Whoever has the
scores can make it again, in any order; no row can be read from it.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from calibrant._types import IntArray
from calibrant.sources.predictions import Predictions
from calibrant.tally import DEFAULT_LEVEL, Cells

#: Hexadecimal digits that are kept: two sets of scores share them by chance once in 10^19.
LENGTH = 16


def fingerprint(cell: IntArray, rows: IntArray) -> str:
    """Hash the rows in each non-empty cell of level 14, in any order and in any number of parts."""
    cells, which = np.unique(cell, return_inverse=True)
    counts = np.bincount(which, rows).astype("<i8")
    return sha256(cells.astype("<i8").tobytes() + counts.tobytes()).hexdigest()[:LENGTH]


def fingerprint_of(data: Predictions) -> str:
    """Hash the scores of rows that count."""
    cells, _ = data.source.start()
    if (~cells.single & (cells.level < DEFAULT_LEVEL)).any():
        cells = data.source.tally(DEFAULT_LEVEL).cells
    return fingerprint(_cells_of(cells), cells.rows)


def _cells_of(cells: Cells) -> IntArray:
    """Return the cell of level 14 that each cell lies in; a score of 1 is in the last one."""
    last = (1 << DEFAULT_LEVEL) - 1
    found = (cells.low * float(1 << DEFAULT_LEVEL)).astype(np.int64)
    return np.minimum(found, last)
