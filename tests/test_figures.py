"""Figures: plain decimals, and bounds that are rounded to the safe side."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant._figures import apart, decimals, figure, percentage, rounded_down, rounded_up


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.00015, 3, "0.00015"),
        (3.84e-05, 3, "0.0000384"),
        (0.1, 4, "0.1"),
        (0.123456, 4, "0.1235"),
        (9999.4, 4, "9,999"),
        (123456.0, 3, "123,456"),
        (0.0, 3, "0"),
        (-0.0, 3, "0"),
        (1.0, 3, "1"),
        (math.inf, 3, "inf"),
        (math.nan, 3, "nan"),
        (1e300, 3, "1e+300"),
        (1.5e-12, 3, "1.5e-12"),  # past counting zeros
    ],
)
def test_a_number_is_a_plain_decimal(value, digits, text):
    assert figure(value, digits) == text


@given(st.floats(-1, 1), st.integers(1, 6))
def test_bounds_are_rounded_to_the_safe_side(value, digits):
    assert float(rounded_up(value, digits)) >= value
    assert float(rounded_down(value, digits)) <= value


@given(st.floats(1e-8, 1e9))
def test_there_is_no_exponent_and_it_is_right(value):
    text = figure(value)
    assert re.fullmatch(r"[\d,]*\d(\.\d+)?", text)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=5.01e-4)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.5, "50.00%"),
        (0.0024, "0.24%"),
        (0.00067, "0.067%"),
        (0.0000673, "0.0067%"),
        (0.0000999, "0.010%"),
        (0.0, "0.00%"),
        (1.0, "100.00%"),
    ],
)
def test_percentages_have_two_digits(share, text):
    assert percentage(share) == text


def test_decimals_are_enough():
    assert decimals(0.000046, 4) == 6
    assert decimals(0.5, 4) == 4
    assert decimals(0.0, 4) == 4
    assert decimals(math.inf, 4) == 4


def test_ends_that_differ_look_different():
    assert apart(0.5, 0.75) == ("0.5", "0.75")
    first, second = apart(0.3, 0.1 + 0.2)
    assert first != second
