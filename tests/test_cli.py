"""The command line as a user runs it: its output and its exit code."""

import contextlib
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.cli import main
from calibrant.simulate import overconfident


def process(*args, cwd=None, env=None):
    """Run a command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "calibrant", *map(str, args)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **(env or {})},
        encoding="utf-8",
        check=False,
    )


def calibrant(*args, cwd=None):
    """Run a command in this process, which saves a second of imports each time."""
    command = ["calibrant", *map(str, args)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        contextlib.chdir(cwd or "."),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", command),
        mock.patch.dict(os.environ, COLUMNS="100"),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return subprocess.CompletedProcess(command, ended.value.code or 0, *texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predictions")
    y_true, y_prob, _ = overconfident().draw(3000)
    frame = pd.DataFrame({"y": y_true.astype(int), "p": y_prob, "w": np.arange(3000) % 3 + 1})
    frame["word"] = np.where(y_true, "yes", "no")
    frame["soft"] = y_prob.round(2)
    frame.to_csv(folder / "good.csv", index=False)
    frame.to_parquet(folder / "good.parquet")
    return folder


@pytest.fixture(scope="module")
def expected():
    return cb.audit(*overconfident().draw(3000)[:2])


def audited(*args, **kwargs):
    done = calibrant("audit", *args, "--json", **kwargs)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
    promise = expected.certificate.sentence
    assert text.startswith(f"{expected.headline} {promise} {expected.where}")
    for words in ("Where it fails most", "Predicted against observed", "○ predicted ● observed"):
        assert words in text


def test_a_terminal_without_unicode_gets_plain_marks(folder):
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process("audit", folder / "good.csv", "--label", "y", "--prob", "p", env=env)
    assert done.returncode == 0
    assert "o predicted  x observed" in done.stdout


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


def test_the_gate_decides_the_exit_code(folder, expected):
    options = [folder / "good.csv", "--label", "y", "--prob", "p", "--max-error"]
    for gate, value, words in (
        ("upper", expected.certificate.upper, "the certified upper bound"),
        ("estimate", expected.calibration_error, "the measured error"),
    ):
        over = calibrant("audit", *options, value - 1e-6, "--gate", gate)
        assert over.returncode == 1
        assert f"Failed: {words} is over the" in over.stdout
        under = calibrant("audit", *options, value + 1e-6, "--gate", gate)
        assert under.returncode == 0
        assert f"Passed: {words} is not over the" in under.stdout
    gated = calibrant("audit", *options, 0, "--json")
    assert gated.returncode == 1
    assert json.loads(gated.stdout)["gate"] == {
        "max_error": 0.0,
        "gate": "upper",
        "value": pytest.approx(expected.certificate.upper, abs=1e-12),
        "passed": False,
    }


def test_no_gate_on_a_bound_that_does_not_exist(folder):
    options = [folder / "good.csv", "--label", "y", "--prob", "p", "--weight", "soft"]
    done = calibrant("audit", *options, "--max-error", 0.5)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Weights must be whole numbers" in done.stderr
    assert "--gate estimate" in done.stderr
    assert calibrant("audit", *options, "--max-error", 0.5, "--gate", "estimate").returncode == 0


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
        (["--clusters", "w"], "needs max_cluster_size"),
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


def test_plan_says_how_many_rows(folder):
    done = calibrant("plan", "--epsilon", 0.01)
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert text.startswith(
        "To certify with 95% confidence that the calibration error is at most 0.01, label about "
        "28,043 rows."
    )
    assert "gao2017 1,484,271 the bound of Gao, Parameswaran and Peng (2017)" in text
    words = " ".join(done.stdout.split())
    assert "about half of the samples of that size will do; --assurance 0.9 says where" in words
    sure = calibrant("plan", "--epsilon", 0.01, "--assurance", 0.9)
    assert f"{cb.sample_size(0.01, assurance=0.9):,} rows" in " ".join(sure.stdout.split())
    assert "90% will do for a calibrated classifier" in " ".join(sure.stdout.split())
    plain = json.loads(calibrant("plan", "--epsilon", 0.01, "--json").stdout)
    assert plain["rows"]["certified"] == cb.sample_size(0.01)
    scores = ["--scores", folder / "good.csv", "--prob", "p"]
    sharp = json.loads(calibrant("plan", "--epsilon", 0.01, "--json", *scores).stdout)
    assert sharp["rows"]["certified"] < plain["rows"]["certified"]
    for wrong, words in (
        (["--epsilon", 3], "For 3.0% write 0.03"),
        (["--epsilon", 0.1, "--scores", folder / "good.csv"], "--scores needs --prob"),
        (["--epsilon", 0.1, "--prob", "p"], "there is no file"),
        (["--epsilon", 0.1, "--scores", folder / "no.csv", "--prob", "p"], "There is no file"),
        (
            ["--epsilon", 0.1, "--scores", folder / "good.csv", "--prob", "word"],
            "must hold numbers",
        ),
    ):
        done = calibrant("plan", *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


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
        ("0,0.1\n0,0.3\n0,0.4\n", "c.json", "y_true holds one class only"),
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


@pytest.fixture
def kept(tmp_path):
    """Leave a calibrator in the folder of the test."""
    y_true, y_prob, _ = overconfident().draw(3000)
    fitted = cb.IsotonicCalibrator("linear").fit(y_prob, y_true)
    (tmp_path / "c.json").write_text(fitted.to_json(), encoding="utf-8")
    return fitted


def test_export_prints_sql_or_writes_it(kept, tmp_path):
    done = calibrant("export", "c.json", "--to", "sql", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == kept.to_sql("p") + "\n"
    options = ["--column", "größe [red]", "--dialect", "spark"]
    done = calibrant("export", "c.json", "--to", "sql", *options, cwd=tmp_path)
    assert done.stdout == kept.to_sql("größe [red]", "spark") + "\n"
    done = calibrant("export", "c.json", "--to", "sql", *options, "-o", "c.sql", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Written to c.sql.\n", "")
    written = (tmp_path / "c.sql").read_text(encoding="utf-8")
    assert written == kept.to_sql("größe [red]", "spark") + "\n"


def test_export_writes_a_model(kept, tmp_path):
    done = calibrant("export", "c.json", "--to", "onnx", "-o", "c.onnx", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Written to c.onnx.\n", "")
    assert (tmp_path / "c.onnx").read_bytes() == kept.to_onnx()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "c.onnx"]


@pytest.mark.parametrize("kind", ["sql", "onnx"])
def test_export_replaces_a_file_only_when_told(kept, tmp_path, kind):
    file = tmp_path / f"c.{kind}"
    file.write_text("mine", encoding="utf-8")
    command = ["export", "c.json", "--to", kind, "-o", file.name]
    done = calibrant(*command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"There is a file 'c.{kind}' already. Add --overwrite" in done.stderr
    assert file.read_text(encoding="utf-8") == "mine"
    assert calibrant(*command, "--overwrite", cwd=tmp_path).returncode == 0
    expected = kept.to_onnx() if kind == "onnx" else kept.to_sql("p").encode() + b"\n"
    assert file.read_bytes() == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--to", "onnx"], "say where, as -o calibrator.onnx"),
        (["--to", "onnx", "-o", "c.sql"], "ends in .onnx"),
        (["--to", "sql", "-o", "c.txt"], "ends in .sql"),
        (["--to", "sql", "-o", "no/c.sql"], "There is no folder 'no'"),
        (["--to", "onnx", "-o", "c.onnx", "--column", "q"], "--column is for --to sql"),
        (["--to", "onnx", "-o", "c.onnx", "--dialect", "spark"], "--dialect is for --to sql"),
        (["--to", "sql", "--overwrite"], "--overwrite replaces a file: name it"),
        (["--to", "sql", "--column", ""], "column must be the name of a column, but it is ''"),
        (["--to", "sql", "--column", "\udcff"], "column must be the name of a column"),
        (["--to", "sql", "--dialect", "oracle"], "'oracle' is not one of"),
        (["--to", "pickle"], "'pickle' is not one of"),
        ([], "Missing option '--to'"),
    ],
)
def test_export_refuses_and_writes_nothing(kept, tmp_path, options, words):
    done = calibrant("export", "c.json", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "There is no file 'bad.json'"),
        (b"{}", "This is not a calibrator that calibrant can read: its schema is not"),
        (b"\xff\xfe", "can read: 'bad.json' is not text"),
    ],
)
def test_export_of_what_is_no_calibrator(tmp_path, content, words):
    if content is not None:
        (tmp_path / "bad.json").write_bytes(content)
    done = calibrant("export", "bad.json", "--to", "sql", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert words in done.stderr


def test_export_of_a_folder_and_of_a_file_from_an_editor_with_marks(kept, tmp_path):
    (tmp_path / "folder.json").mkdir()
    done = calibrant("export", "folder.json", "--to", "sql", cwd=tmp_path)
    assert done.returncode == 2
    assert "'folder.json' is a folder" in " ".join(done.stderr.split())
    (tmp_path / "marked.json").write_text(kept.to_json(), encoding="utf-8-sig")
    done = calibrant("export", "marked.json", "--to", "sql", cwd=tmp_path)
    assert done.stdout == kept.to_sql("p") + "\n"


def test_export_without_onnx_names_the_pip_line(kept, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = calibrant("export", "c.json", "--to", "onnx", "-o", "c.onnx", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'calibrant[onnx]'" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


def test_export_prints_no_other_name_than_the_one_given(kept, tmp_path):
    command = ["export", "c.json", "--to", "sql", "--column", "größe"]
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process(*command, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Write the SQL to a file" in done.stderr
    stopped = subprocess.run(
        [
            "bash",
            "-c",
            f'set -o pipefail; "{sys.executable}" -m calibrant {" ".join(command)} | true',
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (stopped.returncode, stopped.stderr) == (0, "")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_apply_adds_a_column_and_says_so(kept, folder, tmp_path, ending):
    command = ["apply", "c.json", folder / f"good.{ending}", "--prob", "p", "-o", f"out.{ending}"]
    done = calibrant(*command, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    own = (
        "The scores are those that the calibrator was fitted to. If these are the same rows, an "
        "audit of the calibrated ones proves nothing: audit rows that it has not seen."
    )
    assert done.stdout == f"Written to out.{ending}: 3,000 rows. {own}\n"
    read = pd.read_csv if ending == "csv" else pd.read_parquet
    before, after = read(folder / f"good.{ending}"), read(tmp_path / f"out.{ending}")
    assert list(after) == [*before, "calibrated"]
    np.testing.assert_allclose(after["calibrated"], kept.predict(before["p"]), rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(after[list(before)], before)


def test_apply_counts_missing_scores_and_may_be_quiet(kept, tmp_path):
    (tmp_path / "in.csv").write_text("[b],p\n1,0.5\n2,NA\n", encoding="utf-8")
    command = ["apply", "c.json", "in.csv", "--prob", "p", "--name", "new", "-o", "out.csv"]
    done = calibrant(*command, cwd=tmp_path)
    assert done.stdout == "Written to out.csv: 2 rows, 1 of them without a score.\n"
    done = calibrant(*command, "--overwrite", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    value = float(kept.predict([0.5])[0])
    text = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert text == f"[b],p,new\n1,0.5,{value!r}\n2,NA,\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["in.csv", "--prob", "p", "-o", "in.csv"], "Add --overwrite to replace it"),
        (["in.csv", "--prob", "p", "-o", "out.txt"], "ends in .csv or .parquet"),
        (["in.csv", "--prob", "p", "-o", "sub.csv"], "ends in .csv"),
        (["in.csv", "--prob", "p", "-o", "no/out.csv"], "There is no folder 'no'"),
        (["in.csv", "--prob", "q", "-o", "out.csv"], "There is no column 'q' in 'in.csv'"),
        (["in.csv", "--prob", "p", "--name", "P", "-o", "out.csv"], "--name calibrated_2"),
        (["in.csv", "--prob", "w", "-o", "out.csv"], "row 1 (the first row is 0) with 7.0"),
        (["no.csv", "--prob", "p", "-o", "out.csv"], "There is no file 'no.csv'"),
        (["c.json", "--prob", "p", "-o", "out.csv"], "is not a file that calibrant reads"),
        (["in.csv", "-o", "out.csv"], "Missing option '--prob'"),
        (["in.csv", "--prob", "p"], "Missing option '--output'"),
    ],
)
def test_apply_refuses_and_writes_nothing(kept, tmp_path, options, words):
    (tmp_path / "in.csv").write_text("p,w\n0.5,1\n0.5,7\n", encoding="utf-8")
    (tmp_path / "sub.csv").mkdir()
    done = calibrant("apply", "c.json", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "in.csv", "sub.csv"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "There is no file 'bad.json'"),
        ("not JSON", "This is not a calibrator that calibrant can read: it is not JSON"),
        ("a tally", "can read: its schema is not 'calibrant.calibrator'"),
    ],
)
def test_apply_of_what_is_no_calibrator(tmp_path, content, words):
    (tmp_path / "in.csv").write_text("p\n0.5\n", encoding="utf-8")
    if content is not None:
        tally = cb.Predictions([0, 1], [0.2, 0.7]).tally().to_json()
        text = tally if content == "a tally" else content
        (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    done = calibrant("apply", "bad.json", "in.csv", "--prob", "p", "-o", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_decide_says_what_to_do_and_what_it_costs(folder):
    options = [folder / "good.csv", "--label", "y", "--prob", "p"]
    options += ["--false-positive", 1, "--false-negative", 20]
    done = calibrant("decide", *options, "--volume", 1e6, "--currency", "EUR")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith("Act when the score is at least 0.04762. On these rows that costs")
    assert "EUR for 1,000,000 decisions" in text
    for words in ("Bayes' rule", "act on every row", "best in hindsight", "not acted on"):
        assert words in text
    document = json.loads(calibrant("decide", *options, "--json").stdout)
    y_true, y_prob, _ = overconfident().draw(3000)
    expected = cb.expected_cost(y_true, y_prob, false_positive=1, false_negative=20)
    assert document["decision"]["cost"] == pytest.approx(expected.cost, abs=1e-12)
    assert document["price"]["volume"] is None
    for wrong, words in (
        (["--false-negative", 0, "--false-positive", 0], "both 0"),
        (["--false-positive", -1], "must not be negative"),
        (["--volume", 0], "volume must be a positive number"),
        (["--weight", "soft"], "Weights must be whole numbers"),
    ):
        done = calibrant("decide", *options, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


def test_demo_and_version_and_help():
    demo = calibrant("demo")
    assert demo.returncode == 0
    text = " ".join(demo.stdout.split())
    assert "audited on as many fresh ones" in text
    assert "Yet the calibration error is only 0.0" in text
    assert demo.stderr == ""
    assert calibrant("--version").stdout == f"calibrant {cb.__version__}\n"
    help_text = calibrant("audit", "--help")
    assert help_text.returncode == 0
    for option in ("--label", "--prob", "--weight", "--pos-label", "--soft", "--max-error"):
        assert option in help_text.stdout


def test_demo_saves_predictions_to_go_on_with(tmp_path):
    done = calibrant("demo", "--save", "docs.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "calibrant audit docs.csv --label y --prob p" in " ".join(done.stdout.split())
    assert [path.name for path in tmp_path.iterdir()] == ["docs.csv"]
    found = audited(tmp_path / "docs.csv", "--label", "y", "--prob", "p")
    assert f"{found['calibration_error']:.6f}" in done.stdout
    truth = audited(tmp_path / "docs.csv", "--label", "true_prob", "--prob", "p", "--soft")
    assert truth["data"]["rows"] == 20_000


@pytest.mark.parametrize(
    ("name", "words"),
    [("docs.parquet", "ends in .csv"), ("no/such/folder.csv", "There is no folder 'no/such'")],
)
def test_demo_refuses_a_file_it_cannot_write_before_it_starts(tmp_path, name, words):
    done = calibrant("demo", "--save", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


GOOD_ROWS = "y,p,w\n0,0.1,1\n1,0.8,1\n"
#: name: (text of the file, more options, words of the message)
BAD = {
    "unknown column": (GOOD_ROWS, ["--prob", "P"], "no column 'P' in .*Did you mean 'p'.*y, p, w"),
    "unknown weight": (GOOD_ROWS, ["--weight", "ww"], "no column 'ww'.*Did you mean 'w'"),
    "empty": ("", [], "is empty: at least one row"),
    "header only": ("y,p\n", [], "is empty: at least one row"),
    "words as scores": (
        "y,p\n0,0.1\n1,high\n",
        [],
        r"column 'p' must hold numbers, but row 1 \(the first row is 0\) holds 'high'",
    ),
    "words as weights": ("y,p,w\n0,0.1,a\n", ["--weight", "w"], "column 'w' must hold numbers"),
    "missing score": (
        "y,p\n0,0.1\n1,\n1,NA\n",
        [],
        "column 'p' has missing values in 2 rows, first in row 1.*--drop-missing",
    ),
    "nan score": ("y,p\n0,0.1\n1,nan\n", [], "column 'p' has missing values in 1 row"),
    "missing label": ("y,p\n0,0.1\n,0.5\n", [], "column 'y' has missing values in 1 row"),
    "logits": ("y,p\n0,-2.5\n1,3.5\n", [], r"2 rows do not, first row 0 .* with -2\.5.*logits"),
    "three labels": ("y,p\n0,0.1\n1,0.5\n2,0.6\n", [], "column 'y' must hold two label values"),
    "words without pos_label": ("y,p\nno,0.1\nyes,0.5\n", [], "--pos-label yes"),
    "wrong pos_label": (
        "y,p\nno,0.1\nyes,0.5\n",
        ["--pos-label", "Yes"],
        "pos_label='Yes' is not among the labels.*Did you mean 'yes'",
    ),
    "pos_label of another type": (
        GOOD_ROWS,
        ["--pos-label", "yes"],
        "pos_label='yes' is not among the labels of column 'y': 0, 1",
    ),
    "soft without --soft": ("y,p\n0.5,0.1\n1,0.5\n", [], "row 0 .* holds 0.5.*--soft"),
    "swapped": (
        "y,p\n0.5,0\n0.1,1\n",
        ["--soft"],
        "column 'p' holds only 0 and 1 while column 'y' holds fractions: arguments swapped",
    ),
    "negative weight": ("y,p,w\n0,0.1,-1\n1,0.5,1\n", ["--weight", "w"], "must not be negative"),
    "zero weights": ("y,p,w\n0,0.1,0\n1,0.5,0\n", ["--weight", "w"], "is zero in every row"),
    "all missing": ("y,p\n0,\n,0.5\n", ["--drop-missing"], "All 2 rows .* nothing is left"),
    "bad after dropping": (
        "y,p\n0,\n1,0.5\n0,7\n",
        ["--drop-missing"],
        r"first row 1 .* with 7\.0.*counted after 1 with missing values",
    ),
    "ragged": ("y,p\n0,0.1\n1,0.5,3,4,5\n1,0.5\n", [], "could not be read. DuckDB says"),
}


@pytest.mark.parametrize(("text", "options", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_one_message_and_exit_2(tmp_path, text, options, words):
    (tmp_path / "bad.csv").write_text(text)
    done = calibrant("audit", "bad.csv", "--label", "y", "--prob", "p", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")
    assert re.search(words, done.stderr.replace("\n", " ")), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.csv", "There is no file 'absent.csv'"),
        ("table.xlsx", "its name must end in .csv"),
        ("folder.csv", "is a folder without Parquet files, or a device"),
        ("fake.parquet", "could not be read. DuckDB says"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, words):
    (tmp_path / "table.xlsx").write_text("x")
    (tmp_path / "fake.parquet").write_text("this is not Parquet at all, not even a little")
    (tmp_path / "folder.csv").mkdir()
    done = calibrant("audit", name, "--label", "y", "--prob", "p", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_options_are_named():
    done = calibrant("audit", "x.csv", "--label", "y")
    assert done.returncode == 2
    assert "--prob" in done.stderr
    gate = calibrant("audit", "x.csv", "--label", "y", "--prob", "p", "--max-error", "7")
    assert gate.returncode == 2
    assert "--max-error" in gate.stderr


def test_drop_missing_drops_and_says_so(tmp_path):
    (tmp_path / "holes.csv").write_text("y,p\n0,0.1\n1,\n,0.4\n1,0.75\n")
    options = ["holes.csv", "--label", "y", "--prob", "p", "--drop-missing"]
    done = calibrant("audit", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "2 rows with a missing value were dropped" in done.stdout
    found = audited(*options, cwd=tmp_path)
    assert found["calibration_error"] == pytest.approx(0.125)
    assert (found["data"]["rows"], found["data"]["dropped"]) == (2, 2)
    assert found["provenance"]["rows"] == 4


def test_a_single_label_works_with_a_note(tmp_path):
    (tmp_path / "one.csv").write_text("y,p\n0,0.1\n0,0.4\n")
    done = calibrant("audit", "one.csv", "--label", "y", "--prob", "p", cwd=tmp_path)
    assert done.returncode == 0
    assert "Note: column 'y' holds a single value" in done.stdout


def test_awkward_names_are_names(tmp_path):
    column = 'p"; DROP TABLE x; --'
    file = tmp_path / "it's [1] *.csv"
    pd.DataFrame({"the label": [0, 1], column: [0.25, 0.5]}).to_csv(file, index=False)
    (tmp_path / "it's 1 more.csv").write_text("nonsense")
    found = audited(file, "--label", "the label", "--prob", column)
    assert found["calibration_error"] == pytest.approx(0.25)


@pytest.mark.parametrize("ending", ["csv.gz", "tsv"])
def test_other_csv(tmp_path, ending):
    frame = pd.DataFrame({"y": [True, False], "p": [0.5, 0.25]})
    file = tmp_path / f"table.{ending}"
    frame.to_csv(file, index=False, sep="\t" if ending == "tsv" else ",")
    assert audited(file, "--label", "y", "--prob", "p")["calibration_error"] == 0.25


@pytest.mark.parametrize(
    ("label", "pos_label"),
    [
        (pd.Series([True, False]), "true"),
        (pd.Series([2, 1]), "2"),
        (pd.Series([2.0, 1.0]), "2"),
        (pd.Series(["a", "b"], dtype="category"), "a"),
    ],
)
def test_pos_label_is_read_as_the_type_of_its_column(tmp_path, label, pos_label):
    file = tmp_path / "table.parquet"
    pd.DataFrame({"y": label, "p": [0.5, 0.25]}).to_parquet(file)
    found = audited(file, "--label", "y", "--prob", "p", "--pos-label", pos_label)
    assert found["calibration_error"] == 0.25


def test_decimals_and_nulls_in_parquet(tmp_path):
    from decimal import Decimal

    file = tmp_path / "table.parquet"
    prob = [Decimal("0.25"), Decimal("0.50"), None]
    pd.DataFrame({"y": pd.array([0, 1, None], dtype="Int64"), "p": prob}).to_parquet(file)
    done = calibrant("audit", file, "--label", "y", "--prob", "p")
    assert done.returncode == 2
    assert "missing values in 1 row, first in row 2" in done.stderr.replace("\n", " ")
    found = audited(file, "--label", "y", "--prob", "p", "--drop-missing")
    assert found["calibration_error"] == 0.25


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("audit good.csv --label y --prob p", 0),
        ("audit good.csv --label y --prob p --json", 0),
        ("audit good.csv --label y --prob p --max-error 0", 1),
        ("demo", 0),
    ],
)
def test_a_reader_that_stops_early_changes_no_exit_code(folder, command, code):
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; "{sys.executable}" -m calibrant {command} | true'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == code


def test_folders_and_comments_change_no_value(tmp_path):
    folder = tmp_path / "y=1"
    folder.mkdir()
    pd.DataFrame({"y": [0, 1], "p": [0.25, 0.5]}).to_parquet(folder / "t.parquet")
    found = audited(folder / "t.parquet", "--label", "y", "--prob", "p")
    assert found["data"]["observed_rate"] == 0.5
    (folder / "t.csv").write_text("y,p\nno,0.25\n#no,0.5\nno,0.5\n")
    found = audited(folder / "t.csv", "--label", "y", "--prob", "p", "--pos-label", "no")
    assert (found["data"]["rows"], found["data"]["observed_rate"]) == (3, 2 / 3)


def test_an_empty_weight_is_not_no_weight(folder):
    done = calibrant("audit", folder / "good.csv", "--label", "y", "--prob", "p", "--weight", "")
    assert done.returncode == 2
    assert "There is no column ''" in done.stderr


def test_large_integer_labels_are_told_apart(tmp_path):
    (tmp_path / "t.csv").write_text("y,p\n9007199254740992,0.25\n9007199254740993,0.5\n")
    found = audited(tmp_path / "t.csv", "--label", "y", "--prob", "p", "--pos-label", 2**53 + 1)
    assert found["data"]["observed_rate"] == 0.5


def test_truth_values_with_gaps(tmp_path):
    file = tmp_path / "t.parquet"
    label = pd.array([True, None, False], dtype="boolean")
    pd.DataFrame({"y": label, "p": [0.5, 0.5, 0.25]}).to_parquet(file)
    for more in ([], ["--pos-label", "True"], ["--pos-label", "true"]):
        found = audited(file, "--label", "y", "--prob", "p", "--drop-missing", *more)
        assert found["calibration_error"] == 0.25


def test_names_that_are_markup_or_not_ascii(tmp_path):
    (tmp_path / "[red]x.csv").write_text("[bold]é,p\n0,0.1\n0,0.4\n", encoding="utf-8")
    args = ["audit", "[red]x.csv", "--label", "[bold]é", "--prob", "p"]
    done = process(*args, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert "Note: column '[bold]?' holds a single value" in done.stdout
    done = calibrant(*args, cwd=tmp_path)
    assert "Note: column '[bold]é' holds a single value" in done.stdout


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


def test_a_narrow_terminal_loses_no_number(folder, expected):
    done = process(
        "audit", folder / "good.csv", "--label", "y", "--prob", "p", env={"COLUMNS": "20"}
    )
    assert done.returncode == 0
    assert "\u2026" not in done.stdout
    assert f"{expected.calibration_error:.6f}" in done.stdout


def written(folder, rows=400):
    y_true, y_prob, _ = overconfident().draw(rows, seed=1)
    lines = [
        f"{int(y)},{p!r},{'ab'[i % 2]}"
        for i, (y, p) in enumerate(zip(y_true, y_prob.tolist(), strict=True))
    ]
    (folder / "a.csv").write_text("y,p,g\n" + "\n".join(lines) + "\n")
    return ("a.csv", "--label", "y", "--prob", "p")


def test_reports_are_written_next_to_the_words(tmp_path):
    arguments = written(tmp_path)
    files = ("--html", "r.html", "--markdown", "r.md", "--by", "g")
    done = calibrant("audit", *arguments, *files, cwd=tmp_path)
    assert done.returncode == 0
    assert "What to do:" in done.stdout
    assert "g = a" in done.stdout
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "g = a" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_quiet_says_nothing_and_the_gate_still_holds(tmp_path):
    arguments = written(tmp_path)
    for options, code in (((), 0), (("--max-error", "0.001"), 1), (("--max-error", "0.9"), 0)):
        done = calibrant("audit", *arguments, *options, "--quiet", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    done = calibrant("compare", *arguments, "--prob", "p2", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert "There is no column 'p2'" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--open",), "--open shows the HTML report"),
        (("--html", "r.txt"), "must be the name of a file that ends in .html"),
        (("--markdown", "r.html"), "must be the name of a file that ends in .md"),
        (("--html", "nowhere/r.html"), "nowhere"),
        (("--html", "r.html", "--false-positive", "-1"), "false_positive"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(tmp_path, options, words):
    done = calibrant("audit", "absent.csv", "--label", "y", "--prob", "p", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


def test_help_has_an_example_for_every_command():
    for command in ("audit", "compare", "plan", "calibrate", "export", "decide"):
        done = calibrant(command, "--help")
        assert f"calibrant {command}" in done.stdout
    assert "--install-completion" in calibrant("--help").stdout


def test_the_command_compares(tmp_path):
    y_true, y_prob, truth = overconfident().draw(3000, seed=1)
    rows = zip(y_true.tolist(), y_prob.tolist(), truth.tolist(), strict=True)
    lines = [f"{int(y)},{p!r},{t!r}" for y, p, t in rows]
    (tmp_path / "a.csv").write_text("y,p,t\n" + "\n".join(lines) + "\n")
    options = ("a.csv", "--label", "y", "--prob", "p", "--prob", "t")
    done = calibrant("compare", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "t has the smallest calibration error on these 3,000 rows" in " ".join(
        done.stdout.split()
    )
    document = json.loads(calibrant("compare", *options, "--json", cwd=tmp_path).stdout)
    assert document["schema"] == "calibrant.comparison"
    # proved ends are shown no tighter than they are
    ends = document["differences"][0]["calibration_error"]
    shown = re.search(r"p - t +calibration error +\S+ +(\S+) and (\S+)", done.stdout)
    lower, upper = map(float, shown.groups())
    assert lower <= ends["lower"]
    assert upper >= ends["upper"]


def test_no_colour_and_no_bar_where_there_is_no_terminal(tmp_path):
    arguments = written(tmp_path)
    env = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": ""}
    done = process("audit", *arguments, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b[" not in done.stdout


def test_ctrl_c_leaves_no_file_and_no_traceback(tmp_path):
    sql = "SELECT (hash(i) % 1000) / 1000 AS p, i % 2 AS y FROM range(1000000000) t(i)"
    command = [sys.executable, "-m", "calibrant", "audit", "--sql", sql, "--label", "y"]
    started = subprocess.Popen(
        [*command, "--prob", "p", "--html", "r.html"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    time.sleep(2)
    started.send_signal(signal.SIGINT)
    output, error = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Traceback" not in error
    assert output == ""
    assert list(tmp_path.iterdir()) == []


def test_reproduce_writes_a_folder_and_goes_on_where_it_was(tmp_path):
    arguments = ("reproduce", "figure1", "--quick", "-o", "results/deep")
    done = calibrant(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A quick look on small simulated data")
    assert "Figure 1: For fixed word weights" in " ".join(done.stdout.split())
    folder = tmp_path / "results" / "deep"
    [entry] = (folder / "cache").iterdir()
    kept = entry.read_bytes()
    first = (folder / "reproduction.json").read_bytes()
    entry.write_bytes(kept[:-100])
    assert calibrant(*arguments, "--quiet", cwd=tmp_path).stdout == ""
    assert entry.read_bytes() == kept
    assert (
        json.loads((folder / "reproduction.json").read_bytes())["figure1"]
        == (json.loads(first)["figure1"])
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--runs", "0"], "runs must be a whole number, 1 or more"),
        (["--seed", "-1"], "seed must be a whole number, 0 or more"),
        (["--data-dir", "nowhere"], "There is no folder 'nowhere'"),
        (["--data-dir", "."], r"There is no adult/adult\.data"),
        (["-o", "taken"], "'taken' is a file, not a folder"),
    ],
)
def test_reproduce_refuses_what_it_cannot_do(tmp_path, arguments, words):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    done = calibrant("reproduce", "figure2", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(words, " ".join(done.stderr.split())), done.stderr
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


def test_scores_that_do_worse_than_none_are_told_so(tmp_path):
    y_true, y_prob, _ = overconfident(3.0).draw(3000, seed=1)
    lines = [f"{int(y)},{p!r}" for y, p in zip(y_true, y_prob.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("y,p\n" + "\n".join(lines) + "\n")
    options = ("a.csv", "--label", "y", "--prob", "p", "--false-positive", "1")
    words = "would have cost less: recalibrate"
    dear = calibrant("decide", *options, "--false-negative", "9", cwd=tmp_path)
    assert f"To act on every row {words}" in " ".join(dear.stdout.split())
    fine = calibrant("decide", *options, "--false-negative", "1", cwd=tmp_path)
    assert words not in " ".join(fine.stdout.split())


def test_words_that_a_query_turns_into_truth_values_are_still_the_event(tmp_path):
    y_true, y_prob, _ = overconfident().draw(500, seed=1)
    words = ["yes" if y else "no" for y in y_true]
    lines = [f"{word},{p!r}" for word, p in zip(words, y_prob.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("y,p\n" + "\n".join(lines) + "\n")
    options = ("--label", "y", "--prob", "p", "--json")
    asked = ("audit", "--sql", "SELECT p, y FROM 'a.csv'", *options)
    found = [
        json.loads(calibrant(*asked, "--pos-label", word, cwd=tmp_path).stdout)
        for word in ("yes", "no")
    ]
    expected = cb.audit(y_true, y_prob).calibration_error
    assert found[0]["calibration_error"] == pytest.approx(expected, abs=1e-12)
    assert found[1]["data"]["observed_rate"] == pytest.approx(1 - y_true.mean())
