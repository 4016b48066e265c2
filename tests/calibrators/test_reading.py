"""Parts of a calibrator's JSON: of the type that they must have, or refused by name."""

import numpy as np
import pytest

from calibrant.calibrators.reading import calibrator_unreadable, exactly, number_in, numbers_in
from calibrant.errors import InputError


@pytest.mark.parametrize("value", [0, 1, -2.5, 1e308, 2**1000])
def test_numbers_are_finite_doubles(value):
    found = number_in({"a": value}, "a")
    assert type(found) is float
    assert found == float(value)


@pytest.mark.parametrize(
    "value", [True, None, "1", [1], float("nan"), float("inf"), 10**400, {}], ids=repr
)
def test_what_is_no_finite_number_is_refused_by_its_name(value):
    with pytest.raises(InputError, match=r"a is .*, not a number\. Write it with to_json"):
        number_in({"a": value}, "a")


def test_lists_of_numbers_are_arrays():
    found = numbers_in({"a": [0, 0.5, 1]}, "a")
    assert found.dtype == np.float64
    assert found.tolist() == [0, 0.5, 1]
    assert numbers_in({"a": []}, "a").tolist() == []


@pytest.mark.parametrize("values", [1, "12", None, (1, 2), [1, True], [1, "2"], [[1]], [None]])
def test_other_lists_are_refused(values):
    with pytest.raises(InputError, match="a is not a list of numbers"):
        numbers_in({"a": values}, "a")


def test_a_list_past_the_largest_double_is_refused():
    with pytest.raises(InputError, match="past the largest double"):
        numbers_in({"a": [10**400]}, "a")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"a": 1}, "its parts lack b"),
        ({"a": 1, "b": 2, "c": 3}, "its parts hold c, which is new"),
        ({"c": 3}, "its parts lack a, b"),
    ],
)
def test_names_are_exactly_those_that_are_known(found, words):
    exactly({"b": 1, "a": 2}, ["a", "b"], "its parts")
    with pytest.raises(InputError, match=words):
        exactly(found, ["a", "b"], "its parts")


def test_the_refusal_says_why_and_what_to_do():
    words = "This is not a calibrator that calibrant can read: so. Write it with to_json()."
    assert str(calibrator_unreadable("so")) == words
