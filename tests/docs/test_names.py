"""The reference has every public name, and each has an example."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import calibrant as cb
from calibrant import results, simulate
from calibrant.measures import scorer

DOCS = Path(__file__).parent.parent.parent / "docs"
NAMES = [name for name in cb.__all__ if name != "__version__"]
ENTRY = re.compile(
    r"^::: calibrant\.(\S+)\n    options:\n      heading: cb\.(\S+)\n      toc_label: cb\.(\S+)$",
    flags=re.MULTILINE,
)


def test_the_reference_has_every_public_name_once_and_by_that_name():
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    entries = ENTRY.findall(pages)
    assert len(entries) == pages.count(":::")
    assert all(name == heading == label for name, heading, label in entries)
    public = NAMES + [f"results.{name}" for name in results.__all__]
    assert sorted(name for name, *_ in entries) == sorted(public)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_links_into_the_reference_are_to_public_names(path):
    public = {f"calibrant.{name}" for name in NAMES}
    public |= {f"calibrant.results.{name}" for name in results.__all__}
    for name in re.findall(r"reference/\w+\.md#(calibrant[\w.]*)", path.read_text("utf-8")):
        assert name in public


def scorer_docstring():
    """Return what stands below the scorer: scikit-learn, which makes it, gives it another one."""
    last = ast.parse(inspect.getsource(scorer)).body[-1]
    return inspect.cleandoc(last.value.value)


def docstring_of(name):
    one = getattr(cb, name)
    return scorer_docstring() if name == "calibration_error_scorer" else inspect.getdoc(one)


def test_the_example_of_the_scorer_runs():
    example = doctest.DocTestParser().get_doctest(scorer_docstring(), {}, "scorer", None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


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
        if ">>>" not in (one.__doc__ or "") and one.__module__.startswith(simulate.__name__)
    ] == []


def test_the_version_to_cite_is_this_one():
    text = (DOCS / "citing.md").read_text(encoding="utf-8")
    assert re.search(r"version = \{(.*)\}", text)[1] == cb.__version__
