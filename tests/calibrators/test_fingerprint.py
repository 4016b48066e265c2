"""Fingerprints: the same scores are known again, from any source, and no row can be read."""

import json

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.calibrators.applying import apply_calibrator
from calibrant.calibrators.fingerprint import (
    fingerprint,
    fingerprint_level,
    fingerprint_of,
)
from calibrant.data.predictions import predictions_of
from reference.engines import ENGINES


def sample(rows, seed=0):
    rng = np.random.default_rng(seed)
    y_prob = np.concatenate([rng.random(rows - 4), [0.0, 1.0, 2.0**-60, 1 - 2.0**-53]])
    return (rng.random(rows) < y_prob).astype(int), y_prob


def by_hand(y_prob):
    cells = 2 ** fingerprint_level(len(y_prob))
    cell = np.minimum(np.floor(y_prob * cells), cells - 1).astype(int)
    return fingerprint(cell, np.ones(len(cell), dtype=int))


@pytest.mark.parametrize("rows", [60, 3000, 70_000, 300_000])
def test_it_is_the_hash_of_a_tally_whatever_the_first_one_was(rows):
    y_true, y_prob = sample(rows)
    expected = by_hand(y_prob)
    order = np.random.default_rng(1).permutation(rows)
    for data in (
        cb.Predictions(y_true, y_prob),
        cb.Predictions(1 - y_true, y_prob[order]),
        cb.Predictions(y_true, y_prob, sample_weight=np.full(rows, 3.5)),
        cb.Predictions(y_prob, y_prob),
        predictions_of(y_true, y_prob, fine=True),
    ):
        assert fingerprint_of(data) == expected
    crowded = np.sort(y_prob**8)
    assert fingerprint_of(cb.Predictions(y_true, crowded)) == by_hand(crowded)
    assert by_hand(crowded) != expected


@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_every_engine_gives_the_same(wrap, tmp_path):
    y_true, y_prob = sample(500)
    frame = wrap(pd.DataFrame({"y": y_true, "p": y_prob}), tmp_path)
    assert fingerprint_of(cb.Predictions(frame, label="y", prob="p")) == by_hand(y_prob)


def test_other_scores_are_others_and_few_rows_have_none():
    rng = np.random.default_rng(3)
    near = np.repeat([0.1001, 0.5001, 0.9001], 20)
    outcome = rng.random(60) < 0.5
    first = fingerprint_of(cb.Predictions(outcome, near))
    assert first != fingerprint_of(cb.Predictions(outcome, near + 1e-4))
    assert len({by_hand(rng.random(50)) for _ in range(200)}) == 200
    assert fingerprint_of(cb.Predictions(outcome[:49], near[:49])) is None
    few = cb.PlattCalibrator().fit(near[:40], [0, 1] * 20)
    assert json.loads(few.to_json())["fitted_on"]["scores"] is None
    silent = np.append(near, [0.2, 0.3])
    counted = np.append(np.ones(60), [0, 0])
    data = cb.Predictions(np.append(outcome, [True, False]), silent, sample_weight=counted)
    assert fingerprint_of(data) == first


def test_a_calibrator_keeps_it_and_nothing_else_of_the_scores():
    y_true, y_prob = sample(500)
    fitted = cb.PlattCalibrator().fit(y_prob, y_true)
    document = json.loads(fitted.to_json())
    assert document["schema_version"] == 2
    assert set(document["fitted_on"]) == {"rows", "events", "scores"}
    assert document["fitted_on"]["scores"] == fitted.fitted_scores_ == by_hand(y_prob)
    assert len(fitted.fitted_scores_) == 16
    assert cb.Calibrator.from_json(fitted.to_json()).fitted_scores_ == fitted.fitted_scores_
    first = {**document, "schema_version": 1, "fitted_on": {"rows": 500, "events": 250}}
    old = cb.Calibrator.from_json(json.dumps(first))
    assert old.fitted_scores_ is None
    assert json.loads(old.to_json())["fitted_on"]["scores"] is None
    assert cb.Calibrator.from_json(old.to_json()).fitted_scores_ is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_apply_says_that_it_meets_the_same_scores_again(tmp_path, kind):
    y_true, y_prob = sample(400)
    frame = pd.DataFrame({"p": y_prob})

    def written(some, name):
        path = tmp_path / f"{name}.{kind}"
        some.to_csv(path, index=False) if kind == "csv" else some.to_parquet(path)
        return path

    fitted = cb.TemperatureCalibrator().fit(y_prob, y_true)
    shuffled = written(frame.sample(frac=1, random_state=0), "same")
    found = apply_calibrator(fitted, shuffled, tmp_path / "out.csv", prob="p")
    assert found.fitted_here
    assert "The scores are those that the calibrator was fitted to. If these" in repr(found)
    gaps = written(pd.concat([frame, pd.DataFrame({"p": [np.nan] * 3})]), "gaps")
    assert apply_calibrator(fitted, gaps, tmp_path / "gaps_out.csv", prob="p").fitted_here
    other = written(pd.DataFrame({"p": sample(400, seed=1)[1]}), "other")
    found = apply_calibrator(fitted, other, tmp_path / "other_out.csv", prob="p")
    assert not found.fitted_here
    assert "fitted" not in repr(found)
    fitted.fitted_scores_ = None  # as version 0.1.0 wrote them
    again = apply_calibrator(fitted, shuffled, tmp_path / "again.csv", prob="p")
    assert not again.fitted_here
