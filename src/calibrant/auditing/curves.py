"""Curves: what the pictures of an audit show, read off its diagram."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.certificates.bands import (
    MOST_DRAWN,
    QUICK,
    consistency_ends,
    fit_at,
    points_need,
    points_of,
    reliability_ends,
)
from calibrant.core.diagram import Diagram, Source
from calibrant.core.minorant import minorant_need
from calibrant.core.statistic import RowSums, Statistic, values_of
from calibrant.decisions.curve import CostCurve, cost_curve_of, costs_at, thresholds_need
from calibrant.errors import InputError
from calibrant.measures.cumulative import curve_need, curve_of

#: Points of a curve, and bars of the histogram: what a picture can show.
POINTS, BARS = 101, 40
_SHARES = np.linspace(0, 1, POINTS)
#: Even steps, and the ratios of costs that people name.
_RATIOS = 1 / (1 + np.array([2.0, 3, 4, 5, 8, 10, 15, 20, 25, 30, 40, 50, 100, 200, 500, 1000]))
_COSTS = np.unique(np.concatenate([np.linspace(0, 1, POINTS), _RATIOS, 1 - _RATIOS]).round(15))
_EDGES = np.linspace(0, 1, BARS + 1)


@dataclass(frozen=True, eq=False, slots=True)
class ReliabilityCurve:
    """Observed rates along the scores, by isotonic regression, with two bands.

    Attributes
    ----------
    score : float array
        Where along the scores.
    observed : float array
        The rate that isotonic regression gives there.
    lower, upper : float array or None
        Confidence band: holds the whole true curve, if it does not decrease.
    consistent_lower, consistent_upper : float array or None
        Consistency band: where the curve would lie at each score if the scores were right.
    """

    score: FloatArray
    observed: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    consistent_lower: FloatArray | None
    consistent_upper: FloatArray | None

    def frame(self) -> dict[str, list[float]]:
        """Return the columns as plain lists."""
        return _frame(self)


@dataclass(frozen=True, eq=False, slots=True)
class DifferenceCurve:
    """Observed minus predicted events along the scores, as a share of all rows.

    Attributes
    ----------
    score : float array
        The score up to which rows are counted; the first is NaN, before any.
    share : float array
        The share of the rows up to there.
    difference : float array
        Events observed minus predicted so far; its range is the calibration error.
    consistent_lower, consistent_upper : float array or None
        Where it would lie at each score if the scores were right.
    """

    score: FloatArray
    share: FloatArray
    difference: FloatArray
    consistent_lower: FloatArray | None
    consistent_upper: FloatArray | None

    def frame(self) -> dict[str, list[float]]:
        """Return the columns as plain lists."""
        return _frame(self)


@dataclass(frozen=True, eq=False, slots=True)
class Histogram:
    """Where the scores are.

    Attributes
    ----------
    left, right : float array
        Ends of each bar.
    share : float array
        The share of the rows in it; a score at an end counts to the right, 1 to the last bar.
    """

    left: FloatArray
    right: FloatArray
    share: FloatArray

    def frame(self) -> dict[str, list[float]]:
        """Return the columns as plain lists."""
        return _frame(self)


@dataclass(frozen=True, eq=False, slots=True)
class Curves:
    """Everything that pictures show; what a tally hides is None.

    Attributes
    ----------
    reliability : ReliabilityCurve or None
        Observed rates along the scores.
    difference : DifferenceCurve
        Observed minus predicted, added up.
    cost : CostCurve or None
        Cost of decisions before and after the best recalibration.
    scores : Histogram or None
        Where the scores are.
    """

    reliability: ReliabilityCurve | None
    difference: DifferenceCurve
    cost: CostCurve | None
    scores: Histogram | None

    def to_dict(self) -> dict[str, Any]:
        """Return all columns as plain lists; a number that is none is None."""
        parts = {"reliability": self.reliability, "difference": self.difference}
        found = {name: one and _plain(one.frame()) for name, one in parts.items()}
        cost = None if self.cost is None else self.cost.to_dict()
        scores = None if self.scores is None else self.scores.frame()
        return {**found, "cost": cost, "scores": scores}


def _frame(curve: Any) -> dict[str, list[float]]:
    columns = {name: getattr(curve, name) for name in curve.__slots__}
    return {name: values.tolist() for name, values in columns.items() if values is not None}


def _plain(columns: dict[str, list[float]]) -> dict[str, list[float | None]]:
    return {
        name: [None if value != value else value for value in values]  # noqa: PLR0124 (NaN)
        for name, values in columns.items()
    }


def bars_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that hold scores of two bars."""
    return thresholds_need(diagram, _EDGES)


