"""Pools: counts by score and label, whatever the number of queries."""

import numpy as np

import calibrant as cb
from calibrant.calibrators import pool as pools
from calibrant.simulate import overconfident


def test_parts_give_what_one_query_gives(monkeypatch):
    y_true, y_prob, _ = overconfident().draw(5000, seed=1)
    for score in (y_prob, y_prob.round(2), y_prob * 2.0**-30):
        data = cb.Predictions(y_true, score)
        whole = pools.pool_of(data)
        with monkeypatch.context() as few:
            few.setattr(pools, "_AT_ONCE", 1)
            few.setattr(pools, "_OPENED", 300)
            parts = pools.pool_of(data)
        assert parts.cells is None
        for one, other in zip(whole[:3], parts[:3], strict=True):
            assert np.array_equal(one, other)


def test_chunks_hold_every_row_once(monkeypatch):
    y_true, y_prob, _ = overconfident().draw(5000, seed=1)
    pool = pools.pool_of(cb.Predictions(y_true, y_prob.round(3)))
    monkeypatch.setattr(pools, "CHUNK", 64)
    chunks = list(pools.chunks_of(pool)())
    assert sum(chunk.weight.sum() for chunk in chunks) == 5000
    assert sum(chunk.positives.sum() for chunk in chunks) == y_true.sum()
    assert (np.concatenate([chunk.score for chunk in chunks]) == np.unique(y_prob.round(3))).all()
