"""The JSON of a calibrator: whatever text is given, what is wrong is said, within limits."""

import json
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.simulate import overconfident


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
