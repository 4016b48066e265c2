"""A calibrator, fitted and kept."""

import json

import pytest

import calibrant as cb
from calibrant.simulate import overconfident
from reference.commands import calibrant

METHODS = ["isotonic", "platt", "beta", "temperature", "histogram", "venn_abers"]


@pytest.mark.parametrize("method", METHODS)
def test_calibrate_shows_held_out_rows_and_keeps_the_calibrator(folder, tmp_path, method):
    file = tmp_path / "calibrator.json"
    options = [folder / "good.csv", "--label", "y", "--prob", "p", "--method", method]
    done = calibrant("calibrate", *options, "-o", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    study = json.loads(done.stdout)
    y_true, y_prob, _ = overconfident().draw(3000)
    before = cb.calibration_error(y_true, y_prob)
    assert study["before"]["calibration_error"] == pytest.approx(before, abs=1e-12)
    assert 0 < study["after"]["calibration_error"] < before / 2
    assert study["after"]["brier_score"] < study["before"]["brier_score"]
    kept = cb.Calibrator.from_json(file.read_text(encoding="utf-8"))
    assert kept.method == method
    assert kept.rows_ == 3000
    own = cb.calibration_error(y_true, kept.predict(y_prob))
    assert own != study["after"]["calibration_error"]  # not measured on the fitting rows
    assert [path.name for path in tmp_path.iterdir()] == ["calibrator.json"]


def test_calibrate_in_words(folder, tmp_path):
    options = [folder / "good.csv", "--label", "word", "--pos-label", "yes", "--prob", "p"]
    options += ["--weight", "w", "--objective", "calibration_error", "--method", "temperature"]
    done = calibrant("calibrate", *options, "-o", "out.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith("On held-out rows temperature calibration lowers the calibration error")
    assert text.endswith("Written to out.json.")
    kept = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert kept["options"] == {"objective": "calibration_error"}


@pytest.mark.parametrize(
    ("rows", "output", "words"),
    [
        ("0,0.1\n0,0.3\n0,0.4\n", "c.json", "--label holds one class only"),
        ("1,0.1\n", "c.json", "two rows at least"),
        ("1,0.1\n0,0.4\n", "c.json", "Held-out results need at least 5 rows"),
        ("1,0.1\n0,1.4\n", "c.json", "column 'p' must lie between 0 and 1"),
        ("1,0.1\n0,0.4\n", "c.pickle", "ends in .json"),
        ("1,0.1\n0,0.4\n", "no/c.json", "There is no folder 'no'"),
    ],
)
def test_calibrate_refuses_and_writes_nothing(tmp_path, rows, output, words):
    (tmp_path / "in.csv").write_text("y,p\n" + rows, encoding="utf-8")
    done = calibrant(
        "calibrate", "in.csv", "--label", "y", "--prob", "p", "-o", output, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
