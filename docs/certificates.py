"""Make docs/certificates.md and its picture from docs/certificates.json; `--run` makes that anew.

`make certificates` runs the measurements, which takes some minutes.
"""

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.betting import betting
from calibrant.certificates.certify import rows_need
from calibrant.certificates.evidence import counts_of, every_cell, evidence_of
from calibrant.certificates.plan import expected_evidence
from calibrant.certificates.specification import BETTING_BELOW, CertificateSpec
from calibrant.certificates.testing import suited_test
from calibrant.core.diagram import resolve
from calibrant.core.extremes import extremes_need
from calibrant.experiments.pictures import rendered
from calibrant.experiments.run import versions
from calibrant.simulate import Law, calibrated, laws
from kept import keep, kept

DOCS = Path(__file__).parent
TEXT = DOCS / "certificates.md"
DELTA = 0.05
V0 = 1 / 6  # the mean of f (1 - f) for uniform scores
#: How many rows a sample has, and how many samples of each law are drawn.
SIZES = {50: 400, 200: 400, 1000: 300, 10_000: 100}
#: From here on `certify` does not bet, and the rows are not opened one by one.
MANY = BETTING_BELOW
#: Calibrated scores on which the two methods are compared, by the parameters of a beta law.
SCORES = {
    "near 0.5": (1e4, 1e4),
    "uniform": (1, 1),
    "near 0 and 1": (0.3, 0.3),
    "20% events": (1, 4),
    "5% events": (1, 19),
    "1% events": (1, 99),
    "0.1% events": (0.5, 499.5),
}
SWITCH = {300: 60, 1000: 40, 2000: 30, 3000: 30, 5000: 20, 10_000: 10}
#: Bounds with a formula.
BOUNDS = {
    "certified": bounds.certified,
    "band": bounds.band,
    "fixed design": bounds.fixed_design,
    "asymptotic": bounds.asymptotic,
    "isotonic, own rows": bounds.isotonic,
    "the paper's": bounds.gao2017,
    "the paper's, as printed": partial(bounds.gao2017, printed=True),
}
STYLES = {
    "the paper's": ("#555555", ":"),
    "the paper's, as printed": ("#999999", ":"),
    "isotonic, own rows": ("#E69F00", "-."),
    "band": ("#0072B2", "--"),
    "fixed design": ("#56B4E9", "-."),
    "certified": ("#D55E00", "-"),
    "asymptotic": ("#CC79A7", "--"),
    "oracle": ("#000000", ":"),
}
#: What the tables show.
WIDTHS = ("oracle", "asymptotic", "certified", "fixed design", "band", "the paper's")
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
    if method == "oracle":
        return 1.6449 * math.sqrt(V0 / n)
    evidence = expected_evidence(n, V0)
    return BOUNDS[method](evidence, DELTA).upper - evidence.c_emp


def betting_width(n: int, samples: int) -> float:
    """Average the width of betting, which has no formula."""
    widths = []
    for seed in range(samples):
        found = cb.certify(*calibrated().draw(n, seed=seed)[:2], method="betting")
        widths.append(found.upper - found.c_emp)
    return float(np.mean(widths))


def mean_bounds(scores: tuple[float, float], n: int, samples: int) -> tuple[float, float]:
    """Average the 95% bounds of betting and certified on calibrated scores."""
    found = []
    for seed in range(samples):
        y_true, y_prob, _ = calibrated(*scores).draw(n, seed=seed)
        diagram = resolve(cb.Predictions(y_true, y_prob).source, every_cell)
        evidence = evidence_of(diagram)
        bet = betting(counts_of(diagram, "a bet"), evidence.c_emp, DELTA)
        found.append((bet.upper, bounds.certified(evidence, DELTA).upper))
    bet_mean, certified_mean = np.mean(found, axis=0).tolist()
    return bet_mean, certified_mean


