"""What clinicians report (TRIPOD): calibration slope, intercept, and observed over expected.

Cox (1958): regress the outcome on the log-odds l of the score, P(Y = 1) = sigmoid(a + b l). The
slope b is 1, and the intercept a with b held at 1 is 0, if the scores are right on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from calibrant import _checks
from calibrant._types import FloatArray
from calibrant.diagram import Diagram, Source
from calibrant.sources.predictions import Predictions, TallyData, data_of, warn
from calibrant.sources.slots import logistic_sums

#: Parameters and information, or gradient and information, of a logistic model.
Fit: TypeAlias = tuple[FloatArray, FloatArray]
#: Sums for several models at once, given their intercepts and slopes.
Look: TypeAlias = Callable[[list[tuple[float, float]]], list[Fit] | None]
#: Newton's method doubles the digits with each step, so after a step this small it is done.
_SMALL_STEP = 1e-7
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


def logistic_of(
    source: Source, diagram: Diagram, confidence: float, *wanted: str
) -> dict[str, Estimate]:
    """Fit the models for "slope" (a and b free) and "intercept" (b = 1), in the same passes."""
    free = {"slope": 2, "intercept": 1}
    fits = _fitted(source, diagram, [free[name] for name in wanted])
    estimates = {}
    for name, (theta, information) in zip(wanted, fits, strict=True):
        if name == "slope":
            estimates[name] = _wald(theta[1], np.linalg.inv(information)[1, 1], confidence)
        else:
            estimates[name] = _wald(theta[0], 1 / information[0, 0], confidence)
    return estimates


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


def _wald(value: Any, variance: Any, confidence: float) -> Estimate:
    center, width = float(value), _z(confidence) * math.sqrt(float(variance))
    return Estimate(center, center - width, center + width, confidence)


def _check_counts(diagram: Diagram) -> None:
    if not diagram.totals.labels_binary:
        raise _checks.needs_binary("an interval")
    if not diagram.totals.weights_integer:
        raise _checks.needs_row_counts("an interval")


def _fitted(source: Source, diagram: Diagram, free: list[int]) -> list[Fit]:
    """Maximise likelihoods by Newton's method, one for each number of free parameters.

    The first steps look at cells, each as if all its rows had the cell's mean score; that lands
    so close that one or two steps over the rows finish the work.
    """
    _check_counts(diagram)
    positives = float(diagram.cells.positives.sum())
    if positives in (0.0, diagram.weight):
        raise _checks.no_estimate("calibration slope or intercept", "there is only one class")
    thetas = [np.array([0.0, 1.0]) for _ in free]
    try:
        thetas, _ = _newton(_cells_look(diagram), thetas, free)
        thetas, information = _newton(source.logistic_sums, thetas, free)
    except np.linalg.LinAlgError:
        raise _checks.no_estimate(
            "calibration slope", "all scores are equal, or the scores separate the classes"
        ) from None
    return list(zip(thetas, information, strict=True))


def _cells_look(diagram: Diagram) -> Look:
    cells = diagram.cells
    mean = (cells.positives - cells.rise + cells.fall) / cells.weight
    inner = (mean > 0) & (mean < 1)
    score, weight, positives = mean[inner], cells.weight[inner], cells.positives[inner]
    odds = np.log(score) - np.log1p(-score)

    def look(models: list[tuple[float, float]]) -> list[Fit]:
        sums = [logistic_sums(odds, positives / weight, weight, *model) for model in models]
        return [(total[0], total[1:]) for total in sums]

    return look


def _newton(
    look: Look, thetas: list[FloatArray], free: list[int]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Step until all models have converged."""
    for _ in range(_MOST_STEPS):
        found = look([(float(theta[0]), float(theta[1])) for theta in thetas])
        if found is None:
            raise _checks.tally_hides("the calibration slope and intercept")
        steps = [_step(sums, count) for sums, count in zip(found, free, strict=True)]
        thetas = [theta + step for theta, step in zip(thetas, steps, strict=True)]
        size = max(float(np.abs(theta).max()) for theta in thetas)
        if not size <= _ABSURD:
            raise np.linalg.LinAlgError
        if max(float(np.abs(step).max()) for step in steps) <= _SMALL_STEP * (1 + size):
            return thetas, [information for _, information in found]
    raise np.linalg.LinAlgError


def _step(sums: Fit, free: int) -> FloatArray:
    """Return Newton's step in the first `free` parameters."""
    gradient, information = sums
    step = np.zeros(2)
    step[:free] = np.linalg.solve(information[:free, :free], gradient[:free])
    return step


def _logistic(name: str, data: Predictions | TallyData, confidence: float) -> Estimate:
    level = _checks.share("confidence", confidence)
    estimate = logistic_of(data.source, Diagram(*data.source.start()), level, name)[name]
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
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    return _logistic("slope", data, confidence)


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
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    return _logistic("intercept", data, confidence)


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
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    ratio = ratio_of(Diagram(*data.source.start()), _checks.share("confidence", confidence))
    warn(data.warnings, stacklevel=2)
    return ratio
