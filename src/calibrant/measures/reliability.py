"""Reliability: predicted against observed in groups of about equal weight."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from calibrant._types import BoolArray
from calibrant.core.diagram import Diagram
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.measures.interval import Interval, interval_between

#: Ten groups: enough to see a shape, few enough to read.
_SHARES = np.linspace(0, 1, 11)


def reliability_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that hold the edge of a group."""
    return quantiles_need(diagram, _SHARES)


def reliability_of(diagram: Diagram) -> tuple[Interval, ...]:
    """Read up to ten groups of about equal weight off the diagram; ties are never split."""
    edges = np.unique(quantile_points(diagram, _SHARES)).tolist()
    return tuple(interval_between(diagram, first, last) for first, last in pairwise(edges))
