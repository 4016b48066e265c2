"""What clinicians report (TRIPOD): calibration slope, intercept, and observed over expected.

Cox (1958): regress the outcome on the log-odds l of the score, P(Y = 1) = sigmoid(a + b l). The
slope b is 1, and the intercept a with b held at 1 is 0, if the scores are right on average.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from calibrant._figures import figure
from calibrant.core.diagram import Diagram, Source
from calibrant.core.statistic import RowSums, Statistic
from calibrant.core.tally import Cells
from calibrant.errors import InputError, clip_or_none, inner_share
from calibrant.measures.logistic import Climb, fitted, intercept_ends, one_odds
from calibrant.measures.measured import measured

#: Below this sum of squared residuals the ratio's interval is the wider of two. For one score that
#: all rows have coverage is a binomial sum: 95% intervals cover .943 or more, with 50 only .939.
_FEW_RESIDUALS = 100.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval around it.

    Attributes
    ----------
    value : float
        The estimate.
    lower, upper : float
        Ends of the interval: asymptotic, for rows that are independent. Those of slope and
        intercept are by sandwich variances, so that the logistic form need not be right.
    confidence : float
        How often such intervals hold the truth, about.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> slope = cb.calibration_slope(y_true, y_prob)
    >>> round(slope.value, 3), round(slope.lower, 3), round(slope.upper, 3)
    (0.628, 0.608, 0.648)
    >>> slope
    0.628 (95% interval 0.6084 to 0.6477)
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
            f"{figure(self.value)} ({100 * self.confidence:g}% interval "
            f"{figure(self.lower)} to {figure(self.upper)})"
        )


def _logistic_of(
    source: Source, diagram: Diagram, confidence: float, *wanted: str, clip: float | None = None
) -> dict[str, Estimate | InputError]:
    """Fit the models for "slope" (a and b free) and "intercept" (b = 1), in the same passes.

    A model that has no finite estimate gives the reason instead. `clip` moves scores into
    [clip, 1 - clip].
    """
    diagram.totals.check_counts("an interval")
    cells = diagram.cells
    if (cells.positives == 0).all() or (cells.positives == cells.weight).all():
        raise _no_estimate("calibration slope or intercept", "there is only one class")
    found: dict[str, Estimate | InputError] = {}
    for name, climb in zip(wanted, fitted(source, diagram, wanted, clip), strict=True):
        if climb.failed:
            found[name] = _no_estimate(f"calibration {name}", _why_none(source, cells, clip))
            continue
        quantile = _quantile(climb, confidence)
        if name == "slope":
            center, width = float(climb.raw[1]), quantile * math.sqrt(climb.slope_variance)
            found[name] = Estimate(center, center - width, center + width, confidence)
        else:
            ends = intercept_ends(source, diagram, climb, quantile, clip)
            found[name] = Estimate(float(climb.raw[0]), *ends, confidence)
    return found


def _why_none(source: Source, cells: Cells, clip: float | None) -> str:
    if len(cells) == 1 and bool(cells.single[0]):
        return "all scores are equal"
    if clip is not None and one_odds(source, clip):
        return f"all scores are equal after clip={clip:g}"
    return "the scores separate the classes"


def _quantile(climb: Climb, confidence: float) -> float:
    """Return how many deviations the interval reaches: Student's t.

    With 200 rows and ten events the normal quantile would cover .87 to .91, this one .94 to .96.
    """
    from scipy.special import stdtrit

    return float(stdtrit(climb.degrees, (1 + confidence) / 2))


def _ratio_of(diagram: Diagram, confidence: float) -> Estimate:
    """Divide events observed by events predicted.

    At rho = E Y / E f the mean of Y - rho f is 0, so that the ratio's variance is about
    E (Y - rho f)^2 / (n (E f)^2): the delta method, here for the ratio's logarithm. It needs
    residuals that are not nearly all 0: neither few events, nor few other rows, nor scores so sharp
    that hardly an outcome is a surprise. The sum of their squares counts those. Where it is small,
    and so with fewer than ten events always, the interval reaches at least as far as Clopper and
    Pearson's for the rate of the event, divided by the mean score.
    """
    from scipy.special import ndtri

    diagram.totals.check_counts("an interval")
    observed = diagram.positives
    expected = observed - float(diagram.walk[-1])
    if expected <= 0:
        raise _no_estimate("observed/expected ratio", "no event is predicted")
    found = observed / expected
    totals = diagram.totals
    # divided twice, because the square of a tiny sum of scores would vanish
    mixed, square = totals.fy / expected, totals.ff / expected / expected
    residuals = max(0.0, totals.yy - 2 * observed * mixed + observed * (observed * square))
    factor = math.exp(float(ndtri((1 + confidence) / 2)) * math.sqrt(residuals) / max(observed, 1))
    lower, upper = found / factor, found * factor
    if residuals < _FEW_RESIDUALS:
        low, high = clopper_pearson(observed, diagram.weight, confidence)
        scale = diagram.weight / expected
        lower, upper = min(lower, low * scale), max(upper, high * scale)
    return Estimate(found, lower, upper, confidence)


def clopper_pearson(events: float, rows: float, confidence: float) -> tuple[float, float]:
    """Return the exact interval of a binomial rate."""
    from scipy.special import betaincinv

    tail, others = (1 - confidence) / 2, rows - events
    lower = float(betaincinv(events, others + 1, tail)) if events > 0 else 0.0
    upper = float(betaincinv(events + 1, others, 1 - tail)) if others > 0 else 1.0
    return lower, upper


def logistic(
    confidence: float, clip: float | None, *wanted: str
) -> Statistic[dict[str, Estimate | InputError]]:
    """Return "slope", "intercept" or both as a statistic, whose sums are found step by step."""
    return Statistic(
        "the calibration slope and intercept",
        lambda diagram, sums: _logistic_of(sums.source, diagram, confidence, *wanted, clip=clip),
    )


def _only(name: str, confidence: float, clip: float | None) -> Statistic[Estimate]:
    def value(diagram: Diagram, sums: RowSums) -> Estimate:
        found = both.value(diagram, sums)[name]
        if isinstance(found, InputError):
            raise found
        return found

    both = logistic(inner_share("confidence", confidence), clip_or_none(clip), name)
    return Statistic(both.name, value)


def ratio(confidence: float) -> Statistic[Estimate]:
    """Return the observed/expected ratio as a statistic."""
    return Statistic(
        "the observed/expected ratio", lambda diagram, _sums: _ratio_of(diagram, confidence)
    )


def calibration_slope(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
    clip: float | None = None,
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
    clip : float, optional
        Move every score into [clip, 1 - clip] first, such as 0.001. Scores of exactly 0 or 1, as a
        forest gives them, have no log-odds and are refused without it.

    Returns
    -------
    Estimate
        The maximum likelihood estimate and its interval.

    Notes
    -----
    The interval is asymptotic; it assumes independent rows, but not the logistic form.
    Its deviation is the larger of the sandwich's and the model's own, and it has as many degrees of
    freedom as squared residuals (y - p)^2 add up to, less 2. On eight laws of the wrong form 95%
    intervals covered .94 to .97 with 200, 2,000 and 20,000 rows, where the model's own deviation
    covered .63 to .97. With only two of 200 rows far out they covered .90.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958.
    White, "Maximum likelihood estimation of misspecified models", Econometrica 1982.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.calibration_slope(y_true, y_prob)
    0.6454 (95% interval 0.6064 to 0.6843)
    >>> cb.calibration_slope(y_true, y_prob.round(1), clip=0.01)
    0.6047 (95% interval 0.5661 to 0.6433)
    """
    return measured(_only("slope", confidence, clip), y_true, y_prob, sample_weight, pos_label)


