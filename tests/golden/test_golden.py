"""What earlier versions wrote: every later version reads it, and it means the same.

The files of a version are written once, when it is released, and never again.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb

HERE = Path(__file__).parent
VERSIONS = sorted(path for path in HERE.iterdir() if (path / "answers.json").exists())
ANSWERS = {path.name: json.loads((path / "answers.json").read_text()) for path in VERSIONS}


def named(part):
    return [(version, name) for version, known in ANSWERS.items() for name in known[part]]


def text(version, name):
    return (HERE / version / f"{name}.json").read_text()


def test_every_kind_is_there():
    for version, known in ANSWERS.items():
        names = {path.stem for path in (HERE / version).glob("*.json")} - {"answers"}
        assert names == {*known["predictions"], *known["calibration_error"]}
        kinds = {json.loads(text(version, name)).get("method") for name in names}
        assert {"isotonic", "histogram", "platt", "beta", "temperature", "venn_abers"} < kinds


@pytest.mark.parametrize(("version", "name"), named("predictions"))
def test_a_calibrator_still_predicts_the_same(version, name):
    known = ANSWERS[version]
    calibrator = cb.Calibrator.from_json(text(version, name))
    expected = np.array(known["predictions"][name])
    np.testing.assert_allclose(calibrator.predict(known["scores"]), expected, rtol=0, atol=1e-12)
    again = cb.Calibrator.from_json(calibrator.to_json())
    assert (again.predict(known["scores"]) == calibrator.predict(known["scores"])).all()


@pytest.mark.parametrize(("version", "name"), named("calibration_error"))
def test_a_tally_still_says_the_same(version, name):
    tally = cb.Tally.from_json(text(version, name))
    found = cb.audit(tally)
    expected = ANSWERS[version]["calibration_error"][name]
    measured = [found.calibration_error, found.calibration_error_at_most]
    assert measured == pytest.approx(expected, abs=1e-12)
    assert cb.Tally.from_json(tally.to_json()).to_json() == tally.to_json()