def _fit_need(diagram: Diagram) -> BoolArray:
    return points_need(diagram, _SHARES) | diagram.once(minorant_need)


def _difference_need(diagram: Diagram) -> BoolArray:
    return curve_need(diagram, POINTS) | diagram.once(QUICK.need)


_COST = costs_at(_COSTS, cost_curve_of)


def curves(**how: Any) -> dict[str, Statistic[Any]]:
    """Return each curve as a statistic; bands have a confidence, a seed, and independent rows."""
    fit, difference = partial(_reliability, **how), partial(_difference, **how)
    return {
        "reliability": Statistic("the reliability curve", fit, _fit_need),
        "difference": Statistic("the difference", difference, _difference_need, bounded=True),
        "cost": _COST,
        "scores": Statistic("the histogram", _histogram, bars_need),
    }


def curves_of(source: Source, diagram: Diagram, **how: Any) -> Curves:
    """Read the curves off a diagram opened for them."""
    found = curves(**how)
    values = zip(found, values_of(source, diagram, *found.values()), strict=True)
    known: dict[str, Any] = {
        name: None if isinstance(value, InputError) else value for name, value in values
    }
    return Curves(**known)


def _claims(diagram: Diagram, independent: bool) -> bool:
    return independent and diagram.totals.are_counts and diagram.weight <= 2**53


def _reliability(
    diagram: Diagram, _sums: RowSums, *, confidence: float, seed: int, independent: bool
) -> ReliabilityCurve:
    at = points_of(diagram, _SHARES)
    score, observed = diagram.cells.score[at - 1], fit_at(diagram, at)
    if not _claims(diagram, independent):
        return ReliabilityCurve(score, observed, None, None, None, None)
    ends = reliability_ends(diagram, at, confidence)
    if confidence > MOST_DRAWN:
        return ReliabilityCurve(score, observed, *ends, None, None)
    band = consistency_ends(
        diagram, at, curve="reliability", confidence=confidence, drawing=QUICK, seed=seed
    )
    return ReliabilityCurve(score, observed, *ends, *band)


def _difference(
    diagram: Diagram, _sums: RowSums, *, confidence: float, seed: int, independent: bool
) -> DifferenceCurve:
    """Return the curve, with the band under calibration; before any row that is 0."""
    steps = curve_of(diagram, POINTS)
    curve = (steps.score, steps.share, steps.difference)
    if not _claims(diagram, independent) or confidence > MOST_DRAWN:
        return DifferenceCurve(*curve, None, None)
    at = np.searchsorted(diagram.weight_before / diagram.weight, steps.share[1:])
    at = np.unique(np.maximum(at, 1))
    lower, upper = consistency_ends(
        diagram, at, curve="cumulative", confidence=confidence, drawing=QUICK, seed=seed
    )
    share = diagram.weight_before[at] / diagram.weight
    place = np.searchsorted(share, steps.share[1:])
    return DifferenceCurve(*curve, np.append(0.0, lower[place]), np.append(0.0, upper[place]))


def _histogram(diagram: Diagram, _sums: RowSums) -> Histogram:
    bar = np.minimum((diagram.cells.low * BARS).astype(np.int64), BARS - 1)
    share = np.bincount(bar, diagram.cells.weight, BARS) / diagram.weight
    return Histogram(_EDGES[:-1], _EDGES[1:], share)
