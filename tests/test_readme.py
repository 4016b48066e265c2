"""Every block of the README runs, as it stands, where a reader would run it."""

import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.simulate import overconfident

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_python_blocks_run_one_after_another(tmp_path, monkeypatch):
    namespace = {}
    monkeypatch.chdir(tmp_path)
    assert blocks("python")
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)
    report = namespace["report"]
    assert report.calibration_error <= report.calibration_error_at_most


COMMANDS = [
    line for block in blocks("sh") for line in block.splitlines() if line.startswith("calibrant ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, tmp_path):
    y_true, y_prob, _ = overconfident().draw(2000)
    frame = pd.DataFrame({"y": y_true.astype(int), "p": y_prob, "q": y_prob**2})
    frame["region"] = np.where(np.arange(2000) % 2, "north", "south")
    frame["sex"] = np.where(np.arange(2000) % 3, "f", "m")
    frame.to_csv(tmp_path / "predictions.csv", index=False)
    with sqlite3.connect(tmp_path / "predictions.db") as connection:
        frame[["y", "p"]].to_sql("scores", connection, index=False)
    connection.close()
    frame["churned"], frame["score"] = np.where(y_true, "yes", "no"), y_prob
    frame.to_parquet(tmp_path / "predictions.parquet")
    fitted = cb.IsotonicCalibrator().fit(y_prob, y_true)
    (tmp_path / "calibrator.json").write_text(fitted.to_json(), encoding="utf-8")
    arguments = shlex.split(command)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "calibrant", *arguments], cwd=tmp_path, check=False
    )
    assert done.returncode == 0


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_picture_is_the_one_the_code_draws(tmp_path, monkeypatch):
    import runpy

    drawn = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
    drawn["main"].__globals__["FOLDER"] = tmp_path
    drawn["main"]()
    committed = (ROOT / "docs" / "pictures" / "audit.svg").read_text(encoding="utf-8")
    assert (tmp_path / "audit.svg").read_text(encoding="utf-8") == committed, "run make pictures"
