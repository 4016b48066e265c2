"""Imports point one way, and the heavy ones wait until they are needed."""

import ast
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import calibrant

PACKAGE = Path(calibrant.__file__).parent
#: Rooms from the ground up; a module imports from its own room and from those before it.
ORDER = [
    {"_types", "_version", "_text", "_figures"},
    {"errors"},
    {"_console", "_extras", "_progress", "_writing"},
    {"core"},
    {"data"},
    {"measures"},
    {"simulate", "certificates"},
    {"calibrators"},
    {"decisions", "learners"},
    {"auditing"},
    {"report", "results"},
    {"experiments"},
    {"cli"},
    {"__main__"},
]
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def floor_of(module):
    room = module.split(".")[0]
    return next(floor for floor, rooms in enumerate(ORDER) if room in rooms)


def imported(module):
    """Name the modules of the project that a module imports, at its top or inside a function."""
    return imports_of(MODULES[module].read_text(encoding="utf-8"))


def imports_of(text):
    """Name what of the project a text imports by its statements."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    assert "calibrant" not in names, "the package stands above all of its modules"
    return [name.removeprefix("calibrant.") for name in names if name.startswith("calibrant.")]


def tabled(module):
    """Name the modules of the project that stand in texts of a module, to be imported by name."""
    return tabled_in(MODULES[module].read_text(encoding="utf-8"))


def tabled_in(text):
    """Name the modules of the project that a text has as texts."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            start = ast.unparse(node.values[0]) if node.values else ""
            assert not start.startswith("'calibrant."), "a module's name is written out"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            first, _, rest = node.value.partition(".")
            found += [rest] if first == "calibrant" and rest in MODULES else []
    return found


def resolved(name):
    """Return the module that an imported name is, or is in; None if it is public."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    for name in (*imported(module), *tabled(module)):
        other = resolved(name)
        if other is None:
            # the command line may use what any user may
            assert name in calibrant.__all__
            assert module.split(".")[0] == "cli"
            continue
        assert floor_of(other) <= floor_of(module), f"{module} must not import {other}"
        apart = module.split(".")[0] != other.split(".")[0] and module[0] != "_"
        assert not (apart and floor_of(other) == floor_of(module)), f"{other} is on one floor"


def test_no_module_needs_itself():
    graph = {
        module: {resolved(name) for name in imported(module)} - {None, module} for module in MODULES
    }
    tuple(TopologicalSorter(graph).static_order())  # a cycle is an error, and it names it


@pytest.mark.parametrize(
    "text",
    [
        "from calibrant.report.html import html_of",
        "def late():\n    from calibrant.report import html",
        "def late():\n    import calibrant.report.html",
        "import_module('calibrant.report.html')",
        "TABLE = {'html': ('calibrant.report.html', 'html_of')}",
    ],
)
def test_every_way_to_import_is_seen(text):
    names = [*imports_of(text), *tabled_in(text)]
    assert [resolved(name) for name in names] == ["report.html"]


@pytest.mark.parametrize(
    "text",
    [
        "def late():\n    import calibrant as cb",
        "import_module(f'calibrant.report.{name}')",
        "from ..report import html",
    ],
)
def test_imports_that_nobody_can_follow_are_refused(text):
    with pytest.raises(AssertionError):
        _ = imports_of(text), tabled_in(text)


def test_no_two_classes_share_a_name():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES.values()]
    found = Counter(
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in found.items() if count > 1] == []


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


def test_importing_calibrant_does_not_load_the_compiled_kernel():
    code = (
        "import calibrant; from calibrant.core.compiled import _chosen; "
        "assert _chosen.cache_info().currsize == 0"
    )
    assert "calibrant" in loaded_after(code)


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


def test_a_package_is_hidden_by_no_function():
    code = (
        "import calibrant, calibrant.certificates.complexity as c; "
        "assert c is calibrant.certificates.complexity; assert callable(calibrant.certify); "
        "import calibrant.decisions.costs; assert callable(calibrant.decide); "
        "import calibrant.auditing.run; assert callable(calibrant.audit)"
    )
    assert "calibrant" in loaded_after(code)
