"""The calibration error c_emp: exact, as a metric and as an assertion."""

from __future__ import annotations

from typing import Any

from calibrant import errors
from calibrant._figures import figure, rounded_down, rounded_up
from calibrant.core.diagram import TOLERANCE, Diagram
from calibrant.core.extremes import extremes, extremes_need
from calibrant.core.statistic import Statistic
from calibrant.errors import InputError
from calibrant.measures.interval import Interval, worst_of
from calibrant.measures.measured import measured


def error_of(diagram: Diagram) -> tuple[float, float]:
    """Return c_emp at the known points, which is attained, and the most it could be."""
    found = extremes(diagram)
    share = found.range / diagram.weight
    return min(1.0, share), min(1.0, max(share, found.at_most / diagram.weight))


#: c_emp, and the most that it could be.
ERROR: Statistic[tuple[float, float]] = Statistic(
    "the calibration error", lambda diagram, _sums: error_of(diagram), extremes_need, bounded=True
)
#: The same, and the worst interval.
ERROR_AND_WORST: Statistic[tuple[tuple[float, float], Interval]] = Statistic(
    "the calibration error",
    lambda diagram, _sums: (error_of(diagram), worst_of(diagram)),
    extremes_need,
    bounded=True,
)


def calibration_error(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: object = None
) -> float:
    """Measure the calibration error c_emp on the rows at hand, exactly.

    The largest difference between observed and predicted positives over all intervals of
    scores, as a share of all rows: 0.02 means that in no range of scores do predictions and
    outcomes differ by more than 2 events in every 100 rows of the data. No bins, no smoothing,
    no dependence on the order of rows; equal scores are pooled.

    It has other names: ECCE-R, Kuiper's statistic of calibration (not divided by a standard
    deviation), and cutoff calibration error. It is not a binned error, which scikit-learn is
    about to add under the name of this function; `expected_calibration_error` is one.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes: 0/1 (the texts too), -1/1, booleans, any two values with `pos_label`, or soft
        labels in [0, 1]. With `sample_weight` as the probability of each point, soft labels give
        the population's c(f) itself. A Predictions or a Tally stands for both arguments.
    y_prob : array_like
        Predicted probabilities of the event, in [0, 1].
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    float
        c_emp, between 0 and 1; 0 is best. A Tally whose cells hide more than 1e-12 is refused:
        `audit` gives its bounds.

    References
    ----------
    Gao, Parameswaran and Peng, "On the interpretability of conditional probability estimates in
    the agnostic setting", AISTATS 2017, Definition 2.

    Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, "Metrics of calibration for probabilistic
    predictions", JMLR 2022: ECCE-R, or Kuiper's statistic, for scores that all differ.

    Rossellini, Soloff, Barber, Ren and Willett, "Can a calibration metric be both testable and
    actionable?", arXiv:2502.19851, 2025: the cutoff calibration error, c(f) of the population.

    Examples
    --------
    >>> import calibrant as cb
    >>> round(cb.calibration_error([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4]), 12)
    0.15
    """
    error, at_most = measured(ERROR, y_true, y_prob, sample_weight, pos_label)
    if at_most - error > TOLERANCE:
        raise _tally_inexact(error, at_most)
    return error


def assert_calibrated(
    y_true: Any,
    y_prob: Any = None,
    *,
    max_error: float,
    sample_weight: Any = None,
    pos_label: object = None,
) -> None:
    """Fail, in words, if the calibration error is over `max_error`: for a user's own tests.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    max_error : float
        The largest calibration error that passes.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Raises
    ------
    AssertionError
        Says by how much, and names the worst interval.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.assert_calibrated([0, 1, 0, 1], [0.6, 0.8, 0.2, 0.4], max_error=0.2)
    >>> cb.assert_calibrated([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4], max_error=0.2)
    Traceback (most recent call last):
        ...
    AssertionError: The calibration error is 0.35, over the 0.2 allowed. Worst: ...
    """
    max_error = errors.share("max_error", max_error)
    (error, at_most), worst = measured(ERROR_AND_WORST, y_true, y_prob, sample_weight, pos_label)
    if at_most > max_error + TOLERANCE:
        found = figure(error) if at_most - error <= TOLERANCE else f"up to {rounded_up(at_most, 4)}"
        raise AssertionError(
            f"The calibration error is {found}, over the {figure(max_error)} allowed. Worst: "
            f"{worst}"
        )


def _tally_inexact(error: float, at_most: float) -> InputError:
    return InputError(
        f"A tally holds no rows: it proves only that the calibration error lies between "
        f"{rounded_down(error, 6)} and {rounded_up(at_most, 6)}. audit(tally) reports both "
        "bounds; a finer tally, Predictions(...).tally(level=...), brings them closer."
    )
