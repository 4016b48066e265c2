"""Regret: what decisions cost, what the best threshold would have cost, and the price between.

For every cost ratio at once, thresholding f by Bayes' rule costs at most c(f) more than the best
nondecreasing rule on f (in units where the two costs add up to 1). So a bound on the calibration
error is a cap on what any monotone recalibration can save.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibrant import _checks
from calibrant.certify.certificate import Certificate, percent
from calibrant.certify.certify import certificate_for
from calibrant.certify.methods import Method, Terms
from calibrant.decide.costs import Costs, costs_of, row_costs, row_thresholds
from calibrant.decide.curve import below, cost_curve_of, resolved_for
from calibrant.diagram import Diagram
from calibrant.sources.predictions import Predictions, TallyData, data_of, warn


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
        The best threshold in hindsight and its mean cost: what no monotone recalibration could
        beat on these rows. inf means never act. None if costs differ from row to row.
    regret : float or None
        cost - best_cost.
    regret_at_most : float or None
        An upper bound on the regret in the population, at this threshold, with `confidence`; None
        where labels are soft, weights are no row counts, or costs differ from row to row.
    confidence : float
        How often that bound holds.
    true_positives, false_positives, true_negatives, false_negatives : float
        Rows of each kind, by weight, if Bayes' rule decides.
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
        rule = "Bayes' rule" if self.threshold is None else f"Acting from {self.threshold:.4g} on"
        text = f"{rule} costs {self.cost:.4g} a decision; acting {other} costs {cheaper:.4g}"
        if self.best_cost is not None:
            text += f", the best threshold in hindsight {self.best_cost:.4g}"
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
    y_true, y_prob, sample_weight, pos_label
        As for `calibration_error`.
    false_positive, false_negative : float or array-like
        The costs of acting where there is no event, and of not acting where there is one; one
        for all rows, or one for each.
    matrix : 2 x 2 array-like, optional
        Instead of both, as for `bayes_threshold`. Costs are then above those of the right action.
    confidence : float, default 0.95
        Of the bound on the regret.

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
    Acting from 0.1 on costs 0.6059 a decision; acting always costs 0.5907, the best threshold in
    hindsight 0.5428.
    """
    confidence = _checks.inner_share("confidence", confidence)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if np.ndim(false_positive) > 0 or np.ndim(false_negative) > 0:
        if matrix is not None:
            raise _checks.costs_twice()
        warn(data.warnings, stacklevel=2)
        return _cost_by_row(data, false_positive, false_negative, confidence)
    costs = costs_of(false_positive, false_negative, matrix)
    diagram = decision_diagram(data, costs)
    warn(data.warnings, stacklevel=2)
    return decision_cost_of(diagram, costs, confidence)


def decision_diagram(data: Predictions | TallyData, costs: Costs) -> Diagram:
    """Resolve what decisions at one threshold need."""
    return resolved_for(data.source, np.array([costs.threshold]), "the cost of decisions")


