"""Pages and pictures that are made by code are the ones it makes now."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(f"{name}_script", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_current():
    commands = script("commands")
    assert commands.PAGE.read_text(encoding="utf-8") == commands.page(), "run make pictures"


def test_the_glossary_is_current():
    glossary = script("glossary")
    assert glossary.PAGE.read_text(encoding="utf-8") == glossary.page(), "run make pictures"


def test_the_terminal_is_the_one_the_code_draws():
    committed = (DOCS / "pictures" / "audit.svg").read_text(encoding="utf-8")
    assert script("pictures").terminal_picture() == committed, "run make pictures"
