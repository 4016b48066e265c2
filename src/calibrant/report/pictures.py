"""Pictures, described once: axes, and what lies on them, from the bottom up.

A description says what each layer is, not what it looks like: `svg` and `drawing` have a style for
each role, and draw any description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from calibrant._types import FloatArray
from calibrant.auditing.curves import Histogram
from calibrant.auditing.result import Audit
from calibrant.certificates.certificate import percent

#: The ends that an axis of scores or rates may have.
_TOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Axis:
    """An axis: the other way round, it runs backwards."""

    name: str
    low: float
    high: float
    ticks: Sequence[float] = ()  # round numbers unless given
    words: Sequence[str] = ()  # at the ticks, instead of numbers
    grid: bool = False


@dataclass(frozen=True, eq=False)
class Layer:
    """Something drawn: its role decides its style. Without words it has no line in the legend."""

    role: str
    label: str
    words: str  # the same where there is room
    model: int | None = field(default=None, kw_only=True)  # its place, if there are several


@dataclass(frozen=True, eq=False)
class Line(Layer):
    """A line through points, broken at NaN."""

    x: FloatArray
    y: FloatArray
    says: Callable[[float, float], str] | None = None  # what a point shows
    marks: bool = False  # at every point


@dataclass(frozen=True, eq=False)
class Points(Layer):
    """Points without a line."""

    x: FloatArray
    y: FloatArray
    says: Callable[[float, float], str] | None = None  # what a point shows, in place of the words


@dataclass(frozen=True, eq=False)
class Area(Layer):
    """What lies between two curves over the same x."""

    x: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, eq=False)
class Span(Layer):
    """A range of x, from bottom to top."""

    left: float
    right: float


@dataclass(frozen=True, eq=False)
class Bars(Layer):
    """Bars that share out the rows, the tallest of them `tallest` above `base`."""

    scores: Histogram
    base: float
    tallest: float

    @property
    def heights(self) -> FloatArray:
        """How far each bar reaches above the base."""
        reach: FloatArray = self.tallest * self.scores.share / self.scores.share.max()
        return reach


@dataclass(frozen=True, eq=False)
class Picture:
    """What a picture shows, whatever draws it; later layers lie above earlier ones."""

    name: str  # in a page
    title: str  # of every picture of its kind
    text: str  # what is to be seen, for those who do not see it
    finding: str  # what this one shows
    x: Axis
    y: Axis
    layers: Sequence[Layer]
    columns: Mapping[str, Sequence[float] | Sequence[str]]  # the numbers behind it


def axis_top(*values: FloatArray) -> float:
    """Return where an axis of rates that holds all values may end."""
    highest = max(float(column.max()) for column in values)
    return next(top for top in _TOPS if highest < top or top == 1)


def worst_span(audit: Audit, left: float, right: float) -> list[Layer]:
    """Return the worst interval, if the scores fail anywhere."""
    worst = audit.worst_intervals[0]
    if worst.verdict == "exact":
        return []
    label, words = f"worst interval: {worst.verdict}", f"worst interval: {worst.where}"
    return [Span("worst", label, words, left, right)]


def consistency_area(
    audit: Audit, x: FloatArray, lower: FloatArray | None, upper: FloatArray | None
) -> list[Layer]:
    """Return the band under calibration, where there is one."""
    if lower is None or upper is None:
        return []
    label = f"for right scores ({percent(audit.confidence)} at each)"
    words = "where it would lie if the scores were right (pointwise)"
    return [Area("consistency", label, words, x, lower, upper)]


def by_chance(audit: Audit) -> bool:
    """Whether scores that are right would often look as bad."""
    return audit.test is not None and audit.test.p_value > 1 - audit.confidence
