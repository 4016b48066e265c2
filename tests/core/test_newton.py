"""Newton's method against minima that are known, from far away too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.core.newton import Newton


def climbed(start, top, curvature, longest=1.0, looks=200):
    """Climb sum of -curvature log cosh (x - top), along which full steps overshoot from afar."""
    climb = Newton(np.asarray(start, dtype=float), longest)
    for _ in range(looks):
        gradient = -curvature * np.tanh(climb.point - top)
        if climb.turned_back(gradient):
            continue
        bend = curvature / np.cosh(climb.point - top) ** 2
        climb.go(gradient / np.maximum(bend, 1e-300), gradient)
    return climb.point


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=3), st.floats(0.1, 10))
def test_finds_the_top_from_anywhere(start, curvature):
    top = np.arange(len(start)) - 1.0
    assert climbed(start, top, curvature) == pytest.approx(top, abs=1e-9)


def test_no_step_is_longer_than_allowed():
    climb = Newton(np.zeros(2), 0.5)
    climb.go(np.array([3.0, -1.0]), np.ones(2))
    assert climb.point == pytest.approx([0.5, -1 / 6])
    assert climb.shortened
    assert climb.rise == pytest.approx(1 / 3)
    climb.go(np.array([0.1, 0.1]), np.ones(2))
    assert not climb.shortened


def test_a_step_that_led_too_far_is_not_made_again():
    climb = Newton(np.zeros(1), 8.0)
    climb.go(np.array([8.0]), np.ones(1))
    climb.turn_back()
    assert climb.point == pytest.approx([4.0])
    climb.go(np.array([-8.0]), -np.ones(1))
    assert climb.point == pytest.approx([2.0])
    climb.go(np.array([8.0]), np.ones(1))
    assert climb.point == pytest.approx([6.0])


def test_half_of_a_step_past_the_top_is_taken_back_until_it_is_not():
    climb = Newton(np.zeros(1), 10.0)
    climb.go(np.array([8.0]), np.array([1.0]))
    assert climb.turned_back(np.array([-1.0]))
    assert climb.point == pytest.approx([4.0])
    assert not climb.turned_back(np.array([-0.1]))
    climb.restart()
    assert not climb.turned_back(np.array([-9.0]))
