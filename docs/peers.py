"""Write the tables of peers.md and how-to/from-netcal.md from docs/peers.json and benchmarks/*.md.

`make bench` makes both: benchmarks/peers.py asks the peers, and the other benchmarks measure time.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kept import filled, kept

DOCS = Path(__file__).parent
BENCHMARKS = DOCS.parent / "benchmarks"
PAGES = (DOCS / "peers.md", DOCS / "how-to" / "from-netcal.md")

NAMES = {"mapie": "MAPIE", "mcgrad": "MCGrad"}
#: What a measure measures, in the words of the page.
TARGETS = {"range": "all ranges", "one end": "from the lowest score", "bins": "ten bins"}
NONE = "–"
#: Differences of this size come from rounding, or from where an optimiser stops.
ROUNDING = 1e-12


def name_of(peer: str) -> str:
    """Return what a package calls itself."""
    return NAMES.get(peer, peer)


def table(head: list[str], lines: Iterable[list[str]], aligned: str) -> Iterator[str]:
    """Yield the lines of a table; `aligned` has an l or an r for each column."""
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join({"l": ":--", "r": "--:"}[one] for one in aligned) + " |"
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def number(answer: Any) -> str:
    """Show an answer: a number, or the kind of an error."""
    if isinstance(answer, str):
        return "NaN" if answer == "nan" else f"error ({answer.partition(':')[0]})"
    return f"{answer:.4g}"


def difference(value: float) -> str:
    """Show a difference, or that it is of rounding only."""
    return "under 1e-12" if value < ROUNDING else f"{value:.0e}"


def asked(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the measures that answered."""
    return [one for one in results["measures"] if "answers" in one]


def shown(one: dict[str, Any]) -> str:
    """Return package and name of a measure."""
    return f"{name_of(one['peer'])} `{one['name']}`"


def versions(results: dict[str, Any]) -> Iterator[str]:
    """Say what was asked."""
    found = results["versions"]
    named = ", ".join(f"{name_of(peer)} {found[peer]}" for peer in sorted(found))
    yield f"Asked with Python {results['python']}: {named}."


def _held(results: dict[str, Any], holds: Any) -> list[str]:
    """Return the packages of whose measure over all ranges something holds."""
    ranges = [one for one in asked(results) if one["target"] == "range"]
    return [one["peer"] for one in ranges if holds(one["answers"])]


def features(results: dict[str, Any]) -> Iterator[str]:
    """Show what is where; two rows come from what was answered."""
    right = results["right"]["range"]
    pooled = _held(results, lambda found: set(found["ties"].values()) == {right["ties"]})
    begun = _held(results, lambda found: found["one row"] == right["one row"])
    first, *others = results["features"].items()
    rows = [first, ("… with equal scores pooled", pooled), ("… that starts at 0", begun), *others]
    lines = []
    for row, has in rows:
        also = [name_of(peer) for peer in has if peer != "calibrant"]
        lines.append([row, "yes" if "calibrant" in has else NONE, ", ".join(also) or NONE])
    return table(["", "calibrant", "others"], lines, "lll")


def moved(one: dict[str, Any]) -> bool:
    """Whether an answer changed with the order of rows, or from one run to the next."""
    found = one["answers"]
    return found["ties"]["least"] != found["ties"]["most"] or not found["same twice"]


def ties(results: dict[str, Any]) -> Iterator[str]:
    """Compare the answers to the same rows in other orders; those that never move are left out."""
    lines = []
    for one in asked(results):
        if not (moved(one) or one["peer"] == "calibrant"):
            continue
        found, right = one["answers"], results["right"].get(one["target"], {}).get("ties")
        least, most = number(found["ties"]["least"]), number(found["ties"]["most"])
        again = "yes" if found["same twice"] else "no"
        over = TARGETS.get(one["target"], one["target"])
        exact = "" if right is None else number(right)
        lines.append([shown(one), over, least, most, exact, again])
    head = ["measure", "over", "least", "largest", "right", "same twice"]
    return table(head, lines, "llrrrl")


def p_values(results: dict[str, Any]) -> Iterator[str]:
    """Compare the p-values of the same rows in other orders."""
    lines = [
        [shown(one), number(one["least"]), number(one["most"])]
        for one in results["p_values"]
        if "least" in one
    ]
    return table(["test", "least", "largest"], lines, "lrr")


CORNERS = ("one row", "three rows", "one class", "weights")