def held(law: Law, rows: int, samples: int) -> dict[str, float]:
    """Return the share of samples on which each interval held the truth."""
    count = dict.fromkeys(COLUMNS if rows < MANY else COLUMNS[1:], 0)
    for seed in range(samples):
        y_true, y_prob, _ = law.draw(rows, seed=10_000 + seed)
        source = cb.Predictions(y_true, y_prob).source
        exact = rows_need(CertificateSpec(method="asymptotic", sided="both"))
        diagram = resolve(source, extremes_need, every_cell if rows < MANY else exact)
        evidence = evidence_of(diagram)
        p_value = suited_test(diagram, evidence, 999, seed).p_value
        found = {
            "certified": bounds.certified(evidence, DELTA),
            "certified, both": bounds.certified(evidence, DELTA, "both"),
            "band, both": bounds.band(evidence, DELTA, "both"),
            "asymptotic": bounds.asymptotic(evidence, DELTA),
            "asymptotic, both": bounds.asymptotic(evidence, DELTA, "both", p_value=p_value),
        }
        if rows < MANY:
            counts = counts_of(diagram, "a bet")
            found["betting"] = betting(counts, evidence.c_emp, DELTA)
        for name, bound in found.items():
            truth = law.calibration_error
            count[name] += bound.lower - 1e-12 <= truth <= bound.upper + 1e-12
    return {name: number / samples for name, number in count.items()}


def measured() -> dict[str, Any]:
    """Measure widths and coverage; every share, law by law, is kept."""
    sizes = np.unique(np.geomspace(100, 10**6, 33).round().astype(int)).tolist()
    few, samples = [100, 200, 500, 1000, 2000, MANY - 1], 30
    return {
        "versions": versions(),
        "delta": DELTA,
        "laws": [{"name": law.name, "c": law.calibration_error} for law in laws()],
        "widths": {
            "rows": sizes,
            **{method: [upper(method, n) for n in sizes] for method in STYLES},
        },
        "betting": {
            "rows": few,
            "samples": samples,
            "widths": [betting_width(n, samples) for n in few],
        },
        "switch": {
            "rows": list(SWITCH),
            "samples": list(SWITCH.values()),
            "bounds": {
                name: [mean_bounds(scores, n, times) for n, times in SWITCH.items()]
                for name, scores in SCORES.items()
            },
        },
        "coverage": [
            {"rows": n, "samples": times, "held": [held(law, n, times) for law in laws()]}
            for n, times in SIZES.items()
        ],
    }