def calibration_intercept(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
    clip: float | None = None,
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
    clip : float, optional
        Move every score into [clip, 1 - clip] first, such as 0.001. Scores of exactly 0 or 1, as a
        forest gives them, have no log-odds and are refused without it.

    Returns
    -------
    Estimate
        The maximum likelihood estimate and its interval.

    Notes
    -----
    The interval is asymptotic; it assumes independent rows, but not the logistic form.
    It holds every intercept at which the sum of the residuals y - p is as near to 0 as it would be
    for the true one, with the deviation and the degrees of freedom as for the slope. Around the
    estimate that is its sandwich interval, which is much too short where scores near 0 and 1 are
    too sure. On eight laws of the wrong form 95% intervals covered .94 to .99 with 200, 2,000 and
    20,000 rows, where those of the model covered .54 to .98.

    References
    ----------
    Boos, "On generalized score tests", The American Statistician 1992.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.calibration_intercept(y_true, y_prob)
    0.1603 (95% interval 0.07016 to 0.2483)
    """
    return measured(_only("intercept", confidence, clip), y_true, y_prob, sample_weight, pos_label)


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

    Notes
    -----
    The interval is for E Y / E f of the population that rows are drawn from independently, not for
    these scores alone: the delta method for the logarithm, with (Y - ratio f)^2 summed over the
    rows. While that sum is under 100 the interval also reaches as far as Clopper and Pearson's for
    the rate of the event, divided by the mean score.

    95% intervals covered .94 or more from 200 rows on, and .93 with fewer, on all laws tried but
    those where few rows carry most of the scores, or of the squared residuals. No interval of this
    kind holds there: with about ten such rows it covered .92 to .94, with two or three .83 to .87,
    with one .60 to .72.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000)
    >>> cb.observed_expected_ratio(y_true, y_prob)
    1.053 (95% interval 1.024 to 1.083)
    """
    statistic = ratio(inner_share("confidence", confidence))
    return measured(statistic, y_true, y_prob, sample_weight, pos_label)


def _no_estimate(what: str, why: str) -> InputError:
    return InputError(f"There is no finite {what}: {why}.")
