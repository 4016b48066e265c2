"""The audit of a file: what is printed, and what is written."""

import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.simulate import overconfident
from reference.commands import audited, calibrant, written


@pytest.mark.parametrize("name", ["good.csv", "good.parquet"])
def test_json_is_the_audit_and_nothing_else(folder, expected, name):
    found = audited(folder / name, "--label", "y", "--prob", "p")
    assert found["calibration_error"] == pytest.approx(expected.calibration_error, abs=1e-12)
    assert found["worst_intervals"][0]["p2"] == expected.worst_intervals[0].p2
    assert found["gate"] is None
    provenance = found["provenance"]
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert provenance["file_sha256"] == digest
    assert provenance["rows"] == 3000
    assert provenance["command"].startswith("calibrant audit ")
    assert name in provenance["command"]


def test_prose_first_then_numbers_and_a_picture(folder, expected):
    done = calibrant("audit", folder / "good.csv", "--label", "y", "--prob", "p")
    assert done.returncode == 0
    assert done.stderr == ""
    text = " ".join(done.stdout.split())
    advice, guarantee = expected.advice.summary[0], expected.certificate.sentence
    start = f"{expected.verdict!r} {expected.headline} What to do: {advice} {guarantee}"
    assert text.startswith(f"{start} {expected.where}")
    for words in ("Largest differences", "Predicted against observed", "○ predicted ● observed"):
        assert words in text


def test_labels_in_words_weights_and_soft_labels(folder, expected):
    file = folder / "good.csv"
    words = audited(file, "--label", "word", "--prob", "p", "--pos-label", "yes")
    assert words["calibration_error"] == pytest.approx(expected.calibration_error, abs=1e-12)
    y_true, y_prob, _ = overconfident().draw(3000)
    weighted = audited(file, "--label", "y", "--prob", "p", "--weight", "w")
    truth = cb.calibration_error(y_true, y_prob, sample_weight=np.arange(3000) % 3 + 1)
    assert weighted["calibration_error"] == pytest.approx(truth, abs=1e-12)
    soft = audited(file, "--label", "soft", "--prob", "p", "--soft")
    assert soft["data"]["labels_binary"] is False


def test_confidence_method_and_clusters(folder, expected):
    options = [folder / "good.csv", "--label", "y", "--prob", "p"]
    surer = audited(*options, "--confidence", 0.99, "--method", "certified")["certificate"]
    assert (surer["confidence"], surer["method"]) == (0.99, "certified")
    assert surer["upper"] > expected.certificate.upper
    rows = ["--clusters", "w", "--estimand", "cluster"]
    by_cluster = audited(*options, *rows)["certificate"]
    assert (by_cluster["n"], by_cluster["unit"]) == (3, "clusters")
    sized = audited(*options, "--clusters", "w", "--max-cluster-size", 1000)["certificate"]
    assert sized["n"] == 3
    for wrong, words in (
        (["--confidence", 95], "For 95.0% write 0.95"),
        (["--clusters", "w"], "needs --max-cluster-size, the most rows"),
        (["--estimand", "cluster"], "there are none"),
        (["--clusters", "who"], "no column 'who'"),
        ([*rows, "--method", "band"], "does not carry over"),
    ):
        done = calibrant("audit", *options, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


def test_clip_gives_slope_and_intercept_to_scores_of_0_and_1(tmp_path):
    y_true, y_prob, _ = overconfident().draw(1000)
    frame = pd.DataFrame({"y": y_true.astype(int), "p": y_prob.round(1)})
    frame.to_csv(tmp_path / "forest.csv", index=False)
    words = ("audit", tmp_path / "forest.csv", "--label", "y", "--prob", "p")
    plain = calibrant(*words)
    assert "Note: No calibration slope and intercept" in plain.stdout
    assert "--clip 0.001" in " ".join(plain.stdout.split())
    assert json.loads(calibrant(*words, "--json").stdout)["missing"].keys() == {
        "slope",
        "intercept",
    }
    clipped = calibrant(*words, "--clip", 0.01)
    assert "scores moved into [0.01, 0.99] by clip" in " ".join(clipped.stdout.split())
    measures = json.loads(calibrant(*words, "--clip", 0.01, "--json").stdout)["measures"]
    expected = cb.calibration_slope(frame["y"], frame["p"], clip=0.01)
    assert measures["slope"] == pytest.approx(expected.to_dict(), abs=1e-9)
    assert measures["clip"] == 0.01
    refused = calibrant(*words, "--clip", 0.7)
    assert refused.returncode == 2
    assert "clip must be a number strictly between 0 and 0.5" in refused.stderr


@pytest.mark.parametrize(
    ("rows", "events", "words"),
    [
        (100, 50, r"p-value under +0\.0001 "),  # the least that draws can show
        (100, 33, r"test p-value +0\.\d+ "),
        (3000, 1200, r"p-value at most +[1-9]\.\de-\d+ "),  # a proved bound
        (3000, 930, r"test p-value +0\.\d\d? "),
        (90_000, 89_000, r"p-value under +1e-300 "),
    ],
)
def test_a_p_value_says_if_it_is_a_bound(rows, events, words, tmp_path):
    table = pd.DataFrame({"y": np.arange(rows) < events, "p": 0.3})
    table.astype({"y": int}).to_csv(tmp_path / "p.csv", index=False)
    done = calibrant("audit", tmp_path / "p.csv", "--label", "y", "--prob", "p")
    assert done.returncode == 0
    assert re.search(words, done.stdout), done.stdout


def test_reports_are_written_next_to_the_words(tmp_path):
    arguments = written(tmp_path)
    files = ("--html", "r.html", "--markdown", "r.md", "--by", "g")
    done = calibrant("audit", *arguments, *files, cwd=tmp_path)
    assert done.returncode == 0
    assert "What to do:" in done.stdout
    assert "g = a" in done.stdout
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "g = a" in (tmp_path / "r.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--open",), "--open shows the HTML report"),
        (("--html", "r.txt"), "must be the name of a file that ends in .html"),
        (("--markdown", "r.html"), "must be the name of a file that ends in .md"),
        (("--html", "nowhere/r.html"), "nowhere"),
        (("--html", "r.html", "--false-positive", "-1"), "--false-positive must not be negative"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(tmp_path, options, words):
    done = calibrant("audit", "absent.csv", "--label", "y", "--prob", "p", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
