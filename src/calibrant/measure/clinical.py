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

#: Gradient and information of logistic models, given the intercept and slope of each.
Look: TypeAlias = Callable[[list[tuple[float, float]]], list[tuple[FloatArray, FloatArray]] | None]
#: Newton's method doubles the digits with each step, so after a step this small it is done.
_SMALL_STEP = 4e-7
_MOST_LOOKS = 100
#: No step is longer than this, in log-odds and in deviations of log-odds.
_LONGEST_STEP = 4.0
#: If classes are separated, the slope and its variance grow without end; none that exists comes
#: near this many log-odds for one deviation.
_ENDLESS = 200.0


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

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> slope = cb.calibration_slope(y_true, y_prob)
    >>> round(slope.value, 3), round(slope.lower, 3), round(slope.upper, 3)
    (0.628, 0.609, 0.647)
    >>> slope
    0.628 (95% interval 0.6088 to 0.6473)
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
) -> dict[str, Estimate | _checks.InputError]:
    """Fit the models for "slope" (a and b free) and "intercept" (b = 1), in the same passes.

    A model that has no finite estimate gives the reason instead.
    """
    _check_counts(diagram)
    cells = diagram.cells
    if (cells.positives == 0).all() or (cells.positives == cells.weight).all():
        raise _checks.no_estimate("calibration slope or intercept", "there is only one class")
    found: dict[str, Estimate | _checks.InputError] = {}
    for name, climb in zip(wanted, _fitted(source, diagram, wanted), strict=True):
        if climb.failed:
            one = len(cells) == 1 and bool(cells.single[0])
            why = "all scores are equal" if one else "the scores separate the classes"
            found[name] = _checks.no_estimate(f"calibration {name}", why)
        elif name == "slope":
            variance = np.linalg.inv(climb.information)[1, 1]
            found[name] = _wald(climb.raw[1], variance, confidence)
        else:
            found[name] = _wald(climb.raw[0], 1 / climb.information[0, 0], confidence)
    return found


def ratio_of(diagram: Diagram, confidence: float) -> Estimate:
    """Divide events observed by events predicted.

    The interval is that of Clopper and Pearson for the rate of the event, over the rate
    predicted. Rows whose probabilities differ vary less than a binomial (Hoeffding, 1956), so
    it covers at least as often as it says, at any number of rows.
    """
    from scipy.special import betaincinv

    _check_counts(diagram)
    total = diagram.weight
    observed = float(diagram.cells.positives.sum())
    expected = observed - float(diagram.walk[-1])
    if expected <= 0:
        raise _checks.no_estimate("observed/expected ratio", "no event is predicted")
    tail, missed = (1 - confidence) / 2, total - observed
    lower = float(betaincinv(observed, missed + 1, tail)) if observed > 0 else 0.0
    upper = float(betaincinv(observed + 1, missed, 1 - tail)) if missed > 0 else 1.0
    scale = total / expected
    return Estimate(observed / expected, lower * scale, upper * scale, confidence)


def _wald(value: Any, variance: Any, confidence: float) -> Estimate:
    center, width = float(value), _z(confidence) * math.sqrt(float(variance))
    return Estimate(center, center - width, center + width, confidence)


def _check_counts(diagram: Diagram) -> None:
    if not diagram.totals.labels_binary:
        raise _checks.needs_binary("an interval")
    if not diagram.totals.weights_integer:
        raise _checks.needs_row_counts("an interval")


