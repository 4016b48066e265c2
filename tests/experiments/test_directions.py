"""Directions: laws of a known w, and how the alternation gets there."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.experiments.directions import LAWS, TRUTH, alternation, angle, draw, link


@pytest.mark.parametrize("law", LAWS)
def test_labels_follow_the_law(law):
    features, label = draw(law, 40_000, 3)
    middle = TRUTH.sum() * np.exp(0.32) if law == "skewed" else 0
    chance = link(features @ TRUTH - middle)
    assert cb.calibration_test(label, chance).p_value > 0.001
    assert abs(label.mean() - chance.mean()) < 4 * np.sqrt(0.25 / 40_000)


def test_angles():
    assert angle(TRUTH * 3) == pytest.approx(0, abs=1e-5)
    assert angle(-TRUTH) == pytest.approx(180)
    assert angle(np.array([0, 0, 0, 0, 1.0])) == pytest.approx(90)


def test_the_plain_alternation_gets_nearer_to_the_truth_with_a_proper_loss():
    features, label = draw("skewed", 8000, 0)
    for loss in ("squared", "logistic"):
        angles = alternation(loss, features, label, 40)["angle"]
        assert angles[-1] < 0.3 * angles[0]
