"""The logistic model behind calibration slope and intercept, fitted by passes over the rows.

P(Y = 1) = sigmoid(a + b l), where l is the log-odds of the score (Cox, 1958). Cells of the diagram
lead nearly to the estimate, so that one or two looks at the rows finish the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np

from calibrant import errors
from calibrant._types import FloatArray
from calibrant.core.arrays import Sums
from calibrant.core.diagram import Diagram, Source
from calibrant.core.expressions import LABEL, SCORE, Expression, col
from calibrant.core.newton import Newton
from calibrant.core.tally import Cells


class LogisticSums(NamedTuple):
    """Sums over the rows of the model P(Y = 1) = p = sigmoid(intercept + slope logit f).

    With x = (1, logit f): the gradient, sum of w (y - p) x; the information, sum of
    w p (1 - p) x x'; and the squares, sum of w (y - p)^2 x x', which the sandwich variance needs.
    """

    gradient: FloatArray
    information: FloatArray
    squares: FloatArray


#: Sums of logistic models, given the intercept and slope of each.
SumsAt: TypeAlias = Callable[[list[tuple[float, float]]], list[LogisticSums] | None]
#: Newton's method doubles the digits with each step, so after a step this small it is done.
_SMALL_STEP = 4e-7
#: A step that leaves variances as they are, and rows that are few.
_NO_STEP, _FEW_ROWS = 1e-11, 1 << 12
#: The secant adds about as many as it had one step before.
_SMALL_SECANT = 1e-8
_MOST_LOOKS = 100
#: In so few cells scores lie closer together than cells can tell.
_FEW_CELLS = 16
#: No step is longer than this, in log-odds and in deviations of log-odds.
_LONGEST_STEP = 4.0
#: If classes are separated, the slope and its variance grow without end; none that exists comes
#: near this many log-odds for one deviation.
_ENDLESS = 200.0


class Climb:
    """Newton's method on one concave likelihood.

    It works on log-odds that are centred and scaled, so that scores which lie close together,
    or far out, are as good as any.
    """

    def __init__(self, center: float, scale: float, rate: float, *, free_slope: bool) -> None:
        # columns of how (intercept, slope) on the raw log-odds depend on the free parameters
        level = math.log(rate / (1 - rate))
        if free_slope:
            self._map = np.array([[1.0, -center / scale], [0.0, 1 / scale]])
            self._fixed, start = np.zeros(2), np.array([level, 0.0])
        else:
            self._map = np.array([[1.0], [0.0]])
            self._fixed, start = np.array([0.0, 1.0]), np.array([level - center])
        self._newton = Newton(start, _LONGEST_STEP)
        self._information = self._squares = np.eye(2)
        #: How long the last step was.
        self.moved = 0.0
        self.done = self.failed = False

    @property
    def raw(self) -> FloatArray:
        """Intercept and slope on the raw log-odds."""
        point: FloatArray = self._map @ self._newton.point + self._fixed
        return point

    @property
    def slope_variance(self) -> float:
        """The variance of a free slope, on the raw log-odds.

        The larger of the sandwich A^-1 B A^-1, of the information A and the squares B (Huber, 1967;
        White, 1982), and of A^-1: the first holds whatever the form of the truth, the second where
        hardly an outcome is a surprise, so that the squares say nothing.
        """
        bread = np.linalg.inv(self._information)
        sandwich = bread @ self._map.T @ self._squares @ self._map @ bread
        return max(float(sandwich[1, 1]), float(bread[1, 1])) * float(self._map[1, 1]) ** 2

    @property
    def curvature(self) -> float:
        """The information of the first free parameter."""
        return float(self._information[0, 0])

    @property
    def residuals(self) -> float:
        """The sum of squared residuals."""
        return float(self._squares[0, 0])

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the variance: squared residuals, less the free parameters.

        Where events are rare few rows say how far the estimate may be off, however many there are.
        """
        return max(1.0, self.residuals - len(self._newton.point))

    def restart(self) -> None:
        """Start again from where it stands, at other data."""
        self._newton.restart()
        self.done = self.failed = False

    def update(self, sums: LogisticSums) -> None:
        """Move on, given what was seen at `raw`."""
        slopes = self._map.T @ sums.gradient
        information = self._map.T @ sums.information @ self._map
        if self._newton.turned_back(slopes):
            return
        try:
            spread = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            spread = np.full((len(slopes), len(slopes)), np.nan)
        step, variance = spread @ slopes, np.diag(spread)
        if not (np.isfinite(step).all() and (variance > 0).all()) or self._endless(variance):
            self.failed = True
            return
        self._information, self._squares = information, sums.squares
        self._newton.go(step, slopes)
        # on a likelihood so flat that rounding tilts it, a millionth of a deviation is enough
        self.moved = float(np.abs(step).max())
        enough = np.maximum(_SMALL_STEP, 1e-6 * np.sqrt(variance))
        self.done = not self._newton.shortened and bool((np.abs(step) <= enough).all())

    def _endless(self, variance: FloatArray) -> bool:
        """Whether the slope runs away, or nothing holds it: an intercept alone always exists."""
        return len(variance) == 2 and bool(
            abs(self._newton.point[1]) > _ENDLESS or variance[1] > _ENDLESS**2
        )


