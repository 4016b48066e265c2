"""Fill docs/paper.md from docs/paper.json, and draw its picture; `--run` makes that file anew.

`make paper` runs the measurements, which takes some minutes. Numbers of the experiments come from
docs/reproduction.json and docs/learning.json, and widths of `certify` from docs/certificates.json.
Whatever stands between `<!-- name -->` and `<!-- end -->` on the page is written here.
"""

import argparse
import textwrap
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.calibrators.fitting import GIVEN_UP
from calibrant.certificates import classes, complexity
from calibrant.experiments.impossibility import impossibility
from calibrant.experiments.page import headline
from calibrant.experiments.pictures import rendered
from calibrant.experiments.run import versions
from calibrant.simulate import Law, laws
from kept import filled, keep, kept, table

DOCS = Path(__file__).parent
TEXT = DOCS / "paper.md"
#: Results of other pages that this one quotes.
OTHERS = ("reproduction", "learning", "certificates")
DELTA = 0.05
READINGS = ("sharp", "proved", "printed")
RARE = "rare events"
#: The laws that verifiers are to tell apart: f is right, and a new adversary for each sample.
RIGHT_OR_NOT = ("true", "new_adversaries")

# Section 2.3: the calibration error against the number of regions

ROWS, FRESH, RUNS = 4000, 20_000, 5
COUNTS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
KINDS = {
    "tree": ("leaves of a tree", "#0072B2", "o"),
    "kmeans": ("cells of k-means", "#E69F00", "s"),
}


def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels with a known dependence on them."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 3))
    odds = 1.5 * features[:, 0] - features[:, 1] ** 2 + 1
    return features, rng.random(rows) < expit(odds)


def errors(kind: str, regions: int) -> tuple[float, float]:
    """Return the calibration error on fitting rows and on fresh ones, mean over runs."""
    found = []
    for run in range(RUNS):
        (rows, y), (fresh, later) = data(ROWS, 2 * run), data(FRESH, 2 * run + 1)
        model = cb.PartitionClassifier(kind, regions=regions, random_state=0).fit(rows, y)
        own = cb.calibration_error(y, model.predict_proba(rows)[:, 1])
        found.append((own, cb.calibration_error(later, model.predict_proba(fresh)[:, 1])))
    own, other = np.mean(found, axis=0).tolist()
    return own, other


def regions() -> dict[str, Any]:
    """Measure partitions learned from ROWS rows, on those and on FRESH others."""
    found = {kind: [errors(kind, count) for count in COUNTS] for kind in KINDS}
    return {
        "rows": ROWS,
        "fresh_rows": FRESH,
        "runs": RUNS,
        "regions": COUNTS,
        "own": {kind: [own for own, _ in pairs] for kind, pairs in found.items()},
        "fresh": {kind: [fresh for _, fresh in pairs] for kind, pairs in found.items()},
    }


# Theorem 2: how much wider its readings are than the gaps that samples show

Gap = tuple[float, list[float]]


def compared(about: str, law: str, rows: int, found: Iterable[Gap]) -> dict[str, Any]:
    """Compare gaps |c(f) - c_emp| with the widths of the readings, a pair for each sample.

    `seen` is the 95% quantile of the gaps over samples: a width that knew the law could be as
    small. `times` is the mean width over that, and `missed` counts the gaps that are wider.
    """
    pairs = list(found)
    gaps, widths = np.array([gap for gap, _ in pairs]), np.array([width for _, width in pairs])
    seen = float(np.quantile(gaps, 1 - DELTA))
    return {
        "about": about,
        "law": law,
        "rows": rows,
        "samples": len(gaps),
        "seen": seen,
        "times": dict(zip(READINGS, (widths.mean(axis=0) / seen).tolist(), strict=True)),
        "missed": dict(
            zip(READINGS, (gaps[:, None] > widths + 1e-12).sum(axis=0).tolist(), strict=True)
        ),
    }


def widths_of(found: complexity.Complexity) -> list[float]:
    """Return the width of each reading."""
    return [found.width(1 - DELTA, reading) for reading in READINGS]


