"""Blocks: what lies between their scores, by steps, lines and strict lines."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import overconfident


def fitted(y_true, y_prob, weight=None, interpolation="step"):
    return cb.IsotonicCalibrator(interpolation).fit(y_prob, y_true, sample_weight=weight)


def test_between_blocks_a_step_waits_for_the_next_score():
    calibrator = fitted([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    assert calibrator.predict([0.0, 0.1, 0.39, 0.4, 0.79, 0.8, 1.0]).tolist() == [
        0, 0, 0, 0.5, 0.5, 1, 1
    ]  # fmt: skip
    linear = fitted([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], interpolation="linear")
    assert linear.predict([0.0, 0.25, 0.6, 1.0]) == pytest.approx([0, 0.25, 0.75, 1])


def test_strict_keeps_the_ranking():
    y_true, y_prob, _ = overconfident().draw(3000, seed=1)
    found = fitted(y_true, y_prob, interpolation="strict").predict(y_prob)
    order = np.argsort(y_prob)
    assert (np.diff(found[order]) > 0).all()
    assert cb.roc_auc(y_true, found) == pytest.approx(cb.roc_auc(y_true, y_prob), abs=1e-12)
    plain = fitted(y_true, y_prob, interpolation="linear").predict(y_prob)
    assert np.abs(found - plain).max() <= 1e-6
    assert cb.calibration_error(y_true, plain) <= 1e-12
    assert 0 < cb.calibration_error(y_true, found) < cb.calibration_error(y_true, y_prob) / 5
    assert cb.roc_auc(y_true, plain) != pytest.approx(cb.roc_auc(y_true, y_prob), abs=1e-5)


def test_tiny_gaps_between_scores():
    scores = [0, 1e-310, 0.5, 0.6]
    for interpolation in ("linear", "strict"):
        found = fitted([0, 0.3, 0.7, 1], scores, interpolation=interpolation)
        between = found.predict([0, 1e-320, 5e-311, 9e-311, 1e-310, 0.4, 0.6])
        assert (np.diff(between) >= 0).all()
        assert between[2] == pytest.approx(0.15, abs=1e-5)
    assert fitted([0, 0.3, 0.7, 1], scores, interpolation="linear").predict([0.6]).tolist() == [1]
