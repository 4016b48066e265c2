"""A file with one more column."""

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from reference.commands import calibrant


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
        (["in.csv", "--prob", "w", "-o", "out.csv"], "row 1 (0-based) with 7.0"),
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