def one_model(law: Law, rows: int = 200, samples: int = 300) -> Iterable[Gap]:
    """Draw samples for one fixed f, of a law whose calibration error is known."""
    for seed in range(samples):
        sample = law.draw(rows, seed=seed)
        gap = abs(law.calibration_error - cb.calibration_error(sample.y_true, sample.y_prob))
        yield gap, widths_of(complexity.of_scores(sample.y_prob))


def many_models(rows: int = 300, samples: int = 300) -> Iterable[Gap]:
    """Find the widest gap of 20 models: no choice among them, by whatever rule, does worse.

    A row has a place t, uniform, at which the event has the chance t. A model says
    t + a sin(2 pi k t), cut to [0, 1].
    """
    kinds = [(size, waves) for size in (-0.3, -0.1, 0.0, 0.1, 0.3) for waves in (1, 2, 3, 5)]

    def said(place: np.ndarray, size: float, waves: int) -> np.ndarray:
        return np.clip(place + size * np.sin(2 * np.pi * waves * place), 0, 1)

    grid = (np.arange(100_000) + 0.5) / 100_000
    truth = [cb.calibration_error(grid, said(grid, *kind)) for kind in kinds]
    for seed in range(samples):
        rng = np.random.default_rng(seed)
        place = rng.random(rows)
        y = rng.random(rows) < place
        scores = np.column_stack([said(place, *kind) for kind in kinds])
        measured = [cb.calibration_error(y, column) for column in scores.T]
        gap = float(np.abs(np.array(truth) - measured).max())
        yield gap, widths_of(complexity.of_models(scores, draws=200, seed=seed))


def own_rows(rows: int = 1500, samples: int = 100) -> Iterable[Gap]:
    """Fit logistic regression where the truth is not logistic, and look at its training rows."""

    def chance(x: np.ndarray) -> np.ndarray:
        return np.asarray(expit(x[:, 0] + np.abs(x[:, 1]) - 1))

    population = np.random.default_rng(10**6).normal(size=(100_000, 3))
    widths = widths_of(classes.of_linear(rows, 3))
    for seed in range(samples):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(rows, 3))
        y = rng.random(rows) < chance(x)
        model = LogisticRegression().fit(x, y)
        truth = cb.calibration_error(chance(population), model.predict_proba(population)[:, 1])
        yield abs(truth - cb.calibration_error(y, model.predict_proba(x)[:, 1])), widths


def convergence() -> list[dict[str, Any]]:
    """Compare the readings of Theorem 2 with gaps, for one model, many, and training rows."""
    with warnings.catch_warnings():  # rare events are often absent from 200 rows, as they should
        warnings.filterwarnings("ignore", "y_true holds a single value")
        one = [compared("one model", law.name, 200, one_model(law)) for law in laws()]
    many = compared("the worst of 20 models", "bent", 300, many_models())
    own = compared("logistic regression on its training rows", "not logistic", 1500, own_rows())
    return [*one, many, own]


def sharp() -> list[dict[str, float]]:
    """Return the sharp width for one model without ties, by the number of rows."""
    return [
        {
            "rows": rows,
            "width": complexity.of_scores(np.linspace(0, 1, rows)).width(1 - DELTA),
        }
        for rows in (10**3, 10**4, 10**5, 10**6)
    ]


# Claim 6: how fast isotonic regression comes near the truth

#: Scores at which the population is summed up: they are uniform, so that F(t) = t.
GRID = (np.arange(20_000) + 0.5) / 20_000
#: P(Y = 1 | f0 = t).
TRUTHS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda t: t,
    "squared": lambda t: t**2,
    "steps": lambda t: np.where(t < 0.3, 0.1, np.where(t < 0.7, 0.4, 0.95)),
    "falling": lambda t: 1 - t,
    "wavy": lambda t: (t + 0.2 * np.sin(20 * t)).clip(0, 1),
}


