"""The commands of the README, in order on one simulated file: what they say is true of it."""

import re
import shlex
import subprocess
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from reference.commands import calibrant
from reference.pages import ROOT, blocks


def lines():
    """Return the commands of the README's block that begins with a simulated file."""
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    [block] = [one for one in found if one.text.startswith("calibrant demo --save")]
    return block.text.splitlines()


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Run them, and return what each prints, with the file whose true probabilities are known."""
    folder = tmp_path_factory.mktemp("readme")
    said = {}
    for line in lines():
        words = shlex.split(line, comments=True)
        if words[0] != "calibrant":
            subprocess.run(["bash", "-euc", line], cwd=folder, check=True)
            continue
        done = calibrant(*words[1:], cwd=folder)
        assert (done.returncode, done.stderr) == (0, ""), line
        said[shlex.join(words[1:])] = " ".join(done.stdout.split())
    rows = pd.read_csv(folder / "predictions.csv")
    return SimpleNamespace(folder=folder, said=said, rows=rows)


def said(told, *words):
    """Return what the one command with these words in it prints."""
    [text] = [text for command, text in told.said.items() if all(word in command for word in words)]
    return text


def number(pattern, text):
    return float(re.search(pattern + r"([\d.]+\d)", text)[1])


def fresh(told):
    """Return the second half of the file, with its calibrated scores and what is true of it."""
    return duckdb.read_parquet(str(told.folder / "calibrated.parquet")).df()


def test_the_audit_and_the_gate(told):
    text = said(told, "audit predictions.csv", "--html")
    truth = cb.calibration_error(told.rows["true_prob"], told.rows["p"])
    assert truth <= number("the true calibration error is at most ", text) < 0.05
    assert (told.folder / "report.html").exists()
    # the calibrator that is recommended is that of the true probabilities as well
    assert "Recalibrate by Platt scaling" in text


def test_the_comparison(told):
    text = said(told, "compare")
    assert "true_prob" in text.split("Models")[0]
    model = cb.compare(told.rows["y"], {name: told.rows[name] for name in ("p", "true_prob")})
    assert {one.better for one in model.differences} <= {"true_prob", None}


def test_the_plan(told):
    assert f"label about {cb.sample_size(0.01):,} rows" in said(told, "plan")


def test_the_calibrator_is_the_one_that_is_advised(told):
    first = told.rows[:10_000]
    text = said(told, "calibrate old.csv")
    advice = cb.advise(first["y"], first["p"])
    assert text.startswith(f"What to do: {advice.summary[0]}")
    fitted = cb.Calibrator.load(told.folder / "calibrator.json")
    assert (fitted.method, fitted.rows_) == (advice.recommended, 10_000)
    assert fitted.events_ == first["y"].sum()
    assert not re.search(r"\binf", text)
    # it is better indeed: the mean squared distance to the true probability
    truth = first["true_prob"]
    assert np.mean((fitted.predict(first["p"]) - truth) ** 2) < np.mean((first["p"] - truth) ** 2)
    assert "lowers the calibration error" in text


def test_the_second_half_is_calibrated_and_no_row_is_lost(told):
    assert said(told, "apply") == "Written to calibrated.parquet: 10,000 rows."
    found, second = fresh(told), told.rows[10_000:].reset_index(drop=True)
    assert found.dtypes.astype(str).to_dict() == {
        "y": "int64",
        "p": "float64",
        "true_prob": "float64",
        "calibrated": "float64",
    }
    pd.testing.assert_frame_equal(found[["y", "p", "true_prob"]], second)
    fitted = cb.Calibrator.load(told.folder / "calibrator.json")
    assert found["calibrated"].to_numpy() == pytest.approx(fitted.predict(second["p"]), abs=1e-12)
    sql = said(told, "export")
    assert sql == " ".join(fitted.to_sql("p", "postgres").split())


def test_the_last_audits_say_what_is_true(told):
    found = fresh(told)
    before = said(told, "audit calibrated.parquet", "--prob p")
    after = said(told, "audit calibrated.parquet", "--prob calibrated")
    for text, column in ((before, "p"), (after, "calibrated")):
        bound = number("the true calibration error is at most ", text)
        assert cb.calibration_error(found["true_prob"], found[column]) <= bound
    assert "Recalibrate by" in before
    assert "What to do: Leave the scores as they are" in after
    errors = [cb.calibration_error(found["true_prob"], found[name]) for name in ("calibrated", "p")]
    assert errors[0] < errors[1] / 2
    measured = [number(r"\(calibration error ", text) for text in (after, before)]
    assert measured[0] < measured[1]


def test_the_decision(told):
    found = fresh(told)
    text = said(told, "decide")
    assert "0.04762" in text  # 1 / 21
    # what acting by these scores costs, by the true probabilities
    act = found["calibrated"] >= 1 / 21
    truth = np.where(act, 1 - found["true_prob"], 20 * found["true_prob"]).mean()
    assert number("On these rows that costs ", text) == pytest.approx(truth, abs=0.02)
    # and what the best threshold would save is under the cap
    curve = cb.cost_curve(found["true_prob"], found["calibrated"], at=1 / 21)
    assert 21 * curve.regret[0] <= number("Miscalibration costs at most ", text)
