"""The page on peers says what was recorded, and what was recorded of calibrant still holds."""

import importlib.util
import re
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from kept import kept

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("peers_page", DOCS / "peers.py")
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)
RESULTS = kept("peers")
FUNCTIONS = {
    "calibration_error": cb.calibration_error,
    "kolmogorov_error": cb.kolmogorov_error,
    "expected_calibration_error": partial(cb.expected_calibration_error, n_bins=RESULTS["bins"]),
}
OURS = [one for one in RESULTS["measures"] if one["peer"] == "calibrant"]


def rows(table):
    given = RESULTS["inputs"][table]
    scores = [np.nan if score is None else score for score in given["y_prob"]]
    return np.array(given["y_true"], dtype=np.int64), np.array(scores, dtype=float)


@pytest.mark.parametrize("path", page.PAGES, ids=lambda path: path.name)
def test_the_tables_are_what_was_recorded(path):
    text = path.read_text(encoding="utf-8")
    assert page.written(text, RESULTS) == text
    names = re.findall(r"<!-- (?!end)(.+?) -->\n(?!<!-- end)", text)
    assert names
    assert set(names) <= page.TABLES.keys()
    assert len(names) == text.count("<!-- end -->")


def test_nothing_was_left_out():
    assert not [one for one in RESULTS["measures"] if "failed" in one]
    assert not [one for one in RESULTS["same"] if "failed" in one]
    assert {one["name"] for one in OURS} == FUNCTIONS.keys()


@pytest.mark.filterwarnings("ignore:y_true holds a single value")
@pytest.mark.parametrize("one", OURS, ids=lambda one: one["name"])
def test_our_answers_are_given_again_and_are_right(one):
    function, found = FUNCTIONS[one["name"]], one["answers"]
    right = RESULTS["right"][one["target"]]
    for table in ("one row", "three rows", "one class"):
        answer = function(*rows(table))
        assert answer == pytest.approx(found[table], abs=1e-6)
        assert answer == pytest.approx(right[table], abs=1e-12)
    weights = RESULTS["inputs"]["weights"]["sample_weight"]
    answer = function(*rows("weights"), sample_weight=weights)
    assert answer == pytest.approx(found["weights"], abs=1e-6)
    assert answer == pytest.approx(right["weights"], abs=1e-12)
    for table in ("outside", "not a number", "no rows"):
        with pytest.raises(ValueError) as refused:
            function(*rows(table))
        assert found[table].startswith(f"{type(refused.value).__name__}: ")


@pytest.mark.parametrize("one", OURS, ids=lambda one: one["name"])
def test_the_order_of_tied_rows_changes_nothing(one):
    y, p = rows("ties")
    assert one["answers"]["ties"] == {"least": 0.0, "most": 0.0}
    assert one["answers"]["same twice"]
    shuffled = [np.random.default_rng(seed).permutation(len(y)) for seed in range(20)]
    for order in (np.argsort(y), np.argsort(-y), *shuffled):
        assert FUNCTIONS[one["name"]](y[order], p[order]) == 0


def test_our_p_value_is_given_again():
    [one] = [one for one in RESULTS["p_values"] if one["peer"] == "calibrant"]
    y, p = (np.tile(column, RESULTS["times"]) for column in rows("ties"))
    assert cb.calibration_test(y, p).p_value == one["least"] == one["most"] == 1


@pytest.mark.parametrize("table", ["ties", "one row", "three rows", "one class", "weights"])
def test_what_is_right_is_the_largest_gap_of_any_range(table):
    given = RESULTS["inputs"][table]
    weights = given["sample_weight"] or [1] * len(given["y_true"])
    each = [
        (Fraction(str(score)), weight * (label - Fraction(str(score))))
        for label, score, weight in zip(given["y_true"], given["y_prob"], weights, strict=True)
    ]
    ends = sorted({Fraction(-1), *(score for score, _ in each)})
    gaps = [
        abs(sum(gap for score, gap in each if low < score <= high)) / sum(weights)
        for low, high in combinations(ends, 2)
    ]
    assert float(max(gaps)) == RESULTS["right"]["range"][table]


def test_numbers_that_are_called_the_same_are():
    *alike, _, platt, histogram = RESULTS["same"]
    assert [one["theirs"] for one in (platt, histogram)] == [
        "LogisticCalibration",
        "HistogramBinning",
    ]
    assert max(one["difference"] for one in alike) < 1e-4


def test_the_first_number_of_the_page_on_netcal_is_checked():
    [one] = [one for one in RESULTS["same"] if one["theirs"] == "ECE"]
    assert one["difference"] < 1e-12


def test_medians_are_read_off_both_kinds_of_pages():
    by_heading = "### 100 rows\n| scores | MAPIE |\n| a | 2.0x |\n| **median** | 3.0x |\n"
    assert page.medians(by_heading, "MAPIE") == {"100": "3.0"}
    by_column = "| rows | scores | times faster |\n| 100 | **median** | 4 |\n"
    assert page.medians(by_column, "times faster") == {"100": "4"}