def minorant(values: np.ndarray) -> np.ndarray:
    """Return the greatest convex minorant of values at 0, 1, 2, ..., by its lower hull."""
    hull: list[tuple[int, float]] = []
    for at, value in enumerate(values.tolist()):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (y1 - y0) * (at - x1) < (value - y1) * (x1 - x0):
                break
            hull.pop()
        hull.append((at, value))
    return np.interp(np.arange(len(values)), *zip(*hull, strict=True))


def distances(truth: Callable[[np.ndarray], np.ndarray], rows: int, samples: int) -> list[float]:
    """Return sup over t of |G_e(t) - cv(F(t))| for isotonic regression on each of many samples."""
    goal = minorant(np.append(0, np.cumsum(truth(GRID)) / len(GRID)))[1:]
    found = []
    for seed in range(samples):
        rng = np.random.default_rng([seed, rows])
        scores = rng.random(rows)
        calibrator = cb.IsotonicCalibrator().fit(scores, rng.random(rows) < truth(scores))
        added = np.cumsum(calibrator.predict(GRID)) / len(GRID)
        found.append(float(np.abs(added - goal).max()))
    return found


def isotonic(samples: int = 40) -> list[dict[str, Any]]:
    """Measure the distance of Claim 6, and its 2 eps for Theorem 2 as proved and as printed.

    Intervals of g(f0), g nondecreasing, are intervals of f0, so that H is that of one model.
    """
    found = []
    for rows in (10**3, 10**4, 10**5):
        one = complexity.of_scores(np.linspace(0, 1, rows))
        far = {name: distances(truth, rows, samples) for name, truth in TRUTHS.items()}
        found.append(
            {
                "rows": rows,
                "samples": samples,
                "median": {name: float(np.median(each)) for name, each in far.items()},
                "largest": max(map(max, far.values())),
                "proved": 2 * one.width(1 - DELTA, "proved"),
                "printed": 2 * one.width(1 - DELTA, "printed"),
            }
        )
    return found


def measured() -> dict[str, Any]:
    """Measure all that the page states and no other page has."""
    return {
        "versions": versions(),
        "delta": DELTA,
        "kept": 1 - GIVEN_UP,
        "impossibility": impossibility(seed=0),
        "regions": regions(),
        "convergence": convergence(),
        "sharp": sharp(),
        "isotonic": isotonic(),
    }


# What stands on the page


def regions_picture(results: dict[str, Any]) -> Figure:
    """Draw the error against the number of regions."""
    found = results["regions"]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for kind, (name, colour, mark) in KINDS.items():
        look = {"color": colour, "marker": mark}
        axes.plot(found["regions"], found["fresh"][kind], label=f"{name}, fresh rows", **look)
    axes.axhline(0, color="#000000", linewidth=1.2, label="both, on their training rows")
    axes.set(
        xscale="log",
        xlabel=f"regions, learned from {found['rows']:,} rows",
        ylabel="calibration error",
    )
    axes.set_title(
        "Calibrated on its training rows; on fresh ones less so, the finer the partition"
    )
    axes.grid(visible=True, color="#dddddd")
    axes.legend(frameon=False)
    return figure


PICTURES = {"regions": regions_picture}


def span(values: Iterable[float]) -> str:
    """Return the least and the most of some numbers, without decimals."""
    found = list(values)
    low, high = f"{min(found):.0f}", f"{max(found):.0f}"
    return low if low == high else f"{low} to {high}"


def theorem_1(results: dict[str, Any], _: dict[str, Any]) -> list[str]:
    """Show how often verifiers accept, where the theorem holds and where it cannot."""
    found = results["impossibility"]
    many, few = found["theorem"], found["counter_cases"][-1]
    off = f"{many['l1_adversaries_mean']:.2f}"
    told = [one["tells_apart"] for one in few["verifiers"]]
    told = f"all {len(told)}" if all(told) else f"{sum(told)} of {len(told)}"
    text = f"""
        Here are {len(many["verifiers"])} verifiers of different kinds, {many["n"]} rows, and
        {many["points"]:,} points x, the fewest that meet the condition. They accept f under both
        laws equally often, within the noise of {many["repetitions"]:,} samples and the chance of a
        repeated x, at most {many["most_difference"]:.3f}; and yet f is off by {off} on average
        under the second law. On {few["points"]} points, where rows repeat, {told} tell
        the two laws apart:
    """
    head = ["Share accepted by", "f is right", f"f is off by {off}"]
    head += [f"{few['points']} points: right", "off"]
    lines = [
        [
            one["name"],
            *(f"{case[law]['rate']:.2f}" for case in (one, other) for law in RIGHT_OR_NOT),
        ]
        for one, other in zip(many["verifiers"], few["verifiers"], strict=True)
    ]
    return [text, table(head, lines)]


