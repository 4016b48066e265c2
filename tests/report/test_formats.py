"""Numbers as every report writes them."""

import math

import pytest

from calibrant.report.formats import BOUND, DIFFERENCE, number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.12345, "0.1235"),
        (0.00012345, "0.00012"),
        (0.0, "0.0000"),
        (-2.5, "-2.5000"),
        (math.inf, "infinite"),
        (None, ""),
    ],
)
def test_a_number_says_something_however_small(value, written):
    assert number(value) == written


def test_a_bound_may_grow_but_not_shrink():
    assert BOUND.value(0.1234561) == "0.123457"
    assert BOUND.value(0.25) == "0.250000"


def test_a_difference_has_a_sign_and_its_ends_are_rounded_outward():
    assert DIFFERENCE.value(0.25) == "+0.2500"
    assert DIFFERENCE.lower(0.12345) == "+0.123"
    assert DIFFERENCE.upper(-0.12345) == "-0.123"
