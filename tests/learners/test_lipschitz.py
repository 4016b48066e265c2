"""Lipschitz isotonic regression, against all ways in which its constraints can bind."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

import calibrant as cb
from calibrant.learners.lipschitz import LipschitzLink, lipschitz_regression


def brute_force(score, rate, weight, slope):
    """Try every way to tie neighbours: by 0, by the steepest rise, or not at all."""
    gap = slope * np.diff(score)
    best, least = None, np.inf
    for ties in product(("free", "flat", "steep"), repeat=len(gap)):
        value = np.empty(len(score))
        begin = 0
        offset = np.zeros(len(score))
        for i, tie in enumerate([*ties, "free"]):
            if tie == "free":
                part = slice(begin, i + 1)
                value[part] = offset[part] + np.average(
                    rate[part] - offset[part], weights=weight[part]
                )
                begin = i + 1
            elif i + 1 < len(score):
                offset[i + 1] = offset[i] + (gap[i] if tie == "steep" else 0.0)
        rise = np.diff(value)
        if (rise >= -1e-12).all() and (rise <= gap + 1e-12).all():
            cost = float(weight @ (rate - value) ** 2)
            if cost < least:
                best, least = value, cost
    return best


point = st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(1, 3))


@given(
    st.lists(point, min_size=1, max_size=6, unique_by=lambda p: p[0]), st.sampled_from([0.3, 1, 4])
)
def test_it_is_the_best_of_all_ways_to_bind(points, slope):
    score, rate, weight = (
        np.array(column, dtype=float) for column in zip(*sorted(points), strict=True)
    )
    score, rate = score / 20, rate / 4
    found = lipschitz_regression(score, rate, weight, slope)
    np.testing.assert_allclose(found, brute_force(score, rate, weight, slope), atol=1e-12)


def test_it_is_isotonic_regression_if_steep_enough_and_the_mean_if_flat():
    rng = np.random.default_rng(0)
    score, rate = np.sort(rng.random(300)), rng.random(300)
    weight = rng.random(300) + 0.1
    plain = isotonic_regression(rate, weights=weight).x
    np.testing.assert_allclose(lipschitz_regression(score, rate, weight, 1e12), plain, atol=1e-9)
    flat = lipschitz_regression(score, rate, weight, 0.0)
    np.testing.assert_allclose(flat, np.average(rate, weights=weight), atol=1e-12)


def test_the_constraint_costs_calibration():
    """Outcomes 0 and 1 at the scores 0 and 0.1: 0.45 and 0.55, which are off by 0.225."""
    value = lipschitz_regression(np.array([0, 0.1]), np.array([0.0, 1]), np.ones(2), 1.0)
    np.testing.assert_allclose(value, [0.45, 0.55], atol=1e-15)
    assert cb.calibration_error([0, 1], value) == pytest.approx(0.225, abs=1e-15)


def test_a_link_is_straight_between_its_knots_and_flat_beyond():
    link = LipschitzLink(np.array([0.2, 0.6]), np.array([0.1, 0.3]))
    np.testing.assert_allclose(
        link.predict(np.array([0, 0.2, 0.4, 0.6, 1])), [0.1, 0.1, 0.2, 0.3, 0.3]
    )
