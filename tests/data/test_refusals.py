"""Every refusal: ValueError, which argument, the rule, the value, the row, the way out."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.svm import LinearSVC

import calibrant as cb

GOOD = [0, 1, 1], [0.2, 0.5, 0.9]


class Refuses:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


CASES = {
    "empty": (([], []), {}, "y_true is empty: at least one row"),
    "lengths": (([0, 1], [0.1, 0.2, 0.3]), {}, "y_true has 2, y_prob has 3"),
    "weight length": (GOOD, {"sample_weight": [1]}, "y_prob has 3, sample_weight has 1"),
    "two columns": (
        ([0, 1], [[0.5, 0.5], [0.2, 0.8]]),
        {},
        r"y_prob must be one-dimensional, but its shape is \(2, 2\).*second column: y_prob\[:, 1\]",
    ),
    "three columns": (
        ([0, 1], [[0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]),
        {},
        r"its shape is \(2, 3\)\. .*one class against the rest, for each k: "
        r"\(y == classes\[k\], y_prob\[:, k\]\).*"
        r"\(y == classes\[y_prob\.argmax\(axis=1\)\], y_prob\.max\(axis=1\)\)",
    ),
    "one column": (([0, 1], [[0.5], [0.2]]), {}, r"Pass y_prob\.ravel\(\)"),
    "a number": ((1, 0.5), {}, r"y_true must be one-dimensional, but its shape is \(\)"),
    "ragged": (([0, 1], [[0.5], [0.2, 0.3]]), {}, "y_prob could not be read as an array"),
    "words as scores": (
        ([0, 1], [0.5, "high"]),
        {},
        r"y_prob must hold numbers, but row 1 \(0-based\) holds 'high'",
    ),
    "decimal commas": (
        ([0, 1], ["0,5", "17,9"]),
        {},
        r"but row 0 \(0-based\) holds '0,5'\. If that is a decimal comma",
    ),
    "dates as scores": (
        ([0, 1], np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")),
        {},
        "y_prob must hold numbers, but row 0",
    ),
    "nan score": (
        ([0, 1, 1], [0.5, np.nan, np.nan]),
        {},
        "y_prob has missing values in 2 rows, first at row 1.*Remove or fill these rows",
    ),
    "none score": (([0, 1], [0.5, None]), {}, "y_prob has missing values in 1 row, first at row 1"),
    "pandas NA": (
        ([0, 1], pd.Series([0.5, None], dtype="Float64")),
        {},
        "y_prob has missing values in 1 row",
    ),
    "polars null": (([0, 1], pl.Series([0.5, None])), {}, "y_prob has missing values in 1 row"),
    "masked": (
        ([0, 1], np.ma.masked_array([0.5, 0.2], mask=[0, 1])),
        {},
        "y_prob has missing values in 1 row, first at row 1",
    ),
    "nan label": (([0, np.nan], [0.5, 0.2]), {}, "y_true has missing values in 1 row"),
    "none label": (([None, "yes"], [0.5, 0.2]), {}, "y_true has missing values in 1 row"),
    "none label, pos_label": (
        ([None, "yes"], [0.5, 0.2]),
        {"pos_label": "yes"},
        "y_true has missing values in 1 row, first at row 0",
    ),
    "pandas NA label": (
        (pd.Series([1, None], dtype="Int64"), [0.5, 0.2]),
        {},
        "y_true has missing values in 1 row",
    ),
    "above 1": (
        ([0, 1, 1], [0.5, 3.5, -2.0]),
        {},
        r"y_prob must lie between 0 and 1, but 2 rows do not, first at row 1 .* with 3\.5\."
        r".*logits.*1 / \(1 \+ exp\(-score\)\).*cb\.CalibratedClassifier",
    ),
    "percent": (([0, 1], [0.5, 35]), {}, r"with 35\.0\. If they are percentages, divide by 100"),
    "rounding": (([0, 1], [0.5, 1 + 1e-9]), {}, "If this is rounding noise, clip it"),
    "infinite": (([0, 1], [0.5, np.inf]), {}, "with inf. They are not probabilities"),
    "three labels": (
        ([0, 1, 2], [0.5, 0.2, 0.3]),
        {},
        "y_true must hold two label values, but it holds 3 or more: 0, 1, 2",
    ),
    "three words": (
        (["a", "b", "c"], [0.5, 0.2, 0.3]),
        {"pos_label": "a"},
        "it holds 3 or more: 'a', 'b', 'c'",
    ),
    "minus, zero, one": (([-1, 0, 1], [0.5, 0.2, 0.3]), {}, "3 or more: -1, 0, 1"),
    "words": ((["no", "yes"], [0.5, 0.2]), {}, "'no', 'yes'; say which one is the event.*'yes'"),
    "one and two": (([1, 2], [0.5, 0.2]), {}, "pos_label=2"),
    "absent pos_label": (
        (["no", "yes"], [0.5, 0.2]),
        {"pos_label": "Yes"},
        "pos_label='Yes' is not among the labels of y_true: 'no', 'yes'. Did you mean 'yes'",
    ),
    "lookalike": ((["yes"] * 2, [0.5, 0.2]), {"pos_label": "Yes"}, "Did you mean 'yes'"),
    "pos_label of another type": (([1, 1], [0.5, 0.2]), {"pos_label": "1"}, "not among the labels"),
    "pos_label list": (
        (["a", "b"], [0.5, 0.2]),
        {"pos_label": ["b"]},
        r"pos_label must be one label, but it is \['b'\]",
    ),
    "pos_label missing": (([1, 2], [0.5, 0.2]), {"pos_label": pd.NA}, "pos_label must be one"),
    "labels that are lists": (
        (pl.Series([[1], [2]]), [0.5, 0.2]),
        {"pos_label": "x"},
        "y_true must hold plain labels",
    ),
    "dictionary nulls": (
        (pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()]), [0.2, 0.5, 0.9]),
        {"pos_label": "b"},
        "y_true has missing values in 1 row, first at row 1",
    ),
    "dictionary score nulls": (
        ([0, 1, 1], pa.chunked_array([pa.array([0.1, None, 0.5]).dictionary_encode()])),
        {},
        "y_prob has missing values in 1 row, first at row 1",
    ),
    "huge integer": (([0, 1], [0.5, 10**400]), {}, "with inf. They are not probabilities"),
    "signalling nan": (([0, 1], [0.5, Decimal("sNaN")]), {}, "y_prob has missing values in 1 row"),
    "table": (
        ([0, 1], pd.DataFrame({"a": [0.5, 0.2]})),
        {},
        "y_prob must be one column, but it is a",
    ),
    "generator": (([0, 1], (x for x in [0.5, 0.2])), {}, "as a list, an array or a column"),
    "an array that refuses": (([0, 1], Refuses()), {}, r"could not be read as an array \(no\)"),
    "huge weights": (GOOD, {"sample_weight": [1e308] * 3}, "between 1e-290 and 1e300"),
    "swapped": (([0.2, 0.9], [0, 1]), {}, "arguments swapped"),
    "negative weight": (
        GOOD,
        {"sample_weight": [1, -2, -3]},
        "sample_weight must not be negative, but 2 rows are, first at row 1 .* with -2.0",
    ),
    "zero weights": (GOOD, {"sample_weight": [0, 0, 0]}, "sample_weight is zero in every row"),
    "nan weight": (GOOD, {"sample_weight": [1, np.nan, 1]}, "sample_weight has missing values"),
    "infinite weight": (GOOD, {"sample_weight": [1, np.inf, 1]}, "between 1e-290 and 1e300"),
    "tiny weights": (GOOD, {"sample_weight": [1e-300] * 3}, "between 1e-290 and 1e300"),
    "words as weights": (GOOD, {"sample_weight": ["a"] * 3}, "sample_weight must hold numbers"),
}


@pytest.mark.parametrize(("args", "kwargs", "words"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("function", [cb.calibration_error, cb.worst_interval, cb.audit])
def test_refused_in_words(function, args, kwargs, words):
    with pytest.raises(ValueError, match=words):
        function(*args, **kwargs)


def test_the_ways_out_for_many_classes_run():
    """Both of them, as the message writes them, on the probabilities of a model."""
    rng = np.random.default_rng(0)
    y_prob = rng.dirichlet([1.0, 1.0, 1.0], 3000)
    classes = np.array(["ape", "bee", "cat"])
    y = np.array([rng.choice(classes, p=row) for row in y_prob])
    with pytest.raises(cb.InputError) as refused:
        cb.audit(y, y_prob)
    one = re.search(r"\(y == classes\[k\], .*?\]\)", str(refused.value))[0]
    top = re.search(r"\(y == classes\[y_prob.argmax.*?\)\], .*?\)\)", str(refused.value))[0]
    spaces = [{"y": y, "y_prob": y_prob, "classes": classes, "k": k} for k in range(3)]
    for code, names in [*((one, names) for names in spaces), (top, spaces[0])]:
        assert cb.calibration_test(*eval(code, names)).p_value > 0.001
        assert cb.calibration_error(*eval(code, names)) < 0.05


def test_the_way_out_for_margins_runs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = rng.random(600) < 1 / (1 + np.exp(-X[:, 0]))
    margins = LinearSVC().fit(X, y).decision_function(X)
    for call in (cb.audit, lambda y, p: cb.PlattCalibrator().fit(p, y)):
        with pytest.raises(cb.InputError, match="margins") as refused:
            call(y, margins)
        code = re.search(r"cb\.CalibratedClassifier\(.*\)", str(refused.value))[0]
        fitted = eval(code, {"cb": cb, "LinearSVC": LinearSVC, "X": X, "y": y})
        assert cb.calibration_error(y, fitted.predict_proba(X)[:, 1]) < 0.1
