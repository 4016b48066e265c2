"""The worst intervals: the scores where predictions and outcomes differ most."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, overload

import numpy as np

from calibrant import errors
from calibrant._figures import apart, figure
from calibrant._types import BoolArray
from calibrant.core.diagram import Diagram
from calibrant.core.extremes import Extremes, extremes, extremes_need
from calibrant.core.statistic import Statistic
from calibrant.measures.measured import measured


@dataclass(frozen=True, slots=True)
class Interval:
    """Rows whose score lies in (p1, p2], and how far predictions are off there.

    Attributes
    ----------
    p1 : float or None
        The largest score below the interval, None if there is none.
    p2 : float
        The largest score in it.
    rows : int
        Rows in it.
    weight : float
        Their weight.
    mean_prediction : float
        Their mean score.
    observed_rate : float
        The share of them where the event happened.
    excess : float
        Events observed minus events predicted in the interval, as a share of the total weight.
        Negative: the scores are too high. For the worst interval its size is the calibration
        error.

    Examples
    --------
    >>> import calibrant as cb
    >>> worst = cb.worst_interval([0, 0, 1, 1], [0.5, 0.6, 0.6, 0.9])
    >>> worst
    scores up to 0.6 (3 rows): predicted 0.5667 on average, observed 0.3333: too high
    >>> worst.p1, worst.p2, worst.rows
    (None, 0.6, 3)
    >>> worst.verdict
    'too high'
    """

    p1: float | None
    p2: float
    rows: int
    weight: float
    mean_prediction: float
    observed_rate: float
    excess: float

    @property
    def verdict(self) -> str:
        """Whether the scores in it are "too high", "too low" or "exact"."""
        if abs(self.excess) <= 1e-12:
            return "exact"
        return "too high" if self.excess < 0 else "too low"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the verdict as plain values."""
        return {**asdict(self), "verdict": self.verdict}

    @property
    def where(self) -> str:
        """The scores it covers, in words, with as many digits as tell them apart."""
        if self.p1 is None:
            return f"scores up to {figure(self.p2)}"
        low, high = apart(self.p1, self.p2)
        return f"scores above {low} up to {high}"

    def __repr__(self) -> str:
        return (
            f"{self.where} ({self.rows:,} rows): predicted {figure(self.mean_prediction)} on "
            f"average, observed {figure(self.observed_rate)}: {self.verdict}"
        )


def interval_between(diagram: Diagram, first: int, last: int) -> Interval:
    """Read the interval between two points off the diagram."""
    cells = diagram.cells.take(np.arange(first, last))
    weight, positives = float(cells.weight.sum()), float(cells.positives.sum())
    excess = float(diagram.walk[last] - diagram.walk[first])
    end = diagram.cells.take(np.array([first - 1, last - 1])).high
    return Interval(
        p1=None if first == 0 else float(end[0]),
        p2=float(end[1]),
        rows=int(cells.rows.sum()),
        weight=weight,
        mean_prediction=min(1.0, max(0.0, (positives - excess) / weight)),
        observed_rate=min(1.0, positives / weight),
        excess=excess / diagram.weight,
    )


def _greedy(diagram: Diagram, k: int) -> tuple[list[Extremes], list[tuple[int, int]]]:
    """Take the worst interval, cut it out, and look on both sides for the next one.

    Returns the intervals taken, worst first, and every stretch that was searched.
    """
    taken: list[Extremes] = []
    searched = [(0, len(diagram.cells))]
    open_stretches = {searched[0]: extremes(diagram)}
    while open_stretches and len(taken) < k:
        most = max(found.range for found in open_stretches.values()) - diagram.tolerance
        # among ties the lowest p1, which is in the lowest stretch
        best = min(stretch for stretch, found in open_stretches.items() if found.range >= most)
        worst = open_stretches.pop(best)
        if taken and worst.range <= diagram.tolerance:
            break
        taken.append(worst)
        first, last = worst.ends
        sides = [(a, b) for a, b in ((best[0], first), (last, best[1])) if a < b]
        searched += sides
        open_stretches.update({side: extremes(diagram, *side) for side in sides})
    return taken, searched


def intervals_need(diagram: Diagram, k: int) -> BoolArray:
    """Mark the cells that can change any of the k worst intervals."""
    needed = np.zeros(len(diagram.cells), dtype=bool)
    for stretch in _greedy(diagram, k)[1]:
        needed |= extremes_need(diagram, *stretch)
    return needed


def worst_intervals_of(diagram: Diagram, k: int) -> tuple[Interval, ...]:
    """Read the k worst disjoint intervals off a diagram resolved for them."""
    return tuple(interval_between(diagram, *found.ends) for found in _greedy(diagram, k)[0])


def worst_intervals(k: int) -> Statistic[tuple[Interval, ...]]:
    """Return the k worst intervals as a statistic; of closed cells their edges."""
    return Statistic(
        "the worst intervals",
        lambda diagram, _sums: worst_intervals_of(diagram, k),
        partial(intervals_need, k=k),
        bounded=True,
    )


def worst_of(diagram: Diagram) -> Interval:
    """Read the worst interval off a diagram resolved for its extremes."""
    return worst_intervals_of(diagram, 1)[0]


@overload
def worst_interval(
    y_true: Any,
    y_prob: Any = None,
    *,
    k: None = None,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Interval: ...


@overload
def worst_interval(
    y_true: Any, y_prob: Any = None, *, k: int, sample_weight: Any = None, pos_label: object = None
) -> tuple[Interval, ...]: ...


def worst_interval(
    y_true: Any,
    y_prob: Any = None,
    *,
    k: int | None = None,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Interval | tuple[Interval, ...]:
    """Find the scores where predictions and outcomes differ most.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    k : int, optional
        Give the k worst intervals instead of one: each the worst among those that do not
        overlap the ones before. Fewer come back if nothing is left.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    Interval or tuple of Interval
        One, or a tuple if `k` is given. The worst one's size of `excess` is the calibration error.
        If several tie (within 1e-12 of the total weight), the one with the lowest p1, then with the
        lowest p2. For a Tally the ends are edges of cells.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Definition 2: the witness (p1, p2].

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.worst_interval([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    scores above 0.4 up to 0.8 (2 rows): predicted 0.7 on average, observed 0: too high
    """
    count = 1 if k is None else errors.whole_number("k", k, least=1)
    worst = measured(worst_intervals(count), y_true, y_prob, sample_weight, pos_label)
    return worst[0] if k is None else worst
