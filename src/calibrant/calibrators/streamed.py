"""Streamed: links fitted to more rows than are held at once, in memory that does not grow.

Log loss and its derivatives are sums over rows, so Newton's method needs no more than these. Rows
merged with their neighbours, such as cells, lead nearly to the minimum, and one or two looks at all
rows finish the work: what comes out is the minimum over the rows, not over the groups.

What log loss is fitted with depends on few rows besides: those with the least and the greatest
score, of all rows, of those inside (0, 1), and of either class.

The other objectives are searched for on rows merged into groups, which are made chunk by chunk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from calibrant._types import AnyArray, BoolArray, FloatArray
from calibrant.calibrators.fitting import (
    FEW_GROUPS,
    LONGEST_STEP,
    MANY_GROUPS,
    MOST_STEPS,
    SMALL_GAIN,
    Best,
    Objective,
    Pooled,
    least_log_loss,
    link_of,
    newton_step,
    search,
    standard,
    surprises_of,
    targets,
)
from calibrant.calibrators.links import Link, LinkFamily, features, inner_ranges
from calibrant.core.arrays import Sums
from calibrant.core.diagram import Diagram, Source, resolve
from calibrant.core.expressions import LABEL, SCORE, Expression, col, when
from calibrant.core.newton import Newton

#: After a step this small, in deviations of the features, the next would be its square.
_SMALL_STEP = 1e-7
#: Ends whose log losses on groups differ by a smaller share than this are told apart on the rows.
_CLOSE = 1e-4
#: Rows that are added up at a time, which fit in the cache, and those merged into one group.
_STEP, _MERGED = 1 << 15, 128


class PooledScores(NamedTuple):
    """Pooled scores, or groups of them that stand at their mean, in order."""

    score: FloatArray
    weight: FloatArray
    positives: FloatArray


#: Pooled scores in order, chunk by chunk, as often as they are asked for.
Chunks: TypeAlias = Callable[[], Iterator[PooledScores]]


class Streamed(Protocol):
    """Rows that are not held, of which a few numbers are known.

    Attributes
    ----------
    few : PooledScores
        All of them, merged with their neighbours.
    ends : PooledScores
        The pooled scores that are the least and the greatest: of all, of those inside (0, 1), of
        rows with the event and of rows without it.
    weight : float
        What all of them weigh, as they are added up.
    """

    few: PooledScores
    ends: PooledScores
    weight: float

    def total(self, sums: Sums, /, **numbers: float) -> FloatArray:
        """Add up expressions of `SCORE` and `LABEL` over the rows, each times its weight."""


def fit_streamed(family: LinkFamily, rows: Streamed) -> Link:
    """Fit a link by log loss to rows that are looked at as seldom as can be."""
    near = [_Near.of(family, rows, ends) for ends in inner_ranges(rows.ends.score)]
    least = min(one.loss for one in near)
    near = [one for one in near if one.loss <= least + _CLOSE * abs(least)]
    if len(near) > 1:
        near = [min(near, key=lambda one: one.on(rows).log_loss(one.best.theta))]
    [found] = near
    best = least_log_loss(found.on(rows), found.best.basis, family.slopes)
    return link_of(best.theta, found.ends)


def fit_chunks(family: LinkFamily, chunks: Chunks, objective: Objective) -> Link:
    """Fit a link to pooled scores that come in chunks, by any objective."""
    rows = ChunkRows(chunks)
    if objective == "log_loss":
        return fit_streamed(family, rows)
    near = [_Near.of(family, rows, ends, objective) for ends in inner_ranges(rows.ends.score)]
    exact = [(one.on(rows).log_loss(one.best.theta), one) for one in near]
    _, found = min(exact, key=lambda one: one[0])
    model = found.on(rows)
    best = least_log_loss(model, found.best.basis, family.slopes)
    few, many = (_grouped(rows, found, groups) for groups in (FEW_GROUPS, MANY_GROUPS))
    theta = search(model.log_loss(best.theta), few, many, best, objective)
    return link_of(theta, found.ends)


class _Near(NamedTuple):
    """The minimum over groups of rows, for one choice of what scores count as at most."""

    ends: tuple[float, float]
    surprises: float
    groups: Pooled
    best: Best
    loss: float

    @staticmethod
    def of(
        family: LinkFamily,
        rows: Streamed,
        ends: tuple[float, float],
        objective: Objective = "log_loss",
    ) -> _Near:
        """Fit the groups."""
        last = rows.ends
        surprises = surprises_of(
            family, objective, features(last.score, *ends), last.weight, last.positives
        )
        x = features(rows.few.score, *ends)
        groups = Pooled.of(x, rows.few.weight, rows.few.positives, surprises)
        best = least_log_loss(groups, standard(groups, family), family.slopes)
        return _Near(ends, surprises, groups, best, groups.log_loss(best.theta))

    def on(self, rows: Streamed) -> _RowModel:
        """Return the same problem over the rows themselves."""
        return _RowModel(rows, self)


class _RowModel:
    """Log loss over rows, minimised from where the groups have it least."""

    def __init__(self, rows: Streamed, near: _Near) -> None:
        self._rows, self._groups, self._slopes = rows, near.groups, near.best.slopes
        none, event = _targets(rows, near)
        low, high = near.ends
        self._numbers = {"low": low, "high": high, "none": none, "gain": event - none}
        self.rate = near.groups.rate

    def log_loss(self, theta: FloatArray) -> float:
        """Return the mean log loss of (a, b, c)."""
        a, b, c = theta.tolist()
        [loss] = self._rows.total(_loss_sums(), a=a, b=b, c=c, **self._numbers)
        return float(loss) / self._rows.weight

    def climb(
        self, basis: FloatArray, start: FloatArray, active: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Minimise log loss over the active parameters by Newton's method, gradients alone."""
        near, curvature = self._groups.climb(basis, start, active)
        climb = Newton(near, LONGEST_STEP)
        for _ in range(MOST_STEPS):
            gradient, curvature = self._slope(basis, climb.point)
            if climb.turned_back(np.where(active, gradient, 0.0)):
                continue
            step, gradient = newton_step(gradient, curvature, active)
            climb.go(step, gradient)
            small = climb.rise <= SMALL_GAIN or float(np.abs(step).max()) <= _SMALL_STEP
            if small and not climb.shortened:
                break
        return climb.point, curvature

    def _slope(self, basis: FloatArray, free: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and curvature of the log-likelihood, in coordinates of the basis."""
        size, slopes = basis.shape[1], self._slopes
        numbers = {f"t{k}": value for k, value in enumerate(free.tolist())}
        for k in range(slopes):
            numbers |= dict(zip((f"a{k}", f"b{k}", f"c{k}"), basis[:, k].tolist(), strict=True))
        found = self._rows.total(_slope_sums(slopes, size > slopes), **numbers, **self._numbers)
        found = found / self._rows.weight
        curvature = np.zeros((size, size))
        curvature[np.triu_indices(size)] = found[size:]
        return found[:size], curvature + np.triu(curvature, 1).T


def _targets(rows: Streamed, near: _Near) -> tuple[float, float]:
    """Return what stands for the outcomes 0 and 1."""
    few = rows.few
    return targets(float(few.weight.sum()), float(few.positives.sum()), near.surprises)


def _features() -> tuple[Expression, Expression]:
    """Return ln p and -ln(1 - p), which is as exact as log1p for the smallest p (Kahan)."""
    inner = SCORE.within(col("low"), col("high"))
    left = 1 - inner
    taken = 1 - left
    some = taken > 0
    ratio = (0 - left.log()) * (1 / when(some, taken, 1.0))
    return inner.log(), inner * when(some, ratio, 1.0)


def _target() -> Expression:
    return LABEL * col("gain") + col("none")


@cache
def _loss_sums() -> Sums:
    """Return the log loss of a link over rows."""
    log_p, log_q = _features()
    odds = log_p * col("a") + log_q * col("b") + col("c")
    positive = odds > 0
    size = when(positive, odds, 0 - odds)
    both = when(positive, odds, 0.0) - size.sigmoid().log()
    return Sums(both - _target() * odds)


@cache
def _slope_sums(slopes: int, shift: bool) -> Sums:
    """Return the gradient of the log-likelihood, and the upper half of its curvature."""
    log_p, log_q = _features()
    x = [log_p * col(f"a{k}") + log_q * col(f"b{k}") + col(f"c{k}") for k in range(slopes)]
    odds = x[0] * col("t0")
    for k in range(1, slopes):
        odds = odds + x[k] * col(f"t{k}")
    if shift:
        odds = odds + col(f"t{slopes}")
    mean = odds.sigmoid()
    left, spread = _target() - mean, mean * (1 - mean)
    once = [spread * one for one in x]
    gradient = [left * one for one in x] + ([left] if shift else [])
    curvature: list[Expression] = []
    for k in range(slopes):
        curvature += [once[k] * one for one in x[k:]] + ([once[k]] if shift else [])
    return Sums(*gradient, *curvature, *([spread] if shift else []))


class SourceRows:
    """Rows where they live, in memory or in an engine."""

    def __init__(self, source: Source) -> None:
        diagram = resolve(source, ends_need)
        cells = diagram.cells
        # Platt's targets count rows: weights that do not are scaled to one a row on average
        scale = diagram.count / diagram.weight
        mean = np.clip(cells.mass / cells.weight, cells.low, cells.high)
        score = np.where(cells.single, cells.score, mean)
        self.few = PooledScores(score, scale * cells.weight, scale * cells.positives)
        self.ends = PooledScores(*(column[_ends_of(diagram)] for column in self.few))
        self.weight, self._source = diagram.weight, source

    def total(self, sums: Sums, /, **numbers: float) -> FloatArray:
        """Add up expressions over the rows."""
        found = self._source.total(sums, **numbers)
        assert found is not None  # noqa: S101 -- there are rows
        return found


def ends_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that hold the least and the greatest scores, until these are known."""
    needed = np.zeros(len(diagram.cells), dtype=bool)
    needed[_ends_of(diagram)] = True
    return needed & ~diagram.cells.single


def _ends_of(diagram: Diagram) -> AnyArray:
    cells = diagram.cells
    # np.nan, the score of a closed cell, is neither 0 nor 1
    return _first_and_last(
        (cells.score != 0) & (cells.score != 1), cells.positives > 0, cells.positives < cells.weight
    )


def _first_and_last(*which: BoolArray) -> AnyArray:
    """Return the first and the last place of all, and of those that are marked."""
    found = [np.array([0, len(which[0]) - 1])]
    for marked in which:
        place = np.flatnonzero(marked)
        found.append(place[[0, -1]] if place.size else place)
    places: AnyArray = np.unique(np.concatenate(found))
    return places


class ChunkRows:
    """Pooled scores in order that come in chunks; what is held are groups of neighbours."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        groups, ends = [], []
        for chunk in chunks():
            groups.append(_merged(chunk))
            ends.append(_ends_in(chunk))
        self.few = PooledScores(*map(np.concatenate, zip(*groups, strict=True)))
        # the ends of every chunk have those of all chunks among them
        self.ends = PooledScores(*map(np.concatenate, zip(*ends, strict=True)))
        self.weight = float(self.few.weight.sum())

    def total(self, sums: Sums, /, **numbers: float) -> FloatArray:
        """Add up expressions over the pooled scores, on all cores, in one order."""

        def over(part: PooledScores) -> FloatArray:
            columns = {"f": part.score, "y": part.positives / part.weight}
            return sums.over({**columns, **numbers}, part.weight)

        found = np.zeros(len(sums.each))
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for chunk in self.chunks():
                for part in pool.map(over, _parts(chunk)):
                    found += part
        return found


def _parts(chunk: PooledScores) -> Iterator[PooledScores]:
    for start in range(0, len(chunk.score), _STEP):
        yield PooledScores(*(column[start : start + _STEP] for column in chunk))


def _ends_in(chunk: PooledScores) -> PooledScores:
    inner = (chunk.score > 0) & (chunk.score < 1)
    places = _first_and_last(inner, chunk.positives > 0, chunk.positives < chunk.weight)
    return PooledScores(*(column[places] for column in chunk))


def _merged(chunk: PooledScores) -> PooledScores:
    """Merge neighbours, but not with scores of 0 and 1, which count as something else."""
    place = np.arange(len(chunk.score)) // _MERGED
    kind = np.where(chunk.score == 0, -1, np.where(chunk.score == 1, 1, 0))
    first = np.flatnonzero(np.append(True, (np.diff(place) > 0) | (np.diff(kind) != 0)))
    weight = np.add.reduceat(chunk.weight, first)
    mass = np.add.reduceat(chunk.weight * chunk.score, first)
    last = np.append(first[1:], len(place)) - 1
    mean = np.clip(mass / weight, chunk.score[first], chunk.score[last])
    return PooledScores(mean, weight, np.add.reduceat(chunk.positives, first))


def _grouped(rows: ChunkRows, near: _Near, groups: int) -> Pooled:
    """Merge neighbours into so many groups of equal weight at their mean features."""
    none, event = _targets(rows, near)
    sums = np.zeros((6, groups + 1))  # three features, weight, positives, target
    before = 0.0
    for chunk in rows.chunks():
        share, rate = chunk.weight / rows.weight, chunk.positives / chunk.weight
        up_to = np.cumsum(np.append(before, share))[1:]
        before = float(up_to[-1])
        place = (up_to * groups * (1 - 1e-12)).astype(np.int64)
        first = np.flatnonzero(np.append(True, np.diff(place) > 0))
        target = none + (event - none) * rate
        positives = share * (target if near.surprises else rate)
        columns = [*(features(chunk.score, *near.ends) * share), share, positives, share * target]
        for row, column in zip(sums, columns, strict=True):
            row[place[first]] += np.add.reduceat(column, first)
    sums = sums[:, sums[3] > 0]
    weight = sums[3]
    return Pooled(sums[:3] / weight, weight, sums[4], sums[5] / weight)
