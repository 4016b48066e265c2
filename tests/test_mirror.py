"""Tests mirror src: whoever changes a module finds its tests under the same path."""

from pathlib import Path

import calibrant as cb

TESTS = Path(__file__).parent
SOURCE = Path(cb.__file__).parent
#: Folders whose tests span rooms, and what they ask.
SPANNING = {
    "docs": "the pages, and what they print",
    "engines": "servers, which run in a process of their own",
    "fuzz": "hostile command lines",
    "golden": "what earlier versions wrote",
    "install": "an installation from nothing",
    "kills": "commands that are stopped at any moment",
    "validity": "guarantees, by simulation",
}
#: Files by themselves that span rooms, or mirror what is no module of the package.
WITHOUT_MODULE = {
    "test_calibrant_command.py": "the module next to the package that starts the command",
    "test_imports.py": "the order of all modules",
    "test_mirror.py": "this file",
    "test_public_names.py": "what the package shows",
    "test_rubbish.py": "every public function, given anything",
    "report/test_browser.py": "the report in a browser, which make test-browser starts",
}
#: Modules without code that could fail.
WITHOUT_TESTS = {
    "__main__.py": "a call of the command, as tests in a process of their own start it",
    "_types.py": "names of types",
    "_version.py": "a constant",
    "cli/options.py": "declarations; tests of commands give each of them",
}


def modules():
    paths = (path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
    return {path.as_posix() for path in paths if path.name != "__init__.py"}


def mirror_of(module):
    """Return the test file of a module: `_text.py` is tested in `test_text.py`."""
    path = Path(module)
    return path.with_name(f"test_{path.name.removeprefix('_')}").as_posix()


def files_of_tests():
    return {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}


def test_every_module_has_its_tests():
    known = files_of_tests()
    missing = {one for one in modules() if mirror_of(one) not in known}
    assert missing == set(WITHOUT_TESTS)


def test_every_file_of_tests_has_its_module():
    mirrors = {mirror_of(one) for one in modules()}
    left = {one for one in files_of_tests() - mirrors if one.split("/")[0] not in SPANNING}
    assert left == set(WITHOUT_MODULE)


def test_every_exception_is_there_and_has_a_reason():
    assert all((TESTS / folder).is_dir() for folder in SPANNING)
    for exceptions in (SPANNING, WITHOUT_MODULE, WITHOUT_TESTS):
        assert all(exceptions.values())
