"""The cumulative curve: observed minus predicted, added up along the scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._figures import figure
from calibrant._types import BoolArray, FloatArray
from calibrant.core.diagram import Diagram, everything
from calibrant.core.extremes import extremes, extremes_need
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.core.statistic import Statistic
from calibrant.measures.measured import measured


@dataclass(frozen=True, eq=False, slots=True)
class CumulativeCurve:
    """Points of the cumulative difference G, from (0, 0) on.

    Attributes
    ----------
    score : float array
        The score up to which rows are counted; the first entry is NaN, before any score.
    share : float array
        The share of the total weight with a score up to there.
    difference : float array
        Events observed minus predicted so far, as a share of the total weight. The range of
        these values is the calibration error.

    Examples
    --------
    >>> import calibrant as cb
    >>> curve = cb.cumulative_curve([0, 1, 1], [0.2, 0.2, 0.5])
    >>> curve.difference.round(4)
    array([0.    , 0.2   , 0.3667])
    >>> round(float(curve.difference.max() - curve.difference.min()), 4)
    0.3667
    >>> round(cb.calibration_error([0, 1, 1], [0.2, 0.2, 0.5]), 4)
    0.3667
    """

    score: FloatArray
    share: FloatArray
    difference: FloatArray

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        low, high = self.difference.min(), self.difference.max()
        return f"<CumulativeCurve of {len(self)} points, from {figure(low)} to {figure(high)}>"

    def to_dict(self) -> dict[str, list[float | None]]:
        """Return the columns as plain lists; the score before any score is None."""
        return {
            "score": [None, *self.score[1:].tolist()],
            "share": self.share.tolist(),
            "difference": self.difference.tolist(),
        }


def _shares(points: int) -> FloatArray:
    """Shares of the weight to stop at; two points are left for the extremes."""
    return np.linspace(0, 1, points - 2)


def _all_fit(diagram: Diagram, points: int) -> bool:
    """Whether there are points enough for every row, and for the start."""
    return int(diagram.cells.rows.sum()) < points


def curve_need(diagram: Diagram, points: int) -> BoolArray:
    """Mark the cells that hold a point of the curve."""
    if _all_fit(diagram, points):
        return everything(diagram)
    return quantiles_need(diagram, _shares(points)) | extremes_need(diagram)


def curve_of(diagram: Diagram, points: int) -> CumulativeCurve:
    """Thin the walk to at most `points` points; the start, the end and both extremes stay."""
    keep = np.arange(len(diagram.cells) + 1)
    if not _all_fit(diagram, points):
        found = extremes(diagram)
        even = quantile_points(diagram, _shares(points))
        keep = np.unique(np.concatenate([even, [found.top, found.bottom]]))
    score = np.concatenate([[np.nan], diagram.cells.high])
    share, walk = diagram.weight_before / diagram.weight, diagram.walk / diagram.weight
    return CumulativeCurve(score[keep], share[keep], walk[keep])


def cumulative_curve(
    y_true: Any,
    y_prob: Any = None,
    *,
    points: int = 500,
    sample_weight: Any = None,
    pos_label: object = None,
) -> CumulativeCurve:
    """Follow observed minus predicted events along the scores.

    Where the curve rises the scores are too low, where it falls they are too high, and where it
    is flat they are right. Its range is the calibration error.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    points : int, default 500
        At most this many points. Fewer rows than that give every point; else the points are
        evenly spaced in weight, and the extremes are always among them.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    CumulativeCurve
        Every point is exact; thinning only leaves points out.

    Examples
    --------
    >>> import calibrant as cb
    >>> curve = cb.cumulative_curve([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    >>> curve.difference.round(3).tolist()
    [0.0, -0.05, 0.1, -0.05, -0.25]
    """
    points = errors.whole_number("points", points, 4, 2**53)
    curve: Statistic[CumulativeCurve] = Statistic(
        "the cumulative curve",
        lambda diagram, _sums: curve_of(diagram, points),
        partial(curve_need, points=points),
        bounded=True,
    )
    return measured(curve, y_true, y_prob, sample_weight, pos_label)
