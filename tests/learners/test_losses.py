"""Losses: their values on calibrated scores, projections and derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibrant as cb
from calibrant.learners.losses import LOSSES, calibrated_loss, push, row_loss


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_on_calibrated_scores_the_hinge_is_four_times_the_squared_loss(rows):
    group, label = (np.array(column) for column in zip(*rows, strict=True))
    prob = np.array([label[group == g].mean() for g in group])
    for loss in LOSSES:
        expected = row_loss(loss, prob, label).mean()
        assert calibrated_loss(loss, prob).mean() == pytest.approx(expected, abs=1e-12)
    hinge, squared = (row_loss(loss, prob, label).mean() for loss in ("hinge", "squared"))
    assert hinge == pytest.approx(4 * squared, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=2, max_size=30),
    st.lists(st.integers(1, 19), min_size=9, max_size=9),
)
def test_projection_lowers_proper_losses(rows, values):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    if label.all() or not label.any():
        return
    link = np.sort(values) / 20
    before = link[score]
    after = cb.IsotonicCalibrator().fit(score / 8, label).predict(score / 8)
    for loss in ("squared", "logistic"):
        assert row_loss(loss, after, label).mean() <= row_loss(loss, before, label).mean() + 1e-12


def test_projection_raises_the_hinge():
    """Of three rows one is an event. The hinge likes 0 best; the projection says 1/3."""
    label, before, after = np.array([True, False, False]), np.zeros(3), np.full(3, 1 / 3)
    assert row_loss("hinge", before, label).mean() == pytest.approx(2 / 3)
    assert row_loss("hinge", after, label).mean() == pytest.approx(8 / 9)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_push_is_minus_the_derivative(loss):
    prob, label = np.array([0.2, 0.5, 0.9, 0.3]), np.array([True, False, True, False])
    step = 1e-6
    rise = row_loss(loss, prob + step, label) - row_loss(loss, prob - step, label)
    half = {"squared": 2, "hinge": 2, "logistic": 1}[loss]
    np.testing.assert_allclose(push(loss, prob, label), -rise / (2 * step) / half, rtol=1e-6)