def start(results: dict[str, Any]) -> Iterator[str]:
    """Compare answers where the worst range begins at the lowest score, and with weights.

    A measure over bins is left out if all of its answers are right.
    """
    lines = []
    for target, words in TARGETS.items():
        right = results["right"][target]
        lines.append([f"**right**, {words}", *(number(right[corner]) for corner in CORNERS)])
        for one in asked(results):
            found = {name: answer for name, answer in one["answers"].items() if name in CORNERS}
            told = target != "bins" or any(found[name] != right[name] for name in found)
            if one["target"] == target and (told or one["peer"] == "calibrant"):
                answers = [number(found[name]) if name in found else NONE for name in CORNERS]
                lines.append([shown(one), *answers])
    head = ["measure", "one row", "three rows", "all events", "weights"]
    return table(head, lines, "lrrrr")


def outside(results: dict[str, Any]) -> Iterator[str]:
    """Show what becomes of a score of 1.25, of NaN, and of no rows."""
    columns = ("outside", "not a number", "no rows")
    lines = [
        [shown(one), *(number(one["answers"][column]) for column in columns)]
        for one in asked(results)
    ]
    return table(["measure", "a score of 1.25", "NaN", "no rows"], lines, "llll")


def _code(name: str) -> str:
    """Set a name in type, and not what comes after a comma."""
    code, comma, words = name.partition(", ")
    return f"`{code}`{comma}{words}"


def same(results: dict[str, Any], only: str = "") -> Iterator[str]:
    """Show the largest difference between what should be the same number."""
    lines = [
        [
            name_of(one["peer"]),
            _code(one["theirs"]),
            f"`{one['ours']}`",
            difference(one["difference"]),
        ]
        for one in results["same"]
        if "difference" in one and (one["peer"] == only or not only)
    ]
    head = ["calibrant", "largest difference"]
    if only:
        return table([only, *head], [line[1:] for line in lines], "llr")
    return table(["package", "there", *head], lines, "lllr")


def netcal(results: dict[str, Any]) -> Iterator[str]:
    """Show what was tried with netcal alone."""
    said = {
        "edge": "`HistogramBinning(4)`, both fitting rows at 0.25 events, asked at 0.25",
        "quantile bins": "`HistogramBinning(equal_intervals=False)`, `transform`",
        "saved and loaded": "`save_model`, then `load_model`",
        "weights": "`fit(..., sample_weight=...)`",
    }
    lines = [[said[name], f"{results['netcal'][name]}"] for name in said]
    return table(["what was tried", "what came of it"], lines, "ll")


# -- time ---------------------------------------------------------------------------------------


def cells(line: str) -> list[str]:
    """Split a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def medians(text: str, column: str) -> dict[str, str]:
    """Read the medians of a column, for each number of rows, off a page of benchmarks."""
    rows, head, found = "", [], {}
    for line in text.splitlines():
        if line.startswith("### "):
            rows = line.split()[1]
        elif line.startswith("|") and column in cells(line):
            head = cells(line)
        elif line.startswith("|") and "**median**" in line:
            size = cells(line)[head.index("rows")] if "rows" in head else rows
            found[size] = cells(line)[head.index(column)].removesuffix("x")
    return found


#: What is compared, with what, and where the benchmark has it.
SPEED = (
    ("error over all ranges", "MAPIE `kuiper_statistic`", "measure", "MAPIE"),
    ("error over all ranges", "MCGrad `ecce`", "measure", "MCGrad"),
    ("error over all ranges", "`calibration_curve`, bins only", "measure", "calibration_curve"),
    ("error over all ranges", "numpy, by hand", "measure", "argsort"),
    ("isotonic fit", "scikit-learn", "recalibrate", "times faster"),
    ("Venn-Abers, fit and pairs", "venn-abers", "venn", "times faster"),
)
SIZES = ("10,000", "100,000", "1,000,000", "10,000,000")


def speed(_: dict[str, Any]) -> Iterator[str]:
    """Show how many times longer others take, as the benchmarks have it."""
    lines = []
    for what, whom, page, column in SPEED:
        found = medians((BENCHMARKS / f"{page}.md").read_text(encoding="utf-8"), column)
        times = [found.get(size, "") for size in SIZES]
        lines.append([f"[{what}](benchmarks/{page}.md)", whom, *times])
    powers = (f"10^{size.count('0')} rows" for size in SIZES)
    return table(["what", "against", *powers], lines, "llrrrr")


TABLES = {
    "versions": versions,
    "features": features,
    "speed": speed,
    "ties": ties,
    "p-values": p_values,
    "start": start,
    "outside": outside,
    "same": same,
    "same netcal": lambda results: same(results, "netcal"),
    "netcal": netcal,
}


def written(text: str, results: dict[str, Any]) -> str:
    """Return a page with its tables made anew."""
    parts = {
        name: "\n".join(lines(results))
        for name, lines in TABLES.items()
        if f"<!-- {name} -->" in text  # of two pages each has some
    }
    return filled(text, parts)


def main() -> None:
    """Write the tables anew."""
    results = kept("peers")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(written(text, results), encoding="utf-8")


if __name__ == "__main__":
    main()
