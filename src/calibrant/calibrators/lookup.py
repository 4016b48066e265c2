"""Lookup: what a calibrator of many blocks makes of one score, found by bisection.

It is for engines that hand over one row at a time. An expression of SQL would hold every block, and
an engine takes far longer to read a hundred thousand of them than rows to go through them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeAlias

from calibrant._types import FloatArray
from calibrant.calibrators.blocks import STRICT_SHARE, Blocks
from calibrant.calibrators.venn_abers import Pairs

Lookup: TypeAlias = Callable[[float], float]


def pieces_in(function: Blocks | Pairs) -> int:
    """Count the scores at which a function takes another step, or another line begins."""
    return len(_edges(function)[0])


def lookup_of(function: Blocks | Pairs) -> Lookup:
    """Return a function of one score in [0, 1]; it equals that of arrays to the bit."""
    edges, values = (_plain(column) for column in _edges(function))
    if isinstance(function, Pairs) or function.interpolation == "step":
        return _stepping(edges, values)
    line = _between(edges, values)
    return _strict(line) if function.interpolation == "strict" else line


def _edges(function: Blocks | Pairs) -> tuple[FloatArray, FloatArray]:
    if isinstance(function, Pairs) or function.interpolation == "step":
        return function.steps()
    return function.knots()


def _plain(column: FloatArray) -> Sequence[float]:
    """Return numbers of Python, which it reads faster than those of numpy, in as little memory."""
    return array("d", column.tobytes())


def _stepping(edges: Sequence[float], values: Sequence[float]) -> Lookup:
    def stepped(score: float) -> float:
        return values[bisect_right(edges, score) - 1]

    return stepped


def _between(knots: Sequence[float], values: Sequence[float]) -> Lookup:
    """Interpolate; operations are those of `Blocks`, in their order."""
    last = len(knots) - 1

    def line(score: float) -> float:
        right = bisect_right(knots, score)
        if right == 0:
            return values[0]
        if right > last:
            return values[last]
        left = right - 1
        start, end = values[left], values[right]
        share = (score - knots[left]) / (knots[right] - knots[left])
        return min(start + share * (end - start), end)

    return line


def _strict(line: Lookup) -> Lookup:
    def mixed(score: float) -> float:
        value = line(score)
        return min(1.0, max(0.0, value + STRICT_SHARE * (score - value)))

    return mixed
