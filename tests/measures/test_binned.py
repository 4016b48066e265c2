"""Errors in bins, and from the start, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from reference.samples import acceptable, quietly, sample, shapes, small


def brute_binned(y_true, y_prob, weight, n_bins):
    weight = np.ones(len(y_prob)) if weight is None else np.asarray(weight, float)
    y, f = np.asarray(y_true, float), np.asarray(y_prob, float)
    total = 0.0
    for k in range(n_bins):
        low, high = (k / n_bins if k else -1), (k + 1) / n_bins
        inside = (f > low) & (f <= high)
        total += abs((weight * (y - f))[inside].sum())
    return total / weight.sum()


@settings(max_examples=400)
@given(small())
def test_binned_error_equals_brute_force(case):
    y_true, y_prob, weight = acceptable(case)
    for n_bins in (1, 2, 3, 10, 15, 16):
        found = quietly(
            cb.expected_calibration_error, y_true, y_prob, sample_weight=weight, n_bins=n_bins
        )
        assert found == pytest.approx(brute_binned(y_true, y_prob, weight, n_bins), abs=1e-12)


def test_binned_error_on_every_shape():
    for name, y_true, y_prob in shapes(100_000):
        for n_bins in (10, 15):
            found = cb.expected_calibration_error(y_true, y_prob, n_bins=n_bins)
            expected = brute_binned(y_true, y_prob, None, n_bins)
            assert found == pytest.approx(expected, abs=1e-12), name


def test_quantile_bins_hold_equal_weight_and_split_no_tie():
    y_true, y_prob, _ = sample(rows=1000)
    order = np.argsort(y_prob)
    blocks = np.array_split((y_true - y_prob)[order], 10)
    expected = sum(abs(block.sum()) for block in blocks) / 1000
    found = cb.expected_calibration_error(y_true, y_prob, n_bins=10, strategy="quantile")
    assert found == pytest.approx(expected, abs=1e-12)
    tied = cb.expected_calibration_error([0, 1, 1, 0], [0.5] * 4, n_bins=3, strategy="quantile")
    assert tied == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number, 1 or more"),
        ({"strategy": "even"}, "strategy must be one of uniform, quantile, but it is 'even'"),
    ],
)
def test_binned_error_refuses(options, words):
    with pytest.raises(ValueError, match=words):
        cb.expected_calibration_error([0, 1], [0.2, 0.7], **options)


@settings(max_examples=300)
@given(small())
def test_kolmogorov_error_is_the_largest_distance_from_the_start(case):
    y_true, y_prob, weight = acceptable(case)
    w = np.ones(len(y_prob)) if weight is None else np.asarray(weight, float)
    y, f = np.asarray(y_true, float), np.asarray(y_prob, float)
    expected = max(abs((w * (y - f))[f <= t].sum()) for t in f) / w.sum()
    found = quietly(cb.kolmogorov_error, y_true, y_prob, sample_weight=weight)
    assert found == pytest.approx(expected, abs=1e-12)
    error = quietly(cb.calibration_error, y_true, y_prob, sample_weight=weight)
    assert error / 2 - 1e-12 <= found <= error + 1e-12
