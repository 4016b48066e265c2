"""Isotonic and histogram calibrators: what their steps are on rows that are given."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import overconfident


@pytest.fixture(scope="module")
def sample():
    y_true, y_prob, _ = overconfident().draw(400, seed=1)
    return y_prob, y_true


def test_numbers_of_numpy_are_kept_as_numbers(sample):
    fitted = cb.HistogramCalibrator(np.int64(3)).fit(*sample)
    assert cb.Calibrator.from_json(fitted.to_json()).n_bins == 3
    assert len(cb.HistogramCalibrator(10**7).fit(*sample).function_) == 400


def test_soft_labels_are_welcome():
    y_prob = np.array([0.1, 0.4, 0.6, 0.9])
    assert cb.IsotonicCalibrator().fit(y_prob, [0.2, 0.1, 0.7, 0.8]).predict(y_prob) == (
        pytest.approx([0.15, 0.15, 0.7, 0.8])
    )


def test_histogram_is_the_rate_in_bins_of_equal_weight():
    y_true, y_prob, _ = overconfident().draw(1000, seed=3)
    blocks = cb.HistogramCalibrator(n_bins=8).fit(y_prob, y_true).function_
    assert blocks.weight.tolist() == [125] * 8
    order = np.argsort(y_prob)
    for i in range(8):
        mine = order[125 * i : 125 * (i + 1)]
        assert (blocks.low[i], blocks.high[i]) == (y_prob[mine].min(), y_prob[mine].max())
        assert blocks.value[i] == y_true[mine].mean()
    after = cb.HistogramCalibrator(n_bins=8).fit(y_prob, y_true).predict(y_prob)
    assert cb.calibration_error(y_true, after) <= 1e-12


def test_histogram_never_splits_ties():
    y_prob = np.repeat([0.1, 0.2, 0.8], [70, 10, 20])
    y_true = np.arange(100) % 2
    blocks = cb.HistogramCalibrator(n_bins=10).fit(y_prob, y_true).function_
    assert blocks.low.tolist() == blocks.high.tolist() == [0.1, 0.2, 0.8]
    assert blocks.weight.tolist() == [70, 10, 20]
