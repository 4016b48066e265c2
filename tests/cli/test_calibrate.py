"""A calibrator, fitted and kept."""

import json

import pandas as pd
import pytest

import calibrant as cb
from calibrant.simulate import overconfident
from reference.commands import calibrant

METHODS = [
    "isotonic",
    "platt",
    "beta",
    "temperature",
    "histogram",
    "venn_abers",
]


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
    assert text.startswith("On held-out rows temperature scaling lowers the calibration error")
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


def written(path, y_true, y_prob):
    columns = {"y": y_true.astype(int), "p": y_prob}
    pd.DataFrame(columns).to_csv(path, index=False)
    return [path.name, "--label", "y", "--prob", "p"]


@pytest.mark.parametrize("law", ["overconfident", "wavy", "calibrated"])
def test_what_an_audit_advises_is_fitted(law, tmp_path):
    y_true, y_prob, _ = getattr(cb.simulate, law)().draw(20_000, seed=3)
    options = written(tmp_path / "in.csv", y_true, y_prob)
    advice = cb.advise(y_true, y_prob)
    done = calibrant("calibrate", *options, "-o", "c.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith(f"What to do: {advice.summary[0]}")
    kept = cb.Calibrator.load(tmp_path / "c.json")
    assert kept.method == (advice.recommended or "identity")
    study = json.loads(
        calibrant("calibrate", *options, "-o", "d.json", "--json", cwd=tmp_path).stdout
    )
    assert study["method"] == kept.method
    assert study["advice"] == advice.to_dict()
    if advice.recommended is None:
        assert "Leave the scores as they are" in text
        assert "The calibrator leaves every score as it is (calibration error" in text
        assert kept.predict(y_prob).tolist() == y_prob.tolist()


@pytest.mark.parametrize("case", ["inverted", "labels", "few"])
def test_where_nothing_is_advised_the_identity_is_written(case, tmp_path):
    y_true, y_prob, _ = overconfident().draw(2000, seed=1)
    y_true, y_prob, words = {
        "inverted": (~y_true, y_prob, "The event may be the other label"),
        "labels": (y_true, (y_prob > 0.5).astype(float), "predict_proba"),
        "few": (y_true[:12], y_prob[:12], "too few events"),
    }[case]
    options = written(tmp_path / "in.csv", y_true, y_prob)
    done = calibrant("calibrate", *options, "-o", "c.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert words in " ".join(done.stdout.split())
    assert cb.Calibrator.load(tmp_path / "c.json").method == "identity"


@pytest.mark.parametrize(
    "options", [["--label", "soft", "--soft"], ["--label", "y", "--weight", "q"]]
)
def test_what_has_no_advice_needs_a_method(options, tmp_path):
    y_true, y_prob, _ = overconfident().draw(500, seed=1)
    columns = {"y": y_true.astype(int), "p": y_prob, "soft": y_prob**2, "q": y_prob + 0.25}
    pd.DataFrame(columns).to_csv(tmp_path / "in.csv", index=False)
    options = ["in.csv", "--prob", "p", *options, "-o", "c.json"]
    done = calibrant("calibrate", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Name the calibrator, such as --method isotonic." in done.stderr
    assert calibrant("calibrate", *options, "--method", "isotonic", cwd=tmp_path).returncode == 0


def test_an_infinite_log_loss_is_said_to_be_worse(tmp_path):
    y_true, y_prob, _ = overconfident().draw(2000, seed=1)
    options = written(tmp_path / "in.csv", y_true, y_prob)
    options += ["--method", "isotonic", "-o", "c.json"]
    text = " ".join(calibrant("calibrate", *options, cwd=tmp_path).stdout.split())
    assert "but the log loss becomes infinite (2,000 rows, 5 folds)." in text
    assert "Platt scaling, beta calibration and temperature scaling never give 0 or 1." in text
