"""Checks of arguments that several packages share, and the parts of their messages."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from calibrant import errors
from calibrant.errors import InputError

ARRAY = np.array([0.5, 0.5])


class Refuses:
    def __float__(self):
        raise RuntimeError("no")

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_every_kind_are_taken(value):
    assert type(errors.whole_number("n", value, least=1)) is int


@pytest.mark.parametrize("value", [True, 3.0, "3", None, 0, -1, ARRAY, Decimal(3), Refuses()])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InputError, match=r"^n must be a whole number, 1 or more, but it is "):
        errors.whole_number("n", value, least=1)


def test_a_limit_is_named_to_those_who_are_past_it():
    with pytest.raises(InputError, match="between 1 and 10"):
        errors.whole_number("n", 11, least=1, most=10)
    huge = errors.MOST_ENTRIES
    with pytest.raises(InputError, match="1 or more"):
        errors.whole_number("n", 0, least=1, most=huge)
    with pytest.raises(InputError, match=f"between 1 and {huge}"):
        errors.whole_number("n", huge + 1, least=1, most=huge)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25)])
def test_shares_are_numbers_between_0_and_1(value):
    assert type(errors.share("q", value)) is float


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "0.5", None, ARRAY, np.timedelta64(0, "D")])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(InputError, match=r"^q must be a number between 0 and 1, but it is "):
        errors.share("q", value)


@pytest.mark.parametrize("value", [0, 1, 1e-400, 1 - 1e-17, -1, "high", None, ARRAY])
def test_a_confidence_lies_strictly_inside(value):
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        errors.inner_share("confidence", value)
    assert errors.inner_share("confidence", 1 - 2**-53) < 1


def test_a_percentage_is_told_how_to_be_written():
    with pytest.raises(InputError, match=r"For 95% write 0\.95\."):
        errors.inner_share("confidence", 95)


@pytest.mark.parametrize("value", [3, -2.5, np.float32(1), Decimal("0.5"), "1e3"])
def test_finite_numbers_of_any_kind_are_taken(value):
    assert errors.finite_number("x", value) == float(value)


@pytest.mark.parametrize("value", [math.inf, math.nan, 10**400, None, ARRAY, [1], Refuses()])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(InputError, match=r"^x must be a finite number, but it is "):
        errors.finite_number("x", value)


@pytest.mark.parametrize("value", [ARRAY, [1], [[1], [2, 3]], pd.Series([1, 2]), Refuses()])
def test_what_holds_several_values_is_not_single(value):
    assert not errors.is_single(value)
    assert errors.is_single("a word")
    assert errors.is_single(None)


@pytest.mark.parametrize("value", [1, 0, "True", None, ARRAY])
def test_switches_are_true_or_false_and_nothing_else(value):
    assert errors.switch("s", np.True_) is True
    with pytest.raises(InputError, match=r"^s must be True or False, but it is "):
        errors.switch("s", value)


@pytest.mark.parametrize("value", [0, 0.5, 1e-17, -0.1, math.nan, "0.1", np.timedelta64(0, "D")])
def test_a_clip_leaves_scores_apart(value):
    assert errors.clip_or_none(None) is None
    assert errors.clip_or_none(1e-16) == 1e-16
    with pytest.raises(InputError, match=r"clip must be a number strictly between 0 and 0.5"):
        errors.clip_or_none(value)


def test_text_is_text_or_nothing():
    assert errors.text_or_none("title", "a") == "a"
    assert errors.text_or_none("title", None) is None
    with pytest.raises(errors.InputError, match="title must be text, or None, but it is 3"):
        errors.text_or_none("title", 3)


@pytest.mark.parametrize("value", ["linaer", ARRAY, None, ["linear"], pd.Series(["linear"])])
def test_a_word_is_one_of_those_allowed(value):
    errors.one_of("kind", "linear", ["step", "linear"])
    with pytest.raises(
        InputError, match=r"^kind must be one of step, linear, but it is "
    ) as caught:
        errors.one_of("kind", value, ["step", "linear"])
    if isinstance(value, str):
        assert str(caught.value).endswith("Did you mean 'linear'?")


def test_a_word_is_compared_with_few_of_many():
    asked = []
    names = (asked.append(k) or f"{k}{'ba' * 40}" for k in range(10**5))
    assert errors.near_words("ab" * 40, names, cutoff=0.99) == []
    assert len(asked) == 1000
    assert errors.near_words("agee", ["sex", "age"]) == ["age"]


def test_numbers_past_doubles_are_refused_whoever_meets_them():
    words = "y must hold numbers that doubles can hold"
    with pytest.raises(InputError, match=words), errors.within_doubles("y"):
        float(10**400)
    with errors.within_doubles("y"):
        assert np.array([1e308]) * 10 == np.inf  # an overflow of arrays warns of nothing


def test_lists_are_cut_and_say_how_much_is_left():
    assert errors.listing(range(3)) == "0, 1, 2"
    assert errors.listing(range(20), most=2) == "0, 1, ... (18 more)"


def test_rows_are_counted_and_named():
    assert (errors.row_count(1), errors.row_count(12_000)) == ("1 row", "12,000 rows")
    assert errors.first_row(None) == ""
    assert errors.first_row(5) == ", first at row 5 (0-based)"


def test_an_engine_is_quoted_in_one_line():
    assert errors.engine_words("  first \n\n second\n" + "\n".join("abcdef")) == "first second a b"
    assert len(errors.engine_words("word " * 10**6)) <= 1100
