"""Sums over arrays: what expressions add up to by definition, whatever they share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.core.arrays import NoOddsError, Sums
from calibrant.core.expressions import LABEL, SCORE, col, log_gain
from reference.expressions import evaluated, expressions, rows_of


def by_definition(each, columns, weight):
    weight = np.ones(len(columns["f"])) if weight is None else weight
    values = [evaluated(one, columns) * weight for one in each]
    return [value.sum() for value in values], [np.abs(value).sum() for value in values]


@settings(max_examples=300)
@given(expressions(), st.integers(0, 5), st.booleans())
def test_sums_are_those_of_every_expression_by_itself(each, seed, weighted):
    columns = rows_of(seed)
    weight = np.random.default_rng(seed).random(40) if weighted else None
    found = Sums(*each).over(columns, weight)
    expected, sizes = by_definition(each, columns, weight)
    for one, other, size in zip(found, expected, sizes, strict=True):
        assert one == pytest.approx(other, abs=1e-12 * (1 + size))


@given(expressions(), st.integers(0, 5))
def test_one_object_adds_up_chunk_after_chunk(each, seed):
    columns, sums = rows_of(seed), Sums(*each)
    parts = [{name: values[rows] for name, values in columns.items()}
             for rows in (slice(0, 7), slice(7, 40))]  # fmt: skip
    expected, sizes = by_definition(each, columns, None)
    found = np.sum([sums.over(part, None) for part in parts], axis=0)
    assert found == pytest.approx(expected, abs=1e-12 * (1 + max(sizes)))


def test_what_is_shared_is_computed_once(monkeypatch):
    from calibrant.core import arrays

    asked = []

    def counting(score):
        asked.append(len(score))
        return np.log(score)

    monkeypatch.setitem(arrays._OPERATIONS, "log", counting)
    shared = SCORE.log()
    sums = Sums(shared * LABEL, shared, (shared - 1) * shared)
    columns = {"f": np.array([0.25, 0.5]), "y": np.array([1.0, 0.0])}
    log = np.log([0.25, 0.5])
    expected = [log[0], log.sum(), ((log - 1) * log).sum()]
    assert sums.over(columns, None) == pytest.approx(expected)
    assert asked == [2]


def test_columns_may_be_plain_numbers():
    """The parameters of a model stand where columns stand."""
    columns = {"f": np.array([0.2, 0.4]), "slope": 3.0}
    found = Sums(SCORE * col("slope") + 1).over(columns, np.array([1.0, 2.0]))
    assert found == pytest.approx([1 * 1.6 + 2 * 2.2])


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_a_score_without_odds_is_told_from_all_others(score):
    columns = {"f": np.array([0.5, score])}
    with pytest.raises(NoOddsError):
        Sums(SCORE.odds()).over(columns, None)
    columns["f"][1] = 0.9
    assert Sums(SCORE.odds()).over(columns, None) == pytest.approx([np.log(9)])


def test_no_rows_add_up_to_nothing():
    columns = {"f": np.zeros(0), "y": np.zeros(0)}
    each = (SCORE.odds(), *log_gain(SCORE, LABEL, binary=True), SCORE * LABEL)
    assert Sums(*each).over(columns, None).tolist() == [0, 0, 0, 0]


def test_log_odds_past_what_exp_can_hold_are_certain_and_warn_of_nothing():
    columns = {"f": np.array([-2000.0, 0.0, 2000.0])}
    assert Sums(SCORE.sigmoid()).over(columns, None) == pytest.approx([1.5])


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.5])])
def test_products_with_numbers_and_of_conditions_are_added_up(weight):
    columns = {"f": np.array([0.2, 0.7, 0.9]), "y": np.array([False, True, True])}
    sums = Sums(SCORE * 2.0, (SCORE > 0.5) * (LABEL > 0), SCORE * col("a"), LABEL * SCORE)
    each = np.ones(3) if weight is None else weight
    f, y = columns["f"], columns["y"]
    expected = [2 * f @ each, ((f > 0.5) & y) @ each, 3 * f @ each, (f * y) @ each]
    found = sums.over({**columns, "a": 3.0}, weight)
    assert found == pytest.approx(expected, abs=1e-15)
