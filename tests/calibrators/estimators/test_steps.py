"""Isotonic, histogram and identity calibrators: what they are on rows that are given."""

import json

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
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


#: Hard to give back: the ends, the smallest doubles there are, and scores of every size.
SCORES = np.concatenate(
    [
        [0, 1, 5e-324, 1e-310, 1e-200, np.nextafter(1, 0)],
        np.random.default_rng(0).random(10_000),
        np.exp(-700 * np.random.default_rng(1).random(10_000)),
    ]
)


def test_the_identity_gives_back_every_score_to_the_bit(sample):
    fitted = cb.IdentityCalibrator().fit(*sample)
    assert fitted.predict(SCORES).tolist() == SCORES.tolist()
    again = cb.Calibrator.from_json(fitted.to_json())
    assert type(again) is cb.IdentityCalibrator
    assert again.to_json() == fitted.to_json()
    assert again.predict(SCORES).tolist() == SCORES.tolist()
    relation = duckdb.from_df(pd.DataFrame({"p": SCORES}))
    found = relation.select(f"{again.to_sql('p')} AS q").fetchnumpy()["q"]
    assert found.tolist() == SCORES.tolist()
    for dtype, kind in (("double", np.float64), ("float", np.float32)):
        session = onnxruntime.InferenceSession(again.to_onnx(dtype=dtype))
        given = SCORES.astype(kind)
        assert session.run(None, {"score": given})[0].tolist() == given.tolist()


def test_the_identity_in_sql_refuses_what_is_no_probability(sample):
    fitted = cb.IdentityCalibrator().fit(*sample)
    for dialect in ("duckdb", "postgres", "spark"):
        assert "CASE WHEN" in fitted.to_sql("p", dialect)
    relation = duckdb.from_df(pd.DataFrame({"p": [0.5, 1.5, -0.5, np.nan]}))
    found = relation.select(f"{fitted.to_sql('p')} AS q").fetchall()
    assert found == [(0.5,), (None,), (None,), (None,)]


def test_the_json_of_an_identity_is_an_identity(sample):
    document = json.loads(cb.IdentityCalibrator().fit(*sample).to_json())
    document["parameters"]["interpolation"] = "step"
    with pytest.raises(cb.InputError, match="it is not the identity"):
        cb.Calibrator.from_json(json.dumps(document))
