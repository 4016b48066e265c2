"""Expressions: however they are said, they mean the same numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from calibrant.core.arrays import Sums
from calibrant.core.expressions import LABEL, SCORE, Expression, col, log_gain, plain, staged
from reference.expressions import evaluated, expressions, rows_of


def parts_of(each):
    """Return every expression in some, each object once."""
    seen, todo = {}, list(each)
    while todo:
        one = todo.pop()
        if isinstance(one, Expression) and id(one) not in seen:
            seen[id(one)] = one
            todo += one.parts
    return list(seen.values())


@settings(max_examples=200)
@given(expressions(), st.integers(0, 5))
def test_plain_expressions_mean_the_same_in_operations_of_every_engine(each, seed):
    columns, said = rows_of(seed), plain(each)
    assert not {one.what for one in parts_of(said)} & {"log", "odds", "sigmoid"}
    for one, other in zip(each, said, strict=True):
        expected = evaluated(one, columns)
        assert evaluated(other, columns) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_plain_expressions_put_numbers_in_place_of_columns():
    [said] = plain(
        [(SCORE.odds() * col("slope") + col("intercept")).sigmoid()], slope=2, intercept=1
    )
    names = {one.parts[0] for one in parts_of([said]) if one.what == "column"}
    assert names == {"f"}
    score = np.array([0.1, 0.5, 0.7])
    expected = 1 / (1 + np.exp(-1 - 2 * np.log(score / (1 - score))))
    assert evaluated(said, {"f": score}) == pytest.approx(expected)


def test_plain_expressions_share_what_was_shared():
    shared = SCORE.log()
    said = plain([shared + 1, shared * shared])
    assert len([one for one in parts_of(said) if one.what == "ln"]) == 1


@settings(max_examples=200)
@given(expressions(), st.integers(0, 5))
def test_stages_of_shared_columns_add_up_to_the_same(each, seed):
    columns = rows_of(seed)
    stages, rest = staged(each)
    known = dict(columns)
    for stage in stages:  # a stage sees those before it, not its own columns
        known |= {name: evaluated(one, known) for name, one in stage.items()}
    expected = Sums(*each).over(columns, None)
    assert Sums(*rest).over(known, None) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=200)
@given(expressions())
def test_stages_write_no_operation_twice(each):
    stages, rest = staged(each)
    written = [*rest, *(one for stage in stages for one in stage.values())]
    uses = {}
    for one in parts_of(written):
        for part in one.parts:
            if isinstance(part, Expression) and part.what != "column":
                uses[id(part)] = uses.get(id(part), 0) + 1
    assert all(count == 1 for count in uses.values())


@pytest.mark.parametrize("binary", [True, False])
def test_the_log_of_the_probability_of_what_happened_is_the_log_loss(binary):
    rng = np.random.default_rng(3)
    score, label = rng.random(500), rng.integers(0, 2, 500)
    gain, impossible = Sums(*log_gain(SCORE, LABEL, binary=binary)).over(
        {"f": score, "y": label.astype(float)}, None
    )
    assert -gain / 500 == pytest.approx(log_loss(label, score), rel=1e-12)
    assert impossible == 0


@pytest.mark.parametrize("binary", [True, False])
def test_what_was_given_no_probability_counts_only_where_it_happens(binary):
    columns = {"f": np.array([0.0, 0.0, 1.0, 1.0, 0.5]), "y": np.array([0.0, 1.0, 0.0, 1.0, 1.0])}
    gain, impossible = Sums(*log_gain(SCORE, LABEL, binary=binary)).over(columns, None)
    assert impossible == 2
    assert gain == pytest.approx(np.log(0.5))


def test_a_fraction_gains_from_both_outcomes():
    columns = {"f": np.array([0.25]), "y": np.array([0.4])}
    gain, impossible = Sums(*log_gain(SCORE, LABEL, binary=False)).over(columns, None)
    assert gain == pytest.approx(0.4 * np.log(0.25) + 0.6 * np.log(0.75))
    assert impossible == 0


def test_an_expression_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(SCORE < 0.5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(SCORE)