class End:
    """One end of the interval of the intercept a, with the slope held at 1.

    With p = sigmoid(a + l) the sum of y - p has mean 0 at the true a, whatever the form of the
    truth, and deviation sqrt(V). The interval holds each a where it is within `quantile`
    deviations of 0 (the score form of a sandwich interval; Boos, 1992). Near its estimate that
    is Wald's interval, which falls short where scores are extreme: there the information changes
    by orders of magnitude inside the interval.
    """

    def __init__(self, climb: Climb, events: float, quantile: float, side: int) -> None:
        self._point, self._events, self._quantile = float(climb.raw[0]), events, quantile
        self._side = side
        deviation = math.sqrt(max(climb.curvature, climb.residuals))
        #: How far out it is: at first where Wald's end is.
        self._distance = min(quantile * deviation / climb.curvature, _LONGEST_STEP)
        #: By how much the logarithm of the deviations grows with that of the distance.
        self._growth = 1.0
        self.done = self.failed = False
        self.restart()

    @property
    def raw(self) -> FloatArray:
        """Intercept and slope on the raw log-odds."""
        return np.array([self._point + self._side * self._distance, 1.0])

    @property
    def value(self) -> float:
        """The end; where rounding hides it, the nearest point that is known to be beyond it."""
        return self._point + self._side * (self._distance if self.done else self._outer)

    def restart(self) -> None:
        """Start again from where it stands, at other data."""
        self._inner, self._outer = 0.0, math.inf
        self._last: tuple[float, float] | None = None
        self._steps = (math.inf, math.inf)
        self.done = False

    def update(self, sums: LogisticSums) -> None:
        """Follow the secant of the logarithms, or halve or double where that is slow (Brent)."""
        here, excess = self._distance, self._excess(sums)
        if excess < 0:
            self._inner = here
        else:
            self._outer = here
        if self._last is not None and here != self._last[0]:
            rise = math.log(here) - math.log(self._last[0])
            self._growth = max(1e-3, (excess - self._last[1]) / rise)
        farthest = 2 * here + _LONGEST_STEP
        there = min(here * math.exp(min(-excess / self._growth, 1.0)), farthest)
        slow = abs(there - here) > self._steps[0] / 2
        if slow or not self._inner <= there <= self._outer:
            there = min((self._inner + self._outer) / 2, farthest)
        self._last, self._steps = (here, excess), (self._steps[1], abs(there - here))
        self._distance = there
        self.done = abs(there - here) <= _SMALL_SECANT * here
        # cells may have another estimate, beyond this end
        self.failed = not self.done and there < _SMALL_SECANT * self._quantile

    def _excess(self, sums: LogisticSums) -> float:
        """Return how the deviations of the sum of y - p compare with the quantile: a logarithm.

        V is the sum of squared residuals as it would be if there were as many events as the model
        says (for one score that all rows have: Wilson's), or of p (1 - p), if that is larger.
        """
        left, spread = float(sums.gradient[0]), float(sums.information[0, 0])
        predicted = self._events - left
        squared = predicted - spread
        events = (float(sums.squares[0, 0]) - squared) * predicted / self._events
        limit = self._quantile * math.sqrt(max(spread, squared + events, 0.0))
        # where one of them is 0 its logarithm is only known to be far away
        return math.log(max(-self._side * left, 1e-300)) - math.log(max(limit, 1e-300))


