"""Write docs/certificates.md: how wide each certificate is, and how often it held."""

import math
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import calibrant as cb
from calibrant.certify import bounds
from calibrant.certify.betting import betting
from calibrant.certify.certify import rows_need
from calibrant.certify.evidence import counts_of, every_cell, evidence_of
from calibrant.certify.methods import Terms
from calibrant.certify.plan import expected_evidence
from calibrant.certify.testing import suited_test
from calibrant.diagram import resolve
from calibrant.measure.extremes import extremes_need
from calibrant.simulate import Law, calibrated, laws

FOLDER = Path(__file__).parent
V0 = 1 / 6  # the mean of f (1 - f) for uniform scores
SIZES = {50: 400, 200: 400, 1000: 300, 10_000: 100}
COLUMNS = (
    "betting",
    "certified",
    "certified, both",
    "band, both",
    "asymptotic",
    "asymptotic, both",
)


def upper(method: str, n: int) -> float:
    """Return how far the bound lies above c_emp, for an average calibrated sample."""
    evidence = expected_evidence(n, V0)
    if method == "oracle":
        return 1.6449 * math.sqrt(V0 / n)
    found = {
        "certified": bounds.certified,
        "band": bounds.band,
        "fixed design": bounds.fixed_design,
        "asymptotic": bounds.asymptotic,
        "isotonic, own rows": bounds.isotonic,
        "the paper's": bounds.gao2017,
        "the paper's, as printed": partial(bounds.gao2017, printed=True),
    }[method](evidence, 0.05)
    return found.upper - evidence.c_emp


def betting_width(n: int) -> float:
    """Average the width of betting, which has no formula."""
    widths = []
    for seed in range(30):
        found = cb.certify(*calibrated().draw(n, seed=seed)[:2], method="betting", seed=seed)
        widths.append(found.upper - found.c_emp)
    return float(np.mean(widths))


def draw_widths(path: Path) -> None:
    """Draw width against the number of rows, all methods."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    sizes = np.unique(np.geomspace(100, 10**6, 33).astype(int))
    styles = {
        "the paper's": ("#555555", ":"),
        "the paper's, as printed": ("#999999", ":"),
        "isotonic, own rows": ("#E69F00", "-."),
        "band": ("#0072B2", "--"),
        "fixed design": ("#56B4E9", "-."),
        "certified": ("#D55E00", "-"),
        "asymptotic": ("#CC79A7", "--"),
        "oracle": ("#000000", ":"),
    }
    for method, (color, style) in styles.items():
        widths = [upper(method, int(n)) for n in sizes]
        axes.plot(sizes, widths, color=color, linestyle=style, linewidth=2, label=method)
    few = [100, 200, 500, 1000, 2000, 4999]
    bets = [betting_width(n) for n in few]
    axes.plot(few, bets, color="#009E73", marker="o", linewidth=2, label="betting")
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="upper bound minus measured error")
    axes.set_title("95% upper bounds on the true calibration error, calibrated uniform scores")
    axes.grid(visible=True, which="major", color="#dddddd")
    axes.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "calibrant"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def held(law: Law, rows: int, times: int) -> dict[str, float]:
    """Return the share of samples on which each interval held the truth."""
    count = dict.fromkeys(COLUMNS, 0)
    for seed in range(times):
        y_true, y_prob, _ = law.draw(rows, seed=10_000 + seed)
        source = cb.Predictions(y_true, y_prob).source
        exact = rows_need(Terms(method="asymptotic", sided="both"))
        diagram = resolve(source, extremes_need, every_cell if rows < 5000 else exact)
        evidence = evidence_of(diagram)
        p_value = suited_test(diagram, evidence, 999, seed).p_value
        found = {
            "certified": bounds.certified(evidence, 0.05),
            "certified, both": bounds.certified(evidence, 0.05, "both"),
            "band, both": bounds.band(evidence, 0.05, "both"),
            "asymptotic": bounds.asymptotic(evidence, 0.05),
            "asymptotic, both": bounds.asymptotic(evidence, 0.05, "both", p_value=p_value),
        }
        if rows < 5000:
            counts = counts_of(diagram, "a bet")
            found["betting"] = betting(counts, evidence.c_emp, 0.05, seed=seed)
        for name, bound in found.items():
            truth = law.calibration_error
            count[name] += bound.lower - 1e-12 <= truth <= bound.upper + 1e-12
        if rows >= 5000:
            count["betting"] = -times
    return {name: number / times for name, number in count.items()}


def coverage_table() -> list[str]:
    """Return, for each number of rows, the lowest share over all laws."""
    lines = ["| rows | samples of each law | " + " | ".join(COLUMNS) + " |"]
    lines.append("| --: | --: |" + " --: |" * len(COLUMNS))
    for rows, times in SIZES.items():
        shares = [held(law, rows, times) for law in laws()]
        lowest = {name: min(share[name] for share in shares) for name in COLUMNS}
        cells = [f"{value:.3f}" if value >= 0 else "-" for value in lowest.values()]
        lines.append(f"| {rows:,} | {times} | " + " | ".join(cells) + " |")
    return lines


def width_table() -> list[str]:
    """Return the widths in numbers."""
    methods = ("oracle", "asymptotic", "certified", "fixed design", "band", "the paper's")
    lines = ["| rows | " + " | ".join(methods) + " |", "| --: |" + " --: |" * len(methods)]
    for rows in (10**2, 10**3, 10**4, 10**5, 10**6):
        cells = [f"{upper(method, rows):.2g}" for method in methods]
        lines.append(f"| {rows:,} | " + " | ".join(cells) + " |")
    return lines


TEXT = """# Certificates: how tight, and how true

Made by `make certificates`.

A certificate bounds the true calibration error c(f) of the population from the rows of a sample.
`certify` picks `betting` below 5,000 rows and `certified` from there on; both hold for any number
of rows, any model and any data, if the rows are independent draws that the model was not trained or
chosen on.

## How wide

![Width against the number of rows](pictures/widths.svg)

How far the 95% upper bound lies above the error measured, for calibrated uniform scores. The oracle
knows the worst interval and its variance; nobody can do better with a normal limit.

{widths}

Why so much tighter than the paper's: an upper bound needs no uniform convergence. The population's
worst interval is fixed, the measured error is at least the sample's error in it, and that is the
mean of independent draws. So the tail of one mean is enough.

## How often it held

The lowest share of samples, over the {laws} laws of `calibrant.simulate`, in which the interval
held the true calibration error; 0.95 was promised. A share of few samples is itself uncertain
(0.011 at 400, 0.022 at 100, one standard error). `asymptotic` is a normal limit and promises this
for many rows only. `make validity` repeats all of it with more samples, and adds exact sums for one
atom, clusters, groups, and counterexamples that must fail.

{coverage}
"""


def main() -> None:
    """Write the page and its picture."""
    draw_widths(FOLDER / "pictures" / "widths.svg")
    text = TEXT.format(
        widths="\n".join(width_table()), laws=len(laws()), coverage="\n".join(coverage_table())
    )
    (FOLDER / "certificates.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
