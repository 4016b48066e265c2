"""Calibrators as scikit-learn estimators, and as JSON."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import calibrant as cb
from calibrant.errors import InputError
from calibrant.simulate import overconfident

ALL = [
    cb.IsotonicCalibrator(),
    cb.IsotonicCalibrator("linear"),
    cb.IsotonicCalibrator("strict"),
    cb.PlattCalibrator(),
    cb.PlattCalibrator("squared"),
    cb.BetaCalibrator(),
    cb.TemperatureCalibrator(),
    cb.TemperatureCalibrator("calibration_error"),
    cb.HistogramCalibrator(n_bins=7),
    cb.VennAbersCalibrator(),
]
each = pytest.mark.parametrize("calibrator", ALL, ids=str)


@pytest.fixture(scope="module")
def sample():
    y_true, y_prob, _ = overconfident().draw(400, seed=1)
    return y_prob, y_true


@each
def test_params_and_clone(calibrator, sample):
    copy = clone(calibrator)
    assert copy.get_params() == calibrator.get_params()
    assert not hasattr(copy.fit(*sample), "sample_weight")
    assert not hasattr(clone(copy), "function_")
    for name, value in calibrator.get_params().items():
        assert getattr(clone(calibrator).set_params(**{name: value}), name) == value
    with pytest.raises(ValueError, match="Invalid parameter"):
        calibrator.set_params(nonsense=1)


@each
def test_not_fitted(calibrator):
    with pytest.raises(NotFittedError):
        clone(calibrator).predict([0.1])
    with pytest.raises(NotFittedError):
        clone(calibrator).to_json()


@each
def test_every_container_gives_the_same(calibrator, sample):
    y_prob, y_true = sample
    fitted = clone(calibrator).fit(y_prob, y_true)
    expected = fitted.predict(y_prob)
    assert expected.shape == (400,)
    assert expected.dtype == np.float64
    for scores, labels in (
        (y_prob[:, None], y_true.astype(int)),
        (pd.Series(y_prob, index=np.arange(400)[::-1]), pd.Series(y_true)),
        (pd.DataFrame({"p": y_prob}), y_true),
        (pl.Series(y_prob), pl.Series(y_true)),
        (y_prob.tolist(), y_true.tolist()),
        (y_prob, np.where(y_true, 1, -1)),
    ):
        again = clone(calibrator).fit(scores, labels)
        assert again.predict(scores).tolist() == expected.tolist()
    assert fitted.n_features_in_ == 1


@each
def test_fitting_again_forgets_and_weights_are_rows(calibrator, sample):
    y_prob, y_true = sample
    fitted = clone(calibrator).fit(y_prob, y_true)
    once = fitted.predict(y_prob)
    fitted.fit(y_prob[::-1] ** 2, y_true[::-1])
    assert fitted.fit(y_prob, y_true) is fitted
    assert fitted.predict(y_prob).tolist() == once.tolist()
    weight = np.random.default_rng(0).integers(1, 4, 400)
    weighted = clone(calibrator).fit(y_prob, y_true, sample_weight=weight)
    repeated = clone(calibrator).fit(np.repeat(y_prob, weight), np.repeat(y_true, weight))
    assert weighted.predict(y_prob) == pytest.approx(repeated.predict(y_prob), abs=1e-6)
    order = np.random.default_rng(1).permutation(400)
    moved = clone(calibrator).fit(y_prob[order], y_true[order])
    assert moved.predict(y_prob) == pytest.approx(once, abs=1e-6)


@each
def test_last_step_of_a_pipeline(calibrator, sample):
    y_prob, y_true = sample
    pipeline = make_pipeline(FunctionTransformer(np.sqrt), clone(calibrator))
    found = pipeline.fit(y_prob[:, None], y_true).predict(y_prob[:, None])
    direct = clone(calibrator).fit(np.sqrt(y_prob), y_true).predict(np.sqrt(y_prob))
    assert found.tolist() == direct.tolist()


@each
def test_probabilities_stay_probabilities(calibrator, sample):
    fitted = clone(calibrator).fit(*sample)
    grid = np.linspace(0, 1, 501)
    found = fitted.predict(grid)
    assert ((found >= 0) & (found <= 1)).all()
    if calibrator.method != "histogram":
        assert (np.diff(found) >= 0).all()


@each
def test_json_gives_it_back_to_the_bit(calibrator, sample):
    fitted = clone(calibrator).fit(*sample)
    text = fitted.to_json()
    grid = np.linspace(0, 1, 501)
    for read in (cb.Calibrator.from_json, type(calibrator).from_json):
        again = read(text)
        assert type(again) is type(calibrator)
        assert again.get_params() == calibrator.get_params()
        assert again.predict(grid).tolist() == fitted.predict(grid).tolist()
        assert again.to_json() == text
        assert (again.rows_, again.events_) == (fitted.rows_, fitted.events_)
    assert pickle.loads(pickle.dumps(fitted)).predict(grid).tolist() == again.predict(grid).tolist()


def document(calibrator=None):
    y_true, y_prob, _ = overconfident().draw(200, seed=1)
    fitted = (calibrator or cb.IsotonicCalibrator()).fit(y_prob, y_true)
    return json.loads(fitted.to_json())


def edited(path, value, calibrator=None):
    found = document(calibrator)
    *parents, last = path
    place = found
    for name in parents:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(found)


def decreasing():
    found = document()
    found["parameters"] |= {"low": [0.1, 0.6], "high": [0.5, 0.9], "weight": [2, 2]}
    found["parameters"] |= {"positives": [2, 0], "value": [1.0, 0.0]}
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        (json.dumps(document())[:-20], "it is not JSON"),
        ("[1, 2]", "its schema is not"),
        (edited(["schema"], "calibrant.tally"), "its schema is not 'calibrant.calibrator'"),
        (edited(["schema_version"], 3), "a newer calibrant may read it"),
        (edited(["schema_version"], 0), "a newer calibrant may read it"),
        (edited(["schema_version"], 1), "fitted_on"),
        (
            edited(["fitted_on", "scores"], "0123456789ABCDEF"),
            "not a hash of 16 hexadecimal digits",
        ),
        (edited(["fitted_on", "scores"], "12"), "not a hash of 16 hexadecimal digits"),
        (edited(["fitted_on", "scores"], 12), "not a hash of 16 hexadecimal digits"),
        (edited(["method"], "neural"), "its method is 'neural'.*isotonic, platt, beta"),
        (edited(["method"], "platt"), "its options lack objective"),
        (edited(["extra"], 1), "its parts hold extra, which is new"),
        (edited(["fitted_on"], None), "its parts lack fitted_on"),
        (edited(["parameters"], [1]), "parameters is not an object"),
        (edited(["fitted_on", "rows"], "many"), "rows is 'many', not a number"),
        (edited(["options", "interpolation"], "cubic"), "interpolation must be one of"),
        (edited(["parameters", "interpolation"], "cubic"), "interpolation must be one of"),
        (edited(["parameters", "value"], [0.5]), "its columns are empty or differ"),
        (edited(["parameters", "value"], "high"), "value is not a list of numbers"),
        (edited(["parameters", "value", 0], True), "value is not a list of numbers"),
        (edited(["parameters", "value", 0], 0.77), "a value is not the rate of its block"),
        (edited(["parameters", "low", 0], 0.9), "not in order"),
        (edited(["parameters", "low", 0], -0.1), "not in order within"),
        (edited(["parameters", "weight", 0], 0), "a value is not the rate"),
        (edited(["parameters", "weight", 0], 1e400), "not finite"),
        (edited(["parameters", "a"], -1, cb.PlattCalibrator()), "reverses the ranking"),
        (edited(["parameters", "a"], 5, cb.PlattCalibrator()), "are not those of platt"),
        (edited(["parameters", "c"], 9, cb.TemperatureCalibrator()), "those of temperature"),
        (edited(["parameters", "a"], 10**400, cb.PlattCalibrator()), "not a number"),
        (edited(["parameters", "weight", 0], 10**400), "past the largest double"),
        (edited(["fitted_on", "events"], -7), "events are not between 0 and rows"),
        (edited(["schema_version"], True), "a newer calibrant may read it"),
        (edited(["options", "interpolation"], "linear"), "differ in interpolation"),
        ('{"schema": "x", ' + json.dumps(document())[1:], "a name is given twice"),
        (decreasing(), "its values decrease"),
        (edited(["parameters", "a"], "1", cb.PlattCalibrator()), "a is '1', not a number"),
        (edited(["parameters", "d"], 1, cb.PlattCalibrator()), "hold d, which is new"),
        (edited(["options", "objective"], "luck", cb.PlattCalibrator()), "objective must be"),
    ],
)
def test_text_that_is_not_a_calibrator_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        cb.Calibrator.from_json(text)


def test_a_class_reads_its_own_kind_only():
    text = json.dumps(document())
    with pytest.raises(ValueError, match="PlattCalibrator knows platt"):
        cb.PlattCalibrator.from_json(text)


@pytest.mark.parametrize("calibrator", [one for one in ALL if one.needs_both_classes], ids=str)
@pytest.mark.parametrize(
    ("y_prob", "y_true", "words"),
    [
        ([0.1, 0.2], [0, 0], "y_true holds one class only"),
        ([0.1, 0.2], [1, 1], "y_true holds one class only"),
        ([0.1], [1], "two rows at least"),
    ],
)
def test_both_classes_are_needed(calibrator, y_prob, y_true, words):
    with pytest.raises(ValueError, match=words):
        clone(calibrator).fit(y_prob, y_true)


def test_only_pairs_do_with_one_class():
    assert [one.method for one in ALL if not one.needs_both_classes] == ["venn_abers"]


@each
@pytest.mark.parametrize(
    ("y_prob", "y_true", "words"),
    [
        ([], [], "empty"),
        ([0.1, 1.5], [0, 1], "y_prob must lie between 0 and 1"),
        ([0.1, np.nan], [0, 1], "y_prob has missing values"),
        ([0.1, 0.2, 0.3], [0, 1], "same number of rows"),
        ([[0.1, 0.9], [0.2, 0.8]], [0, 1], "second column"),
    ],
)
def test_bad_input(calibrator, y_prob, y_true, words):
    with pytest.raises(ValueError, match=words):
        clone(calibrator).fit(y_prob, y_true)


def test_bad_scores_and_options(sample):
    fitted = cb.IsotonicCalibrator().fit(*sample)
    with pytest.raises(ValueError, match="y_prob must lie between 0 and 1"):
        fitted.predict([0.2, 2.0])
    for wrong in (
        cb.IsotonicCalibrator("cubic"),
        cb.PlattCalibrator("luck"),
        cb.HistogramCalibrator(0),
        cb.HistogramCalibrator(2.5),
    ):
        with pytest.raises(ValueError, match="must be"):
            wrong.fit(*sample)


def test_numbers_of_numpy_are_kept_as_numbers(sample):
    fitted = cb.HistogramCalibrator(np.int64(3)).fit(*sample)
    assert cb.Calibrator.from_json(fitted.to_json()).n_bins == 3
    assert len(cb.HistogramCalibrator(10**7).fit(*sample).function_) == 400


def test_words_fit_the_order_of_arguments(sample):
    y_prob, y_true = sample
    with pytest.raises(ValueError, match="y_true must be the outcomes and y_prob the prob"):
        cb.IsotonicCalibrator().fit(y_true.astype(float), y_prob)
    with pytest.raises(ValueError, match="takes labels == the event"):
        cb.IsotonicCalibrator().fit(y_prob, np.where(y_true, "yes", "no"))


def test_soft_labels_are_welcome():
    y_prob = np.array([0.1, 0.4, 0.6, 0.9])
    assert cb.IsotonicCalibrator().fit(y_prob, [0.2, 0.1, 0.7, 0.8]).predict(y_prob) == (
        pytest.approx([0.15, 0.15, 0.7, 0.8])
    )


class TestPrior:
    def test_undoes_undersampling(self):
        rng = np.random.default_rng(0)
        truth = rng.beta(1, 30, 10**6)
        y_true = rng.random(10**6) < truth
        keep = y_true | (rng.random(10**6) < 0.1)
        # the odds of a kept row are ten times larger
        stated = 10 * truth / (10 * truth + 1 - truth)
        back = cb.adjust_prior(stated, train_rate=y_true[keep].mean(), true_rate=y_true.mean())
        assert np.abs(back - truth).max() < 0.005
        assert cb.calibration_error(y_true[keep], stated[keep]) < 0.005
        assert cb.calibration_error(y_true, back) < 0.001 < cb.calibration_error(y_true, stated)

    def test_is_exact_and_invertible(self):
        p = np.concatenate(
            [[0.0, 1.0, 0.5, 1e-300, 1 - 1e-12], np.random.default_rng(0).random(99)]
        )
        there = cb.adjust_prior(p, train_rate=0.5, true_rate=0.03)
        assert cb.adjust_prior(there, train_rate=0.03, true_rate=0.5) == pytest.approx(p, rel=1e-12)
        assert cb.adjust_prior(p, train_rate=0.2, true_rate=0.2) == pytest.approx(p, rel=1e-15)
        assert there[0] == 0
        assert there[1] == 1
        assert cb.adjust_prior([0.5], train_rate=0.5, true_rate=0.03)[0] == pytest.approx(0.03)

    def test_at_the_ends(self):
        found = cb.adjust_prior([0.0, 1.0, 0.5], train_rate=0.999, true_rate=5e-324)
        assert found.tolist() == [0, 1, 0]

    @pytest.mark.parametrize("rate", [0, 1, -0.1, 50])
    def test_refuses_rates_that_are_none(self, rate):
        with pytest.raises(ValueError, match="train_rate must be a number strictly between"):
            cb.adjust_prior([0.5], train_rate=rate, true_rate=0.5)


@each
def test_all_but_the_histogram_keep_the_order_of_rows(calibrator):
    """Where scores rank the wrong way a histogram turns rows around; nothing else may."""
    y_prob = np.linspace(0.05, 0.95, 60)
    fitted = clone(calibrator).fit(y_prob, (y_prob < 0.5).astype(int))
    falls = bool((np.diff(fitted.predict(y_prob)) < -1e-12).any())
    assert falls == isinstance(calibrator, cb.HistogramCalibrator)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": [' + "0," * 5_000_200, "has more than 1,000,000 blocks"),
        ("[[],[]," * 100_000, "it has more lists and objects than a calibrator has"),
        (" " * 260_000_001, "it takes 260,000,001 bytes or more"),
    ],
    ids=["blocks", "lists", "blanks"],
)
def test_text_that_is_too_large_is_refused_before_it_is_read(text, words, monkeypatch):
    monkeypatch.delattr("json.loads")
    with pytest.raises(InputError, match=words):
        cb.Calibrator.from_json(text)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    with (tmp_path / "c.json").open("wb") as file:
        file.truncate(10**10)  # without a byte of it on the disk
    monkeypatch.delattr(Path, "read_text")
    with pytest.raises(InputError, match="it takes 10,000,000,000 bytes or more"):
        cb.Calibrator.load(tmp_path / "c.json")


def test_a_calibrator_that_could_not_be_read_again_is_not_written(monkeypatch):
    fitted = cb.HistogramCalibrator(n_bins=5).fit(np.linspace(0, 1, 10), [0, 1] * 5)
    text = fitted.to_json()
    monkeypatch.setattr("calibrant.calibrators.document.MOST_BLOCKS", 4)
    with pytest.raises(InputError, match="has more than 4 blocks"):
        fitted.to_json()
    with pytest.raises(InputError, match="has more than 4 blocks"):
        cb.Calibrator.from_json(text)