def fitted(
    source: Source, diagram: Diagram, wanted: tuple[str, ...], clip: float | None
) -> list[Climb]:
    """Fit the models wanted, "slope" (a and b free) and "intercept" (b = 1), in the same passes.

    First to cells, each as if all its rows had the cell's mean score, and from there to the rows.
    """
    cells = _CellOdds(diagram.cells, clip)
    if len(diagram.cells) < _FEW_CELLS and not diagram.open:
        cells.center, cells.scale = _spread(source, diagram.weight, clip, cells.center)
    rate = diagram.positives / diagram.weight

    def begin(name: str) -> Climb:
        return Climb(cells.center, cells.scale, rate, free_slope=name == "slope")

    climbs = [begin(name) for name in wanted]
    _all_done(climbs, cells.look)
    # where the cells lead nowhere, the rows are climbed from the start
    climbs = [
        climb if climb.done else begin(name) for name, climb in zip(wanted, climbs, strict=True)
    ]
    for climb in climbs:
        climb.restart()
    look = rows_look(source, clip)
    _all_done(climbs, look)
    for climb in climbs:
        climb.failed = climb.failed or not climb.done
    # with few rows it costs little, and then it does not matter where a climb began
    if diagram.count <= _FEW_ROWS:
        _look_again([climb for climb in climbs if climb.done and climb.moved > _NO_STEP], look)
    return climbs


def _look_again(climbs: list[Climb], look: SumsAt) -> None:
    """Take variances where a climb ended, not where its last step began."""
    if not climbs:
        return
    found = look([(float(climb.raw[0]), float(climb.raw[1])) for climb in climbs]) or ()
    for climb, sums in zip(climbs, found, strict=True):
        climb.update(sums)
        climb.done = True


def intercept_ends(
    source: Source, diagram: Diagram, climb: Climb, quantile: float, clip: float | None
) -> tuple[float, float]:
    """Return the ends of the interval of an intercept: found on cells, and then on the rows."""
    ends = [End(climb, diagram.positives, quantile, side) for side in (-1, 1)]
    _all_done(ends, _CellOdds(diagram.cells, clip).look)
    if not all(end.done for end in ends):  # as for the estimates: from the start
        ends = [End(climb, diagram.positives, quantile, side) for side in (-1, 1)]
    for end in ends:
        end.restart()
    _all_done(ends, rows_look(source, clip))
    lower, upper = (end.value for end in ends)
    return lower, upper


def _spread(source: Source, weight: float, clip: float | None, near: float) -> tuple[float, float]:
    """Return mean and deviation of the log-odds of rows, where cells do not tell them apart."""
    edges = {} if clip is None else {"clip": clip}
    found = source.total(_spread_sums(bool(edges)), near=near, **edges)
    if found is None:
        return near, 1.0
    shift, square = (found / weight).tolist()
    return near + shift, math.sqrt(max(square - shift**2, 0.0)) or 1.0


@cache
def _spread_sums(clipped: bool) -> Sums:
    score = SCORE.within(col("clip"), 1 - col("clip")) if clipped else SCORE
    away = score.odds() - col("near")
    return Sums(away, away.squared())


