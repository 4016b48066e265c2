"""What is printed, whatever it is printed on."""

import os
import subprocess
import sys

import pytest

from reference.commands import calibrant, process, written


def test_a_terminal_without_unicode_gets_plain_marks(folder):
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process("audit", folder / "good.csv", "--label", "y", "--prob", "p", env=env)
    assert done.returncode == 0
    assert "o predicted  x observed" in done.stdout


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


def test_names_that_are_markup_or_not_ascii(tmp_path):
    (tmp_path / "[red]x.csv").write_text("[bold]é,p\n0,0.1\n0,0.4\n", encoding="utf-8")
    args = ["audit", "[red]x.csv", "--label", "[bold]é", "--prob", "p"]
    done = process(*args, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert "Note: column '[bold]?' holds a single value" in done.stdout
    done = calibrant(*args, cwd=tmp_path)
    assert "Note: column '[bold]é' holds a single value" in done.stdout


def test_a_narrow_terminal_loses_no_number(folder, expected):
    done = process(
        "audit", folder / "good.csv", "--label", "y", "--prob", "p", env={"COLUMNS": "20"}
    )
    assert done.returncode == 0
    assert "\u2026" not in done.stdout
    assert f"{expected.calibration_error:.6f}" in done.stdout


def test_no_colour_and_no_bar_where_there_is_no_terminal(tmp_path):
    arguments = written(tmp_path)
    env = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": ""}
    done = process("audit", *arguments, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b[" not in done.stdout
