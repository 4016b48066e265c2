"""Verifiers: what they refuse, and what they count."""

import numpy as np
import pytest

from calibrant.experiments.verifiers import (
    by_bins,
    by_calibration,
    by_log_loss,
    by_neighbours,
    by_repeats,
)
from reference.points import LAW, POINTS, N


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (by_calibration(1 / np.sqrt(N)), lambda x: 0.3 + 0 * x),
        (by_log_loss(), lambda x: 0.9 - 0.8 * x / (POINTS - 1)),
        (by_bins(), lambda x: 0.9 - 0.8 * x / (POINTS - 1)),
        (by_neighbours(), lambda x: 0.9 - 0.8 * x / (POINTS - 1)),
    ],
    ids=["calibration error", "log loss", "bins of x", "neighbours in x"],
)
def test_verifiers_refuse_scores_that_are_visibly_wrong(verifier, said):
    samples = [LAW.draw(N, seed=seed) for seed in range(200)]
    right = np.mean([verifier.accepts(*rows, LAW.scores) for rows in samples])
    wrong = np.mean([verifier.accepts(*rows, said) for rows in samples])
    assert right > 0.7
    assert wrong < right - 0.3


def test_log_loss_at_certain_scores():
    x = np.array([0, 1, 1])
    scores = np.array([0.0, 1.0]).__getitem__
    assert by_log_loss().accepts(x, np.array([False, True, True]), scores)
    assert not by_log_loss().accepts(x, np.array([True, True, True]), scores)
    assert not by_bins(1).accepts(x, np.array([True, True, True]), scores)


def test_repeats_are_counted_in_pairs():
    # 4 rows at a point with f = 1/2 should give 4 * 3 / 4 = 3 pairs of different labels
    x, half = np.array([7, 7, 7, 7, 9]), lambda x: np.full(len(x), 0.5)
    labels = np.array([True, False, False, False, True])  # 3 such pairs
    assert by_repeats(1.0).accepts(x, labels, half)
    labels[:] = True
    assert not by_repeats(0.1).accepts(x, labels, half)
    assert by_repeats(1.0).accepts(np.arange(5), labels, half)
