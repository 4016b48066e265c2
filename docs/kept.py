"""Results that are kept as JSON, and pages that are filled from them.

Whatever stands between `<!-- name -->` and `<!-- end -->` on a page is made from results.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent


def rounded(value: Any) -> Any:
    """Round numbers to six digits, which keeps the file small and the same everywhere."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def keep(name: str, found: Any) -> None:
    """Write what was measured for a page."""
    text = json.dumps(rounded(found), indent=1) + "\n"
    (DOCS / f"{name}.json").write_text(text, encoding="utf-8")


def kept(name: str) -> dict[str, Any]:
    """Return what was measured for a page."""
    found: dict[str, Any] = json.loads((DOCS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def filled(text: str, parts: Mapping[str, str]) -> str:
    """Return a page with its parts made anew; every part has its place on it."""
    for name, made in parts.items():
        begin, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}{made}\n{rest[rest.index(end) :]}"
    return text


def table(head: list[str], lines: Iterable[list[str]]) -> str:
    """Return a table, numbers to the right of the first column."""
    rows = [head, [":--", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