def picture(results: dict[str, Any]) -> Figure:
    """Draw width against the number of rows, all methods."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    widths, bets = results["widths"], results["betting"]
    for method, (color, style) in STYLES.items():
        look = {"color": color, "linestyle": style, "linewidth": 2}
        axes.plot(widths["rows"], widths[method], label=method, **look)
    look = {"color": "#009E73", "marker": "o", "linewidth": 2}
    axes.plot(bets["rows"], bets["widths"], label="betting", **look)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="upper bound minus measured error")
    axes.set_title("95% upper bounds on the true calibration error, calibrated uniform scores")
    axes.grid(visible=True, which="major", color="#dddddd")
    axes.legend(frameon=False)
    return figure


PICTURES = {"widths": picture}


def width_table(results: dict[str, Any]) -> list[str]:
    """Return the widths in numbers."""
    lines = ["| rows | betting | " + " | ".join(WIDTHS) + " |"]
    lines.append("| --: |" + " --: |" * (len(WIDTHS) + 1))
    found = results["widths"]
    bets = dict(zip(results["betting"]["rows"], results["betting"]["widths"], strict=True))
    for rows in (10**2, 10**3, 10**4, 10**5, 10**6):
        at = found["rows"].index(rows)
        cells = [f"{found[method][at]:.2g}" for method in WIDTHS]
        bet = f"{bets[rows]:.2g}" if rows in bets else "-"
        lines.append(f"| {rows:,} | {bet} | " + " | ".join(cells) + " |")
    return lines


def switch_table(results: dict[str, Any]) -> list[str]:
    """Return mean bounds of betting and certified, law by law, and the mean of their ratios."""
    found = results["switch"]
    lines = ["| calibrated scores | " + " | ".join(f"{n:,} rows" for n in found["rows"]) + " |"]
    lines.append("| :-- |" + " --: |" * len(found["rows"]))
    for name, pairs in found["bounds"].items():
        cells = [f"{bet:.4f} / {formula:.4f}" for bet, formula in pairs]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    ratios = np.array(list(found["bounds"].values()))
    means = np.exp(np.log(ratios[:, :, 0] / ratios[:, :, 1]).mean(axis=0))
    lines.append("| *mean ratio* | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    return lines


def coverage_table(results: dict[str, Any]) -> list[str]:
    """Return, for each number of rows, the lowest share over all laws."""
    lines = ["| rows | samples of each law | " + " | ".join(COLUMNS) + " |"]
    lines.append("| --: | --: |" + " --: |" * len(COLUMNS))
    for one in results["coverage"]:
        shares = {name: [law[name] for law in one["held"] if name in law] for name in COLUMNS}
        cells = [f"{min(found):.3f}" if found else "-" for found in shares.values()]
        lines.append(f"| {one['rows']:,} | {one['samples']} | " + " | ".join(cells) + " |")
    return lines


def deviations(results: dict[str, Any]) -> str:
    """Say how uncertain a share is, for the most and for the fewest samples."""
    delta, samples = results["delta"], [one["samples"] for one in results["coverage"]]
    each = [
        f"{math.sqrt(delta * (1 - delta) / count):.3f} at {count}"
        for count in (max(samples), min(samples))
    ]
    return ", ".join(each)


PAGE = """# Certificates: how tight, and how true

Made by `make certificates`; all numbers are in `docs/certificates.json`, law by law.

A certificate bounds the true calibration error c(f) of the population from the rows of a sample.
`certify` picks `betting` below {switch:,} rows and `certified` from there on; both hold for any
number of rows, any model and any data, if the rows are independent draws that the model was not
trained or chosen on.

## How wide

![Width against the number of rows](pictures/widths.svg)

How far the 95% upper bound lies above the error measured, for calibrated uniform scores. The oracle
knows the worst interval and its variance; nobody can do better with a normal limit.

{widths}

Why so much tighter than the paper's: an upper bound needs no uniform convergence. The population's
worst interval is fixed, the measured error is at least the sample's error in it, and that is the
mean of independent draws. So the tail of one mean is enough.

## Where `auto` switches

Mean 95% upper bounds, `betting` / `certified`, and at the bottom the geometric mean of their
ratios. Betting is narrower for few rows and for rare events. With common events that ends at about
1,000 rows, on average between 3,000 and 5,000; the switch is at {switch:,}. The choice depends on
the number of rows alone, never on the outcomes, so that the confidence holds.

{switch_table}

## How often it held

The lowest share of samples, over the {laws} laws of `calibrant.simulate`, in which the interval
held the true calibration error; {level:g} was guaranteed. A share of few samples is uncertain
({deviations}, one standard error). `asymptotic` is a normal limit and guarantees this
for many rows only. `make validity` repeats all of it with more samples, and adds exact sums for one
atom at every number of rows below {switch:,}, for a few atoms, clusters, groups, and
counterexamples that must fail.

{coverage}
"""


def page(results: dict[str, Any]) -> str:
    """Return the page."""
    return PAGE.format(
        widths="\n".join(width_table(results)),
        laws=len(results["laws"]),
        level=1 - results["delta"],
        switch=MANY,
        switch_table="\n".join(switch_table(results)),
        deviations=deviations(results),
        coverage="\n".join(coverage_table(results)),
    )


def main() -> None:
    """Write the page and its picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="measure first")
    if parser.parse_args().run:
        keep("certificates", measured())
    results = kept("certificates")
    for name, draw in PICTURES.items():
        (DOCS / "pictures" / f"{name}.svg").write_bytes(rendered(draw(results), "svg"))
    TEXT.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
