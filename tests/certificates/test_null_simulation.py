"""Samples under calibration: what is drawn is the law, on any number of cores."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

import calibrant as cb
from calibrant.certificates.evidence import Counts
from calibrant.certificates.null_simulation import _plain, _Surprises, null_ranges
from calibrant.certificates.testing import exact_test

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")


def counts(score, rows):
    return Counts(np.asarray(score, float), np.asarray(rows), np.zeros(len(rows), dtype=int))


@pytest.mark.parametrize(
    "these",
    [
        counts(np.linspace(0.001, 0.02, 50), np.full(50, 1)),
        counts([0.001, 0.01, 0.3, 0.5, 0.9, 0.999], [50, 30, 2, 1, 3, 400]),
        counts([0.0, 0.2, 1.0], [5, 5, 5]),
        counts([0.5, 0.7, 0.98], [1, 4, 40]),
    ],
)
def test_drawing_surprises_is_drawing_outcomes(these):
    plain = _plain(these)(np.random.default_rng(1), 20_000)
    few = _Surprises(these).ranges(np.random.default_rng(2), 20_000)
    grid = np.unique(np.round(np.concatenate([plain, few]), 9))
    assert few.min() >= 0
    # both sit on the same values, and as often
    assert ks_2samp(plain.round(9), few.round(9)).pvalue > 1e-4
    if len(grid) < 200:
        for value in grid:
            a, b = (np.mean(np.abs(x - value) < 1e-8) for x in (plain, few))
            assert abs(a - b) < 5 * math.sqrt((a + b + 1e-4) / 20_000)


def test_nothing_can_surprise_scores_of_zero_and_one():
    sure = counts([0.0, 1.0], [3, 4])
    assert np.concatenate(list(null_ranges(sure, 50, 0))).tolist() == [0.0] * 50
    assert exact_test(sure).statistic == pytest.approx(4 / 7)
    assert exact_test(sure).p_value == 1 / 10_000
    big = Counts(np.array([0.0, 1.0]), np.array([5000, 5000]), np.array([0, 5000]))
    assert exact_test(big).p_value == 1
    assert cb.calibration_test([0, 1], [0.0, 1.0], method="asymptotic").p_value == 1
    assert cb.calibration_test([1, 0], [0.0, 1.0], method="asymptotic").p_value == 0


@pytest.mark.parametrize(
    "these",
    [
        Counts(np.linspace(0.1, 0.9, 50), np.full(50, 3), np.full(50, 1)),
        Counts(np.linspace(0.001, 0.01, 3000), np.full(3000, 1), np.arange(3000) % 110 == 0),
        Counts(np.linspace(0.01, 0.99, 20_000), np.full(20_000, 1), np.arange(20_000) % 2),
    ],
    ids=["tied", "rare", "many"],
)
def test_neither_threads_nor_the_most_draws_change_what_is_drawn(these, monkeypatch):
    found = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found.append(np.concatenate(list(null_ranges(these, 1500, 3))))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    assert len(found[0]) == 1500
    half = len(next(iter(null_ranges(these, 9_999, 3))))
    assert (np.concatenate(list(null_ranges(these, 9_999, 3)))[:half] == found[0][:half]).all()
