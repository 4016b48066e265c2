"""Pictures as SVG text, with every number under the pointer.

No script draws them, so they print, scale, and show in a mail; a picture's table stands behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape

from calibrant._figures import figure
from calibrant.report.overlay import look_of
from calibrant.report.pictures import Area, Axis, Bars, Layer, Line, Picture, Points, Span

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 16, 16, 48
_DEEP, _FAR = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
#: The width of a curve.
_THICK = 2.5
#: Triangles, which point to what lies beyond an axis; other points are dots.
_BEYOND = {
    "above": "l-6 11h12Z",
    "below": "l-6 -11h12Z",
    "left": "l11 -6v12Z",
    "right": "l-11 -6v12Z",
}
#: Where the tip of a triangle is in a legend.
_TIPS = {"above": "M14 0", "below": "M14 12", "left": "M8 6", "right": "M20 6"}
#: Points of a line that show their numbers, about.
_SAID = 20


def svg_of(picture: Picture) -> str:
    """Draw a picture; a class for each role says what it looks like."""
    grid = "".join([*_axis_x(picture), *_axis_y(picture)])
    parts = "".join(part for layer in picture.layers for part in _drawn(picture, layer))
    names = (
        f'<text class="name" x="{(_LEFT + _FAR) / 2}" y="{_HEIGHT - 8}" '
        f'text-anchor="middle">{escape(picture.x.name)}</text>'
        f'<g class="upright"><text class="name" transform="translate(14 {(_TOP + _DEEP) / 2}) '
        f'rotate(-90)" text-anchor="middle">{escape(picture.y.name)}</text></g>'
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(picture.title)}. {escape(picture.text)}">{grid}{parts}{names}</svg>'
    )


def _class(layer: Layer) -> str:
    """Return what a layer is, and of which model if there are several."""
    return layer.role if layer.model is None else f"{layer.role} model-{layer.model}"


def key_of(layer: Layer) -> str:
    """Return what stands for a layer in a legend: a line, a dot or a box."""
    shape = 'd="M0 6H28"' if isinstance(layer, Line) else 'd="M0 0H28V12H0Z"'
    if isinstance(layer, Points) and layer.role in _BEYOND:
        return f'<path class="{_class(layer)}" d="{_TIPS[layer.role]}{_BEYOND[layer.role]}"/>'
    if isinstance(layer, Points):
        return f'<circle class="{_class(layer)}" cx="14" cy="6" r="5"/>'
    return f'<path class="{_class(layer)}" {shape}/>'


def _drawn(picture: Picture, layer: Layer) -> Iterable[str]:
    across, down = _across(picture.x), _down(picture.y)
    match layer:
        case Line():
            places = zip(layer.x.tolist(), layer.y.tolist(), strict=True)
            parts = _unbroken([(across(x), down(y)) for x, y in places])
            yield f'<path class="{_class(layer)}" d="{parts}"/>'
            yield from _said(picture, layer)
        case Points():
            for x, y in zip(layer.x.tolist(), layer.y.tolist(), strict=True):
                words = layer.words if layer.says is None else layer.says(x, y)
                draw = _triangle if layer.role in _BEYOND else _dot
                yield draw(_class(layer), across(x), down(y), words)
        case Area():
            edges = [*zip(layer.x.tolist(), layer.lower.tolist(), strict=True)]
            edges += [*zip(layer.x.tolist(), layer.upper.tolist(), strict=True)][::-1]
            path = _unbroken([(across(x), down(y)) for x, y in edges])
            yield f'<path class="{layer.role}" d="{path}Z">{_title(layer.words)}</path>'
        case Span():
            left, width = across(layer.left), across(layer.right) - across(layer.left)
            box = left, _TOP, max(width, 1), _DEEP - _TOP
            yield _box(layer.role, box, layer.words)
        case Bars():
            columns = (*layer.scores.frame().values(), layer.heights.tolist())
            for start, end, share, height in zip(*columns, strict=True):
                left, low, high = across(start), down(layer.base), down(layer.base + height)
                bar = left, high, max(across(end) - left - 1, 0.5), low - high
                yield _box(
                    layer.role, bar, f"{100 * share:.1f}% of rows: {figure(start)} to {figure(end)}"
                )


def css_of_models(count: int) -> str:
    """Return the style sheet of several models on one picture."""
    return "\n".join(_css_of(model, *look_of(model)) for model in range(count))


def _css_of(model: int, colour: str, dashes: tuple[float, ...]) -> str:
    lengths = " ".join(f"{_THICK * length:g}" for length in dashes) or "none"
    line = f"svg .curve.model-{model} {{ stroke: {colour}; stroke-dasharray: {lengths}; }}"
    beyond = f"svg .beyond.model-{model} {{ stroke: {colour}; }}"
    kinds = ("hover", "few", "lone", *_BEYOND)
    dots = ", ".join(f"svg .{kind}.model-{model}" for kind in kinds)
    return f"{line}\n{beyond}\n{dots} {{ fill: {colour}; }}"


def _said(picture: Picture, line: Line) -> Iterable[str]:
    """Put what points of a line show under the pointer."""
    if line.says is None:
        return
    across, down = _across(picture.x), _down(picture.y)
    kind = "few" if line.marks else "hover"
    if line.model is not None:
        kind += f" model-{line.model}"
    step = max(1, len(line.x) // _SAID)
    for x, y in zip(line.x[::step].tolist(), line.y[::step].tolist(), strict=True):
        if not math.isnan(y):
            yield _dot(kind, across(x), down(y), line.says(x, y))


def _across(axis: Axis) -> Callable[[float], float]:
    return lambda x: _LEFT + _share(axis, x) * (_FAR - _LEFT)


def _down(axis: Axis) -> Callable[[float], float]:
    return lambda y: _DEEP - _share(axis, y) * (_DEEP - _TOP)


def _share(axis: Axis, value: float) -> float:
    """Return how far along an axis a number lies; what lies beyond it is drawn at its end."""
    share = (value - axis.low) / (axis.high - axis.low) if axis.high != axis.low else 0.5
    return min(max(share, 0.0), 1.0)


def _unbroken(places: Iterable[tuple[float, float]]) -> str:
    """Return the path through places, taken up again after each gap."""
    path, drawing = "", False
    for x, y in places:
        there = not (math.isnan(x) or math.isnan(y))
        if there:
            path += f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}"
        drawing = there
    return path


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>"


def _dot(kind: str, x: float, y: float, words: str) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5">{_title(words)}</circle>'


def _triangle(kind: str, x: float, y: float, words: str) -> str:
    """Draw a triangle with its tip at a place."""
    path = f"M{x:.1f} {y:.1f}{_BEYOND[kind.split(maxsplit=1)[0]]}"
    return f'<path class="{kind}" d="{path}">{_title(words)}</path>'


def _box(kind: str, place: tuple[float, float, float, float], words: str) -> str:
    x, y, width, height = place
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}">{_title(words)}</rect>'
    )


def _axis_x(picture: Picture) -> Iterable[str]:
    across = _across(picture.x)
    for value, words in _marks(picture.x):
        x = f"{across(value):.1f}"
        yield f'<path class="grid" d="M{x} {_TOP}V{_DEEP}"/>'
        yield f'<text x="{x}" y="{_DEEP + 18}" text-anchor="middle">{words}</text>'


def _axis_y(picture: Picture) -> Iterable[str]:
    down = _down(picture.y)
    for value, words in _marks(picture.y):
        y = down(value)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_FAR}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{words}</text>'


def _marks(axis: Axis) -> Iterable[tuple[float, str]]:
    """Return where an axis is marked, and what stands there."""
    places = axis.ticks or ticks(axis.low, axis.high)
    return zip(places, map(escape, axis.words or [figure(x, 6) for x in places]), strict=True)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers in a range, a few of them."""
    span = high - low
    if span <= 0:
        return [low]
    size = 10.0**-9
    while True:
        for factor in (1, 2, 5):
            step = size * factor
            if span / step <= most:
                first = -int(-low // step) if low > 0 else int(low / step)
                found = [round(k * step, 12) for k in range(int(first), int(high / step) + 1)]
                return [value for value in found if low - 1e-12 <= value <= high + 1e-12]
        size *= 10
