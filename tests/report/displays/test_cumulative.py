"""The cumulative diagram: its range is the calibration error."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import calibrant as cb
from calibrant.simulate import overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(2000, seed=1)
AUDIT = cb.audit(Y_TRUE, Y_PROB)


def axes():
    return Figure(figsize=(6, 5)).subplots()


def test_what_is_drawn_is_what_the_frame_says():
    display = cb.CumulativeDisplay.from_audit(AUDIT).plot(axes())
    lines = {line.get_label(): line for line in display.ax_.lines}
    assert lines["observed minus predicted"].get_ydata().tolist() == (
        AUDIT.curves.difference.difference.tolist()
    )
    [ends] = [line for label, line in lines.items() if label.startswith("its ends")]
    assert np.ptp(ends.get_ydata()) == pytest.approx(AUDIT.calibration_error)


def test_weights_that_are_no_counts_are_named():
    weight = np.resize([0.5, 1.5], 2000)
    display = cb.CumulativeDisplay.from_predictions(Y_TRUE, Y_PROB, sample_weight=weight, ax=axes())
    assert display.ax_.get_ylabel() == "difference in events, per unit of weight"


def test_a_worst_interval_from_the_start_is_marked_from_the_start():
    y_true = np.r_[np.ones(200), np.zeros(800)]
    y_prob = np.r_[np.zeros(600), np.linspace(0.1, 0.9, 400)]
    display = cb.CumulativeDisplay.from_predictions(y_true, y_prob, ax=Figure().subplots())
    [ends] = [line for line in display.ax_.get_lines() if line.get_marker() == "D"]
    assert ends.get_xdata() == pytest.approx([0, 0.6])
    assert ends.get_ydata() == pytest.approx([0, 0.2])
