"""From arguments to a value: what every measure shares."""

import inspect
import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.diagram import everything
from calibrant.core.statistic import Statistic
from calibrant.errors import InputError
from calibrant.measures.measured import measured

FUNCTIONS = (
    cb.calibration_error,
    cb.worst_interval,
    cb.brier_parts,
    cb.log_loss_parts,
    cb.expected_calibration_error,
    cb.kolmogorov_error,
    cb.roc_auc,
    cb.observed_expected_ratio,
)


def test_warnings_of_a_metric_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cb.calibration_error([1, 1], [0.5, 0.75])
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_warnings_of_every_measure_reach_the_line_of_its_caller(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function([1, 1], [0.5, 0.75])
        line = inspect.currentframe().f_lineno - 1
    assert [(one.filename, one.lineno) for one in caught] == [(__file__, line)]


def test_a_refusal_is_raised_and_the_warnings_before_it_are_given():
    def refuse(*_):
        raise InputError("not of such data")

    with (
        pytest.warns(UserWarning, match="single value"),
        pytest.raises(InputError, match=r"^not of such data$"),
    ):
        measured(Statistic("nothing", refuse), [1, 1], [0.5, 0.75])


def test_what_a_statistic_needs_is_opened_before_it_is_asked():
    opened = Statistic("scores", lambda diagram, _: diagram.cells.score.tolist(), needs=everything)
    rng = np.random.default_rng(0)
    score = rng.random(5000)
    assert measured(opened, score < 0.5, score) == sorted(score)
    assert measured(opened, score < 0.5, score, fine=True) == sorted(score)


def test_a_tally_that_hides_the_value_is_refused_by_its_name():
    tally = cb.Predictions([0, 1, 1], [0.2, 0.4, 0.6]).tally(0)
    closed = Statistic("the scores", lambda diagram, _: 1.0, needs=everything)
    with pytest.raises(InputError, match="does not give the scores exactly"):
        measured(closed, tally)