class _Climb:
    """Newton's method on one concave likelihood, half as far whenever a step passes the top.

    It works on log-odds that are centred and scaled, so that scores which lie close together,
    or far out, are as good as any.
    """

    def __init__(self, center: float, scale: float, rate: float, free_slope: bool) -> None:
        # columns of how (intercept, slope) on the raw log-odds depend on the free parameters
        if free_slope:
            self._map = np.array([[1.0, -center / scale], [0.0, 1 / scale]])
            self._fixed, self.trial = np.zeros(2), np.array([math.log(rate / (1 - rate)), 0.0])
        else:
            self._map = np.array([[1.0], [0.0]])
            self._fixed, self.trial = np.array([0.0, 1.0]), np.zeros(1)
        self._step: FloatArray | None = None
        self._rise = 0.0
        self.information = np.eye(2)
        self.done = self.failed = False

    @property
    def raw(self) -> FloatArray:
        """Intercept and slope on the raw log-odds."""
        point: FloatArray = self._map @ self.trial + self._fixed
        return point

    def restart(self) -> None:
        """Look again from where it stands, at other data."""
        self._step, self.done, self.failed = None, False, False

    def update(self, gradient: FloatArray, information: FloatArray) -> None:
        """Move on, given what was seen at `raw`."""
        slopes = self._map.T @ gradient
        if self._step is not None and float(slopes @ self._step) < -self._rise / 2:
            self._step = self._step / 2
            self.trial = self.trial - self._step
            return
        try:
            spread = np.linalg.inv(self._map.T @ information @ self._map)
        except np.linalg.LinAlgError:
            spread = np.full((len(slopes), len(slopes)), np.nan)
        step, variance = spread @ slopes, np.diag(spread)
        if not (np.isfinite(step).all() and (variance > 0).all()) or self._endless(variance):
            self.failed = True
            return
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        self.information, self._step, self._rise = information, step, float(slopes @ step)
        self.trial = self.trial + step
        # on a likelihood so flat that rounding tilts it, a millionth of a deviation is enough
        enough = np.maximum(_SMALL_STEP, 1e-6 * np.sqrt(variance))
        self.done = bool((np.abs(step) <= enough).all())

    def _endless(self, variance: FloatArray) -> bool:
        """Whether the slope runs away, or nothing holds it: an intercept alone always exists."""
        return len(variance) == 2 and bool(
            abs(self.trial[1]) > _ENDLESS or variance[1] > _ENDLESS**2
        )


def _fitted(source: Source, diagram: Diagram, wanted: tuple[str, ...]) -> list[_Climb]:
    """Fit models together: first to cells, each as if all its rows had the cell's mean score.

    That lands so close that one or two looks at the rows finish the work.
    """
    cells = diagram.cells
    mean = (cells.positives - cells.rise + cells.fall) / cells.weight
    inner = (mean > 0) & (mean < 1)
    score, weight, positives = mean[inner], cells.weight[inner], cells.positives[inner]
    odds = np.log(score) - np.log1p(-score)

    def look(models: list[tuple[float, float]]) -> list[tuple[FloatArray, FloatArray]]:
        sums = [logistic_sums(odds, positives / weight, weight, *model) for model in models]
        return [(total[0], total[1:]) for total in sums]

    center = float(np.average(odds, weights=weight)) if odds.size else 0.0
    scale = math.sqrt(float(np.average((odds - center) ** 2, weights=weight))) if odds.size else 0
    rate = float(cells.positives.sum()) / diagram.weight
    shape = (center, scale or 1.0, rate)
    climbs = [_Climb(*shape, free_slope=name == "slope") for name in wanted]
    if odds.size:
        _climb_all(climbs, look)
    # where the cells lead nowhere, the rows are climbed from the start
    climbs = [
        _Climb(*shape, free_slope=name == "slope") if climb.failed or not climb.done else climb
        for name, climb in zip(wanted, climbs, strict=True)
    ]
    for climb in climbs:
        climb.restart()
    _climb_all(climbs, source.logistic_sums)
    for climb in climbs:
        climb.failed = climb.failed or not climb.done
    return climbs


def _climb_all(climbs: list[_Climb], look: Look) -> None:
    for _ in range(_MOST_LOOKS):
        active = [climb for climb in climbs if not (climb.done or climb.failed)]
        if not active:
            return
        found = look([(float(climb.raw[0]), float(climb.raw[1])) for climb in active])
        if found is None:
            raise _checks.tally_hides("the calibration slope and intercept")
        for climb, sums in zip(active, found, strict=True):
            climb.update(*sums)


def _logistic(name: str, data: Predictions | TallyData, confidence: float) -> Estimate:
    level = _checks.share("confidence", confidence)
    estimate = logistic_of(data.source, Diagram(*data.source.start()), level, name)[name]
    if isinstance(estimate, _checks.InputError):
        raise estimate
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
    y_true : array_like or Predictions
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    confidence : float, default 0.95
        Level of the interval.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

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
    y_true : array_like or Predictions
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    confidence : float, default 0.95
        Level of the interval.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    Estimate
        The maximum likelihood estimate and its Wald interval. Scores of exactly 0 or 1 have no
        log-odds and are refused.

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
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    confidence : float, default 0.95
        Level of the interval.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    Estimate
        Over 1 more events happened than were predicted. Scores of 0 and 1 are welcome.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.observed_expected_ratio(y_true, y_prob)
    1.053 (95% interval 1.018 to 1.088)
    """
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    ratio = ratio_of(Diagram(*data.source.start()), _checks.share("confidence", confidence))
    warn(data.warnings, stacklevel=2)
    return ratio
