"""Cost curves: what thresholding costs for every cost ratio, read off the diagram.

With a false positive costing p and a false negative 1 - p, acting from threshold t on costs
(S - p W + p (W_all - S_all)) / W_all, S and W the positives and the weight below t: a linear
function of one point of the diagram. The best threshold for p is where a line of slope p touches
the diagram from below, so that the best costs for all p are the convex minorant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from calibrant import errors
from calibrant._figures import figure
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.core.diagram import Diagram
from calibrant.core.minorant import minorant
from calibrant.core.statistic import Statistic
from calibrant.decisions.costs import doubles
from calibrant.measures.measured import measured

T = TypeVar("T")
#: The grid without `at`: multiples of 1/512, which are edges of cells.
_GRID = np.linspace(0, 1, 513)
#: Thresholds whose net benefit is printed.
_PRINTED = 5


@dataclass(frozen=True, eq=False, slots=True)
class CostCurve:
    """Mean cost of a decision, for a false positive costing p and a false negative 1 - p.

    Attributes
    ----------
    p : float array
        The share of a false positive in the two costs: the threshold of Bayes' rule.
    cost : float array
        Acting when the score is at least p.
    best : float array
        The best threshold in hindsight: what no nondecreasing recalibration could beat on these
        rows.
    best_threshold : float array
        Where it lies: act from this score on; inf for never.
    always, never : float array
        Acting on every row, and on none.
    between : float array
        From each p to the next, how far the cost can lie from the straight line; the last is 0.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> curve = cb.cost_curve(y_true, y_prob)
    >>> bool((curve.best <= curve.cost).all())
    True
    >>> bool(curve.regret.max() <= cb.calibration_error(y_true, y_prob))
    True
    """

    p: FloatArray
    cost: FloatArray
    best: FloatArray
    best_threshold: FloatArray
    always: FloatArray
    never: FloatArray
    between: FloatArray

    @property
    def regret(self) -> FloatArray:
        """What the best threshold in hindsight would have saved."""
        gap: FloatArray = np.maximum(self.cost - self.best, 0.0)
        return gap

    def __len__(self) -> int:
        return len(self.p)

    def __repr__(self) -> str:
        most = int(np.argmax(self.regret))
        return (
            f"<CostCurve of {len(self)} points; the best threshold saves most at p = "
            f"{figure(self.p[most])}: {figure(self.regret[most])} a decision>"
        )

    def to_dict(self) -> dict[str, list[float | None]]:
        """Return the columns as plain lists; a threshold that nothing reaches is None."""
        columns = {
            name: getattr(self, name).tolist()
            for name in ("p", "cost", "best", "always", "never", "between", "regret")
        }
        finite = [None if np.isinf(t) else t for t in self.best_threshold.tolist()]
        return {**columns, "best_threshold": finite}


def points_below(diagram: Diagram, at: FloatArray) -> IntArray:
    """Return for each p the point of the walk after all scores below p."""
    return np.searchsorted(diagram.cells.high, at, side="left")


def thresholds_need(diagram: Diagram, at: FloatArray) -> BoolArray:
    """Mark the cells that hold scores on both sides of a p."""
    needed = np.zeros(len(diagram.cells), dtype=bool)
    point = points_below(diagram, at)
    inside = point < len(diagram.cells)
    cell = point[inside]
    needed[cell[diagram.cells.low[cell] < at[inside]]] = True
    return needed


def below(diagram: Diagram, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weight and positives below each p, as shares of the total weight."""
    positives = np.append(0.0, np.cumsum(diagram.cells.positives))
    point = points_below(diagram, at)
    return diagram.weight_before[point] / diagram.weight, positives[point] / diagram.weight


