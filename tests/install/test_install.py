"""From nothing: a fresh clone, new environments, and the README's commands in them.

With a C compiler and without one; where there is none, what takes one is skipped.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.install
ROOT = Path(__file__).parent.parent.parent
PYTHON = getattr(sys, "_base_executable", sys.executable)
#: What would make an environment of ours, or our kernel, leak in.
OURS = {"VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "CALIBRANT_KERNEL", "CALIBRANT_PURE"}
COMPILER = shutil.which(shlex.split(os.environ.get("CC") or "cc")[0])
WITHOUT = {"CC": "/nonexistent/cc"}
takes_a_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def run(*command, cwd, env=None):
    # as on a new machine
    known = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [str(one) for one in command],
        cwd=cwd,
        env=known | (env or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def kernel_of(environment, cwd, env=None):
    """Return what `calibrant.core` says, once the command has said the same."""
    code = "from calibrant.core import kernel_name; print(kernel_name())"
    name = run(environment / "bin" / "python", "-c", code, cwd=cwd, env=env).strip()
    shown = run(environment / "bin" / "calibrant", "--version", cwd=cwd, env=env)
    assert shown.endswith(f" ({name} kernel)\n")
    return name


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "calibrant"
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def demo(clone):
    """Return the environment that `make demo` sets up in the clone."""
    shown = run("make", "demo", f"PYTHON={PYTHON}", cwd=clone)
    assert "calibration error" in shown
    return clone / ".venv"


@pytest.fixture(scope="module")
def installed(clone, tmp_path_factory):
    """Return an environment that a wheel is installed into."""
    folder = tmp_path_factory.mktemp("installed")
    run(PYTHON, "-m", "venv", "env", cwd=folder)
    python = folder / "env" / "bin" / "python"
    # a first report takes two commands: install, audit
    run(python, "-m", "pip", "install", "--quiet", f"{clone}[report]", cwd=folder)
    return folder / "env"


def installed_anew(environment, clone, env):
    """Install the package alone, with what says whether there is a compiler."""
    options = ("--quiet", "--no-deps", "--force-reinstall")
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", *options, clone, cwd=environment, env=env)


def audited(environment, folder):
    """Audit a small file, and return the report."""
    (folder / "predictions.csv").write_text("y,p\n0,0.1\n1,0.5\n")
    command = (environment / "bin" / "calibrant", "audit", "predictions.csv")
    shown = run(*command, "--label", "y", "--prob", "p", "--html", "r.html", cwd=folder)
    assert "calibration error" in shown
    return (folder / "r.html").read_text(encoding="utf-8")


def test_make_demo_in_a_fresh_clone(clone, demo):
    assert demo.is_dir()
    assert run("git", "status", "--porcelain", cwd=clone) == ""


@takes_a_compiler
def test_an_editable_install_builds_the_kernel_again_when_its_source_changes(clone, demo):
    assert kernel_of(demo, clone) == "compiled"
    assert kernel_of(demo, clone, {"CALIBRANT_KERNEL": "numpy"}) == "numpy"
    source = clone / "src" / "calibrant" / "core" / "kernel.c"
    before = source.read_bytes()
    try:
        source.write_bytes(before + b"/* changed */\n")
        assert kernel_of(demo, clone) == "numpy"  # the library is of another source
        run("make", ".venv/run.stamp", cwd=clone)
        assert kernel_of(demo, clone) == "compiled"
    finally:
        source.write_bytes(before)
    assert run("git", "status", "--porcelain", cwd=clone) == ""


def test_make_demo_without_a_compiler(clone, demo):
    (demo / "run.stamp").unlink()  # what was built before has to go
    shown = run("make", "demo", cwd=clone, env=WITHOUT)
    assert "calibration error" in shown
    assert kernel_of(demo, clone) == "numpy"
    assert list((clone / "src" / "calibrant" / "core").glob("_kernel*")) == []


def test_an_installed_wheel_works_without_the_checkout(installed, tmp_path):
    assert audited(installed, tmp_path).startswith("<!DOCTYPE html>")
    code = "import calibrant, pathlib; print(pathlib.Path(calibrant.__file__).parent)"
    package = Path(run(installed / "bin" / "python", "-c", code, cwd=tmp_path).strip())
    assert "env" in package.parts
    assert (package / "py.typed").exists()
    assert kernel_of(installed, tmp_path) == ("numpy" if COMPILER is None else "compiled")


@pytest.mark.parametrize(
    "hidden",
    [{"CC": "", "PATH": "/nonexistent"}, {"CC": "false"}, {"CALIBRANT_PURE": "1"}],
    ids=["no compiler", "a compiler that fails", "none wanted"],
)
def test_a_wheel_without_the_kernel_works_as_well(installed, clone, tmp_path, hidden):
    left = clone / "src" / "calibrant" / "core" / f"_kernel.{sys.platform}"
    left.write_bytes(b"of an editable install")
    try:
        installed_anew(installed, clone, hidden)
    finally:
        left.unlink()
    assert kernel_of(installed, tmp_path) == "numpy"
    [core] = installed.glob("lib/*/site-packages/calibrant/core")
    assert list(core.glob("_kernel*")) == []
    assert audited(installed, tmp_path).startswith("<!DOCTYPE html>")


@takes_a_compiler
def test_make_wheel_builds_wheels_that_give_the_same_numbers(clone):
    shown = run("make", "wheel", f"PYTHON={PYTHON}", cwd=clone)
    assert "numbers are the same" in shown
    built = sorted(one.name for one in (clone / "dist").iterdir())
    assert len(built) == 3
    assert sum(one.endswith(".tar.gz") for one in built) == 1
    assert sum(one.endswith("-py3-none-any.whl") for one in built) == 1
    assert sys.platform != "linux" or any("-py3-none-manylinux" in one for one in built)
    assert run("git", "status", "--porcelain", cwd=clone) == ""
