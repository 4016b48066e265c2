"""Imports point one way, and the heavy ones wait until they are needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant

PACKAGE = Path(calibrant.__file__).parent
#: Rooms from the ground up; a module imports from its own row and the ones before.
ORDER = [
    {
        "_types",
        "_version",
        "_checks",
        "_text",
        "_console",
        "_extras",
        "_progress",
        "_double_double",
    },
    {"tally"},
    {"diagram"},
    {"minorant"},
    {"sources"},
    {"measure"},
    {"simulate", "certify"},
    {"recalibrate"},
    {"decide", "learn"},
    {"groups", "curves", "advice"},
    {"audit", "compare", "regions"},
    {"report"},
    {"experiments"},
    {"cli"},
    {"__main__"},
]
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def floor_of(room):
    return next(floor for floor, rooms in enumerate(ORDER) if room in rooms)


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("calibrant."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    public = set(calibrant.__all__)
    for other in imported_rooms(path):
        if other in public and path.name == "cli.py":
            continue  # the command line may use what any user may
        assert floor_of(other) <= floor_of(room), f"{room} must not import {other}"
        same_floor = floor_of(other) == floor_of(room) and floor_of(room) > 0
        assert other == room or not same_floor, f"{room} and {other} are on one floor"


def loaded_after(code):
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_calibrant_loads_nothing_heavy():
    heavy = {"duckdb", "typer", "pandas", "polars", "pyarrow", "matplotlib", "sklearn", "rich"}
    heavy |= {"onnx", "onnxruntime"}
    assert not loaded_after("import calibrant") & heavy


def test_arrays_need_nothing_but_numpy():
    code = "import calibrant; calibrant.calibration_error([0, 1], [0.2, 0.7])"
    assert not loaded_after(code) & {"narwhals", "pandas", "sklearn", "duckdb"}


def test_a_calibrator_needs_onnx_for_nothing_but_its_own_export():
    code = "import calibrant; f = calibrant.IsotonicCalibrator().fit([0.2, 0.7], [0, 1])"
    assert not loaded_after(f"{code}; f.to_json(); f.to_sql('p')") & {"onnx", "onnxruntime"}


def test_every_public_name_is_there_and_documented():
    for name in calibrant.__all__:
        assert hasattr(calibrant, name)
        if name not in {"__version__", "calibration_error_scorer"}:
            assert getattr(calibrant, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = calibrant.absent