def cost_curve_of(diagram: Diagram, at: FloatArray) -> CostCurve:
    """Read the curve off a diagram opened for costs at these p."""
    rate = float(diagram.cells.positives.sum()) / diagram.weight
    weight, positives = below(diagram, at)
    base = at * (1 - rate)
    best, threshold = _envelope(diagram, at, base)
    passed, events = np.diff(weight), np.diff(positives)
    # between two p the rows in between move the cost by at most this
    between = events * (1 - at[:-1]) + (passed - events) * at[1:]
    return CostCurve(
        p=at,
        cost=np.clip(positives - at * weight + base, 0, 1),
        best=best,
        best_threshold=threshold,
        always=base,
        never=(1 - at) * rate,
        between=np.append(np.maximum(between, 0.0), 0.0),
    )


def _touching(diagram: Diagram, at: FloatArray) -> IntArray:
    """Return for each p the first point where a line of slope p touches the path from below.

    Below it every block of the minorant has a value under p.
    """
    found = minorant(diagram)
    first = np.append(found.first, len(diagram.cells))
    return first[np.searchsorted(found.value, at, side="left")]


def envelope_need(diagram: Diagram, at: FloatArray) -> BoolArray:
    """Mark the cells that could pass under a touching line, or hold the threshold it stands for.

    Inside a cell the path stays above the corner where all of its negatives come first. The
    highest of the lines at a given weight is that of the p between whose crossings it lies.
    """
    cells, point = diagram.cells, _touching(diagram, at)
    positives = np.append(0.0, np.cumsum(cells.positives))
    offset = positives[point] - at * diagram.weight_before[point]
    corner = diagram.weight_before[:-1] + cells.weight - cells.positives
    line = np.zeros(len(cells), dtype=np.int64)
    if len(at) > 1:
        crossings = (offset[:-1] - offset[1:]) / np.diff(at)
        line = np.searchsorted(np.maximum.accumulate(crossings), corner)
    needed: BoolArray = positives[:-1] < offset[line] + at[line] * corner - diagram.tolerance
    needed[point[point < len(cells)]] = True
    return needed


