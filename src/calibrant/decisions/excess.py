"""Excess: what acting from one threshold on costs more than the best nondecreasing rule.

A false positive costs p and a false negative 1 - p, so Bayes' rule acts from f = p on. Against a
threshold tau below p it loses E[1{tau <= f < p} (Y - p)], against one above p
E[1{p <= f < tau} (p - Y)], and the excess is the largest of these, or 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibrant._types import FloatArray
from calibrant.certificates.bounds import VARIANCE_SHARE, poisson_gap
from calibrant.certificates.tails import mean_at_most
from calibrant.core.diagram import Diagram
from calibrant.decisions.curve import below, points_below


@dataclass(frozen=True, slots=True)
class Side:
    """The rows on one side of p, whose decisions another threshold would turn around.

    Attributes
    ----------
    measured : float
        What the best threshold on this side would have saved on these rows.
    square : float
        Mean of (y - p)^2, the other side counting as 0.
    step : float
        The most that one row adds to a saving: 1 - p below p, and p above it.
    """

    measured: float
    square: float
    step: float


@dataclass(frozen=True, slots=True)
class Excess:
    """What the rows say about the excess at p, in units where the two costs add up to 1.

    Attributes
    ----------
    n : int
        Rows.
    p : float
        The threshold of Bayes' rule.
    left, right : Side
        The rows with scores below p, and the others.
    """

    n: int
    p: float
    left: Side
    right: Side

    @property
    def measured(self) -> float:
        """What the best threshold in hindsight would have saved on these rows."""
        return max(self.left.measured, self.right.measured)


def excess_of(diagram: Diagram, p: float) -> Excess:
    """Read the excess at p off a diagram resolved by `costs_need`."""
    at = np.array([p])
    [point] = points_below(diagram, at)
    [weight], [events] = below(diagram, at)
    positives = np.append(0.0, np.cumsum(diagram.cells.positives))
    path = positives - p * diagram.weight_before
    n = diagram.weight
    left = float(path[point] - path[: point + 1].min()) / n
    right = float(path[point] - path[point:].min()) / n
    return Excess(
        round(n),
        p,
        Side(left, _square(weight, events, p), 1 - p),
        Side(right, _square(1 - weight, diagram.rate - events, p), p),
    )


def _square(weight: float, events: float, p: float) -> float:
    """Return the mean of (y - p)^2 over a share of the rows with this share of events."""
    return max(0.0, float(events * (1 - p) ** 2 + (weight - events) * p**2))


def slack(n: float, delta: float) -> float:
    """Return how far the excess can lie above the measured one: an upper bound needs one mean.

    References
    ----------
    Hoeffding (1963): the population's best threshold is fixed, and what it saves on a row has
    a range of 1.
    """
    return math.sqrt(math.log(1 / delta) / (2 * n))


def excess_at_most(excess: Excess, delta: float) -> float:
    """Bound the excess from above with confidence 1 - delta."""
    return min(1.0, excess.measured + slack(excess.n, delta))


def excess_at_least(excess: Excess, delta: float) -> float:
    """Bound the excess from below with confidence 1 - delta, for any number of rows and any law.

    The excess is at least what any threshold saves in the population. The threshold that saves
    most on these rows was chosen by them, so that the difference between sample and population is
    bounded for all thresholds at once, on either side with half of delta.

    Notes
    -----
    It is the band of `calibrant.certificates.bounds.band_width` for intervals that end at p, one
    way and not reflected. Let w be what a row adds to a saving: Y - p for f < p on the left side,
    p - Y for f >= p on the right one, else 0; w <= b, which is 1 - p or p, and V = E w^2. Walk
    away from p. With a Poisson number N of rows, of mean n, the sum of w over the rows passed,
    minus its expectation, has independent increments, and because (e^x - 1 - x) / x^2 rises,
    exp(k Q - n V (e^(k b) - 1 - k b) / b^2) is a supermartingale. By Ville's inequality Q ever
    passes sqrt(2 n V u) + b u / 3 with probability at most e^-u (the best k; Bernstein's form of
    Bennett's bound). Given the n rows, the expectation of Q over N is poisson_gap(n) times their
    own sum minus its expectation, so that by Jensen's inequality every convex nondecreasing
    function of poisson_gap(n) times their maximum has at most the expectation it has for that of
    Q. Then Panchenko's lemma (2003) costs a factor e: u = ln(e / level).
    """
    return max(0.0, *(_least(side, excess, delta / 2) for side in (excess.left, excess.right)))


def _least(side: Side, excess: Excess, delta: float) -> float:
    n, delta_v = excess.n, delta * VARIANCE_SHARE
    u = math.log(math.e / (delta - delta_v))
    square = mean_at_most(side.square, n, max(excess.p, 1 - excess.p) ** 2, delta_v)
    width = math.sqrt(2 * square * u / n) + side.step * u / (3 * n)
    return side.measured - width / poisson_gap(n)


@dataclass(frozen=True, eq=False, slots=True)
class ChanceExcess:
    """What the best threshold in hindsight saves by chance alone, if the scores are right.

    Attributes
    ----------
    sides : tuple of pairs of float arrays
        For the thresholds on either side of p: what each is expected to save, which is never above
        0, and the variance of what it saves on one row.
    """

    sides: tuple[tuple[FloatArray, FloatArray], ...]

    def at(self, n: float) -> float:
        """Return about what is measured on n rows.

        On a side the best of all thresholds is about the best of drift + E|N| sqrt(variance / n),
        because E|N| is the mean of the maximum of a random walk in units of its deviation at the
        end. The two sides are added: either may be the better one.
        """
        spread = math.sqrt(2 / (math.pi * n))
        reaches = (drift + spread * np.sqrt(variance) for drift, variance in self.sides)
        return min(1.0, sum(float(reach.max(initial=0.0)) for reach in reaches))


def chance_excess_of(diagram: Diagram, p: float) -> ChanceExcess:
    """Read off the scores what chance does to the excess; closed cells count at their mean."""
    cells = diagram.cells
    mean = np.clip(cells.mass / cells.weight, 0, 1)
    drift = -np.abs(mean - p) * cells.weight / diagram.weight
    variance = mean * (1 - mean) * cells.weight / diagram.weight
    [point] = points_below(diagram, np.array([p]))
    away = (slice(0, point), -1), (slice(point, None), 1)
    sides = ((np.cumsum(drift[at][::way]), np.cumsum(variance[at][::way])) for at, way in away)
    return ChanceExcess(tuple(sides))
