"""Regret: what decisions cost, and what the best threshold would have cost."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._figures import figure
from calibrant._types import FloatArray
from calibrant.core.diagram import Diagram
from calibrant.core.statistic import Statistic
from calibrant.data.predictions import Predictions, TallyData, data_of, warn
from calibrant.decisions.costs import Costs, costs_by_row, costs_of, differ_by_row
from calibrant.decisions.curve import below, cost_curve_of, costs_at
from calibrant.decisions.excess import slack
from calibrant.measures.measured import measured


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """What decisions by Bayes' rule cost on these rows, and the alternatives.

    Attributes
    ----------
    threshold : float or None
        Bayes' threshold; None if costs differ from row to row.
    cost : float
        Mean cost of a decision by it.
    always, never : float
        Mean cost of acting on every row, and on none.
    best_threshold, best_cost : float or None
        The best threshold in hindsight and its mean cost: what no nondecreasing recalibration could
        beat on these rows. inf means never act. None if costs differ from row to row.
    regret : float or None
        cost - best_cost.
    regret_at_most : float or None
        An upper bound on the regret in the population, at this threshold, with `confidence`; None
        where labels are soft, weights are not integers, rows come in clusters, or costs differ
        from row to row.
    confidence : float
        How often that bound holds.
    true_positives, false_positives, true_negatives, false_negatives : float
        Rows of each kind, by weight, if Bayes' rule decides.

    Examples
    --------
    >>> import calibrant as cb
    >>> costs = {"false_positive": 1, "false_negative": 1}
    >>> cost = cb.expected_cost([0, 1, 1], [0.2, 0.4, 0.9], **costs)
    >>> cost.threshold, round(cost.cost, 4), round(cost.best_cost, 4)
    (0.5, 0.3333, 0.0)
    >>> cost.false_negatives
    1.0
    """

    threshold: float | None
    cost: float
    always: float
    never: float
    best_threshold: float | None
    best_cost: float | None
    regret: float | None
    regret_at_most: float | None
    confidence: float
    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; a threshold that nothing reaches is None."""
        plain = asdict(self)
        if self.best_threshold is not None and math.isinf(self.best_threshold):
            plain["best_threshold"] = None
        return plain

    def __repr__(self) -> str:
        cheaper = min(self.always, self.never)
        other = "always" if self.always <= self.never else "never"
        rule = (
            "Bayes' rule" if self.threshold is None else f"Acting from {figure(self.threshold)} on"
        )
        text = (
            f"{rule} costs {figure(self.cost)} a decision; acting {other} costs {figure(cheaper)}"
        )
        if self.best_cost is not None:
            text += f", the best threshold in hindsight {figure(self.best_cost)}"
        return text + "."


def expected_cost(
    y_true: Any,
    y_prob: Any = None,
    *,
    false_positive: Any = None,
    false_negative: Any = None,
    matrix: Any = None,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
) -> DecisionCost:
    """Measure what decisions cost: by Bayes' rule, by the best threshold, always and never.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    false_positive : float or array_like
        Cost of acting where there is no event: the same for all rows, or one for each.
    false_negative : float or array_like
        Cost of not acting where there is one, likewise.
    matrix : 2 x 2 array_like, optional
        Instead of both, as for `bayes_threshold`. Costs are then above those of the right action.
    confidence : float, default 0.95
        Of the bound on the regret.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    DecisionCost
        In the unit of your costs, per decision.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Claim 1. The bound on the regret is Hoeffding's (1963): at
    one fixed p the regret is the mean of draws whose range is 1.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> cb.expected_cost(y_true, y_prob, false_positive=1, false_negative=9)
    Acting from 0.1 on costs 0.6059 a decision; acting always costs 0.5907, the best
    threshold in hindsight 0.5428.
    """
    confidence = errors.inner_share("confidence", confidence)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if differ_by_row(false_positive, false_negative, matrix):
        warn(data.warnings, stacklevel=2)
        return _cost_by_row(data, false_positive, false_negative, confidence)
    costs = costs_of(false_positive, false_negative, matrix)
    found = measured(decision_cost(costs, confidence), data)
    # Hoeffding's bound is for independent rows
    return found if data.clusters is None else replace(found, regret_at_most=None)


