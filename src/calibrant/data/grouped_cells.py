"""Grouped cells: the cells of many groups in one array, one group after another.

A thousand groups one by one take as long as reading ten million rows; all at once they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from calibrant._types import AnyArray, BoolArray, FloatArray, IntArray
from calibrant.core.tally import Cells
from calibrant.data import refusals


@dataclass(frozen=True, eq=False, slots=True)
class Stack:
    """Cells in order of group, then of score; those of group k are ``starts[k]:starts[k + 1]``."""

    cells: Cells
    starts: IntArray

    @property
    def group(self) -> IntArray:
        """The group of each cell."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of(self, group: int) -> Cells:
        """Return the cells of one group."""
        return self.cells.take(slice(self.starts[group], self.starts[group + 1]))

    def replace(self, closed: BoolArray, opened: Cells) -> Stack:
        """Return the stack with the cells marked `closed` replaced by what was in them.

        What was in them comes in the order of the stack, so that rows need only be counted off
        to find which of it was in which cell.
        """
        ends = _ends(opened.rows, self.cells.rows[closed])
        size = np.ones(len(self.cells), dtype=np.int64)
        size[closed] = np.diff(ends, prepend=0)
        after = np.concatenate([[0], np.cumsum(size)])
        kept = after[:-1][~closed]
        new = np.ones(after[-1], dtype=bool)
        new[kept] = False

        def column(name: str) -> AnyArray:
            inside: AnyArray = getattr(opened, name)
            values = np.empty(len(new), dtype=inside.dtype)
            values[kept], values[new] = getattr(self.cells, name)[~closed], inside
            return values

        return Stack(Cells(*(column(field.name) for field in fields(Cells))), after[self.starts])


def _ends(found: IntArray, expected: IntArray) -> IntArray:
    """Say after how many of some parts with `found` rows each of the `expected` ones is full."""
    total, wanted = np.concatenate([[0], np.cumsum(found)]), np.cumsum(expected)
    ends: IntArray = np.searchsorted(total, wanted)
    reached = total[ends.clip(max=len(found))]
    reached[-1] = total[-1]  # there may be more
    for place in np.flatnonzero(reached != wanted)[:1]:
        raise refusals.table_changes(int(reached[place]), int(wanted[place]))
    return ends


def order_by_score(score: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the order of rows by score, and where in it another score begins."""
    order = np.argsort(score)
    score = score[order]
    return order, np.flatnonzero(np.append(True, score[1:] != score[:-1])[: len(score)])


def counted_rows(score: AnyArray, label: AnyArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return scores in order, each once, and how many rows of it have the label 0 and 1.

    The bits of doubles that are not negative are in their order, and those of scores leave one
    free for the label, so that both are sorted at once, in place.
    """
    key = (np.asarray(score, dtype=np.float64) + 0.0).view(np.int64)
    key <<= 1
    key |= np.asarray(label, dtype=bool)
    key.sort()
    new = np.append(True, (key[1:] >> 1) != (key[:-1] >> 1))[: len(key)]
    first = np.flatnonzero(new)
    rows = np.diff(np.append(first, len(key)))
    positives = rows if len(key) == 0 else np.add.reduceat(key & 1, first)
    return (key[first] >> 1).view(np.float64), rows - positives, positives


def order_in_groups(group: IntArray, score: FloatArray, groups: int) -> tuple[IntArray, IntArray]:
    """Return the order of rows by group, then score, and where in it a new one of both begins."""
    narrow = group.astype(np.uint16 if groups < 1 << 16 else np.int64)  # sorted in one sweep
    order = np.argsort(narrow, kind="stable")
    ends = np.searchsorted(narrow[order], np.arange(1, groups + 1, dtype=np.int64)).tolist()
    score = score[order]
    start = 0
    for end in ends:  # short sorts stay in the cache
        inside = np.argsort(score[start:end])
        order[start:end] = order[start:end][inside]
        score[start:end] = score[start:end][inside]
        start = end
    new = np.append(True, score[1:] != score[:-1])[: len(score)]
    new[[end for end in ends if end < len(score)]] = True
    return order, np.flatnonzero(new)
