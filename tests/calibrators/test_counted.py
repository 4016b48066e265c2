"""Cross-fitting on counts: as on rows, and bounded where scores are pooled into cells."""

import tracemalloc

import duckdb
import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators import counted
from calibrant.calibrators import pool as pools
from calibrant.calibrators.counted import ends_of, held_out, measured, measured_held_out
from calibrant.calibrators.crossfit import cross_fit
from calibrant.calibrators.estimators import links
from calibrant.calibrators.evaluation import calibrator_named, evaluate_calibrator
from calibrant.calibrators.folds import Deal
from calibrant.calibrators.pool import Pool, pool_of
from calibrant.simulate import overconfident

METHODS = ["isotonic", "platt", "beta", "temperature", "histogram", "venn_abers"]
MEASURES = ["calibration_error", "brier_score", "log_loss", "roc_auc"]


def rows_of(n, seed=1):
    y_true, y_prob, _ = overconfident().draw(n, seed=seed)
    return y_true, y_prob


@pytest.mark.parametrize("method", METHODS)
def test_counts_give_what_rows_give(method):
    y_true, y_prob = rows_of(3000)
    data = cb.Predictions(y_true, y_prob.round(3))
    calibrator = calibrator_named(method)
    found = evaluate_calibrator(data, calibrator)
    rows = cross_fit(data, calibrator)
    after = {"y_true": rows.label, "y_prob": rows.after, "sample_weight": rows.weight}
    assert found.after.calibration_error == pytest.approx(cb.calibration_error(**after), abs=1e-12)
    assert found.after.brier_score == pytest.approx(cb.brier_parts(**after).score, abs=1e-12)
    assert found.after.roc_auc == pytest.approx(cb.roc_auc(**after), abs=1e-12)
    assert found.before.calibration_error == pytest.approx(cb.calibration_error(data), abs=1e-12)
    assert found.after_open is None


def test_chunks_change_nothing(monkeypatch):
    data = cb.Predictions(*rows_of(5000))
    whole = evaluate_calibrator(data, cb.IsotonicCalibrator()).after
    monkeypatch.setattr(counted, "CHUNK", 97)
    parts = evaluate_calibrator(data, cb.IsotonicCalibrator()).after
    for name in MEASURES:
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_folds_are_merged_as_they_come(monkeypatch, method):
    """Chunks of any size give what holding all calibrated rows gives, ties included."""
    data = cb.Predictions(*rows_of(4000))
    for pool in (pool_of(data), Pool(*(column[::7] for column in pool_of(data)[:3]))):
        calibrator = calibrator_named(method)
        whole = measured(held_out(pool, calibrator))
        with monkeypatch.context() as small:
            small.setattr(counted, "CHUNK", 61)
            parts = measured_held_out(pool, calibrator)
        assert parts == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("method", ["platt", "beta", "temperature"])
def test_links_of_folds_are_fitted_to_chunks(monkeypatch, method):
    data = cb.Predictions(*rows_of(4000))
    whole = evaluate_calibrator(data, calibrator_named(method)).after
    monkeypatch.setattr(links, "_FEW_SCORES", 100)
    parts = evaluate_calibrator(data, calibrator_named(method)).after
    for name in MEASURES:
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), abs=1e-10)


@pytest.mark.parametrize("scale", [1.0, 2.0**-16])
def test_bins_of_folds_are_read_off_cells(monkeypatch, scale):
    y_true, y_prob = rows_of(4000)
    data = cb.Predictions(y_true, y_prob * scale)
    whole = evaluate_calibrator(data, cb.HistogramCalibrator()).after
    monkeypatch.setattr(counted, "CHUNK", 300)
    monkeypatch.setattr(counted, "_LEVEL", 6)
    parts = evaluate_calibrator(data, cb.HistogramCalibrator()).after
    for name in MEASURES:
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), abs=1e-12)


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_rows_of_any_weight_are_measured_as_by_the_metrics(kind):
    y_true, y_prob = rows_of(2000)
    weight = np.random.default_rng(0).random(2000)
    for label in (y_true, 0.1 + 0.8 * y_prob):
        data = cb.Predictions(label, y_prob.round(3), sample_weight=weight)
        found = evaluate_calibrator(data, calibrator_named(kind))
        rows = cross_fit(data, calibrator_named(kind))
        after = {"y_true": rows.label, "y_prob": rows.after, "sample_weight": rows.weight}
        for value, of in ((found.before, (data,)), (found.after, ())):
            given = {} if of else after
            assert value.calibration_error == pytest.approx(
                cb.calibration_error(*of, **given), abs=1e-12
            )
            assert value.brier_score == pytest.approx(cb.brier_parts(*of, **given).score, abs=1e-12)
            assert value.roc_auc == pytest.approx(cb.roc_auc(*of, **given), abs=1e-12)


