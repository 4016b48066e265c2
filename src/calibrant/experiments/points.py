"""Point laws: a domain of points, a label for each row, and the adversaries of Theorem 1.

An adversary has the same marginal law, but each point has one label for good.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.data import refusals
from calibrant.errors import InputError

#: Gives the probability f(x) of the event at each of some points.
Scores: TypeAlias = Callable[[IntArray], FloatArray]
#: Points of the domain that are looked at together, so that no array is ever as long as it.
_CHUNK = 1 << 18
#: Masses may miss 1 by this much, from rounding.
_ROUNDING = 1e-9


class SampledRows(NamedTuple):
    """Rows drawn from a law: the point and the label of each."""

    x: IntArray
    y: BoolArray


@dataclass(frozen=True, eq=False)
class PointLaw:
    """A law over the points 0, ..., points - 1 and a label, as in Theorem 1.

    Attributes
    ----------
    points : int
        Size of the domain.
    f : callable or array
        f(x), the probability of label 1: a function of an array of points, or a value for each.
    masses : array, optional
        Probability of each point; all the same unless given.
    label_key : int, optional
        None if labels are drawn anew for each row. Otherwise each point has one label for good,
        a function of this key: see `adversary`.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Theorem 1 and the lemma in its proof.

    Examples
    --------
    >>> from calibrant.experiments.points import PointLaw
    >>> law = PointLaw(4, [0.5, 0.5, 0.25, 1.0])
    >>> law.b_f, law.l1_error(law.scores)
    (0.3125, 0.0)
    >>> law.adversary(seed=1).l1_error(law.scores) >= law.b_f
    True
    """

    points: int
    f: Scores | Sequence[float] | FloatArray
    masses: Sequence[float] | FloatArray | None = None
    label_key: int | None = None

    def __post_init__(self) -> None:
        errors.whole_number("points", self.points, least=1)
        if not callable(self.f):
            _per_point("f", self.f, self.points)
        if self.masses is not None:
            masses = _per_point("masses", self.masses, self.points)
            least, total = float(masses.min()), float(masses.sum())
            if not (least >= 0 and abs(total - 1) <= _ROUNDING):
                raise _masses_no_law(least, total)

    @cached_property
    def _table(self) -> FloatArray:
        return np.asarray(self.f, dtype=np.float64)

    @cached_property
    def _masses(self) -> FloatArray:
        return np.asarray(self.masses, dtype=np.float64)

    @cached_property
    def _cumulative(self) -> FloatArray:
        steps = np.cumsum(self._masses)
        ends: FloatArray = steps / steps[-1]
        return ends

    def scores(self, x: IntArray) -> FloatArray:
        """Return f at some points."""
        found = np.asarray(self.f(x) if callable(self.f) else self._table[x], dtype=np.float64)
        if found.shape != x.shape:
            raise _not_one_per_point("f", found.shape, len(x))
        inside = (found >= 0) & (found <= 1)  # false for NaN
        if not inside.all():
            first = int(np.argmin(inside))
            raise _not_a_probability("f", int(x[first]), float(found[first]))
        return found

    def truth(self, x: IntArray) -> FloatArray:
        """Return the true probability of label 1 at some points: under an adversary 0 or 1."""
        scores = self.scores(x)
        if self.label_key is None:
            return scores
        return (_uniform(self.label_key, x) < scores).astype(np.float64)

    def draw(self, n: int, *, seed: int = 0) -> SampledRows:
        """Draw n independent rows; the same seed gives the same rows.

        Examples
        --------
        >>> from calibrant.experiments.points import PointLaw
        >>> law = PointLaw(10, [0.5] * 10).adversary(seed=1)
        >>> x, y = law.draw(1000, seed=2)
        >>> len({(int(a), bool(b)) for a, b in zip(x, y)})  # each point has one label
        10
        """
        n = errors.whole_number("n", n, least=1)
        rng = np.random.default_rng([1, errors.whole_number("seed", seed, least=0)])
        if self.masses is None:
            x = rng.integers(0, self.points, n)
        else:
            x = np.searchsorted(self._cumulative, rng.random(n), side="right").astype(np.int64)
        return SampledRows(x, rng.random(n) < self.truth(x))

    def adversary(self, seed: int = 0) -> PointLaw:
        """Draw an adversary P': the same marginal, and each x has one label for good.

        The label of x is 1 with probability f(x), independently of other points. It is computed
        from x and the seed whenever it is needed, so nothing is stored. A law whose labels are
        fixed already is its own adversary.
        """
        seed = errors.whole_number("seed", seed, least=0)
        if self.label_key is not None:
            return self
        key = np.random.SeedSequence([2, seed]).generate_state(1, np.uint64)[0]
        return replace(self, label_key=int(key))

    def l1_error(self, f: Scores) -> float:
        """Return l1(f, P) = E |f(X) - P(Y=1|X)|."""
        return self._mean(lambda x: np.abs(f(x) - self.truth(x)))

    @cached_property
    def b_f(self) -> float:
        """B_f = E min(f, 1 - f): what l1(f, P') is at least, for every adversary P'."""
        return self._mean(lambda x: np.minimum(self.scores(x), 1 - self.scores(x)))

    @cached_property
    def mean_adversary_l1(self) -> float:
        """E 2 f (1 - f): the mean of l1(f, P') over adversaries P'."""
        return self._mean(lambda x: 2 * self.scores(x) * (1 - self.scores(x)))

    @cached_property
    def largest_mass(self) -> float:
        """The probability of the most likely point."""
        return 1 / self.points if self.masses is None else float(self._masses.max())

    def meets_condition(self, n: int) -> bool:
        """Whether every point has less mass than 1 / (10 n^2), as Theorem 1 asks for.

        Examples
        --------
        >>> from calibrant.experiments.points import PointLaw
        >>> [PointLaw(points, lambda x: 0.5 + 0 * x).meets_condition(10) for points in (1000, 1001)]
        [False, True]
        """
        return self.largest_mass < mass_limit(n)

    def repeat_bound(self, n: int) -> float:
        """Bound the chance that some x comes twice in n rows: the slack of the lemma.

        Exact for points of equal mass; otherwise the sum over all pairs of rows. Where the
        theorem's condition holds it is under 1/20: n (n-1) / 2 pairs, each under 1 / (10 n^2).
        """
        n = errors.whole_number("n", n, least=1)
        if self.masses is not None:
            return min(1.0, n * (n - 1) / 2 * float(self._masses @ self._masses))
        if n > self.points:
            return 1.0
        return -math.expm1(float(np.log1p(-np.arange(n) / self.points).sum()))

    def _mean(self, value: Callable[[IntArray], FloatArray]) -> float:
        """Return the expectation of a function of X."""
        total = 0.0
        for start in range(0, self.points, _CHUNK):
            x = np.arange(start, min(start + _CHUNK, self.points))
            if self.masses is None:
                total += float(value(x).sum()) / self.points
            else:
                total += float(self._masses[x] @ value(x))
        return total


def _per_point(name: str, values: object, points: int) -> FloatArray:
    """Return one number for each point."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as why:
        raise refusals.not_an_array(name, why) from None
    if found.shape != (points,):
        raise _not_one_per_point(name, found.shape, points)
    return found


def mass_limit(n: int) -> float:
    """Return 1 / (10 n^2): Theorem 1 asks every point to have less mass than this."""
    return 1 / (10 * errors.whole_number("n", n, least=1) ** 2)


def _uniform(key: int, x: IntArray) -> FloatArray:
    """Return a number in [0, 1) for each point, the same whenever it is asked for.

    References
    ----------
    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: the
    x-th number of SplitMix64 started from the key.
    """
    mixed = np.uint64(key) + (x.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _not_one_per_point(name: str, shape: tuple[int, ...], points: int) -> InputError:
    return InputError(
        f"{name} must give one number for each of {points:,} points, but its shape is {shape}."
    )


def _not_a_probability(name: str, point: int, value: float) -> InputError:
    return InputError(
        f"{name} must lie between 0 and 1 at every point, but at point {point} it is "
        f"{shown(value)}."
    )


def _masses_no_law(least: float, total: float) -> InputError:
    return InputError(
        f"masses must be numbers, none of them under 0, that add up to 1, but the least is "
        f"{shown(least)} and their sum is {shown(total)}. Divide counts by their sum."
    )
