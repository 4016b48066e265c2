"""Venn-Abers prediction: the isotonic fit with the new row in it, once for each of its outcomes.

Vovk, Petej and Fedorova, "Large-scale probabilistic predictors with and without guarantees of
validity", NIPS 2015. By its definition each new score takes two isotonic fits; here all of them
are read off one.

Let P_0, ..., P_m be the points (W, S) of the diagram, one after each distinct score, and V its
minorant's vertices. A new row of weight 1 and outcome 1 at the score between P_(i-1) and P_i moves
what comes after it by (1, 1), and its fitted value is

    p1 = max over a < i of min over b >= i of slope(P_a - (1, 1), P_b).

- *Where b is.* An outcome of 1 lowers no fitted value, so p1 is at least the slope of the minorant
  there. Between two vertices the path is above the chord, so in directions that steep none of its
  points is as low as the next vertex: b is in V.
- *Where a is.* For the same reason no vertex further left is as low as the last one before i: a is
  that vertex v, or after it. Then b runs over the same vertices for all of these a: those after v.
- So p1 is a running maximum of t_a, the slope of the tangent from P_a - (1, 1) to the vertices to
  the right of a. They are convex, so a bisection finds it, for all a at once.
- Only points under the tangent of v can raise the maximum. They are few.
- A score between two others: its row alone has the slope 1, and no slope is larger, so that it can
  only be pooled with what comes next: p1 is that of the next score, and 1 after the last one.

p0 is the same of the path mirrored left to right: slopes turn their sign, and of outcomes, then -1
and 0, 0 is the largest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import _checks
from calibrant._types import FloatArray, IntArray
from calibrant.diagram import Diagram
from calibrant.minorant import minorant


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """p0 and p1 as functions of the score: steps, both of them upwards.

    Attributes
    ----------
    p0_from, p0 : float array
        The score at which each step of p0 begins, and its value; before the first it is 0.
    p1_up_to, p1 : float array
        The score at which each step of p1 ends, itself included, and its value; after the last
        it is 1.
    """

    kind: ClassVar[str] = "pairs"
    p0_from: FloatArray
    p0: FloatArray
    p1_up_to: FloatArray
    p1: FloatArray

    def both(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return p0 and p1 of each score."""
        p0 = np.append(0.0, self.p0)[np.searchsorted(self.p0_from, score, side="right")]
        p1 = np.append(self.p1, 1.0)[np.searchsorted(self.p1_up_to, score, side="left")]
        # next to weights like 1e16 a row of weight 1 is a rounding error
        return p0, np.maximum(p0, p1)

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return one probability for each score: p1 / (1 - p0 + p1)."""
        p0, p1 = self.both(score)
        # every operation of this form is monotone, so that rounding cannot change the ranking
        return np.clip(1.0 / (1.0 + (1.0 - p0) / p1), p0, p1)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain lists."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    @classmethod
    def from_dict(cls, parameters: dict[str, Any]) -> Pairs:
        """Read what `to_dict` wrote, and hold it to what pairs can be."""
        names = [field.name for field in fields(cls)]
        _checks.exactly(parameters, names, "the parameters of pairs")
        pairs = cls(**{name: _checks.numbers_in(parameters, name) for name in names})
        pairs.verify()
        return pairs

    def verify(self) -> None:
        """Refuse steps that go down or leave [0, 1], and a p0 above its p1."""
        for score, value in ((self.p0_from, self.p0), (self.p1_up_to, self.p1)):
            if len(score) != len(value) or len(score) == 0:
                raise _checks.calibrator_unreadable("its columns are empty or differ in length")
            for column in (score, value):
                if not (column >= 0).all() or not (column <= 1).all():
                    raise _checks.calibrator_unreadable("a number is not in [0, 1]")
                if not (column[1:] > column[:-1]).all():
                    raise _checks.calibrator_unreadable("its steps are not in order")
        if self.p1[0] <= 0:
            raise _checks.calibrator_unreadable("p1 is 0 somewhere, which no rows could have given")
        p1 = np.append(self.p1, 1.0)[np.searchsorted(self.p1_up_to, self.p0_from)]
        if (self.p0 > p1 + 1e-9).any():
            raise _checks.calibrator_unreadable("p0 is above p1 somewhere")


class _Path(NamedTuple):
    """The path of a diagram, its minorant, and the largest outcome that there is.

    weight, positives : long double array
        W and S at every point: only differences of them count, and these must be good to the
        last digit of a double.
    vertices : int array
        The points where the minorant bends, both ends included.
    slope : float array
        Of the minorant, between each vertex and the next.
    top : int
        The outcome of the new row.
    """

    weight: NDArray[np.longdouble]
    positives: NDArray[np.longdouble]
    vertices: IntArray
    slope: FloatArray
    top: int

    def mirrored(self) -> _Path:
        """Mirror it left to right: slopes turn their sign, and an outcome of 0 is the largest."""
        end = len(self.weight) - 1
        vertices = end - self.vertices[::-1]
        return _Path(-self.weight[::-1], self.positives[::-1], vertices, -self.slope[::-1], 0)


def pairs_of(diagram: Diagram) -> Pairs:
    """Read p0 and p1 off a diagram whose cells are all opened."""
    cells, found = diagram.cells, minorant(diagram)
    path = _Path(
        np.append(0, np.cumsum(cells.weight, dtype=np.longdouble)),
        np.append(0, np.cumsum(cells.positives, dtype=np.longdouble)),
        np.append(found.first, len(cells)),
        found.value,
        top=1,
    )
    last, p1 = _steps(path)
    first, p0 = _steps(path.mirrored())
    backwards = slice(None, None, -1)
    return Pairs(
        p0_from=cells.score[backwards][first][backwards],
        p0=np.abs(p0[backwards]),  # of values that are not positive, 0 among them
        p1_up_to=cells.score[last],
        p1=p1,
    )


def _steps(path: _Path) -> tuple[IntArray, FloatArray]:
    """Return the steps of p1: the last score of each, and its value."""
    start, block = path.vertices[:-1], np.arange(len(path.vertices) - 1)
    tangent = _tangents(path, start, block)
    others = _under(path, tangent)
    point = np.concatenate([start, others])
    block = np.searchsorted(path.vertices, others, side="right") - 1
    slope = np.concatenate([tangent, _tangents(path, others, block)]).astype(np.float64)
    slope = np.minimum(slope, path.top)  # no mean is larger, except by rounding
    order = np.argsort(point)
    point, slope = point[order], np.maximum.accumulate(slope[order])
    rises = np.append(True, slope[1:] > slope[:-1])
    point, slope = point[rises], slope[rises]
    return np.append(point[1:], path.vertices[-1]) - 1, slope


def _under(path: _Path, tangent: NDArray[np.longdouble]) -> IntArray:
    """Return the points under the line that has the slope of `tangent` from the vertex before."""
    start = path.vertices[:-1]
    points = np.diff(path.vertices)
    weight = path.weight[:-1] - np.repeat(path.weight[start], points)
    positives = path.positives[:-1] - np.repeat(path.positives[start], points)
    return np.flatnonzero(positives < np.repeat(tangent, points) * weight)


def _tangents(path: _Path, point: IntArray, block: IntArray) -> NDArray[np.longdouble]:
    """Return the slope of the tangent from each point, with the new row, to the vertices after it.

    `block` is the vertex at or before each point. The slope to a vertex falls as long as the
    minorant goes on from there less steeply than that.
    """
    low, high = block + 1, np.full(len(block), len(path.slope))
    while (low < high).any():
        middle = (low + high) // 2
        # where the two have met, the last vertex may be the middle: any slope will do
        falls = path.slope[np.minimum(middle, len(path.slope) - 1)] < _slopes(path, point, middle)
        low, high = (
            np.where(falls & (low < high), middle + 1, low),
            np.where(falls, high, middle),
        )
    return _slopes(path, point, low)


def _slopes(path: _Path, point: IntArray, block: IntArray) -> NDArray[np.longdouble]:
    """Return the slope from each point, before the new row, to the vertex with that number."""
    vertex = path.vertices[block]
    rise = path.positives[vertex] - path.positives[point] + path.top
    slope: NDArray[np.longdouble] = rise / (path.weight[vertex] - path.weight[point] + 1)
    return slope
