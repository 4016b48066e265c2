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
- Only points under the line from v with the slope t_v can raise the maximum. They are few, and a
  cell stays closed if the path cannot get there in it.
- A score between two others: its row alone has the slope 1, and no slope is larger, so that it can
  only be pooled with what comes next: p1 is that of the next score, and 1 after the last one.

p0 is the same of the path mirrored left to right: slopes turn their sign, and of outcomes, then -1
and 0, 0 is the largest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.calibrators.reading import calibrator_unreadable, exactly, numbers_in
from calibrant.core.diagram import Diagram
from calibrant.core.double_double import DoubleDouble, running_sum
from calibrant.core.minorant import minorant

#: A point this close to a line, as a share of its height, is compared with all digits: far more
#: than doubles are off.
_NEAR = 1e-9


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

    def __len__(self) -> int:
        return len(self.p0) + len(self.p1)

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

    def steps(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores at which the probability changes, 0 first, and what it is from there.

        A step that ends at a score, itself included, is followed by one from the next double on.
        """
        after = np.nextafter(self.p1_up_to, 2.0)
        edges = np.unique(np.concatenate([[0.0], self.p0_from, after[after <= 1]]))
        value = self(edges)
        new = np.append(True, value[1:] > value[:-1])
        return edges[new], value[new]

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain lists."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    @classmethod
    def from_dict(cls, parameters: dict[str, Any]) -> Pairs:
        """Read what `to_dict` wrote, and hold it to what pairs can be."""
        names = [field.name for field in fields(cls)]
        exactly(parameters, names, "the parameters of pairs")
        pairs = cls(**{name: numbers_in(parameters, name) for name in names})
        pairs.verify()
        return pairs

    def verify(self) -> None:
        """Refuse steps that go down or leave [0, 1], and a p0 above its p1."""
        for score, value in ((self.p0_from, self.p0), (self.p1_up_to, self.p1)):
            if len(score) != len(value) or len(score) == 0:
                raise calibrator_unreadable("its columns are empty or differ in length")
            for column in (score, value):
                if not (column >= 0).all() or not (column <= 1).all():
                    raise calibrator_unreadable("a number is not in [0, 1]")
                if not (column[1:] > column[:-1]).all():
                    raise calibrator_unreadable("its steps are not in order")
        if self.p1[0] <= 0:
            raise calibrator_unreadable("p1 is 0 somewhere, which no rows could have given")
        p1 = np.append(self.p1, 1.0)[np.searchsorted(self.p1_up_to, self.p0_from)]
        if (self.p0 > p1 + 1e-9).any():
            raise calibrator_unreadable("p0 is above p1 somewhere")


class _Path(NamedTuple):
    """The path of a diagram, its minorant, and the largest outcome that there is.

    weight, positives : double-double array
        W and S at every point: only differences of them count, so they take more digits than a
        double has.
    corner_weight, corner_positives : double-double array
        The lowest point that the path can have in each cell: all of its negatives come first.
    vertices : int array
        The points where the minorant bends, both ends included.
    slope : float array
        Of the minorant, between each vertex and the next.
    top : int
        The outcome of the new row.
    """

    weight: DoubleDouble
    positives: DoubleDouble
    corner_weight: DoubleDouble
    corner_positives: DoubleDouble
    vertices: IntArray
    slope: FloatArray
    top: int

    def mirrored(self) -> _Path:
        """Mirror it left to right: slopes turn their sign, and an outcome of 0 is the largest."""
        return _Path(
            -self.weight[::-1],
            self.positives[::-1],
            -self.corner_weight[::-1],
            self.corner_positives[::-1],
            self.vertices[-1] - self.vertices[::-1],
            -self.slope[::-1],
            top=0,
        )


def _path(diagram: Diagram) -> _Path:
    cells, found = diagram.cells, minorant(diagram)
    weight, positives = running_sum(cells.weight), running_sum(cells.positives)
    return _Path(
        weight,
        positives,
        weight[:-1] + DoubleDouble.of(cells.weight - cells.positives),
        positives[:-1],
        np.append(found.first, len(cells)),
        found.value,
        top=1,
    )


def pairs_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that can hold a vertex or the end of a tangent, and those at ends of steps.

    A tangent is no flatter than the minorant there, so what is under the minorant is under it.
    """
    closed = ~diagram.single
    if not closed.any():
        return closed
    path = _path(diagram)
    mirrored = path.mirrored()
    needed = closed & (_low(path, closed) | _low(mirrored, closed[::-1])[::-1])
    if not needed.any():
        # where weights are so large that rounding hides the new row, they may still be closed
        needed[_steps(path)[0]] = True
        needed[::-1][_steps(mirrored)[0]] = True
    return needed


def pairs_of(diagram: Diagram) -> Pairs:
    """Read p0 and p1 off a diagram resolved for them."""
    path, score = _path(diagram), diagram.cells.score
    last, p1 = _steps(path)
    first, p0 = _steps(path.mirrored())
    return Pairs(
        p0_from=score[::-1][first][::-1],
        p0=np.abs(p0[::-1]),  # of values that are not positive, 0 among them
        p1_up_to=score[last],
        p1=p1,
    )


def _steps(path: _Path) -> tuple[IntArray, FloatArray]:
    """Return the steps of p1: the last score of each, and its value."""
    start = path.vertices[:-1]
    tangent = _tangents(path, start, np.arange(len(start)))
    # only points under the line from the vertex before them have a steeper tangent
    others = np.flatnonzero(_under(path, tangent, path.weight[:-1], path.positives[:-1]))
    block = np.searchsorted(path.vertices, others, side="right") - 1
    point = np.concatenate([start, others])
    slope = np.concatenate([tangent.high, _tangents(path, others, block).high])
    slope = np.minimum(slope, path.top)  # no mean is larger, except by rounding
    order = np.argsort(point)
    point, slope = point[order], np.maximum.accumulate(slope[order])
    rises = np.append(True, slope[1:] > slope[:-1])
    point, slope = point[rises], slope[rises]
    return np.append(point[1:], path.vertices[-1]) - 1, slope


def _low(path: _Path, closed: BoolArray) -> BoolArray:
    """Mark closed cells in which the path can get under the tangent of the vertex before."""
    start = path.vertices[:-1]
    block = np.flatnonzero(np.logical_or.reduceat(closed, start))
    tangent = _tangents(path, start[block], block)
    # the minorant's slope will do where every cell is opened
    slope, rest = path.slope.copy(), np.zeros(len(start))
    slope[block], rest[block] = tangent.high, tangent.low
    lines = DoubleDouble(slope, rest)
    return closed & _under(path, lines, path.corner_weight, path.corner_positives)


def _under(
    path: _Path, tangent: DoubleDouble, weight: DoubleDouble, positives: DoubleDouble
) -> BoolArray:
    """Mark points, one for each cell, under the line from the vertex before with that slope."""
    start, cells = path.vertices[:-1], np.diff(path.vertices)
    run = weight.minus(path.weight[start].repeat(cells))
    rise = positives.minus(path.positives[start].repeat(cells))
    line = np.repeat(tangent.high, cells) * run
    # most points are far above the line, and doubles can tell
    under: BoolArray = rise < line + _NEAR * np.abs(line)
    near = np.flatnonzero(under)
    block = np.searchsorted(path.vertices, near, side="right") - 1
    wide_run = weight[near] - path.weight[start[block]]
    wide_rise = positives[near] - path.positives[start[block]]
    under[near] = wide_rise < tangent[block] * wide_run
    return under


def _tangents(path: _Path, point: IntArray, block: IntArray) -> DoubleDouble:
    """Return the slope of the tangent from each point, with the new row, to the vertices after it.

    `block` is the vertex at or before each point. The slope to a vertex falls as long as the
    minorant goes on from there less steeply than that.
    """
    vertex_weight, vertex_positives = path.weight[path.vertices], path.positives[path.vertices]
    weight, positives = path.weight[point], path.positives[point]
    # after the last vertex there is none to go on to
    onwards = np.append(path.slope, np.inf)
    low, high = block + 1, np.full(len(block), len(path.slope))
    while (low < high).any():
        middle = (low + high) // 2
        # the new row last, or it would be lost next to large sums
        rise = vertex_positives[middle].minus(positives) + path.top
        slope = rise / (vertex_weight[middle].minus(weight) + 1)
        falls = onwards[middle] < slope  # if they tie, either vertex is on the tangent
        low, high = (
            np.where(falls, np.minimum(middle + 1, high), low),
            np.where(falls, high, middle),
        )
    # with all digits: equal slopes must come out equal, or a step would be cut in two
    tall = (vertex_positives[low] - positives) + DoubleDouble.of(path.top)
    return tall / ((vertex_weight[low] - weight) + DoubleDouble.of(1.0))
