"""A calibrator as SQL or ONNX."""

import os
import subprocess
import sys

import pytest

from reference.commands import calibrant, process


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
        (b"\xff\xfe", "can read: path 'bad.json' is not text"),
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
