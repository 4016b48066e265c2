"""Limits: three ways to state what is acceptable."""

import pytest
from scipy.stats import beta

from calibrant.auditing.limit import limit_of
from calibrant.errors import InputError


def test_a_limit_in_units_of_the_error():
    assert limit_of() is None
    assert limit_of(max_error=0.02).value(0.3) == 0.02
    assert limit_of(max_relative_error=0.1).value(0.3) == pytest.approx(0.03)
    limit = limit_of(max_cost=0.5, false_positive=1.0, false_negative=9.0)
    assert limit.value(0.3) == pytest.approx(0.05)
    assert limit.costs.threshold == pytest.approx(0.1)
    assert limit_of(max_cost=50.0).value(0.3) == 1.0


def test_a_share_of_the_rate_is_itself_estimated():
    limit = limit_of(max_relative_error=0.1)
    assert limit.error_delta(0.05) == pytest.approx(0.045)
    low, high = limit.ends(30, 100, 0.05)
    assert low == pytest.approx(0.1 * beta.ppf(0.005, 30, 71))
    assert high == pytest.approx(0.1 * beta.ppf(0.995, 31, 70))
    for fixed in (limit_of(max_error=0.02), limit_of(max_cost=0.04)):
        assert fixed.error_delta(0.05) == 0.05
        assert fixed.ends(30, 100, 0.05) == (0.02, 0.02)


def test_limits_that_contradict_or_have_no_meaning_are_refused():
    with pytest.raises(InputError, match="max_error= and max_cost= state a limit each"):
        limit_of(max_error=0.1, max_cost=0.1)
    with pytest.raises(InputError, match="max_error must be a number between 0 and 1"):
        limit_of(max_error=2)
    with pytest.raises(InputError, match="max_cost must be 0 or more"):
        limit_of(max_cost=-1.0)