def example_1(_: dict[str, Any], others: dict[str, Any]) -> list[str]:
    """Compare Table 1 as it is printed with its own documents, and with fresh ones."""
    found = others["reproduction"]["table1"]
    exponent, printed = found["supported"]["exponent"], found["published"]
    own, fresh = (
        one
        for documents in ("training", "fresh")
        for one in found["readings"]
        if (one["documents"], one["exponent"], one["topics"]) == (documents, exponent, "all")
    )
    text = f"""
        Its numbers, {printed["l1"]["mean"]:.3f} and {printed["c_emp"]["mean"]:.3f}, are those of
        the documents that the weights were learned from: we measured {own["l1"]["mean"]:.3f} and
        {own["c_emp"]["mean"]:.3f} there, and {fresh["l1"]["mean"]:.3f} and
        {fresh["c_emp"]["mean"]:.3f} on fresh documents (means of {found["runs"]} runs of
        {found["documents"]:,} documents). The base rate for everybody has an l₁ error of
        {own["trivial_l1"]["mean"]:.3f}.
    """
    return [text]


def section_2_3(results: dict[str, Any], _: dict[str, Any]) -> list[str]:
    """Say how the error on fresh rows grows with the number of regions."""
    found = results["regions"]
    few, many = found["regions"][0], found["regions"][-1]
    first, last = (found["fresh"]["tree"][at] for at in (0, -1))
    text = f"""
        Learned from {found["rows"]:,} rows, a tree of {few} leaves has an error of {first:.3f} on
        fresh rows, and one of {many:,} leaves an error of {last:.3f} (means of {found["runs"]}
        runs).
    """
    return [text]


def theorem_2(results: dict[str, Any], _: dict[str, Any]) -> list[str]:
    """Show how many times wider than the gaps the readings are."""
    found = results["convergence"]
    one = [each for each in found if each["about"] == "one model"]
    usual = [each for each in one if each["law"] != RARE]
    rare = [each for each in one if each["law"] == RARE]
    rows, samples = one[0]["rows"], sum(each["samples"] for each in found)
    missed = sum(each["missed"][reading] for each in found for reading in READINGS)
    often = "never" if missed == 0 else f"{missed} times"
    text = f"""
        In {samples:,} simulated samples a gap |c(f) − c_emp| was {often} wider than any of the
        three. How many times wider than needed they are (the mean width over the
        {1 - results["delta"]:.0%} quantile of the gaps; rare events fare worst, because no reading
        knows how small their variance is):
    """
    parts = {
        f"one model, {rows} rows, {len(usual)} laws": usual,
        f"one model, {rows} rows, {len(rare)} laws of rare events": rare,
    }
    parts |= {
        f"{each['about']}, {each['rows']:,} rows": [each]
        for each in found
        if each["about"] != "one model"
    }
    lines = [
        [about, *(span(each["times"][reading] for each in part) for reading in READINGS)]
        for about, part in parts.items()
    ]
    return [text, table(["Width over what is seen", *READINGS], lines)]


def one_model_text(results: dict[str, Any], others: dict[str, Any]) -> list[str]:
    """Say how much tighter `certify` is than the sharp reading."""
    widths = others["certificates"]["widths"]
    certified = dict(zip(widths["rows"], widths["certified"], strict=True))
    sizes = [one["rows"] for one in results["sharp"]]
    ratio = [one["width"] / certified[one["rows"]] for one in results["sharp"]]
    text = f"""
        That makes `certify` {span(ratio)} times tighter than the sharp reading, for calibrated
        uniform scores and {min(sizes):,} to {max(sizes):,} rows.
    """
    return [text]