def _envelope(diagram: Diagram, at: FloatArray, base: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least cost for each p, and the first threshold that has it."""
    positives = np.append(0.0, np.cumsum(diagram.cells.positives))
    point = _touching(diagram, at)
    cost = (positives[point] - at * diagram.weight_before[point]) / diagram.weight + base
    return np.clip(cost, 0, 1), np.append(diagram.cells.low, np.inf)[point]


def grid_of(at: Any, name: str = "at") -> FloatArray:
    """Return the p that a user asks for, in order, each once."""
    if at is None:
        return _GRID
    found = doubles(at)
    grid = np.empty(0) if found is None else np.atleast_1d(found)
    if grid.ndim != 1 or grid.size == 0 or not ((grid >= 0) & (grid <= 1)).all():
        raise errors.out_of_range(name, "a number or a grid between 0 and 1", at)
    return np.unique(grid)


def cost_curve(
    y_true: Any,
    y_prob: Any = None,
    *,
    at: Any = None,
    sample_weight: Any = None,
    pos_label: object = None,
) -> CostCurve:
    """Measure what acting by Bayes' rule costs, for every ratio of the two costs.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`. A Tally is refused where it does not give the answer
        exactly.
    y_prob : array_like
        Predicted probabilities.
    at : float or array_like, optional
        The p to look at: the share of a false positive in the two costs. 513 even steps from 0
        to 1 unless given, with a bound for what happens between them.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    CostCurve
        Costs in units where a false positive and a false negative cost 1 together; multiply by
        the sum of your costs. Every value is exact.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Section 4, for the loss; Drummond and Holte, "Cost curves",
    Machine Learning 2006.

    Examples
    --------
    >>> import calibrant as cb
    >>> curve = cb.cost_curve([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4], at=0.5)
    >>> curve.cost.tolist(), curve.best.tolist()
    ([0.25], [0.125])
    """
    statistic = costs_at(grid_of(at), cost_curve_of)
    return measured(statistic, y_true, y_prob, sample_weight, pos_label, fine=True)


def costs_at(
    at: FloatArray, read: Callable[[Diagram, FloatArray], T], name: str = "the cost curve"
) -> Statistic[T]:
    """Return what is read off the costs at these p as a statistic."""
    return Statistic(name, lambda diagram, _sums: read(diagram, at), partial(costs_need, at=at))


def costs_need(diagram: Diagram, at: FloatArray) -> BoolArray:
    """Mark the cells that costs at these p need: those of thresholds, and of the best ones."""
    return thresholds_need(diagram, at) | envelope_need(diagram, at)


@dataclass(frozen=True, eq=False, slots=True)
class NetBenefit:
    """Decision curve analysis: true positives, less false positives at the odds of the threshold.

    Attributes
    ----------
    threshold : float array
        The probability from which on one would treat, under 1.
    model : float array
        Net benefit of treating when the score is at least the threshold.
    treat_all, treat_none : float array
        Net benefit of treating everybody, and nobody (0).

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> benefit = cb.net_benefit(y_true, y_prob)
    >>> at = benefit.threshold.searchsorted(0.1)
    >>> round(float(benefit.model[at]), 3), round(float(benefit.treat_all[at]), 3)
    (0.335, 0.336)
    >>> cb.net_benefit(y_true, y_prob, at=0.5)
    <NetBenefit of the model (of treating all): at 0.5 0.1541 (-0.1813); the model is ...>
    """

    threshold: FloatArray
    model: FloatArray
    treat_all: FloatArray
    treat_none: FloatArray

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        places = np.unique(np.linspace(0, len(self) - 1, _PRINTED).round().astype(int))
        values = ", ".join(
            f"at {figure(self.threshold[k])} {figure(self.model[k])} ({figure(self.treat_all[k])})"
            for k in places
        )
        useful = self.model > np.maximum(self.treat_all, self.treat_none) + 1e-12
        thresholds = "1 threshold" if len(self) == 1 else f"{len(self):,} thresholds"
        return (
            f"<NetBenefit of the model (of treating all): {values}; the model is the best choice "
            f"at {useful.sum():,} of {thresholds}>"
        )

    def to_dict(self) -> dict[str, list[float]]:
        """Return the columns as plain lists."""
        names = ("threshold", "model", "treat_all", "treat_none")
        return {name: getattr(self, name).tolist() for name in names}


def net_benefit(
    y_true: Any,
    y_prob: Any = None,
    *,
    at: Any = None,
    sample_weight: Any = None,
    pos_label: object = None,
) -> NetBenefit:
    """Measure the net benefit at each threshold, as clinicians do (decision curve analysis).

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`. A Tally is refused where it does not give the answer
        exactly.
    y_prob : array_like
        Predicted probabilities.
    at : float or array_like, optional
        Thresholds, under 1; 1% to 99% unless given.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    NetBenefit
        True positives per row, less false positives per row times t / (1 - t).

    References
    ----------
    Vickers and Elkin, "Decision curve analysis", Medical Decision Making 2006.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.net_benefit([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4], at=0.5).model.tolist()
    [0.0]
    """
    grid = grid_of(np.linspace(0.01, 0.99, 99) if at is None else at)
    if grid[-1] >= 1:
        raise errors.out_of_range("at", "under 1: the odds of certainty are infinite", at)
    statistic = Statistic(
        "the net benefit",
        lambda diagram, _sums: _net_benefit_of(diagram, grid),
        partial(thresholds_need, at=grid),
    )
    return measured(statistic, y_true, y_prob, sample_weight, pos_label)


def _net_benefit_of(diagram: Diagram, grid: FloatArray) -> NetBenefit:
    rate = diagram.rate
    weight, positives = below(diagram, grid)
    odds = grid / (1 - grid)
    true_positives, treated = rate - positives, 1 - weight
    return NetBenefit(
        threshold=grid,
        model=true_positives - (treated - true_positives) * odds,
        treat_all=rate - (1 - rate) * odds,
        treat_none=np.zeros(len(grid)),
    )