def decision_cost_of(diagram: Diagram, costs: Costs, confidence: float) -> DecisionCost:
    """Read the costs off a diagram resolved for them."""
    curve = cost_curve_of(diagram, np.array([costs.threshold]))
    weight, positives = (float(share[0]) * diagram.weight for share in below(diagram, curve.p))
    events = float(diagram.cells.positives.sum())
    regret = float(curve.regret[0]) * costs.scale
    sure = diagram.totals.labels_binary and diagram.totals.weights_integer
    slack = math.sqrt(math.log(1 / (1 - confidence)) / (2 * diagram.weight))
    return DecisionCost(
        threshold=costs.threshold,
        cost=float(curve.cost[0]) * costs.scale,
        always=float(curve.always[0]) * costs.scale,
        never=float(curve.never[0]) * costs.scale,
        best_threshold=float(curve.best_threshold[0]),
        best_cost=float(curve.best[0]) * costs.scale,
        regret=regret,
        regret_at_most=min(costs.scale, regret + slack * costs.scale) if sure else None,
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
        raise _checks.tally_hides("costs of single rows")
    rows = data.source.rows()
    n = len(rows.score)
    act = rows.score >= row_thresholds(false_positive, false_negative, n)
    a = row_costs("false_positive", false_positive, n)
    b = row_costs("false_negative", false_negative, n)
    weight = np.ones(n) if rows.weight is None else rows.weight
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
    y_true, y_prob, false_positive, false_negative, matrix, sample_weight, pos_label
        As for `expected_cost`; the costs are the same for all rows.

    Returns
    -------
    float
        Act from this score on; inf means never act. The lowest one, if several cost the same. It
        is chosen in hindsight, so on other rows it does worse than here.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.best_threshold([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4], false_positive=1, false_negative=1)
    0.4
    """
    costs = costs_of(false_positive, false_negative, matrix)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    diagram = decision_diagram(data, costs)
    warn(data.warnings, stacklevel=2)
    return float(cost_curve_of(diagram, np.array([costs.threshold])).best_threshold[0])


@dataclass(frozen=True, slots=True)
class Price:
    """What miscalibration costs: no monotone recalibration of the scores could save more.

    Attributes
    ----------
    saved_in_hindsight : float
        What the best threshold would have saved a decision on these rows, at these costs.
    cap : float
        What any monotone recalibration can save a decision at most, in the population, with
        `confidence`: (false positive + false negative) times the smaller of two bounds, that on
        the calibration error and that on the regret at this threshold, each at half of
        1 - confidence.
    confidence : float
        How often the cap holds.
    volume : float or None
        Decisions, such as those of a year.
    currency : str
        The unit of the costs.
    least_calibration_error : float
        The regret in units where the costs add up to 1: the calibration error measured is at
        least that.
    certificate : Certificate
        The bound on the calibration error; it holds for all cost ratios at once.
    """

    saved_in_hindsight: float
    cap: float
    confidence: float
    volume: float | None
    currency: str
    least_calibration_error: float
    certificate: Certificate

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {
            "sentence": self.sentence,
            "saved_in_hindsight": self.saved_in_hindsight,
            "cap": self.cap,
            "confidence": self.confidence,
            "volume": self.volume,
            "currency": self.currency,
            "total_cap": self.total_cap,
            "least_calibration_error": self.least_calibration_error,
            "certificate": self.certificate.to_dict(),
        }

    @property
    def total_cap(self) -> float | None:
        """The cap for all decisions."""
        return None if self.volume is None else self.cap * self.volume

    @property
    def sentence(self) -> str:
        """The price in one sentence."""
        total = ""
        if self.total_cap is not None:
            total = f", {self._money(self.total_cap)} for {self.volume:,.10g} decisions"
        return (
            f"Miscalibration costs at most {self._money(self.cap)} a decision{total}: with "
            f"{percent(self.confidence)} confidence no monotone (nondecreasing) "
            "recalibration of these scores can save more. On these rows the best threshold would "
            f"have saved {self._money(self.saved_in_hindsight)} a decision."
        )

    def _money(self, amount: float) -> str:
        figure = f"{amount:,.0f}" if amount >= 1000 else f"{amount:,.3g}"
        return f"{figure} {self.currency}".strip()

    def __repr__(self) -> str:
        return self.sentence


def price_of_miscalibration(
    y_true: Any,
    y_prob: Any = None,
    *,
    false_positive: Any = None,
    false_negative: Any = None,
    matrix: Any = None,
    volume: float | None = None,
    currency: str = "",
    confidence: float = 0.95,
    method: Method = "auto",
    sample_weight: Any = None,
    pos_label: object = None,
) -> Price:
    """Say what miscalibration costs at most, in your own money.

    Whatever the costs, thresholding the scores by Bayes' rule costs at most
    (false positive + false negative) c(f) a decision more than the best nondecreasing rule on
    them. So that is all that isotonic regression, or any other monotone recalibration, can save.
    At one threshold the regret can also be bounded directly; the smaller cap counts.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, confidence, method
        As for `certify`.
    false_positive, false_negative, matrix
        As for `bayes_threshold`. Costs that differ from row to row are refused: the threshold
        then differs from row to row, and the bound does not apply.
    volume : float, optional
        How many decisions the total is for.
    currency : str, optional
        The unit of the costs, for the words.

    Returns
    -------
    Price
        An estimate in hindsight, and a certified cap.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(10_000, seed=1)
    >>> costs = {"false_positive": 1, "false_negative": 20, "currency": "EUR"}
    >>> cb.price_of_miscalibration(y_true, y_prob, **costs, volume=1000).total_cap < 300
    True
    """
    costs = costs_of(false_positive, false_negative, matrix)
    if volume is not None and not (np.ndim(volume) == 0 and 0 < float(volume) < math.inf):
        raise _checks.out_of_range("volume", "a positive number", volume)
    confidence = _checks.inner_share("confidence", confidence)
    half = (1 + confidence) / 2
    terms = Terms(half, method)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    warn(data.warnings, stacklevel=2)
    certificate = certificate_for(data, terms)
    found = decision_cost_of(decision_diagram(data, costs), costs, half)
    regret, at_most = found.regret, found.regret_at_most
    assert regret is not None and at_most is not None  # noqa: PT018, S101 (one threshold, rows)
    return Price(
        saved_in_hindsight=regret,
        cap=min(costs.scale * certificate.upper, at_most),
        confidence=confidence,
        volume=None if volume is None else float(volume),
        currency=currency,
        least_calibration_error=regret / costs.scale,
        certificate=certificate,
    )


def error_from_regret(regret: float) -> float:
    """Bound the calibration error by the largest regret over all cost ratios: sqrt(2 r) + r.

    The converse of the price: where no cost ratio has a regret over r, the calibration error is
    at most this.

    Examples
    --------
    >>> round(error_from_regret(0.005), 3)
    0.105
    """
    return math.sqrt(2 * regret) + regret
