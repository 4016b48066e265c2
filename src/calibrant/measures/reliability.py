"""Reliability: predicted against observed in groups of about equal weight."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from calibrant.core.diagram import Diagram
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.core.statistic import RowSums, Statistic
from calibrant.measures.interval import Interval, interval_between

#: Ten groups: enough to see a shape, few enough to read.
_SHARES = np.linspace(0, 1, 11)


def _reliability_of(diagram: Diagram, _sums: RowSums) -> tuple[Interval, ...]:
    edges = np.unique(quantile_points(diagram, _SHARES)).tolist()
    return tuple(interval_between(diagram, first, last) for first, last in pairwise(edges))


#: Up to ten groups of about equal weight; ties are never split.
RELIABILITY: Statistic[tuple[Interval, ...]] = Statistic(
    "the reliability of groups",
    _reliability_of,
    partial(quantiles_need, shares=_SHARES),
    bounded=True,
)