def test_a_million_calibrated_rows_are_never_held_at_once():
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(1_000_000))
    positives = (rng.random(len(score)) < score).astype(np.uint8)
    pool = Pool(score, 1 - positives, positives)
    tracemalloc.start()
    measured_held_out(pool, calibrator_named("platt"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 110 * 2**20  # holding them takes 80 on top, and all features 200


def test_a_file_gives_what_arrays_give(tmp_path, monkeypatch):
    from calibrant.data.files import reading as files

    y_true, y_prob = rows_of(4000)
    path = str(tmp_path / "rows.parquet")
    table = {"y": y_true.astype(int), "p": y_prob}
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (y INTEGER, p DOUBLE)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", np.stack([table["y"], table["p"]], 1)[:800].tolist()
        )
        connection.execute(f"COPY (SELECT * FROM t) TO '{path}'")
    monkeypatch.setattr(files, "SHORT", 10)
    lazy = files.read_predictions(path, label="y", prob="p")
    near = cb.Predictions(y_true[:800], y_prob[:800])
    for limit in (1 << 24, 100):
        monkeypatch.setattr(pools, "MOST_SCORES", limit)
        monkeypatch.setattr(pools, "CELL_LEVEL", 8)
        one, other = (evaluate_calibrator(data, cb.IsotonicCalibrator()) for data in (lazy, near))
        assert one.to_dict()["after"] == pytest.approx(other.to_dict()["after"], abs=1e-12)
        assert (one.after_open is None) == (limit > 100)


def split_at_random(pool, deals, label, score, seed):
    """Deal the rows of every cell to the folds that its counts say: one of many ways."""
    rng = np.random.default_rng(seed)
    cell = np.searchsorted(pool.cells.low, score, side="right") - 1
    fold = np.empty(len(score), dtype=int)
    for k in range(len(pool.score)):
        for outcome in (0, 1):
            rows = np.flatnonzero((label == outcome) & (cell == k))
            each = [int(deals[outcome].of(one, slice(k, k + 1))[0]) for one in range(5)]
            fold[rows] = rng.permutation(np.repeat(np.arange(5), each))
    return fold


def hostile_rows(kind, level):
    """Rows on the borders of cells, at 0 and 1, and with rates that leap inside a cell."""
    rng = np.random.default_rng(level)
    if kind == "spread":
        y_true, y_prob = rows_of(1500, seed=level)
        return y_true.astype(int), y_prob
    border = rng.integers(0, 2**level + 1, 1500) / 2**level
    inside = np.clip(border + rng.choice([0, 1e-9, -1e-9, 0.4 / 2**level], 1500), 0, 1)
    rate = np.where(np.floor(inside * 2 ** (level + 1)) % 2, 0.9, 0.05)
    return (rng.random(1500) < rate).astype(int), inside


def losses(label, value):
    with np.errstate(divide="ignore"):
        log = -np.log(np.where(label, value, 1 - value))
    return ((label - value) ** 2).mean(), log.mean()


@pytest.mark.parametrize("kind", ["spread", "leaps"])
@pytest.mark.parametrize("level", [2, 5, 9])
@pytest.mark.parametrize("method", METHODS)
def test_bounds_hold_for_every_row_at_its_own_score(monkeypatch, method, level, kind):
    label, score = hostile_rows(kind, level)
    monkeypatch.setattr(pools, "MOST_SCORES", 1)
    monkeypatch.setattr(pools, "CELL_LEVEL", level)
    pool = pool_of(cb.Predictions(label, score))
    assert pool.cells is not None
    calibrator = calibrator_named(method)
    held = held_out(pool, calibrator)
    rng = np.random.default_rng(0)
    deals = Deal(pool.negatives, 5, rng), Deal(pool.positives, 5, rng)
    fitted = [counted._fitted(pool, deals, fold, calibrator) for fold in range(5)]
    for seed in range(3):
        fold = split_at_random(pool, deals, label, score, seed)
        after = np.empty(len(label))
        for k in range(5):
            after[fold == k] = fitted[k](score[fold == k])
        exact = (
            cb.calibration_error(label, after),
            *losses(label, after),
            cb.roc_auc(label, after),
        )
        for value, (low, high) in zip(exact, ends_of(held), strict=True):
            assert low - 1e-12 <= value <= high + 1e-12
    for value, (low, high) in zip(measured(held), ends_of(held), strict=True):
        assert low - 1e-12 <= value <= high + 1e-12


def test_what_cells_leave_open_is_said(monkeypatch):
    monkeypatch.setattr(pools, "MOST_SCORES", 100)
    monkeypatch.setattr(pools, "CELL_LEVEL", 6)
    data = cb.Predictions(*rows_of(5000))
    for method in METHODS:
        found = evaluate_calibrator(data, calibrator_named(method))
        assert found.after_open is not None
        assert found.note is not None
        assert found.before.calibration_error == pytest.approx(cb.calibration_error(data))
        assert found.to_dict()["after_open"]["brier_score"] >= 0


def test_scores_that_tie_stay_apart_whatever_their_rows(monkeypatch):
    monkeypatch.setattr(pools, "MOST_SCORES", 1000)
    y_true, y_prob = rows_of(5000)
    found = pool_of(cb.Predictions(y_true, y_prob.round(2)))
    assert isinstance(found, Pool)
    assert found.cells is None
    assert (found.score == np.unique(y_prob.round(2))).all()
