"""The notebook of the tutorial is the page, cell by cell, and Jupyter can read it."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("notebook_script", DOCS / "notebook.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
PAGE = script.PAGE.read_text(encoding="utf-8")
COMMITTED = json.loads(script.NOTEBOOK.read_text(encoding="utf-8"))
CODE = [cell for cell in COMMITTED["cells"] if cell["cell_type"] == "code"]


def text(parts):
    return "".join(parts)


def test_the_notebook_is_made_from_the_page():
    assert script.NOTEBOOK.read_text(encoding="utf-8") == script.notebook(PAGE), "run make outputs"


def test_the_notebook_is_of_format_4_5():
    assert (COMMITTED["nbformat"], COMMITTED["nbformat_minor"]) == (4, 5)
    assert COMMITTED.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    names = [cell["id"] for cell in COMMITTED["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    common = {"id", "cell_type", "metadata", "source"}
    kinds = {"markdown": common, "code": common | {"execution_count", "outputs"}}
    for cell in COMMITTED["cells"]:
        assert cell.keys() == kinds[cell["cell_type"]]
        assert isinstance(text(cell["source"]), str)
    assert [cell["execution_count"] for cell in CODE] == list(range(1, len(CODE) + 1))
    for output in (output for cell in CODE for output in cell["outputs"]):
        if output["output_type"] == "stream":
            assert output.keys() == {"output_type", "name", "text"}
        else:
            assert output.keys() == {"output_type", "data", "metadata"}


def test_a_reader_of_the_format_takes_it():
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(COMMITTED)


def test_code_and_outputs_are_those_of_the_page():
    assert [text(cell["source"]) + "\n" for cell in CODE] == re.findall(
        r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
    )
    said = [output for cell in CODE for output in cell["outputs"] if "text" in output]
    assert [text(output["text"]) for output in said] == re.findall(
        r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
    )


def test_it_shows_the_picture_and_stands_by_itself():
    [drawn] = [output for cell in CODE for output in cell["outputs"] if "data" in output]
    picture = (DOCS / "pictures" / "tutorial.svg").read_text(encoding="utf-8")
    assert text(drawn["data"]["image/svg+xml"]) == picture
    words = "\n".join(text(cell["source"]) for cell in COMMITTED["cells"] if cell not in CODE)
    assert "](" not in words
    assert "Download" not in words
    assert "Which number do I need? has more" in words


def test_each_output_belongs_to_the_cell_before_it():
    page = (
        "# A\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n[b](c.md) and [d](https://e.org)\n"
    )
    first, code, last = script.cells(page)
    assert (text(first["source"]), text(last["source"])) == ("# A", "b and [d](https://e.org)")
    assert [text(output["text"]) for output in code["outputs"]] == ["1\n"]
