"""Fitting links: by log loss, by squared loss, or by the calibration error itself.

Log loss is convex in the parameters of every link, so Newton's method finds its minimum. The
other two are not, and the calibration error has many local minima. They have at most three
parameters, so a grid is searched around the minimum of log loss, on rows merged into 2,000 groups;
the best points are improved by Nelder-Mead, and the best of these once more on 50,000 groups. The
grid spans what the guard allows, or, for squared loss, slopes from 0 to steep.

Scores that separate the classes leave log loss without a minimum: the steeper, the better, and a
later surprise would cost hundreds. There, and only there, half a surprise of either kind is spread
over the rows, as Platt's targets spread a whole one.

The guard: a constant at the base rate has no calibration error, so minimising that alone is empty.
Only links count that keep 95% of what the best one gains in log loss over that constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal, Protocol, TypeAlias

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.calibrators.links import Link, LinkFamily, features, inner_ranges
from calibrant.core.newton import Newton

Objective: TypeAlias = Literal["log_loss", "squared", "calibration_error"]
OBJECTIVES = ("log_loss", "squared", "calibration_error")
#: The share of the gain in log loss that may be given up for a smaller calibration error.
GIVEN_UP = 0.05
_HALF_A_SURPRISE = 0.5
MOST_STEPS = 200
#: No step is longer than this, in deviations of the log-odds.
LONGEST_STEP = 8.0
#: Differences of log losses under this share are rounding.
_ROUNDING = 1e-14
#: A step that gains less log loss than this leads to the minimum, as far as doubles go.
SMALL_GAIN = 1e-20
#: Points of the grid along each axis, by the number of parameters.
_GRID = {1: 401, 2: 41, 3: 17}
#: Groups that rows are merged into for the grid, and for the last polish.
FEW_GROUPS, MANY_GROUPS = 2000, 50_000
_POLISHED = 4


@dataclass(frozen=True, eq=False, slots=True)
class Pooled:
    """Rows pooled by score, in order: features, weight, positives, and targets for log loss."""

    x: FloatArray
    weight: FloatArray
    positives: FloatArray
    target: FloatArray

    @staticmethod
    def of(
        x: FloatArray, weight: FloatArray, positives: FloatArray, surprises: float = 0.0
    ) -> Pooled:
        """Prepare features of pooled scores.

        So many `surprises` of either kind are spread over the rows of each class; one makes
        Platt's targets.
        """
        total = float(weight.sum())
        share, rate = weight / total, positives / weight
        if surprises == 0:
            return Pooled(x, share, positives / total, rate)
        low, high = targets(total, float(positives.sum()), surprises)
        rate = low + (high - low) * rate
        return Pooled(x, share, share * rate, rate)

    def grouped(self, groups: int) -> Pooled:
        """Merge neighbours into at most so many groups of equal weight, for a quick look."""
        if self.x.shape[1] <= groups:
            return self
        place = np.cumsum(self.weight) * groups * (1 - 1e-12)
        first = np.flatnonzero(np.append(True, np.diff(place.astype(np.int64)) > 0))
        weight = np.add.reduceat(self.weight, first)

        def mean(values: FloatArray) -> FloatArray:
            found: FloatArray = np.add.reduceat(values * self.weight, first, axis=-1) / weight
            return found

        positives = np.add.reduceat(self.positives, first)
        return Pooled(mean(self.x), weight, positives, mean(self.target))

    def log_loss(self, theta: FloatArray) -> float:
        """Return the mean log loss against the targets."""
        score = theta @ self.x
        return float(self.weight @ (np.logaddexp(0, score) - self.target * score))

    @property
    def rate(self) -> float:
        """The mean of the targets."""
        return float(self.weight @ self.target)

    def climb(
        self, basis: FloatArray, start: FloatArray, active: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Minimise log loss over the active parameters by Newton's method.

        A step is halved until it gains a fair part of what its slope says (Armijo), up to
        rounding, which makes the method converge from anywhere: far out the curvature says little.
        """
        climb, curvature = Newton(start, LONGEST_STEP), np.eye(len(start))
        x = basis.T @ self.x
        best, gain = np.inf, 0.0
        for _ in range(MOST_STEPS):
            odds = basis @ climb.point
            loss = self.log_loss(odds)
            if loss > best - 1e-4 * gain + _ROUNDING * best:
                climb.turn_back()
                gain /= 2
                continue
            best = loss
            p = self.probability(odds)
            curvature = (x * (self.weight * p * (1 - p))) @ x.T
            step, gradient = newton_step(x @ (self.weight * (self.target - p)), curvature, active)
            climb.go(step, gradient)
            gain = climb.rise
            if gain <= SMALL_GAIN and not climb.shortened:
                break
        return climb.point, curvature

    def squared(self, theta: FloatArray) -> float:
        """Return the mean squared loss, up to what does not depend on theta."""
        p = self.probability(theta)
        return float(self.weight @ (p * p) - 2 * (self.positives @ p))

    def calibration_error(self, theta: FloatArray) -> float:
        """Return the range of observed minus predicted: the paper's objective."""
        walk = np.cumsum(self.positives - self.weight * self.probability(theta))
        return float(max(walk.max(), 0.0) - min(walk.min(), 0.0))

    def probability(self, theta: FloatArray) -> FloatArray:
        """Return the probability at each score."""
        from scipy.special import expit

        found: FloatArray = expit(theta @ self.x)
        return found


