"""Descriptions of pictures: axes that hold what is drawn, and layers only where there is one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibrant as cb
from calibrant.auditing.curves import Histogram
from calibrant.report.pictures import Bars, axis_top, by_chance, consistency_area, worst_span
from calibrant.simulate import calibrated, overconfident

WRONG = cb.audit(*overconfident(3.0).draw(3000, seed=1)[:2])
RIGHT = cb.audit(*calibrated().draw(3000, seed=1)[:2])


@given(st.lists(st.lists(st.floats(0, 1), min_size=1), min_size=1, max_size=4))
def test_an_axis_ends_at_the_next_round_number(columns):
    top = axis_top(*map(np.array, columns))
    highest = max(map(max, columns))
    assert highest <= top <= 1
    # from one round number to the next it is 2.5 times as far at most
    assert top == 0.001 or top <= 2.5 * highest


def test_the_tallest_bar_is_as_tall_as_it_may_be_and_the_others_in_proportion():
    scores = Histogram(np.arange(3.0), np.arange(1, 4.0), np.array([0.1, 0.4, 0.5]))
    heights = Bars("scores", "rows", "rows", scores, base=-0.1, tallest=0.2).heights
    assert heights.max() == pytest.approx(0.2)
    assert heights / heights.sum() == pytest.approx(scores.share)


def test_the_worst_interval_is_marked_unless_nothing_fails():
    [span] = worst_span(WRONG, 0.1, 0.3)
    assert (span.left, span.right) == (0.1, 0.3)
    assert WRONG.worst_intervals[0].verdict in span.label
    assert WRONG.worst_intervals[0].where in span.words
    assert worst_span(cb.audit([0, 1], [0, 1]), 0.1, 0.3) == []


def test_a_band_is_drawn_where_there_is_one():
    x = np.array([0.2, 0.4])
    [area] = consistency_area(WRONG, x, x - 0.1, x + 0.1)
    assert (area.lower < area.upper).all()
    assert "95%" in area.label
    assert consistency_area(WRONG, x, None, None) == []


def test_what_may_be_chance_is_what_the_test_does_not_reject():
    assert WRONG.test.p_value < 0.05 < RIGHT.test.p_value
    assert (by_chance(WRONG), by_chance(RIGHT)) == (False, True)
    soft = cb.audit([0.2, 0.9], [0.3, 0.8])
    assert soft.test is None
    assert not by_chance(soft)
