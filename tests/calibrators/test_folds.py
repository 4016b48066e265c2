"""Folds: every row is in one of them, and last digits of scores move no others."""

import numpy as np
import pytest

from calibrant.calibrators import folds
from calibrant.calibrators.folds import Deal, dealt


def drawn(counts, seed=0):
    return dealt(np.asarray(counts), 5, np.random.default_rng(seed))


@pytest.mark.parametrize("few", [0, folds._FEW_ROWS])
def test_rows_are_dealt_out_evenly(few, monkeypatch):
    monkeypatch.setattr(folds, "_FEW_ROWS", few)
    counts = np.random.default_rng(1).integers(0, 9, 300)
    found = drawn(counts)
    assert (found.sum(axis=0) == counts).all()
    assert np.ptp(found.sum(axis=1)) <= 1
    assert (Deal(counts, 5, np.random.default_rng(0)).of(2, slice(10, 40)) == found[2, 10:40]).all()


def test_either_way_of_dealing_has_the_same_law(monkeypatch):
    counts = np.random.default_rng(1).integers(0, 9, 60)
    n, low = counts.sum(), counts[:30].sum()
    size = n // 5 + (n % 5 > 0)  # the first fold is one of the larger ones
    mean, variance = size * low / n, size * low / n * (1 - low / n) * (n - size) / (n - 1)
    for few in (0, folds._FEW_ROWS):
        monkeypatch.setattr(folds, "_FEW_ROWS", few)
        first = np.array([drawn(counts, seed)[0, :30].sum() for seed in range(1000)])
        assert abs(first.mean() - mean) < 4 * np.sqrt(variance / 1000)
        assert 0.8 < first.var() / variance < 1.25


def test_rows_that_change_places_leave_all_others_in_their_folds():
    """A row of the other class between two of this one counts nothing here."""
    counts = np.ones(1000, dtype=np.int64)
    for other in (3, 400, 997):
        moved = np.insert(counts, other, 0)
        assert (np.delete(drawn(moved), other, axis=1) == drawn(counts)).all()


@pytest.mark.parametrize("many", [1 << 20, 10])
def test_rows_are_dealt_once_in_folds_of_equal_size(monkeypatch, many):
    monkeypatch.setattr(folds, "_MANY_SCORES", many)
    counts = np.random.default_rng(0).integers(0, 4, 1000)
    deal = Deal(counts, 5, np.random.default_rng(1))
    parts = [np.append(deal.of(k, slice(0, 300)), deal.of(k, slice(300, 9999))) for k in range(5)]
    assert (np.sum(parts, axis=0) == counts).all()
    sizes = [int(part.sum()) for part in parts]
    assert max(sizes) - min(sizes) <= 1
