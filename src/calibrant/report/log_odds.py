"""Log-odds axes: a picture of probabilities in which rare events do not crowd into a corner."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from calibrant._figures import figure
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.auditing.curves import Histogram
from calibrant.report.pictures import Area, Axis, Bars, Layer, Line, Picture, Points, Span

Scale: TypeAlias = Literal["auto", "linear", "logit"]
SCALES: tuple[str, ...] = get_args(Scale)
#: Probabilities that are marked.
_MARKED = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-5, 1 - 1e-6)
#: The lowest numbers, which would take most of a log-odds axis, lie beyond it.
_TAIL = 0.02
#: Room at both ends, as a share of an axis, and where marks stand for what lies beyond it.
_MARGIN, _ROOM = 0.02, 0.07
#: If so large a share of scores is under this, they crowd.
_CROWD, _UNDER = 0.9, 0.1


def crowded(scores: Histogram | None) -> bool:
    """Whether nearly all scores are so small that a linear axis would hide them."""
    if scores is None:
        return False
    return float(scores.share[scores.right <= _UNDER + 1e-9].sum()) >= _CROWD


def on_log_odds(picture: Picture) -> Picture:
    """Return a picture whose axes both are probabilities on log-odds axes.

    0 and 1 have no place there, and the lowest numbers would take most of it. What lies beyond the
    axis is marked at its end, and not drawn as a number that it is not.
    """
    shown = np.concatenate([*_probabilities(picture.layers)])
    inner = shown[(shown > 0) & (shown < 1)]
    if not inner.size:
        return picture
    least, most = np.quantile(inner, (_TAIL, 1.0))
    low = max((p for p in _MARKED if p <= least), default=_MARKED[0])
    high = min((p for p in _MARKED if p >= most), default=_MARKED[-1])
    if low == high:
        return picture
    place = _Place(low, high, room=_ROOM if ((shown < low) | (shown > high)).any() else _MARGIN)
    marked = np.array([p for p in _MARKED if low <= p <= high])
    ticks, words = place(marked).tolist(), [figure(p, 6) for p in marked.tolist()]
    layers = [one for one in picture.layers if not isinstance(one, Bars)]
    return replace(
        picture,
        x=Axis(f"{picture.x.name}, log-odds axis", *place.ends, ticks, words),
        y=Axis(f"{picture.y.name}, log-odds axis", *place.ends, ticks, words),
        layers=tuple(part for one in layers for part in _moved(one, place)),
    )


class _Place:
    """Where probabilities lie on an axis: their log-odds, and for what lies beyond it its end."""

    def __init__(self, low: float, high: float, *, room: float) -> None:
        self.low, self.high = low, high
        first, last = (math.log(p) - math.log1p(-p) for p in (low, high))
        self.ends = first - room * (last - first), last + room * (last - first)

    def __call__(self, p: FloatArray) -> FloatArray:
        side = self.side(p)
        inside = np.where(side == 0, p, 0.5)
        odds = np.log(inside) - np.log1p(-inside)
        found: FloatArray = np.where(side == 0, odds, np.where(side < 0, *self.ends))
        return found

    def side(self, p: FloatArray) -> IntArray:
        """Return -1 for what lies before the axis, 1 for what lies after it, and 0 between."""
        side: IntArray = np.subtract(p > self.high, p < self.low, dtype=np.int64)
        return side


def _probabilities(layers: Iterable[Layer]) -> Iterable[FloatArray]:
    """Yield the numbers that a picture is about; bands and diagonals may leave it."""
    for one in layers:
        if isinstance(one, Line | Points) and one.role != "diagonal":
            yield from (one.x, one.y)


def _moved(layer: Layer, place: _Place) -> Iterator[Layer]:
    match layer:
        case Line() if layer.role == "diagonal":
            ends = place(np.array([0.0, 1.0]))
            yield replace(layer, x=ends, y=ends)
        case Line():
            yield from _line(layer, place)
        case Points():
            inside = ~_leaves(layer, place)
            if inside.any():
                yield replace(layer, x=place(layer.x[inside]), y=place(layer.y[inside]))
        case Area():
            lower, upper = place(layer.lower), place(layer.upper)
            yield replace(layer, x=place(layer.x), lower=lower, upper=upper)
        case Span():
            left, right = place(np.array([layer.left, layer.right])).tolist()
            yield replace(layer, left=left, right=right)


def _leaves(layer: Line | Points, place: _Place) -> BoolArray:
    """Mark the points that lie beyond one of the axes."""
    leaves: BoolArray = (place.side(layer.x) != 0) | (place.side(layer.y) != 0)
    return leaves


def _line(line: Line, place: _Place) -> Iterator[Layer]:
    """Draw a line as far as the axes go; where it leaves them it is dashed, as far as marks."""
    x, y, out = place(line.x), place(line.y), _leaves(line, place)
    there = {(a, b): (p, q) for a, b, p, q in zip(x, y, line.x, line.y, strict=True)}
    told = line.says
    says = None if told is None else lambda a, b: told(*there[a, b])
    yield replace(line, x=x, y=np.where(out, np.nan, y), says=says)
    if not out.any():
        return
    # a point inside that has one beyond it for a neighbour is where the dashes begin
    dashed = np.convolve(out, (1, 1, 1), mode="same") > 0
    yield Line("beyond", "", "", x, np.where(dashed, y, np.nan), model=line.model)
    words = _words(line, place)
    for role, chosen in _runs(line, place):
        yield Points(role, words, words, x[chosen], y[chosen], says, model=line.model)
        words = ""  # one line in a legend is enough


def _runs(line: Line, place: _Place) -> Iterator[tuple[str, BoolArray]]:
    """Yield the marks of what lies beyond each end of an axis: at both ends of every stretch."""
    up, right = place.side(line.y), place.side(line.x)
    level = up == 0
    for role, out in (
        ("above", up > 0),
        ("below", up < 0),
        ("right", level & (right > 0)),
        ("left", level & (right < 0)),
    ):
        inner = np.concatenate([[False], out[:-1]]) & np.concatenate([out[1:], [False]])
        if out.any():
            yield role, out & ~inner


def _words(line: Line, place: _Place) -> str:
    """Say what lies beyond the axes."""
    found = {"observed": _outside(line.y, place), "score": _outside(line.x, place)}
    parts = [f"{name} {' or '.join(ends)}" for name, ends in found.items() if ends]
    return f"beyond the axis ({', '.join(parts)})"


def _outside(values: FloatArray, place: _Place) -> list[str]:
    """Say which numbers lie beyond an axis: 0 and 1 by name, others by where it ends."""
    found = []
    for out, end, last, word in (
        (values[place.side(values) < 0], 0.0, place.low, "under"),
        (values[place.side(values) > 0], 1.0, place.high, "over"),
    ):
        if out.size:
            found.append(f"{end:.0f}" if (out == end).all() else f"{word} {figure(last, 6)}")
    return found