def decision_cost(costs: Costs, confidence: float) -> Statistic[DecisionCost]:
    """Return the cost of decisions at one threshold as a statistic."""
    read = partial(_decision_cost_of, costs=costs, confidence=confidence)
    return costs_at(np.array([costs.threshold]), read, "the cost of decisions")


def _decision_cost_of(
    diagram: Diagram, at: FloatArray, costs: Costs, confidence: float
) -> DecisionCost:
    curve = cost_curve_of(diagram, at)
    weight, positives = (float(share[0]) * diagram.weight for share in below(diagram, curve.p))
    events = float(diagram.cells.positives.sum())
    regret = float(curve.regret[0]) * costs.scale
    sure = diagram.totals.are_counts
    most = regret + slack(diagram.weight, 1 - confidence) * costs.scale
    return DecisionCost(
        threshold=costs.threshold,
        cost=float(curve.cost[0]) * costs.scale,
        always=float(curve.always[0]) * costs.scale,
        never=float(curve.never[0]) * costs.scale,
        best_threshold=float(curve.best_threshold[0]),
        best_cost=float(curve.best[0]) * costs.scale,
        regret=regret,
        regret_at_most=min(costs.scale, most) if sure else None,
        confidence=confidence,
        true_positives=events - positives,
        false_positives=max(0.0, diagram.weight - weight - (events - positives)),
        true_negatives=max(0.0, weight - positives),
        false_negatives=positives,
    )


def _cost_by_row(
    data: Predictions | TallyData, false_positive: Any, false_negative: Any, confidence: float
) -> DecisionCost:
    """Add up costs that differ from row to row; no one threshold is best for all of them."""
    if not isinstance(data, Predictions):
        raise errors.tally_hides("costs of single rows")
    rows = data.source.rows()
    n = len(rows.score)
    a, b = costs_by_row(false_positive, false_negative, n)
    act = rows.score >= a / (a + b)
    weight = rows.each_weight
    label = rows.label.astype(np.float64)
    share = weight / weight.sum()
    wrongly, missed = share * a * (1 - label), share * b * label
    return DecisionCost(
        threshold=None,
        cost=float(wrongly[act].sum() + missed[~act].sum()),
        always=float(wrongly.sum()),
        never=float(missed.sum()),
        best_threshold=None,
        best_cost=None,
        regret=None,
        regret_at_most=None,
        confidence=confidence,
        true_positives=float((weight * label)[act].sum()),
        false_positives=float((weight * (1 - label))[act].sum()),
        true_negatives=float((weight * (1 - label))[~act].sum()),
        false_negatives=float((weight * label)[~act].sum()),
    )


def best_threshold(
    y_true: Any,
    y_prob: Any = None,
    *,
    false_positive: Any = None,
    false_negative: Any = None,
    matrix: Any = None,
    sample_weight: Any = None,
    pos_label: object = None,
) -> float:
    """Find the threshold that would have cost least on these rows.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    false_positive : float
        Cost of acting where there is no event, the same for all rows.
    false_negative : float
        Cost of not acting where there is one, the same for all rows.
    matrix : 2 x 2 array_like, optional
        Instead of both, as for `bayes_threshold`.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    float
        Act from this score on; inf means never act. The lowest one, if several cost the same. It
        is chosen in hindsight, so on other rows it does worse than here.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob = [0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4]
    >>> cb.best_threshold(y_true, y_prob, false_positive=1, false_negative=1)
    0.4
    """
    at = np.array([costs_of(false_positive, false_negative, matrix).threshold])
    statistic = costs_at(at, cost_curve_of, "the cost of decisions")
    found = measured(statistic, y_true, y_prob, sample_weight, pos_label)
    return float(found.best_threshold[0])
