"""Streamed: the minimum over all rows, in little memory."""

import tracemalloc

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.calibrators.estimators import links
from calibrant.calibrators.pool import Pool, chunks_of
from calibrant.calibrators.registry import family_of
from calibrant.calibrators.streamed import SourceRows, fit_chunks, fit_streamed
from calibrant.core.diagram import everything, resolve
from calibrant.simulate import overconfident
from reference.links import KINDS, theta_of


def rows_of(n, seed=1):
    y_true, y_prob, _ = overconfident().draw(n, seed=seed)
    return y_true, y_prob


#: Scores of every kind that is hard: at 0 and 1, over many decades, close together, tied.
SCORES = {
    "spread": lambda p: p,
    "at the ends": lambda p: np.clip(1.2 * p - 0.1, 0, 1),
    "next to the ends": lambda p: np.clip(p, 2.0**-60, 1 - 2.0**-53),
    "tiny": lambda p: np.exp(-40 * (1 - p)),
    "narrow": lambda p: 0.5 + 1e-4 * (p - 0.5),
    "tied": lambda p: p.round(2),
}


def all_at_once(method, data, objective="log_loss"):
    calibrator = KINDS[method](objective)
    return calibrator._of_all(resolve(data.source, everything))


@pytest.mark.parametrize("method", KINDS)
@pytest.mark.parametrize("kind", SCORES)
def test_sums_find_the_minimum_over_all_rows(method, kind):
    y_true, y_prob = rows_of(6000)
    data = cb.Predictions(y_true, SCORES[kind](y_prob))
    found = fit_streamed(family_of(method), SourceRows(data.source))
    expected = all_at_once(method, data)
    assert (found.low, found.high) == (expected.low, expected.high)
    assert theta_of(found) == pytest.approx(theta_of(expected), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("method", KINDS)
@pytest.mark.parametrize("law", ["separated", "reversed", "soft", "weighted"])
def test_hard_outcomes_and_weights(method, law):
    y_true, y_prob = rows_of(6000)
    weight = np.random.default_rng(0).random(6000) + 0.1 if law == "weighted" else None
    label = {
        "separated": y_prob > 0.3,
        "reversed": ~y_true.astype(bool),
        "soft": 0.2 + 0.5 * y_prob,
    }.get(law, y_true)
    data = cb.Predictions(label, y_prob, sample_weight=weight)
    found = fit_streamed(family_of(method), SourceRows(data.source))
    expected = all_at_once(method, data)
    assert theta_of(found) == pytest.approx(theta_of(expected), rel=1e-8, abs=1e-9)


def test_a_table_gives_what_arrays_give():
    y_true, y_prob = rows_of(3000)
    frame = duckdb.from_arrow(pa.table({"y": y_true.astype(int), "p": y_prob}))
    data = cb.Predictions(frame, label="y", prob="p")
    for method in KINDS:
        found = fit_streamed(family_of(method), SourceRows(data.source))
        expected = all_at_once(method, cb.Predictions(y_true, y_prob))
        assert theta_of(found) == pytest.approx(theta_of(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("objective", ["log_loss", "squared", "calibration_error"])
@pytest.mark.parametrize("method", KINDS)
def test_chunks_give_what_all_give(monkeypatch, method, objective):
    y_true, y_prob = rows_of(70_000)
    y_prob = y_prob.round(6)
    data = cb.Predictions(y_true, y_prob)
    pool = Pool(*data.source.counts())
    monkeypatch.setattr("calibrant.calibrators.pool.CHUNK", 5000)
    found = fit_chunks(family_of(method), chunks_of(pool), objective)
    expected = all_at_once(method, data, objective)
    near = 1e-9 if objective == "log_loss" else 1e-4  # as near as the search comes
    assert theta_of(found) == pytest.approx(theta_of(expected), rel=near, abs=near)


def test_platt_is_logistic_regression_on_platts_targets():
    y_true, y_prob = rows_of(200_000)
    events = int(y_true.sum())
    high, low = (events + 1) / (events + 2), 1 / (len(y_true) - events + 2)
    target = np.where(y_true, high, low)
    odds = np.log(y_prob) - np.log1p(-y_prob)
    x = np.tile(odds, 2)[:, None]
    peer = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    peer.fit(x, np.repeat([1, 0], len(odds)), sample_weight=np.concatenate([target, 1 - target]))
    link = cb.PlattCalibrator().fit(y_prob, y_true).function_
    assert link.a == pytest.approx(peer.coef_[0, 0], rel=1e-7)
    assert link.c == pytest.approx(peer.intercept_[0], abs=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_million_rows_take_no_more_than_their_own_memory(weighted):
    n = 1_000_000
    y_true, y_prob = rows_of(n)
    weight = np.random.default_rng(0).random(n) + 0.1 if weighted else None
    cb.PlattCalibrator().fit(y_prob[:300_000], y_true[:300_000])  # what is loaded once
    tracemalloc.start()
    cb.PlattCalibrator().fit(y_prob, y_true, sample_weight=weight)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 80 * 2**20  # all scores at once take 400


def test_few_rows_are_looked_at_all_at_once():
    y_true, y_prob = rows_of(1000)
    link = cb.BetaCalibrator().fit(y_prob, y_true).function_
    assert link == all_at_once("beta", cb.Predictions(y_true, y_prob))
    assert links._FEW_SCORES >= 1000
