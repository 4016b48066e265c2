"""Labels of every type and kind mean the same."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb


def test_a_label_of_one_value_works_with_a_warning():
    found = cb.audit([0, 0], [0.5, 0.25])
    assert found.warnings[0] == (
        "y_true holds a single value, so nothing is known about the other class."
    )
    assert found.warnings[1].startswith("There is no finite calibration slope")
    assert found.calibration_error == 0.375


RNG = np.random.default_rng(0)
PROB = RNG.random(70_000)
LABEL = RNG.random(70_000) < PROB**1.2
EXPECTED = cb.audit(LABEL, PROB)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "float32", "float64", "bool"])
def test_every_label_type_gives_the_same_error(kind):
    found = cb.calibration_error(LABEL.astype(kind), PROB)
    assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)


def test_minus_one_and_one_are_labels():
    signs = np.where(LABEL, 1, -1)
    for labels in (signs, signs.astype(float)):
        assert cb.calibration_error(labels, PROB) == pytest.approx(EXPECTED.calibration_error)
    with pytest.warns(UserWarning, match="single value"):
        assert cb.calibration_error([-1, -1], [0.5, 0.25]) == 0.375


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series, pd.Categorical])
def test_words_are_labels_with_pos_label(wrap):
    words = wrap(["yes" if label else "no" for label in LABEL])
    found = cb.calibration_error(words, PROB, pos_label="yes")
    assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)


def test_any_two_numbers_are_labels_with_pos_label():
    found = cb.calibration_error(np.where(LABEL, 2, 7), PROB, pos_label=2)
    assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)
    flipped = cb.calibration_error(LABEL, 1 - PROB, pos_label=0)
    assert flipped == pytest.approx(EXPECTED.calibration_error, abs=1e-12)


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        np.array,
        lambda words: np.array(words, dtype=object),
        pytest.param(
            lambda words: np.array(words, dtype=np.dtypes.StringDType()),
            marks=pytest.mark.skipif(
                not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has this kind of text"
            ),
        ),
        pd.Series,
        lambda words: pd.Series(words, dtype="string"),
        lambda words: pd.Series(words, dtype="category"),
        pl.Series,
        lambda words: pl.Series(words, dtype=pl.Categorical),
    ],
)
def test_the_texts_0_and_1_are_labels(wrap):
    words = wrap(["1" if label else "0" for label in LABEL])
    for options in ({}, {"pos_label": "1"}, {"pos_label": 1}):
        found = cb.calibration_error(words, PROB, **options)
        assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)
    for zero in (0, "0"):
        flipped = cb.calibration_error(words, 1 - PROB, pos_label=zero)
        assert flipped == pytest.approx(EXPECTED.calibration_error, abs=1e-12)
    fitted = cb.IsotonicCalibrator().fit(PROB, words)
    assert fitted.to_json() == cb.IsotonicCalibrator().fit(PROB, LABEL).to_json()


def test_other_texts_are_no_0_and_1():
    assert cb.calibration_error(["0"] * 3 + ["1"], [0.25] * 4) == 0
    with pytest.warns(UserWarning, match="single value"):
        assert cb.calibration_error(["1", "1"], [0.5, 0.75]) == 0.375
    for labels in (["0", "01"], ["0.0", "1.0"], ["0", 1], [b"0", b"1"], ["no", "1"]):
        with pytest.raises(cb.InputError, match="say which one is the event"):
            cb.calibration_error(labels, [0.5, 0.25])
    with pytest.raises(cb.InputError, match="missing values in 1 row, first at row 1"):
        cb.calibration_error(["0", None, "1"], [0.5, 0.25, 0.1])
    with pytest.raises(cb.InputError, match="pos_label=1 is not among the labels"):
        cb.calibration_error(["0", "01"], [0.5, 0.25], pos_label=1)
    with pytest.raises(cb.InputError, match="pos_label='2' is not among the"):
        cb.calibration_error(["0", "1"], [0.5, 0.25], pos_label="2")
