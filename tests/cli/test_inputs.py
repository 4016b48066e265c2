"""Reading what the options name: columns, labels, files, and what is wrong with them."""

import json
import re
import sys

import pandas as pd
import pytest

import calibrant as cb
from calibrant.cli import main
from calibrant.simulate import overconfident
from reference.commands import audited, calibrant
from reference.sqlite import TABLE

GOOD_ROWS = "y,p,w\n0,0.1,1\n1,0.8,1\n"
#: name: (text of the file, more options, words of the message)
BAD = {
    "unknown column": (GOOD_ROWS, ["--weight", "W"], "no column 'W' in .*Did you mean 'w'.*y, p"),
    "unknown weight": (GOOD_ROWS, ["--weight", "ww"], "no column 'ww'.*Did you mean 'w'"),
    "empty": ("", [], "is empty: at least one row"),
    "header only": ("y,p\n", [], "is empty: at least one row"),
    "words as scores": (
        "y,p\n0,0.1\n1,high\n",
        [],
        r"column 'p' must hold numbers, but row 1 \(0-based\) holds 'high'",
    ),
    "words as weights": ("y,p,w\n0,0.1,a\n", ["--weight", "w"], "column 'w' must hold numbers"),
    "missing score": (
        "y,p\n0,0.1\n1,\n1,NA\n",
        [],
        "column 'p' has missing values in 2 rows, first at row 1.*--drop-missing",
    ),
    "nan score": ("y,p\n0,0.1\n1,nan\n", [], "column 'p' has missing values in 1 row"),
    "missing label": ("y,p\n0,0.1\n,0.5\n", [], "column 'y' has missing values in 1 row"),
    "logits": ("y,p\n0,-2.5\n1,3.5\n", [], r"2 rows do not, first at row 0 .* with -2\.5.*logits"),
    "three labels": ("y,p\n0,0.1\n1,0.5\n2,0.6\n", [], "column 'y' must hold two label values"),
    "words without pos_label": ("y,p\nno,0.1\nyes,0.5\n", [], "--pos-label yes"),
    "wrong pos_label": (
        "y,p\nno,0.1\nyes,0.5\n",
        ["--pos-label", "Yes"],
        "--pos-label Yes is not among the labels.*Did you mean 'yes'",
    ),
    "pos_label of another type": (
        GOOD_ROWS,
        ["--pos-label", "yes"],
        "--pos-label yes is not among the labels of column 'y': 0, 1",
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
        r"first at row 1 .* with 7\.0.*counted after 1 with missing values",
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
    assert "missing values in 1 row, first at row 2" in done.stderr.replace("\n", " ")
    found = audited(file, "--label", "y", "--prob", "p", "--drop-missing")
    assert found["calibration_error"] == 0.25


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


def test_the_command_line_asks_sqlite(file, monkeypatch, capsys):
    query = "SELECT y, p FROM scores WHERE p <> ':x:'"
    place = ["--url", f"sqlite:///{file}", "--sql", query]
    asked = ["calibrant", "audit", *place, "--label", "y", "--prob", "p", "--json"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    expected = cb.audit(TABLE, label="y", prob="p").to_dict()
    found = json.loads(capsys.readouterr().out)
    assert found["calibration_error"] == pytest.approx(expected["calibration_error"], abs=1e-12)
    assert found["provenance"]["command"].startswith("calibrant audit --url sqlite:///")
