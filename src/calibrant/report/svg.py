"""Pictures as SVG text: axes, lines, areas and bars, with every number under the pointer.

No script draws them, so they print, scale, and show in a mail; a picture's table stands behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

Points = Sequence[tuple[float, float]]
_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 48


@dataclass
class Picture:
    """A picture in the making: what is added later lies above what came before.

    Attributes
    ----------
    title, text : str
        What it shows, and what is to be seen in it, for those who do not see it.
    x, y : (float, float)
        Range of each axis.
    x_name, y_name : str
        What the axes are.
    """

    title: str
    text: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_name: str
    y_name: str
    parts: list[str] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)

    def area(self, kind: str, lower: Points, upper: Points, name: str) -> None:
        """Fill the band between two curves over the same x."""
        path = self._path([*lower, *reversed(upper)])
        self.parts.append(f'<path class="{kind}" d="{path}Z"><title>{escape(name)}</title></path>')
        self.legend.append((kind, name))

    def line(self, kind: str, points: Points, name: str) -> None:
        """Draw a line through points."""
        self.parts.append(f'<path class="{kind}" d="{self._path(points)}"/>')
        self.legend.append((kind, name))

    def dots(self, kind: str, points: Points, words: Iterable[str]) -> None:
        """Mark points; words show under the pointer."""
        for (x, y), word in zip(points, words, strict=True):
            place = f'cx="{self._across(x):.1f}" cy="{self._down(y):.1f}"'
            self.parts.append(
                f'<circle class="{kind}" {place} r="5"><title>{escape(word)}</title></circle>'
            )

    def bars(self, kind: str, bars: Iterable[tuple[float, float, float, str]]) -> None:
        """Draw bars from the bottom: left, right, height from 0 to 1, words."""
        room = (_HEIGHT - _TOP - _BOTTOM) * 0.18
        for left, right, height, word in bars:
            x, width = self._across(left), self._across(right) - self._across(left)
            tall = room * height
            self.parts.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{_HEIGHT - _BOTTOM - tall:.1f}" '
                f'width="{max(width - 1, 0.5):.1f}" height="{tall:.1f}">'
                f"<title>{escape(word)}</title></rect>"
            )

    def shade(self, kind: str, left: float, right: float, name: str) -> None:
        """Shade a range of x from bottom to top."""
        x, width = self._across(left), self._across(right) - self._across(left)
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{_TOP}" width="{max(width, 1):.1f}" '
            f'height="{_HEIGHT - _TOP - _BOTTOM}"><title>{escape(name)}</title></rect>'
        )
        self.legend.append((kind, name))

    def text_of(self) -> str:
        """Return the SVG."""
        grid = "".join(self._axis_x()) + "".join(self._axis_y())
        names = (
            f'<text class="name" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 8}" '
            f'text-anchor="middle">{escape(self.x_name)}</text>'
            f'<text class="name" transform="translate(14 {(_TOP + _HEIGHT - _BOTTOM) / 2}) '
            f'rotate(-90)" text-anchor="middle">{escape(self.y_name)}</text>'
        )
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escape(self.title)}. {escape(self.text)}">'
            f"{grid}{''.join(self.parts)}{names}</svg>"
        )

    def _across(self, x: float) -> float:
        low, high = self.x
        share = (x - low) / (high - low) if high > low else 0.5
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def _down(self, y: float) -> float:
        low, high = self.y
        share = (y - low) / (high - low) if high > low else 0.5
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def _path(self, points: Points) -> str:
        steps = (f"{self._across(x):.1f} {self._down(y):.1f}" for x, y in points)
        return "M" + "L".join(steps)

    def _axis_x(self) -> Iterable[str]:
        for value in ticks(*self.x):
            x = self._across(value)
            yield f'<path class="grid" d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
            yield (
                f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">'
                f"{value:g}</text>"
            )

    def _axis_y(self) -> Iterable[str]:
        for value in ticks(*self.y):
            y = self._down(value)
            yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'


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
