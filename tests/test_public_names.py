"""What `calibrant` shows: every public name and nothing else, loaded when it is asked for."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import calibrant as cb
from calibrant.calibrators.registry import KINDS, CalibratorName
from calibrant.errors import InputError

CALIBRATORS = {kind.name for kind in KINDS.values()}


def test_dir_lists_every_public_name_and_nothing_else():
    assert dir(cb) == sorted(cb.__all__)
    assert len(set(cb.__all__)) == len(cb.__all__)
    assert set(dir(cb)) > CALIBRATORS
    assert not {"Any", "TYPE_CHECKING", "import_module", "KINDS"} & set(dir(cb))
    for name in dir(cb):
        assert getattr(cb, name) is not None


def test_a_star_import_gives_every_public_name():
    names = {}
    exec("from calibrant import *", names)
    assert set(cb.__all__) <= set(names)


def test_input_error_is_public():
    assert cb.InputError is InputError
    with pytest.raises(cb.InputError):
        cb.calibration_error([0, 1], [0.2, 1.5])


def test_lazy_names_stay_lazy():
    script = """
import sys, calibrant
for name in calibrant.__all__:
    assert name in dir(calibrant)
late = ["simulate", "results", "calibrators.estimators", "learners", "report.displays"]
for name in late:
    assert f"calibrant.{name}" not in sys.modules, name
assert "sklearn" not in sys.modules
calibrant.results
assert "sklearn" not in sys.modules
calibrant.IsotonicCalibrator
assert "calibrant.calibrators.estimators.steps" in sys.modules
assert "calibrant.calibrators.estimators.venn_abers" not in sys.modules
calibrant.simulate.laws
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["certificates.complexity", "certificates", "simulate", "results"])
def test_packages_can_be_imported_by_name(name):
    module = importlib.import_module(f"calibrant.{name}")
    place = cb
    for part in name.split("."):
        place = getattr(place, part)
    assert place is module


def test_every_calibrator_is_in_the_registry_by_its_method():
    assert get_args(CalibratorName) == tuple(KINDS)
    for method, kind in KINDS.items():
        found = getattr(cb, kind.name)
        assert found.method == method
        assert found.__module__ == kind.module
        assert issubclass(found, cb.Calibrator)


@pytest.mark.parametrize("name", [name for name in cb.__all__ if callable(getattr(cb, name))])
def test_no_signature_has_private_parameters(name):
    assert [one for one in inspect.signature(getattr(cb, name)).parameters if one[0] == "_"] == []


def test_costs_have_one_spelling():
    for name in cb.__all__:
        one = getattr(cb, name)
        parameters = set(inspect.signature(one).parameters) if callable(one) else set()
        assert ("false_positive" in parameters) == ("false_negative" in parameters)
        assert not {"fp", "fn", "cost_fp", "cost_fn", "fp_cost", "fn_cost"} & parameters


WRITERS = {
    "audit": (cb.audit, ["to_json", "to_markdown", "to_html"]),
    "comparison": (lambda y, p: cb.compare(y, {"a": p, "b": p**2}), ["to_html"]),
    "tally": (lambda y, p: cb.Predictions(y, p).tally(), ["to_json"]),
    "calibrator": (lambda y, p: cb.PlattCalibrator().fit(p, y), ["to_json", "to_onnx"]),
}


@pytest.mark.parametrize(
    ("kind", "method"), [(kind, method) for kind, (_, ms) in WRITERS.items() for method in ms]
)
def test_what_is_returned_is_written_whole(kind, method, tmp_path):
    y_true, y_prob, _ = cb.simulate.overconfident().draw(300, seed=1)
    write = getattr(WRITERS[kind][0](y_true, y_prob), method)
    path = tmp_path / "found"
    found = write(path)
    assert path.read_bytes() == (found if isinstance(found, bytes) else found.encode())
    assert type(write()) is type(found)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(cb.InputError):
        write(tmp_path / "absent" / "found")
    with pytest.raises(cb.InputError, match="it is a folder"):
        write(tmp_path)


def test_every_calibrator_is_loaded_from_the_file_it_was_written_to(tmp_path):
    y_true, y_prob, _ = cb.simulate.overconfident().draw(300, seed=1)
    for kind in KINDS.values():
        path = tmp_path / f"{kind.name}.json"
        text = getattr(cb, kind.name)().fit(y_prob, y_true).to_json(path)
        for loaded in (cb.Calibrator.load(path), getattr(cb, kind.name).load(str(path))):
            assert type(loaded).__name__ == kind.name
            assert loaded.to_json() == text
    with pytest.raises(cb.InputError, match="its method is 'isotonic'"):
        cb.PlattCalibrator.load(tmp_path / "IsotonicCalibrator.json")


@pytest.mark.parametrize("path", ["fitted.json", "a folder/fitted", "/tmp/x/f", Path("fitted")])
def test_from_json_of_a_path_names_it_and_the_way_out(path):
    with pytest.raises(cb.InputError, match=rf"'{path}' .* Calibrator\.load\(path\)"):
        cb.Calibrator.from_json(path)
    with pytest.raises(cb.InputError, match=rf"'{path}' .* Tally\.from_json\(Path\(\.\.\.\)"):
        cb.Tally.from_json(path)