def rows_look(source: Source, clip: float | None) -> SumsAt:
    """Return what adds up models over the rows, scores moved into [clip, 1 - clip] if it is given.

    It is a function that gives None where there are no rows to look at.
    """
    edges = {} if clip is None else {"clip": clip}

    def look(models: list[tuple[float, float]]) -> list[LogisticSums] | None:
        numbers = {
            f"{name}{k}": x
            for k, one in enumerate(models)
            for name, x in zip("ab", one, strict=True)
        }
        found = source.total(_row_sums(len(models), bool(edges)), **numbers, **edges)
        return None if found is None else [_named(one) for one in found.reshape(-1, 8)]

    return look


@cache
def _row_sums(models: int, clipped: bool) -> Sums:
    """Return the sums of some models over rows, with names for their intercepts and slopes."""
    score = SCORE.within(col("clip"), 1 - col("clip")) if clipped else SCORE
    odds = score.odds()
    return Sums(*(one for k in range(models) for one in _model_sums(odds, str(k))))


def _model_sums(odds: Expression, model: str = "") -> list[Expression]:
    """Return the eight numbers that a row adds to the sums of a model."""
    intercept, slope = col(f"a{model}"), col(f"b{model}")
    mean = (odds * slope + intercept).sigmoid()
    left = LABEL - mean
    # a square that is 0 where it is too small, because some engines refuse to underflow
    spread, square = mean * (1 - mean), left.squared()
    once, twice = spread * odds, square * odds
    return [left, left * odds, spread, once, once * odds, square, twice, twice * odds]


#: The same for cells, which are looked at for many models.
_CELL_SUMS = Sums(*_model_sums(col("odds")))


def _named(sums: FloatArray) -> LogisticSums:
    """Give the eight numbers of a model their names and shapes."""
    g, h, a, b, c, s, t, u = sums.tolist()
    return LogisticSums(np.array([g, h]), np.array([[a, b], [b, c]]), np.array([[s, t], [t, u]]))


def one_odds(source: Source, clip: float) -> bool:
    """Whether `clip` leaves all rows the same log-odds."""
    found = rows_look(source, clip)([(0.0, 0.0)])  # where all rows have the same information
    if found is None:
        return False
    (all_rows, once), (_, twice) = found[0].information
    return bool(all_rows * twice - once**2 <= 1e-12 * all_rows * twice)


class _CellOdds:
    """Cells as rows that all have the cell's mean score, where that has log-odds."""

    def __init__(self, cells: Cells, clip: float | None) -> None:
        mean = cells.mass / cells.weight
        if clip is not None:
            mean = mean.clip(clip, 1 - clip)
        inner = (mean > 0) & (mean < 1)
        score, self._weight = mean[inner], cells.weight[inner]
        self._rate = cells.positives[inner] / self._weight
        self._odds = np.log(score) - np.log1p(-score)
        # the rate stands for outcomes of 0 and 1, whose squares differ from its own by this
        more = self._weight * self._rate * (1 - self._rate)
        powers = np.array([np.ones_like(self._odds), self._odds])
        self._more = (powers * more) @ powers.T
        self.center, self.scale = 0.0, 1.0
        if score.size:
            share = self._weight / self._weight.sum()
            self.center = float((share * self._odds).sum())
            square = (share * (self._odds - self.center) ** 2).sum()
            self.scale = math.sqrt(float(square)) or 1.0

    def look(self, models: list[tuple[float, float]]) -> list[LogisticSums]:
        """Sum up logistic models over the cells."""
        columns = {"odds": self._odds, "y": self._rate}
        found = []
        for a, b in models:
            sums = _CELL_SUMS.over({**columns, "a": a, "b": b}, self._weight)
            one = _named(sums)
            found.append(one._replace(squares=one.squares + self._more))
        return found


def _all_done(climbs: Sequence[Climb] | Sequence[End], look: SumsAt) -> None:
    """Look until all of them have arrived, or it takes too long."""
    for _ in range(_MOST_LOOKS):
        active = [climb for climb in climbs if not (climb.done or climb.failed)]
        if not active:
            return
        found = look([(float(climb.raw[0]), float(climb.raw[1])) for climb in active])
        if found is None:
            raise errors.tally_hides("the calibration slope and intercept")
        for climb, sums in zip(active, found, strict=True):
            climb.update(sums)
