"""Make docs/tutorial.ipynb from docs/tutorial.md: its text, its code, and what the code prints.

The page is tested like any other, so the notebook says what is true. `make outputs` makes both.
"""

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE, NOTEBOOK = DOCS / "tutorial.md", DOCS / "tutorial.ipynb"
FENCE = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[([^\]]*)\]\((pictures/[\w-]+\.svg)\)")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")


def pieces(page: str) -> list[tuple[str, str]]:
    """Split a page into text ("markdown"), code ("python") and what it prints ("text")."""
    found, end = [], 0
    for fence in FENCE.finditer(page):
        found += [("markdown", page[end : fence.start()]), (fence[1], fence[2])]
        end = fence.end()
    return [*found, ("markdown", page[end:])]


def words(text: str) -> str:
    """Return text that stands by itself: no offer of a download, and no links to other pages."""
    paragraphs = PICTURE.sub("", text).strip().split("\n\n")
    kept = [one for one in paragraphs if f"]({NOTEBOOK.name})" not in one]
    return LINK.sub(r"\1", "\n\n".join(kept)).strip()


def lines(text: str) -> list[str]:
    """Return text as notebooks keep it."""
    return text.splitlines(keepends=True)


def printed(text: str) -> dict[str, Any]:
    """Return the output of a cell that prints."""
    return {"name": "stdout", "output_type": "stream", "text": lines(text)}


def shown(picture: str, meaning: str) -> dict[str, Any]:
    """Return the output of a cell that draws."""
    drawn = (DOCS / picture).read_text(encoding="utf-8")
    data = {"image/svg+xml": lines(drawn), "text/plain": [" ".join(meaning.split())]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def cells(page: str) -> list[dict[str, Any]]:
    """Return the cells, each with a name of its own that is the same every time."""
    made: list[dict[str, Any]] = []
    count = 0
    for kind, text in pieces(page):
        if kind == "text":
            made[-1]["outputs"].append(printed(text))
            continue
        if kind == "python":
            count += 1
            cell = {"cell_type": "code", "execution_count": count, "outputs": []}
            made.append(cell | {"metadata": {}, "source": lines(text.rstrip("\n"))})
            continue
        for meaning, picture in PICTURE.findall(text):
            made[-1]["outputs"].append(shown(picture, meaning))
        if words(text):
            made.append({"cell_type": "markdown", "metadata": {}, "source": lines(words(text))})
    return [{"id": f"cell-{number:02}"} | cell for number, cell in enumerate(made, 1)]


def notebook(page: str) -> str:
    """Return the notebook of a page, in format 4.5."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells(page),
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main() -> None:
    """Write the notebook."""
    NOTEBOOK.write_text(notebook(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