def targets(total: float, events: float, surprises: float) -> tuple[float, float]:
    """Return what stands for the outcomes 0 and 1 if surprises are spread over the rows."""
    if surprises == 0:
        return 0.0, 1.0
    high = (events + surprises) / (events + 2 * surprises)
    return surprises / (total - events + 2 * surprises), high


def surprises_of(
    family: LinkFamily,
    objective: Objective,
    x: FloatArray,
    weight: FloatArray,
    positives: FloatArray,
) -> float:
    """Return how many surprises of either kind log loss is fitted with.

    The rows with the extreme scores, of all and of either class, say as much as all rows.
    """
    if family.platts_targets and objective == "log_loss":
        return 1.0
    return _HALF_A_SURPRISE if _separated(family, x, weight, positives) else 0.0


def fit_link(
    family: LinkFamily,
    score: FloatArray,
    weight: FloatArray,
    positives: FloatArray,
    objective: Objective = "log_loss",
) -> Link:
    """Fit a link to pooled scores in order."""

    def fitted(ends: tuple[float, float]) -> tuple[float, Pooled, Best]:
        x = features(score, *ends)
        surprises = surprises_of(family, objective, x, weight, positives)
        data = Pooled.of(x, weight, positives, surprises)
        best = least_log_loss(data, standard(data, family), family.slopes)
        return data.log_loss(best.theta), data, best

    choices = inner_ranges(score)
    ends = choices[0]
    least, data, best = fitted(choices[0])
    for other in choices[1:]:  # one at a time, because the features of each take memory
        loss, others, found = fitted(other)
        if loss < least:
            least, ends, data, best = loss, other, others, found
    if objective == "log_loss":
        return link_of(best.theta, ends)
    few, many = data.grouped(FEW_GROUPS), data.grouped(MANY_GROUPS)
    return link_of(search(least, few, many, best, objective), ends)


def link_of(theta: FloatArray, ends: tuple[float, float]) -> Link:
    """Return the link of (a, b, c), with what scores count as at least and at most."""
    a, b, c = (float(value) for value in theta)
    return Link(max(a, 0.0), max(b, 0.0), c, *ends)


def _separated(
    family: LinkFamily, x: FloatArray, weight: FloatArray, positives: FloatArray
) -> bool:
    """Whether a steeper link always fits better: no event lies below a row without one.

    Every link grows with the score. With a shift its zero can be anywhere; without, as in
    temperature scaling, it is at 1/2. Both classes may share the score of the zero, where the slope
    makes no difference.
    """
    odds = x[0] + x[1]
    event, none = odds[positives > 0], odds[positives < weight]
    if not family.has_shift:
        return bool(event.min() >= 0 >= none.max() and odds.any())
    return bool(event.min() >= none.max() and odds.max() > odds.min())


@dataclass(frozen=True, eq=False, slots=True)
class Best:
    """The minimum of log loss: free parameters, what they mean, and the curvature there."""

    free: FloatArray
    basis: FloatArray
    slopes: int
    curvature: FloatArray

    @property
    def theta(self) -> FloatArray:
        """The parameters (a, b, c)."""
        theta: FloatArray = self.basis @ self.free
        return theta


