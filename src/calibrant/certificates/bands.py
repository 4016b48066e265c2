"""Bands around a curve: where the truth lies, or where the curve would lie if it were calibrated.

These are two different things and never stand in for one another. A confidence band surrounds the
measured curve and holds the true one; a consistency band surrounds calibration and would hold the
measured curve if the scores were right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.certificates.bounds import INDEPENDENT, band_width
from calibrant.certificates.evidence import check_rows, evidence_of
from calibrant.core.diagram import Diagram, Needs, everything
from calibrant.core.minorant import Minorant, minorant, minorant_need
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.core.statistic import RowSums, Statistic
from calibrant.data.predictions import data_of
from calibrant.errors import InputError
from calibrant.measures.measured import measured

_Ends: TypeAlias = Callable[[Diagram, IntArray], tuple[FloatArray, FloatArray]]
CurveName: TypeAlias = Literal["cumulative", "reliability"]
CURVES: tuple[str, ...] = get_args(CurveName)
_ASSUMED = {
    "cumulative": (INDEPENDENT,),
    "reliability": (
        "given the scores, outcomes are independent of each other",
        "the rate of the event does not decrease with the score",
    ),
}
#: At least so many samples are drawn beyond each end of a consistency band.
_BEYOND = 10
#: The most confidence that bands are drawn for.
MOST_DRAWN = 0.999
#: Outcomes drawn in one go.
_BATCH = 1 << 20
#: What sums of the same numbers in another order may differ by.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Drawing:
    """How samples are drawn for a consistency band.

    Attributes
    ----------
    draws : int
        The least number of samples.
    groups : int
        Groups of scores of equal weight that outcomes are drawn in.
    few : int
        Up to so many rows every score is a group of its own.
    """

    draws: int
    groups: int
    few: int

    def need(self, diagram: Diagram) -> BoolArray:
        """Mark the cells that hold the end of a group."""
        if diagram.count <= self.few:
            return everything(diagram)
        return quantiles_need(diagram, self.shares)

    @property
    def shares(self) -> FloatArray:
        """Where groups end, as shares of the weight."""
        return np.linspace(0, 1, self.groups + 1)


#: For the band itself, and for a picture next to others.
FINE, QUICK = Drawing(999, 4096, 1 << 15), Drawing(199, 512, 1 << 11)


@dataclass(frozen=True, eq=False, slots=True)
class Band:
    """A curve with a band.

    Attributes
    ----------
    score : float array
        Where along the scores.
    value : float array
        The curve: observed minus predicted so far (cumulative), or the observed rate that
        isotonic regression gives (reliability).
    lower, upper : float array
        The band at these scores.
    curve : str
        "cumulative" or "reliability".
    kind : str
        "confidence": holds the true curve. "consistency": holds the curve of calibrated scores.
    confidence : float
        How often: the whole true curve at once, or at each score the curve under calibration.
    assumptions : tuple of str
        What must hold.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> band = cb.confidence_band(y_true, y_prob)
    >>> band.kind, band.curve, len(band.score) == len(band.upper)
    ('confidence', 'cumulative', True)
    >>> bool((band.lower <= band.value).all())
    True
    """

    score: FloatArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    curve: str
    kind: str
    confidence: float
    assumptions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return (
            f"<{100 * self.confidence:g}% {self.kind} band of the {self.curve} curve, "
            f"{len(self)} points>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        columns = {
            name: getattr(self, name).tolist() for name in ("score", "value", "lower", "upper")
        }
        about = {"curve": self.curve, "kind": self.kind, "confidence": self.confidence}
        return {**about, "assumptions": list(self.assumptions), **columns}


def confidence_band(
    y_true: Any,
    y_prob: Any = None,
    *,
    curve: CurveName = "cumulative",
    confidence: float = 0.95,
    points: int = 500,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Band:
    """Surround a curve by a band that holds the true one, everywhere at once.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    curve : {"cumulative", "reliability"}
        Observed minus predicted events along the scores, for any data; or the rate of the event
        at each score, if it does not decrease with the score.
    confidence : float, default 0.95
        How often the whole true curve lies in the band.
    points : int, default 500
        At most this many points, evenly spaced in weight.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    Band
        Simultaneous for all scores. For the reliability curve lower above upper at some score
        means that the data contradict a rate that does not decrease.

    References
    ----------
    The band of `certify(method="band")`; for the reliability curve Hoeffding's lemma for the
    reflected walk, given the scores.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(1000, seed=1)
    >>> band = cb.confidence_band(y_true, y_prob, points=100)
    >>> band
    <95% confidence band of the cumulative curve, 100 points>
    """
    _check(curve, confidence, points)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if data.clusters is not None:
        raise errors.not_for_clusters("confidence_band", "certify")
    check_rows(Diagram(*data.source.start()), "a band")
    read = reliability_ends if curve == "reliability" else _cumulative_ends
    about = (curve, "confidence", confidence, _ASSUMED[curve])
    return measured(_band(about, points, partial(read, confidence=confidence)), data)


def _cumulative_ends(
    diagram: Diagram, at: IntArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    value = diagram.walk[at] / diagram.weight
    width = band_width(evidence_of(diagram), 1 - confidence)
    return value - width, value + width


def _band(about: tuple[Any, ...], points: int, ends: _Ends, *needs: Needs) -> Statistic[Band]:
    """Return a band as a statistic; a tally bounds the cumulative curve alone."""
    shares, fitted = np.linspace(0, 1, points), about[0] == "reliability"

    def need(diagram: Diagram) -> BoolArray:
        more = (*needs, minorant_need) if fitted else needs
        return sum(map(diagram.once, more), start=points_need(diagram, shares))

    def value(diagram: Diagram, _sums: RowSums) -> Band:
        at = points_of(diagram, shares)
        value = fit_at(diagram, at) if fitted else diagram.walk[at] / diagram.weight
        return Band(diagram.cells.high[at - 1], value, *ends(diagram, at), *about)

    return Statistic(f"a band of the {about[0]} curve", value, need, bounded=not fitted)


def _check(curve: str, confidence: float, points: int) -> None:
    errors.one_of("curve", curve, CURVES)
    errors.inner_share("confidence", confidence)
    errors.whole_number("points", points, 2, errors.MOST_ENTRIES)


def points_of(diagram: Diagram, shares: FloatArray) -> IntArray:
    """Return the points of the walk to show, after the start: all of them, or at even shares."""
    if diagram.count <= len(shares):
        return np.arange(1, len(diagram.cells) + 1)
    return np.unique(np.maximum(quantile_points(diagram, shares), 1))


def points_need(diagram: Diagram, shares: FloatArray) -> BoolArray:
    """Mark the cells that hold the points to show."""
    if diagram.count <= len(shares):
        return everything(diagram)
    needed = quantiles_need(diagram, shares)
    needed[0] = True
    return needed


def fit_at(diagram: Diagram, at: IntArray) -> FloatArray:
    """Read isotonic regression at points of the walk, each at the score that ends there."""
    found = minorant(diagram)
    return _block_values(found, at)


def _block_values(found: Minorant, at: IntArray) -> FloatArray:
    value: FloatArray = found.value[np.searchsorted(found.first, at - 1, side="right") - 1]
    return value


def reliability_ends(
    diagram: Diagram, at: IntArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Bound the rate at x by its mean over ranges that begin or end at x.

    If the rate does not decrease, it is at x at most its mean over [x, b], and at least its mean
    over [a, x]; given the scores, all sums over ranges are within w of their expectation.
    """
    weight, positives = diagram.weight_before, np.append(0, np.cumsum(diagram.cells.positives))
    slack = math.sqrt(diagram.weight * math.log(4 / (1 - confidence)) / 2)
    upper, lower = np.empty(len(at)), np.empty(len(at))
    for i, point in enumerate(at):
        ends, starts = at[i:], at[: i + 1] - 1
        above = (positives[ends] - positives[point - 1] + slack) / (
            weight[ends] - weight[point - 1]
        )
        below = (positives[point] - positives[starts] - slack) / (weight[point] - weight[starts])
        upper[i], lower[i] = min(1.0, above.min()), max(0.0, below.max())
    return lower, upper


