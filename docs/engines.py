"""Write the tables of docs/engines.md from docs/engines.json, which `make bench-engines` makes."""

from pathlib import Path
from typing import Any

import numpy as np

from kept import filled, kept, table

DOCS = Path(__file__).parent
TEXT = DOCS / "engines.md"
LARGE = 10**9


def fitted(points: list[dict[str, Any]]) -> tuple[float, float]:
    """Fit seconds = start + each * rows, by least squares of relative errors."""
    rows = np.array([point["rows"] for point in points], dtype=float)
    taken = np.array([point["seconds"] for point in points])
    design = np.stack([1 / taken, rows / taken], axis=1)
    start, each = np.linalg.lstsq(design, np.ones(len(points)), rcond=None)[0]
    return float(start), float(each)


def side_by_side(results: dict[str, Any]) -> str:
    """Compare every engine with what one would write by hand in it."""
    lines = []
    for one in results["side_by_side"]:
        ratio, share = one["hand"] / one["ours"], one["fetched"] / one["rows"]
        times = [f"{one['hand']:.1f} s", f"{one['ours']:.1f} s", f"{ratio:.1f}"]
        lines.append([one["engine"], *times, f"{one['fetched']:,}", f"{share:.1%}"])
    head = ["engine", "by hand", "calibrant", "ratio", "rows sent back", "of all rows"]
    return table(head, lines)


def growth(results: dict[str, Any]) -> str:
    """Show how time, rows and bytes grow."""
    lines = []
    for one in results["growth"]:
        sent, power = sum(one["fetched"]), round(np.log10(one["rows"]))
        times = [f"10^{power}", f"{one['seconds']:.2f} s", str(len(one["fetched"]))]
        share = f"{sent / one['rows']:.2%}"
        lines.append([one["engine"], *times, f"{sent:,}", share, f"{one['bytes'] / 1e6:.1f} MB"])
    head = ["engine", "rows", "time", "queries", "rows sent back", "of all rows", "bytes sent back"]
    return table(head, lines)


def models(results: dict[str, Any]) -> str:
    """Show the model of cost that fits, and what it says of a large table."""
    lines = []
    for engine in dict.fromkeys(one["engine"] for one in results["growth"]):
        points = [one for one in results["growth"] if one["engine"] == engine]
        start, each = fitted(points)
        off = [abs(start + each * one["rows"] - one["seconds"]) / one["seconds"] for one in points]
        minutes = (start + each * LARGE) / 60
        cost = [f"{start:.2f} s", f"{each * 1e6:.3f} s", f"{max(off):.0%}"]
        last = max(points, key=lambda one: one["rows"])
        straight = last["seconds"] * LARGE / last["rows"] / 60
        lines.append([engine, *cost, f"{minutes:.1f} minutes", f"{straight:.1f} minutes"])
    head = ["engine", "start", "for each 10^6 rows", "worst error of the fit"]
    head += ["so for 10^9 rows", "ten times 10^8 rows"]
    return table(head, lines)


def written(text: str, results: dict[str, Any]) -> str:
    """Return the page with its tables made anew."""
    parts = {"side": side_by_side, "growth": growth, "models": models}
    return filled(text, {name: make(results) for name, make in parts.items()})


def main() -> None:
    """Write the tables anew."""
    results = kept("engines")
    text = TEXT.read_text(encoding="utf-8")
    TEXT.write_text(written(text, results), encoding="utf-8")


if __name__ == "__main__":
    main()
