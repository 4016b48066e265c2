"""Make docs/learning.md and its pictures from docs/learning.json; `--run` makes that anew.

`make learning` runs the experiment on all data, which takes about ten minutes; CALIBRANT_DATA names
the folder with Adult and Covertype.
"""

import argparse
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from calibrant.experiments.cache import Cache
from calibrant.experiments.learning import open_question
from calibrant.experiments.pictures import rendered
from calibrant.experiments.run import Study
from calibrant.experiments.trials import GRID
from kept import filled, keep, kept

DOCS = Path(__file__).parent
TEXT = DOCS / "learning.md"
COLOURS = {"squared": "#0072B2", "logistic": "#009E73", "hinge": "#D55E00"}
NAMES = {
    "Isotron": ("#E69F00", "-"),
    "Isotron, Lipschitz": ("#E69F00", ":"),
    "Calibrated, squared": ("#0072B2", "-"),
    "Calibrated, logistic": ("#009E73", "-"),
    "Calibrated, hinge": ("#D55E00", "-"),
    "Logistic regression": ("#555555", "--"),
    "Linear SVM": ("#999999", ":"),
}


def degrees(axes: Any) -> None:
    """Let degrees go by factors, under plain numbers."""
    axes.set_yscale("log")
    axes.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes.set_yticks([], minor=True)


def alternation_picture(results: dict[str, Any]) -> Figure:
    """Draw angle and squared error of the plain alternation, step by step."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for one in results["alternation"]:
        steps = range(1, len(one["angle"]) + 1)
        look = {"color": COLOURS[one["loss"]], "label": one["loss"], "linewidth": 2}
        left.plot(steps, one["angle"], **look)
        right.plot(steps, one["squared"], **look)
    left.set(xlabel="step", ylabel="degrees", title="Angle to the true direction")
    degrees(left)
    right.set(xlabel="step", ylabel="squared error", title="Squared error after projection")
    for axes in (left, right):
        axes.grid(visible=True, color="#dddddd")
    right.legend(frameon=False, title="loss")
    return figure


def recovery_picture(results: dict[str, Any]) -> Figure:
    """Draw the angle against the number of rows, for both laws."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    for axes, law in zip(figure.subplots(1, 2, sharey=True), ("normal", "skewed"), strict=True):
        for name, (colour, style) in NAMES.items():
            found = [
                one for one in results["recovery"] if (one["law"], one["learner"]) == (law, name)
            ]
            rows, angles = zip(*((one["rows"], one["angle"]["mean"]) for one in found), strict=True)
            axes.plot(rows, angles, color=colour, linestyle=style, marker="o", label=name)
        axes.set(xscale="log", xlabel="rows", title=f"{law} features")
        degrees(axes)
        axes.grid(visible=True, color="#dddddd")
    figure.axes[0].set_ylabel("degrees to the true direction")
    figure.axes[1].legend(frameon=False, fontsize=8)
    return figure


def cost_picture(results: dict[str, Any]) -> Figure:
    """Draw the cost of decisions against that of logistic regression, for every p."""
    data = list(dict.fromkeys(one["data"] for one in results["data"]))
    shown = [
        "Isotron",
        "Calibrated, squared",
        "Calibrated, logistic",
        "Calibrated, hinge",
        "Linear SVM + isotonic",
        "Boosted trees + isotonic",
    ]
    colours = ["#E69F00", "#0072B2", "#009E73", "#D55E00", "#999999", "#CC79A7"]
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(data), sharey=True), data, strict=True):
        cost = {one["learner"]: one["cost"] for one in results["data"] if one["data"] == name}
        for learner, colour in zip(shown, colours, strict=True):
            pairs = zip(cost[learner], cost["Logistic regression"], strict=True)
            ratio = [mine / theirs for mine, theirs in pairs]
            axes.plot(GRID, ratio, color=colour, label=learner, linewidth=1.8)
        axes.axhline(1, color="#555555", linestyle="--")
        axes.set(title=name, xlabel="cost p of a false alarm", ylim=(0.5, 1.25))
        axes.grid(visible=True, color="#dddddd")
    figure.axes[0].set_ylabel("cost / that of logistic regression")
    figure.axes[-1].legend(frameon=False, fontsize=8, loc="lower left")
    return figure


PICTURES = {
    "alternation": alternation_picture,
    "recovery": recovery_picture,
    "learning-cost": cost_picture,
}


def data_table(results: dict[str, Any], data: str) -> list[str]:
    """Return the table of one data set."""
    lines = [
        "| classifier | accuracy | Brier score | c_emp, fresh | c_emp, own | mean cost | steps |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for one in (one for one in results["data"] if one["data"] == data):
        mean = {name: found["mean"] for name, found in one.items() if isinstance(found, dict)}
        steps = "" if one["steps"] is None else f"{one['steps']:.0f}"
        own = "0" if mean["own"] < 1e-12 else f"{mean['own']:.4f}"
        lines.append(
            f"| {one['learner']} | {mean['accuracy']:.4f} | {mean['brier']:.4f} | "
            f"{mean['c_emp']:.4f} | {own} | {mean['mean_cost']:.4f} | {steps} |"
        )
    return lines


def recovery_table(results: dict[str, Any], law: str) -> list[str]:
    """Return the angles of one law, learners by rows."""
    found = [one for one in results["recovery"] if one["law"] == law]
    sizes = list(dict.fromkeys(one["rows"] for one in found))
    lines = [
        "| degrees | " + " | ".join(f"{size:,} rows" for size in sizes) + " |",
        "| :-- |" + " --: |" * len(sizes),
    ]
    for name in dict.fromkeys(one["learner"] for one in found):
        angles = [f"{one['angle']['mean']:.2f}" for one in found if one["learner"] == name]
        lines.append(f"| {name} | " + " | ".join(angles) + " |")
    return lines


def page(results: dict[str, Any]) -> str:
    """Fill the numbers in: between two marks, everything comes from the results."""
    text = TEXT.read_text(encoding="utf-8")
    data = dict.fromkeys(one["data"] for one in results["data"])
    parts = {f"data: {name}": data_table(results, name) for name in data}
    parts |= {f"recovery: {law}": recovery_table(results, law) for law in ("normal", "skewed")}
    return filled(text, {name: "\n" + "\n".join(lines) + "\n" for name, lines in parts.items()})


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="run the experiment first")
    parser.add_argument("--cache", type=Path, help="where to keep parts of it")
    options = parser.parse_args()
    if options.run:
        keep("learning", open_question(Study(cache=Cache(options.cache))))
    results = kept("learning")
    for name, draw in PICTURES.items():
        (DOCS / "pictures" / f"{name}.svg").write_bytes(rendered(draw(results), "svg"))
    TEXT.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
