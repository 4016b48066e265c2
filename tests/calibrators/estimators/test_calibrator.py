"""What all calibrators share, as scikit-learn estimators and as JSON."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import calibrant as cb
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


def test_words_fit_the_order_of_arguments(sample):
    y_prob, y_true = sample
    with pytest.raises(ValueError, match="y_true must be the outcomes and y_prob the prob"):
        cb.IsotonicCalibrator().fit(y_true.astype(float), y_prob)
    with pytest.raises(ValueError, match="takes labels == the event"):
        cb.IsotonicCalibrator().fit(y_prob, np.where(y_true, "yes", "no"))


@each
def test_all_but_the_histogram_keep_the_order_of_rows(calibrator):
    """Where scores rank the wrong way a histogram turns rows around; nothing else may."""
    y_prob = np.linspace(0.05, 0.95, 60)
    fitted = clone(calibrator).fit(y_prob, (y_prob < 0.5).astype(int))
    falls = bool((np.diff(fitted.predict(y_prob)) < -1e-12).any())
    assert falls == isinstance(calibrator, cb.HistogramCalibrator)
