"""Cross-fitting: out of fold, whatever the order of rows, weights as repetition."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.evaluation import calibrator_named, evaluate_calibrator
from calibrant.simulate import overconfident

KINDS = ["isotonic", "platt", "histogram"]


def studied(y_true, y_prob, method="isotonic", weight=None):
    data = cb.Predictions(y_true, y_prob, sample_weight=weight)
    return evaluate_calibrator(data, calibrator_named(method))


@pytest.mark.parametrize("method", KINDS)
def test_order_and_weights(method):
    y_true, y_prob, _ = overconfident().draw(600, seed=1)
    y_prob = y_prob.round(2)
    found = studied(y_true, y_prob, method)
    order = np.random.default_rng(0).permutation(600)
    moved = studied(y_true[order], y_prob[order], method)
    weight = np.random.default_rng(1).integers(1, 5, 600)
    weighted = studied(y_true, y_prob, method, weight)
    repeated = studied(np.repeat(y_true, weight), np.repeat(y_prob, weight), method)
    for one, other in ((found, moved), (weighted, repeated)):
        assert one.after.brier_score == pytest.approx(other.after.brier_score, abs=1e-9)
        assert one.after.calibration_error == pytest.approx(other.after.calibration_error, abs=1e-9)
    assert weighted.after.brier_score != found.after.brier_score


def test_counts_of_calibrated_scores_stay_calibrated():
    rng = np.random.default_rng(0)
    score = rng.random(20_000).round(1).clip(0.05, 0.95)
    label = rng.random(20_000) < score
    pairs, which = np.unique(np.stack([score, label]), axis=1, return_inverse=True)
    weight = np.bincount(which.ravel())
    by_counts = studied(pairs[1].astype(int), pairs[0], "isotonic", weight)
    assert by_counts.after.calibration_error < 0.01
    assert by_counts.after.brier_score == pytest.approx(by_counts.before.brier_score, abs=2e-3)


def test_rows_with_fractional_weights_and_soft_labels():
    y_true, y_prob, truth = overconfident().draw(800, seed=1)
    weight = np.random.default_rng(0).random(800) + 0.1
    weighted = studied(y_true, y_prob, "platt", weight)
    assert weighted.after.brier_score < weighted.before.brier_score
    soft = studied(truth, y_prob, "isotonic")
    assert soft.after.calibration_error < soft.before.calibration_error / 4
    order = np.random.default_rng(2).permutation(800)
    moved = studied(y_true[order], y_prob[order], "platt", weight[order])
    assert moved.after.brier_score == pytest.approx(weighted.after.brier_score, abs=1e-9)


def test_few_events_are_spread_over_the_folds():
    y_prob = np.linspace(0.01, 0.5, 100)
    for seed in range(20):
        events = np.random.default_rng(seed).choice(100, 2, replace=False)
        found = studied(np.isin(np.arange(100), events), y_prob)
        assert 0 <= found.after.brier_score < 1
    with pytest.raises(ValueError, match="two rows of each class at least, but one class has 1"):
        studied(np.arange(100) == 50, y_prob)
