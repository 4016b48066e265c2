"""From arguments to a value: what every measure shares."""

import warnings

import calibrant as cb


def test_warnings_of_a_metric_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cb.calibration_error([1, 1], [0.5, 0.75])
    assert [one.filename for one in caught] == [__file__]