class Climber(Protocol):
    """What minimises log loss over some of the parameters, and says what it is."""

    def climb(
        self, basis: FloatArray, start: FloatArray, active: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return where it is least over the active parameters, and the curvature there."""

    def log_loss(self, theta: FloatArray) -> float:
        """Return the mean log loss of (a, b, c)."""

    @property
    def rate(self) -> float:
        """The mean of the targets."""


def standard(data: Pooled, family: LinkFamily) -> FloatArray:
    """Return the basis in coordinates where features have deviation 1, and mean 0 with a shift.

    Scores may lie within a millionth of each other, or far out; steps and grids then still fit.
    """
    basis, slopes = family.basis, family.slopes
    x = basis.T @ data.x
    center = x[:slopes] @ data.weight if family.has_shift else np.zeros(slopes)
    spread = np.sqrt(np.square(x[:slopes] - center[:, None]) @ data.weight)
    spread = np.where(spread > 0, spread, 1.0)
    to_free = np.eye(len(x))
    to_free[:slopes, :slopes] = np.diag(1 / spread)
    if family.has_shift:
        to_free[slopes, :slopes] = -center / spread
    standard: FloatArray = basis @ to_free
    return standard


def least_log_loss(data: Climber, basis: FloatArray, slopes: int) -> Best:
    """Minimise log loss over slopes that are not negative.

    The problem is convex, so its minimum is that of one face: some slopes at 0, the others free.
    There are at most four, and the first one is almost always it.
    """
    start = np.zeros(basis.shape[1])
    start[slopes:] = np.log(
        data.rate / (1 - data.rate)
    )  # a constant, which nothing may be worse than
    faces: list[tuple[float, Best]] = []
    for fixed in sorted(product([False, True], repeat=slopes), key=sum):
        active = np.append(~np.array(fixed), np.ones(basis.shape[1] - slopes, dtype=bool))
        free, curvature = data.climb(basis, start, active)
        if (free[:slopes] >= 0).all():
            found = Best(free, basis, slopes, curvature)
            if not any(fixed):
                return found
            faces.append((data.log_loss(found.theta), found))
    return min(faces, key=lambda face: face[0])[1]


def newton_step(
    gradient: FloatArray, curvature: FloatArray, active: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the step that Newton's method takes along the active parameters, and the slope."""
    gradient = np.where(active, gradient, 0.0)
    ridge = 1e-12 * np.trace(curvature) + 1e-300
    inner = np.where(np.outer(active, active), curvature, 0.0)
    inner += np.diag(np.where(active, ridge, 1.0))
    return np.asarray(np.linalg.solve(inner, gradient), dtype=np.float64), gradient


def _grid(best: Best, gain: float) -> FloatArray:
    """Return points around the minimum, out to where log loss is about `gain` worse."""
    size = len(best.free)
    values, vectors = np.linalg.eigh(best.curvature)
    reach = np.sqrt(2 * gain / np.maximum(values, 1e-12 * values.max() + 1e-300))
    axis = np.linspace(-1.5, 1.5, _GRID[size])
    mesh = np.stack(np.meshgrid(*[axis] * size, indexing="ij"), axis=-1).reshape(-1, size)
    points: FloatArray = best.free + (mesh * np.minimum(reach, 50.0)) @ vectors.T
    return points[(points[:, : best.slopes] >= 0).all(axis=1)]


def _wide_grid(best: Best, rate: float) -> FloatArray:
    """Return points all over: slopes from nothing to steep, shifts from never to always."""
    steep, shifts = {1: (200, 1), 2: (30, 25), 3: (12, 13)}[len(best.free)]
    slope = np.append(0.0, np.geomspace(0.02, 100, steep))
    axes = [slope] * best.slopes
    if len(best.free) > best.slopes:
        axes.append(np.log(rate / (1 - rate)) + np.linspace(-6, 6, shifts))
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack(mesh, axis=-1).reshape(-1, len(best.free))


def search(least: float, few: Pooled, many: Pooled, best: Best, objective: Objective) -> FloatArray:
    """Find the least value of an objective that may have many local minima: return (a, b, c).

    `least` is the log loss at its minimum, `best`; the rows come merged into few and more groups.
    """
    from scipy.optimize import minimize

    rate = many.rate
    constant = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate))
    gain = max(constant - least, 0.0)
    if objective == "calibration_error":
        gain *= GIVEN_UP
    quick, slow = (_objective(some, best, objective, gain) for some in (few, many))

    def polished(value: Callable[[FloatArray], float], start: FloatArray) -> FloatArray:
        options = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 400}
        found: FloatArray = minimize(value, start, method="Nelder-Mead", options=options).x
        return found

    grid = _wide_grid(best, rate) if objective == "squared" else _grid(best, gain)
    order = np.argsort([quick(free) for free in grid], kind="stable")[:_POLISHED]
    starts = [best.free, *grid[order]]
    nearby = min((polished(quick, start) for start in starts), key=quick)
    theta: FloatArray = best.basis @ min((best.free, polished(slow, nearby)), key=slow)
    return theta


def _objective(
    data: Pooled, best: Best, objective: Objective, gain: float
) -> Callable[[FloatArray], float]:
    """Return what is minimised; outside of what is allowed it is larger than any value inside."""
    allowed = data.log_loss(best.theta) + gain

    def value(free: FloatArray) -> float:
        if (free[: best.slopes] < 0).any():
            return 3.0
        theta = best.basis @ free
        if objective == "squared":
            return data.squared(theta)
        over = data.log_loss(theta) - allowed
        return min(2.0, 1.0 + over) if over > 1e-12 else data.calibration_error(theta)

    return value
