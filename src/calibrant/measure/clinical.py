"""What clinicians report (TRIPOD): calibration slope, intercept, and observed over expected.

Cox (1958): regress the outcome on the log-odds l of the score, P(Y = 1) = sigmoid(a + b l). The
slope b is 1, and the intercept a with b held at 1 is 0, if the scores are right on average.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibrant import _checks
from calibrant._types import FloatArray
from calibrant.diagram import Diagram, Source
from calibrant.sources.predictions import data_of, warn
from calibrant.sources.slots import logistic_sums

#: Newton's method doubles the digits with each step, so after a step this small it is done.
_SMALL_STEP = 1e-6
_MOST_STEPS = 50
#: Log-odds of a model that separates the classes grow without end; no data need a slope like this.
_ABSURD = 1e4


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval around it.

    Attributes
    ----------
    value : float
        The estimate.
    lower, upper : float
        Ends of the interval: asymptotic, for rows that are independent.
    confidence : float
        How often such intervals hold the truth.
    """

    value: float
    lower: float
    upper: float
    confidence: float

    def to_dict(self) -> dict[str, float]:
        """Return the fields as plain values."""
        return asdict(self)

    def __repr__(self) -> str:
        return (
            f"{self.value:.4g} ({100 * self.confidence:g}% interval "
            f"{self.lower:.4g} to {self.upper:.4g})"
        )


def _z(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def slope_of(source: Source, diagram: Diagram, confidence: float) -> Estimate:
    """Fit a and b by maximum likelihood; return b."""
    theta, hessian = _fitted(source, diagram, free_slope=True)
    spread = float(np.linalg.inv(hessian)[1, 1])
    return _wald(float(theta[1]), spread, confidence)


def intercept_of(source: Source, diagram: Diagram, confidence: float) -> Estimate:
    """Fit a by maximum likelihood with b = 1; return a."""
    theta, hessian = _fitted(source, diagram, free_slope=False)
    return _wald(float(theta[0]), 1 / float(hessian[0, 0]), confidence)


def ratio_of(diagram: Diagram, confidence: float) -> Estimate:
    """Divide events observed by events predicted; the interval is normal for its logarithm."""
    _check_counts(diagram)
    observed = float(diagram.cells.positives.sum())
    expected = observed - float(diagram.walk[-1])
    if expected <= 0:
        raise _checks.no_estimate("observed/expected ratio", "every score is 0")
    if observed == 0:  # no logarithm: the exact Poisson bound for no event
        return Estimate(0.0, 0.0, -math.log((1 - confidence) / 2) / expected, confidence)
    value = observed / expected
    spread = math.exp(_z(confidence) * math.sqrt((1 - observed / diagram.weight) / observed))
    return Estimate(value, value / spread, value * spread, confidence)


def _wald(value: float, variance: float, confidence: float) -> Estimate:
    width = _z(confidence) * math.sqrt(variance)
    return Estimate(value, value - width, value + width, confidence)


def _check_counts(diagram: Diagram) -> None:
    if not diagram.totals.labels_binary:
        raise _checks.needs_binary("an interval")
    if not diagram.totals.weights_integer:
        raise _checks.needs_row_counts("an interval")


def _fitted(source: Source, diagram: Diagram, *, free_slope: bool) -> tuple[FloatArray, FloatArray]:
    """Maximise the likelihood by Newton's method; return the estimate and the information.

    The first steps look at cells, each as if all its rows had the cell's mean score; that lands
    so close that one or two steps over the rows finish the work.
    """
    _check_counts(diagram)
    positives, weight = float(diagram.cells.positives.sum()), diagram.weight
    if positives in (0.0, weight):
        raise _checks.no_estimate("calibration slope or intercept", "there is only one class")
    theta = np.array([0.0, 1.0])
    try:
        for look in (_cells_sums(diagram), source.logistic_sums):
            theta, hessian = _newton(look, theta, free_slope)
    except np.linalg.LinAlgError:
        raise _checks.no_estimate(
            "calibration slope", "all scores are equal, or the scores separate the classes"
        ) from None
    return theta, hessian


def _cells_sums(diagram: Diagram) -> Any:
    cells = diagram.cells
    mean = (cells.positives - cells.rise + cells.fall) / cells.weight
    inner = (mean > 0) & (mean < 1)
    score, weight, positives = mean[inner], cells.weight[inner], cells.positives[inner]
    odds = np.log(score) - np.log1p(-score)

    def sums(intercept: float, slope: float) -> tuple[FloatArray, FloatArray]:
        return logistic_sums(odds, positives / weight, weight, intercept, slope)

    return sums


def _newton(look: Any, theta: FloatArray, free_slope: bool) -> tuple[FloatArray, FloatArray]:
    free = 2 if free_slope else 1
    for _ in range(_MOST_STEPS):
        found = look(float(theta[0]), float(theta[1]))
        if found is None:
            raise _checks.tally_hides("the calibration slope and intercept")
        gradient, hessian = found
        step = np.zeros(2)
        step[:free] = np.linalg.solve(hessian[:free, :free], gradient[:free])
        if not np.isfinite(step).all() or np.abs(theta + step).max() > _ABSURD:
            raise np.linalg.LinAlgError
        theta = theta + step
        if np.abs(step).max() <= _SMALL_STEP * (1 + np.abs(theta).max()):
            return theta, hessian
    raise np.linalg.LinAlgError


def _estimated(
    what: Any, y_true: Any, y_prob: Any, sample_weight: Any, pos_label: object
) -> Estimate:
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    estimate: Estimate = what(data.source, Diagram(*data.source.start()))
    warn(data.warnings, stacklevel=3)
    return estimate


def calibration_slope(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Estimate:
    """Estimate the calibration slope: under 1 the scores are too extreme, over 1 too timid.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As for `calibration_error`; labels must be 0/1 and weights row counts.
    confidence : float, default 0.95
        Level of the interval.

    Returns
    -------
    Estimate
        The maximum likelihood estimate and its Wald interval. Scores of exactly 0 or 1 have no
        log-odds and are refused.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.calibration_slope(y_true, y_prob)
    0.6454 (95% interval 0.6066 to 0.6841)
    """
    level = _checks.share("confidence", confidence)
    return _estimated(
        lambda source, diagram: slope_of(source, diagram, level),
        y_true,
        y_prob,
        sample_weight,
        pos_label,
    )


def calibration_intercept(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Estimate:
    """Estimate the calibration intercept, with the slope held at 1 ("calibration in the large").

    Over 0 the event is more frequent than the scores say, under 0 less.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, confidence
        As for `calibration_slope`.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.calibration_intercept(y_true, y_prob)
    0.1603 (95% interval 0.08336 to 0.2372)
    """
    level = _checks.share("confidence", confidence)
    return _estimated(
        lambda source, diagram: intercept_of(source, diagram, level),
        y_true,
        y_prob,
        sample_weight,
        pos_label,
    )


def observed_expected_ratio(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
) -> Estimate:
    """Divide the events that happened by the events that were predicted.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label, confidence
        As for `calibration_slope`; scores of 0 and 1 are welcome.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.observed_expected_ratio(y_true, y_prob)
    1.053 (95% interval 1.019 to 1.088)
    """
    level = _checks.share("confidence", confidence)
    return _estimated(
        lambda _, diagram: ratio_of(diagram, level), y_true, y_prob, sample_weight, pos_label
    )
