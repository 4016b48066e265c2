"""Folds: rows that are counts are dealt once, at random."""

import numpy as np
import pytest

from calibrant.calibrators import folds
from calibrant.calibrators.folds import Deal


@pytest.mark.parametrize("many", [1 << 20, 10])
def test_rows_are_dealt_once_in_folds_of_equal_size(monkeypatch, many):
    monkeypatch.setattr(folds, "_MANY_SCORES", many)
    counts = np.random.default_rng(0).integers(0, 4, 1000)
    deal = Deal(counts, 5, np.random.default_rng(1))
    parts = [np.append(deal.of(k, slice(0, 300)), deal.of(k, slice(300, 9999))) for k in range(5)]
    assert (np.sum(parts, axis=0) == counts).all()
    sizes = [int(part.sum()) for part in parts]
    assert max(sizes) - min(sizes) <= 1
