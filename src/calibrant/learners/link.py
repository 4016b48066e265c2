"""Link: from w . x to a probability, by a monotone function fitted to the rows.

The score of a row is w . x brought to [0, 1], so that a monotone link is a calibrator like any
other: it is fitted by a tally, goes to JSON, and travels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.calibrators.estimators.steps import IsotonicCalibrator
from calibrant.learners.lipschitz import LipschitzLink, lipschitz_regression

Kind: TypeAlias = Literal["monotone", "lipschitz"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Link: TypeAlias = IsotonicCalibrator | LipschitzLink
#: Scores are rounded to multiples of this, which is more than w . x is rounded by as a rule, so
#: that rows whose scores are equal in exact arithmetic tie.
_GRID = 2.0**-40
#: A Lipschitz link has at most this many knots.
_KNOTS = 2048


class Scale(NamedTuple):
    """How an index becomes a score: slope * index + offset, which is 0 to 1 on the fitting rows."""

    slope: float
    offset: float

    @classmethod
    def of(cls, index: FloatArray) -> Scale:
        """Choose it for some rows; all of them get 0 if they have one index only."""
        low, high = float(index.min()), float(index.max())
        slope = 1 / (high - low) if high - low > 0 and np.isfinite(1 / (high - low)) else 0.0
        return cls(slope, -low * slope)

    def __call__(self, index: FloatArray) -> FloatArray:
        """Return the scores of rows with some index."""
        return to_score(index * self.slope + self.offset)

    @property
    def length(self) -> float:
        """How far the index reaches, from the least to the greatest."""
        return 1 / self.slope if self.slope else 0.0


def to_score(line: FloatArray) -> FloatArray:
    """Round what is 0 to 1 on the fitting rows, and keep other rows there."""
    score: FloatArray = np.rint(line / _GRID) * _GRID
    return score.clip(0.0, 1.0) + 0.0  # no sign on a zero


def fit_link(
    score: FloatArray, label: BoolArray, weight: FloatArray | None, kind: Kind, slope: float
) -> Link:
    """Fit the link; `slope` is how fast a Lipschitz one may rise."""
    if kind == "monotone":
        return _between_rows(IsotonicCalibrator().fit(score, label, weight))
    knots, place = np.unique(score, return_inverse=True)
    total = np.bincount(place, weight).astype(np.float64)
    events = np.bincount(place, label if weight is None else label * weight)
    if len(knots) > _KNOTS:  # neighbours of about equal weight share a knot
        middle = np.cumsum(total) - total / 2
        first = np.flatnonzero(np.diff(np.floor(middle / total.sum() * _KNOTS), prepend=-1))
        knots = np.add.reduceat(knots * total, first) / np.add.reduceat(total, first)
        total, events = np.add.reduceat(total, first), np.add.reduceat(events, first)
    value = lipschitz_regression(knots, events / total, total, slope)
    return LipschitzLink(knots, value)


def _between_rows(link: IsotonicCalibrator) -> IsotonicCalibrator:
    """Let the link rise midway between rows, so that no last digit of a score decides."""
    blocks = link.function_
    low = blocks.low.copy()
    low[1:] = (blocks.high[:-1] + low[1:]) / 2
    link.function_ = replace(blocks, low=low)
    return link


def rises(link: Link) -> int:
    """Count the places where a link rises."""
    value = link.value if isinstance(link, LipschitzLink) else link.function_.value
    return int(np.count_nonzero(np.diff(value) > 0))
