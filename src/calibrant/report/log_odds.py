"""Log-odds axes: a picture of probabilities in which rare events do not crowd into a corner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from calibrant._types import FloatArray
from calibrant.auditing.curves import Histogram
from calibrant.report.pictures import Area, Axis, Bars, Layer, Line, Picture, Points, Span

Scale: TypeAlias = Literal["auto", "linear", "logit"]
SCALES: tuple[str, ...] = get_args(Scale)
#: Probabilities that are marked.
_MARKED = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-5, 1 - 1e-6)
#: The lowest numbers, which would take most of a log-odds axis, lie at its end.
_TAIL = 0.02
#: If so large a share of scores is under this, they crowd.
_CROWD, _UNDER = 0.9, 0.1


def crowded(scores: Histogram | None) -> bool:
    """Whether nearly all scores are so small that a linear axis would hide them."""
    if scores is None:
        return False
    return float(scores.share[scores.right <= _UNDER + 1e-9].sum()) >= _CROWD


def on_log_odds(picture: Picture) -> Picture:
    """Return a picture whose axes both are probabilities on log-odds axes."""
    shown = np.concatenate([*_probabilities(picture.layers)])
    inner = shown[(shown > 0) & (shown < 1)]
    if not inner.size:
        return picture
    least, most = np.quantile(inner, (_TAIL, 1.0))
    low = max((p for p in _MARKED if p <= least), default=_MARKED[0])
    high = min((p for p in _MARKED if p >= most), default=_MARKED[-1])
    if low == high:
        return picture

    def place(p: FloatArray) -> FloatArray:
        inside = np.clip(p, low, high)
        odds: FloatArray = np.where(np.isnan(p), np.nan, np.log(inside) - np.log1p(-inside))
        return odds

    marked = np.array([p for p in _MARKED if low <= p <= high])
    ticks, words = place(marked).tolist(), [f"{p:.6g}" for p in marked]
    margin = 0.02 * (ticks[-1] - ticks[0])
    ends = ticks[0] - margin, ticks[-1] + margin
    return replace(
        picture,
        x=Axis(f"{picture.x.name}, log-odds axis", *ends, ticks, words),
        y=Axis(f"{picture.y.name}, log-odds axis", *ends, ticks, words),
        layers=tuple(_moved(one, place) for one in picture.layers if not isinstance(one, Bars)),
    )


def _probabilities(layers: Iterable[Layer]) -> Iterable[FloatArray]:
    """Yield the numbers that a picture is about; bands and diagonals may leave it."""
    for one in layers:
        if isinstance(one, Line | Points) and one.role != "diagonal":
            yield from (one.x, one.y)


def _moved(layer: Layer, place: Callable[[FloatArray], FloatArray]) -> Layer:
    match layer:
        case Line():
            x, y, says = layer.x, layer.y, layer.says
            if layer.role == "diagonal":
                x = y = np.array([0.0, 1.0])
            there = {(a, b): (p, q) for a, b, p, q in zip(place(x), place(y), x, y, strict=True)}
            said = None if says is None else lambda a, b: says(*there[a, b])
            return replace(layer, x=place(x), y=place(y), says=said)
        case Points():
            return replace(layer, x=place(layer.x), y=place(layer.y))
        case Area():
            lower, upper = place(layer.lower), place(layer.upper)
            return replace(layer, x=place(layer.x), lower=lower, upper=upper)
        case Span():
            left, right = place(np.array([layer.left, layer.right])).tolist()
            return replace(layer, left=left, right=right)
    return layer
