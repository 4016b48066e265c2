"""Link: from w . x to a probability, by a monotone function fitted to the rows.

The score of a row is w . x brought to [0, 1], so that a link is a calibrator like any other: it is
fitted by a tally, goes to JSON, and travels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.learn.lipschitz import LipschitzLink, lipschitz_regression
from calibrant.recalibrate.estimators import IsotonicCalibrator

Kind: TypeAlias = Literal["monotone", "lipschitz"]
KINDS = ("monotone", "lipschitz")
Link: TypeAlias = IsotonicCalibrator | LipschitzLink
#: Scores are rounded to multiples of this. Rounding errors in w . x are smaller by far, so that
#: rows whose scores are equal in exact arithmetic nearly always tie.
_GRID = {"monotone": 2.0**-40, "lipschitz": 2.0**-11}


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
        return index * self.slope + self.offset

    @property
    def length(self) -> float:
        """How far the index reaches, from the least to the greatest."""
        return 1 / self.slope if self.slope else 0.0


def to_score(line: FloatArray, kind: Kind) -> FloatArray:
    """Round what is 0 to 1 on the fitting rows, and keep other rows there."""
    grid = _GRID[kind]
    score: FloatArray = np.rint(line / grid) * grid
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
    value = lipschitz_regression(knots, events / total, total, slope)
    return LipschitzLink(knots, value)


def _between_rows(link: IsotonicCalibrator) -> IsotonicCalibrator:
    """Let the link rise midway between rows, so that no last digit of a score decides."""
    blocks = link.function_
    low = blocks.low.copy()
    low[1:] = (blocks.high[:-1] + low[1:]) / 2
    link.function_ = replace(blocks, low=low)
    return link


def jumps(link: Link) -> tuple[FloatArray, FloatArray]:
    """Return the scores where a link rises, and by how much."""
    if isinstance(link, LipschitzLink):
        return link.score[1:], np.diff(link.value)
    blocks = link.function_
    return blocks.low[1:], np.diff(blocks.value)
