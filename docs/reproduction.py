"""Make docs/reproduction.md and its pictures from docs/reproduction.json.

The JSON file is what `calibrant reproduce all` wrote; `make reproduction` runs both.
"""

from pathlib import Path
from typing import Any

from calibrant.experiments.page import markdown_of
from calibrant.experiments.pictures import pictures_of, rendered
from kept import kept

DOCS = Path(__file__).parent
PICTURES = {
    name: f"pictures/{name}.svg" for name in ("figure1", "figure2", "figure3", "conjecture")
}


def page(results: dict[str, Any]) -> str:
    """Return the Markdown page."""
    return markdown_of(results, PICTURES)


def main() -> None:
    """Write the page and its pictures."""
    results = kept("reproduction")
    for name, figure in pictures_of(results).items():
        (DOCS / PICTURES[name]).write_bytes(rendered(figure, "svg"))
    (DOCS / "reproduction.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