def claim_6(results: dict[str, Any], _: dict[str, Any]) -> list[str]:
    """Show the distance from the convex hull, and the claim's bound on it."""
    found = results["isotonic"]
    text = f"""
        By simulation the bound holds with much to spare ({len(found[0]["median"])} shapes of
        P(Y = 1 | f₀), rising ones and others, {found[0]["samples"]} samples of each):
    """
    lines = []
    for one in found:
        middle = sorted(one["median"].values())
        seen = [f"{middle[0]:.4f} to {middle[-1]:.4f}", f"{one['largest']:.4f}"]
        bounds = [f"{one[reading]:.3f}" for reading in ("proved", "printed")]
        lines.append([f"{one['rows']:,}", *seen, *bounds])
    head = ["rows", "median distance, by shape", "largest", "2ε as proved", "as printed"]
    return [text, table(head, lines)]


def section_3_2_2(results: dict[str, Any], others: dict[str, Any]) -> list[str]:
    """Say what may be lost for the calibration error, and which losses find a known direction."""
    found = [one for one in others["learning"]["recovery"] if one["law"] == "skewed"]
    rows = max(one["rows"] for one in found)
    degrees = {one["learner"]: one["angle"]["mean"] for one in found if one["rows"] == rows}
    squared, logistic, hinge = (
        f"{degrees[f'Calibrated, {loss}']:.1f}" for loss in ("squared", "logistic", "hinge")
    )
    text = f"""
        So `PlattCalibrator(objective="calibration_error")` looks only among links that keep
        {results["kept"]:.0%} of what the best one gains in log loss on the fitting rows. The
        question whether other losses will do has an answer in [learning.md](learning.md): proper
        ones, yes; the hinge, no. From {rows:,} rows with lognormal features the squared loss finds
        a known direction to {squared} degrees, the logistic to {logistic}, the hinge to {hinge}.
    """
    return [text]


def section_4(_: dict[str, Any], others: dict[str, Any]) -> list[str]:
    """Say how many statements hold up, and what the conjecture came to."""
    found = others["reproduction"]
    [bound] = [claim for claim in found["claims"] if claim["where"] == "The bound"]
    rank = found["conjecture"]["rank_correlation"]["most_saved"]
    text = f"""
        *What we found:* {headline(found).split(": ")[-1].rstrip(".")}.
        [The page of experiments](reproduction.md) has all of them, and the rule of each verdict.
        {bound["measured"]} The rank correlation of the error before and the most that was saved is
        {rank:.2f}.
    """
    return [text]


PARTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], list[str]]] = {
    "theorem 1": theorem_1,
    "example 1": example_1,
    "section 2.3": section_2_3,
    "theorem 2": theorem_2,
    "one model": one_model_text,
    "claim 6": claim_6,
    "section 3.2.2": section_3_2_2,
    "section 4": section_4,
}


def wrapped(text: str) -> str:
    """Break a paragraph into lines of the page; a table stays as it is."""
    if text.startswith("|"):
        return text
    return textwrap.fill(" ".join(text.split()), 105, break_long_words=False)


def page(results: dict[str, Any], others: dict[str, Any]) -> str:
    """Fill the page in: between two marks, everything comes from the results."""
    text = TEXT.read_text(encoding="utf-8")
    made = {name: make(results, others) for name, make in PARTS.items()}
    return filled(text, {name: "\n\n".join(map(wrapped, parts)) for name, parts in made.items()})


def main() -> None:
    """Write the page and its picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="measure first")
    if parser.parse_args().run:
        keep("paper", measured())
    results = kept("paper")
    for name, draw in PICTURES.items():
        (DOCS / "pictures" / f"{name}.svg").write_bytes(rendered(draw(results), "svg"))
    TEXT.write_text(page(results, {name: kept(name) for name in OTHERS}), encoding="utf-8")


if __name__ == "__main__":
    main()
