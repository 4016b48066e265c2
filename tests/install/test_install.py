"""From nothing: a fresh clone, new environments, and the README's commands in them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.install
ROOT = Path(__file__).parent.parent.parent


def run(*command, cwd):
    # as on a new machine: no environment of ours leaks in
    env = {
        k: v for k, v in os.environ.items() if k not in {"VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS"}
    }
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "calibrant"
    run("git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder), cwd=ROOT)
    return folder


def test_make_demo_in_a_fresh_clone(clone):
    python = getattr(sys, "_base_executable", sys.executable)
    shown = run("make", "demo", f"PYTHON={python}", cwd=clone)
    assert "calibration error" in shown
    assert run("git", "status", "--porcelain", cwd=clone) == ""


def test_an_installed_wheel_works_without_the_checkout(clone, tmp_path):
    run(getattr(sys, "_base_executable", sys.executable), "-m", "venv", "env", cwd=tmp_path)
    python = str(tmp_path / "env" / "bin" / "python")
    # a first report takes two commands: install, audit
    run(python, "-m", "pip", "install", "--quiet", f"{clone}[report]", cwd=tmp_path)
    (tmp_path / "predictions.csv").write_text("y,p\n0,0.1\n1,0.5\n")
    command = [str(tmp_path / "env" / "bin" / "calibrant"), "audit", "predictions.csv"]
    shown = run(*command, "--label", "y", "--prob", "p", "--html", "r.html", cwd=tmp_path)
    assert "calibration error" in shown
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    code = "import calibrant, pathlib; print(pathlib.Path(calibrant.__file__).parent)"
    package = Path(run(python, "-c", code, cwd=tmp_path).strip())
    assert "env" in package.parts
    assert (package / "py.typed").exists()
