"""The price of miscalibration: what any nondecreasing recalibration could save at most.

For every cost ratio at once, thresholding f by Bayes' rule costs at most c(f) more than the best
nondecreasing rule on f (in units where the two costs add up to 1). So a bound on the calibration
error is a cap on what any nondecreasing recalibration can save.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant import errors
from calibrant._figures import figure, rounded_up
from calibrant._text import named
from calibrant.certificates.certificate import Certificate, percent
from calibrant.certificates.certify import certificate_for
from calibrant.certificates.evidence import WERE_THESE, too_good
from calibrant.certificates.specification import METHODS, CertificateSpec, Method
from calibrant.core.diagram import Diagram
from calibrant.data.predictions import data_of
from calibrant.decisions.costs import amount, costs_of
from calibrant.decisions.regret import decision_cost
from calibrant.measures.measured import measured

#: Methods whose bound is not about a model fixed before and the population, as that on the regret.
_ALONE = ("isotonic", "fixed_design")

#: From here on an amount is written with an exponent.
_LONG = 1e15


@dataclass(frozen=True, slots=True)
class Price:
    """What miscalibration costs: no nondecreasing recalibration of the scores could save more.

    Attributes
    ----------
    saved_in_hindsight : float
        What the best threshold would have saved a decision on these rows, at these costs.
    cap : float
        What any nondecreasing recalibration can save a decision at most, in the population, with
        `confidence`: (false positive + false negative) times the smaller of two bounds, that on
        the calibration error and that on the regret at this threshold, each at half of
        1 - confidence. With method "isotonic" or "fixed_design" it is the bound on the calibration
        error alone: the other one is for a model that was fixed before, and for the population.
    confidence : float
        How often the cap holds; about so often with method "asymptotic", which is a limit.
    volume : float or None
        Decisions, such as those of a year.
    currency : str
        The unit of the costs.
    least_calibration_error : float
        The regret in units where the costs add up to 1: the calibration error measured is at
        least that.
    certificate : Certificate
        The bound on the calibration error; it holds for all cost ratios at once.
    fitted_here : bool
        There is no calibration error at all, as on rows that a calibrator was fitted to: then the
        cap is void, and the sentence asks.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> costs = {"false_positive": 1, "false_negative": 20}
    >>> price = cb.price_of_miscalibration(y_true, y_prob, **costs)
    >>> print(price.sentence)
    Miscalibration costs at most 0.335 a decision: with 95% confidence no nondecreasing
    recalibration of these scores can save more. On these rows the best threshold would
    have saved 0.132 a decision. Assumes that rows are independent and come from the
    population you will act on, and that the model was fixed before these rows were looked
    at.
    >>> price.saved_in_hindsight <= price.cap
    True
    """

    saved_in_hindsight: float
    cap: float
    confidence: float
    volume: float | None
    currency: str
    least_calibration_error: float
    certificate: Certificate
    fitted_here: bool = False

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
            "fitted_here": self.fitted_here,
        }

    @property
    def total_cap(self) -> float | None:
        """The cap for all decisions."""
        return None if self.volume is None else self.cap * self.volume

    @property
    def sentence(self) -> str:
        """The price in one sentence."""
        if self.fitted_here:
            asked = WERE_THESE.capitalize()
            return (
                f"No cap: there is no calibration error at all on these rows. {asked} Then they "
                "prove nothing: take rows that it has not seen, or the isotonic method for its own."
            )
        total = ""
        if self.total_cap is not None:
            total = f", {self._most(self.total_cap)} for {self.volume:,.10g} decisions"
        about = "about " if self.certificate.approximate else ""
        over = ", over exactly these scores," if self.certificate.method == "fixed_design" else ""
        return (
            f"Miscalibration costs at most {self._most(self.cap)} a decision{total}: with "
            f"{about}{percent(self.confidence)} confidence{over} no nondecreasing recalibration of "
            "these scores can save more. On these rows the best threshold would have saved "
            f"{self._money(self.saved_in_hindsight)} a decision. {self.certificate.assumed}."
        )

    def _most(self, amount: float) -> str:
        """Show a bound, which may grow by rounding but not shrink."""
        shown = f"{math.ceil(amount):,}" if 100 < amount < _LONG else rounded_up(amount)
        return f"{shown} {named(self.currency)}".strip()

    def _money(self, amount: float) -> str:
        shown = f"{amount:,.0f}" if 1000 <= amount < _LONG else figure(amount, 3)
        return f"{shown} {named(self.currency)}".strip()

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
    them. So that is all that isotonic regression, or any other nondecreasing recalibration, can
    save; one that turns the order around can save more. At one threshold the regret can also be
    bounded directly; the smaller cap counts. Each of the two is made at half of 1 - confidence, so
    the cap can be a little larger than the bound of `certify` times the sum of the costs.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `certify`.
    y_prob : array_like
        Predicted probabilities.
    false_positive : float
        Cost of acting where there is no event. Costs that differ from row to row are refused: the
        threshold then differs from row to row, and the bound does not apply.
    false_negative : float
        Cost of not acting where there is one.
    matrix : 2 x 2 array_like, optional
        Instead of both, as for `bayes_threshold`.
    volume : float, optional
        How many decisions the total is for.
    currency : str, optional
        The unit of the costs, for the words.
    confidence : float, default 0.95
        Confidence level of the cap.
    method : str, default "auto"
        How the calibration error is bounded, as for `certify`.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

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
    if volume is not None and amount("volume", volume, "a positive number") <= 0:
        raise errors.out_of_range("volume", "a positive number", volume)
    confidence = errors.inner_share("confidence", confidence)
    # one bound takes all of the confidence, two share it
    errors.one_of("method", method, METHODS)
    alone = method in _ALONE
    each = confidence if alone else (1 + confidence) / 2
    spec = CertificateSpec(each, method)
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if data.clusters is not None:
        raise errors.not_for_clusters(
            "price_of_miscalibration", "certify, whose bound times the sum of the costs is a cap"
        )
    certificate = certificate_for(data, spec)
    start, found = Diagram(*data.source.start()), measured(decision_cost(costs, each), data)
    regret, at_most = found.regret, found.regret_at_most
    assert regret is not None and at_most is not None  # noqa: PT018, S101 (one threshold, rows)
    cap = costs.scale * certificate.upper
    return Price(
        saved_in_hindsight=regret,
        cap=cap if alone else min(cap, at_most),
        confidence=confidence,
        volume=None if volume is None else float(volume),
        currency=currency,
        least_calibration_error=regret / costs.scale,
        certificate=certificate,
        fitted_here=not alone and too_good(start, certificate.c_emp_at_most),
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
