"""What no test can exclude, against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from reference.samples import small


@settings(max_examples=200)
@given(small())
def test_undetectable_error_is_the_mean_distance_from_certainty(case):
    _, y_prob, weight = case
    f = np.asarray(y_prob, float)
    expected = np.average(np.minimum(f, 1 - f), weights=weight)
    found = cb.undetectable_l1(y_prob, sample_weight=weight)
    assert found == pytest.approx(expected, abs=1e-12)
