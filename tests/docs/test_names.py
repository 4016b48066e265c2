"""The reference has every public name, and each has an example."""

import inspect
import re
from pathlib import Path

import pytest

import calibrant as cb
from calibrant import simulate
from calibrant.measures import scorer

DOCS = Path(__file__).parent.parent.parent / "docs"
NAMES = [name for name in cb.__all__ if name != "__version__"]


def test_the_reference_has_every_public_name_once():
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    assert sorted(re.findall(r"heading: cb\.(\w+)$", pages, flags=re.MULTILINE)) == sorted(NAMES)


def docstring_of(name):
    # a scorer is made by scikit-learn, whose docstring it has: its module has ours
    return inspect.getdoc(scorer if name == "calibration_error_scorer" else getattr(cb, name))


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name):
    assert ">>>" in docstring_of(name)


def test_every_law_has_an_example():
    made = [
        one for name, one in vars(simulate).items() if inspect.isfunction(one) and name[0] != "_"
    ]
    assert [
        one.__name__
        for one in made
        if ">>>" not in (one.__doc__ or "") and one.__module__ == simulate.__name__
    ] == []


def test_the_version_to_cite_is_this_one():
    text = (DOCS / "citing.md").read_text(encoding="utf-8")
    assert re.search(r"version = \{(.*)\}", text)[1] == cb.__version__