def consistency_band(
    y_true: Any,
    y_prob: Any = None,
    *,
    curve: CurveName = "cumulative",
    confidence: float = 0.95,
    points: int = 500,
    seed: int = 0,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Band:
    """Show where a curve would lie if the scores were right, by drawing outcomes from them.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    curve : {"cumulative", "reliability"}
        Which curve, as for `confidence_band`.
    confidence : float, default 0.95
        The share of drawn curves that lie in the band, pointwise; at most 0.999.
    points : int, default 500
        At most this many points, evenly spaced in weight.
    seed : int, default 0
        Seed of the draws.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    Band
        A measured curve that leaves it here and there is no proof of anything:
        `calibration_test` looks at all scores together.

    Notes
    -----
    999 samples are drawn, more for a confidence over 98%. From 32,768 rows on, neighbouring scores
    are drawn together, in 4096 groups of equal weight at their mean score.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(1000, seed=1)
    >>> cb.consistency_band(y_true, y_prob, curve="reliability")
    <95% consistency band of the reliability curve, 500 points>
    """
    _check(curve, confidence, points)
    if confidence > MOST_DRAWN:
        raise _band_too_sure(MOST_DRAWN, confidence)
    seed = errors.whole_number("seed", seed, least=0)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if data.clusters is not None:
        raise errors.not_for_clusters("consistency_band", "certify")
    check_rows(Diagram(*data.source.start()), "a band")
    ends = partial(consistency_ends, curve=curve, confidence=confidence, drawing=FINE, seed=seed)
    about = (curve, "consistency", confidence, ("the scores are right",))
    return measured(_band(about, points, ends, FINE.need), data)


def consistency_ends(
    diagram: Diagram, at: IntArray, *, curve: str, confidence: float, drawing: Drawing, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the consistency band of a curve at points of the walk."""
    tail = (1 - confidence) / 2
    beyond = _BEYOND if drawing is FINE else 1
    draws = max(drawing.draws, math.ceil(beyond / tail))
    rng = np.random.default_rng(seed)
    drawn = _drawn(diagram, at, curve, drawing=drawing, draws=draws, rng=rng)
    return (
        np.quantile(drawn, tail, axis=0, method="lower") - _ROUNDING,
        np.quantile(drawn, 1 - tail, axis=0, method="higher") + _ROUNDING,
    )


def _drawn(
    diagram: Diagram,
    at: IntArray,
    curve: str,
    *,
    drawing: Drawing,
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw the curve at the points, again and again, as it would be for calibrated scores."""
    ends, weight, score = _groups(diagram, at, drawing)
    mass = weight * score
    shown = np.searchsorted(ends, at)
    follow = _cumulative if curve == "cumulative" else _fitted
    times = max(1, _BATCH // len(ends))
    parts = []
    for start in range(0, draws, times):
        size = (min(times, draws - start), len(ends))
        events = rng.binomial(np.rint(weight).astype(np.int64), score, size)
        parts.append(follow(events - mass, weight, mass)[:, shown])
    return np.concatenate(parts)


def _groups(
    diagram: Diagram, at: IntArray, drawing: Drawing
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return where groups of scores end, their weight, and their one score or mean score."""
    cells = diagram.cells
    ends = np.arange(1, len(cells) + 1)
    if diagram.count > drawing.few:
        ends = np.union1d(quantile_points(diagram, drawing.shares), at)
        ends = ends[ends > 0]
    first = np.append(0, ends[:-1])
    weight = np.add.reduceat(cells.weight, first)
    mass = np.add.reduceat(cells.mass, first)
    alone = (ends - first == 1) & cells.single[first]
    return ends, weight, np.where(alone, cells.score[first], np.clip(mass / weight, 0, 1))


def _cumulative(excess: FloatArray, weight: FloatArray, _mass: FloatArray) -> FloatArray:
    curve: FloatArray = np.cumsum(excess, axis=1) / weight.sum()
    return curve


def _fitted(excess: FloatArray, weight: FloatArray, mass: FloatArray) -> FloatArray:
    from scipy.optimize import isotonic_regression

    rates = (excess + mass) / weight
    return np.array([isotonic_regression(rate, weights=weight).x for rate in rates])


def _band_too_sure(most: float, value: float) -> InputError:
    return InputError(
        f"confidence must be at most {most} for a consistency band, which is drawn by simulation, "
        f"but it is {shown(value)}. confidence_band takes any."
    )
