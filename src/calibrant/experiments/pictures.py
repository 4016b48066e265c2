"""Pictures of the reproduction, drawn from its numbers."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._extras import require
from calibrant.experiments.classifiers import CLASSIFIERS

#: Colours that colour-blind readers tell apart (Okabe and Ito), and marks that need no colour.
#: There is one of each for every classifier.
_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"),
    *("#56B4E9", "#000000", "#7f7f7f", "#882255"),
)
_MARKS = "osD^vP*X<"
_NAMES = [one.name for one in CLASSIFIERS]


def pictures_of(results: dict[str, Any]) -> dict[str, Any]:
    """Return a figure for each part of the results that has one, by name."""
    draw: dict[str, Callable[[Any], Any]] = {
        "figure1": _figure1,
        "figure2": _figure2,
        "figure3": _figure3,
        "conjecture": _conjecture,
    }
    return {name: one(results[name]) for name, one in draw.items() if name in results}


def rendered(figure: Any, kind: str) -> bytes:
    """Return a figure as a PNG or SVG file, the same bytes every time."""
    mpl = require("matplotlib", "plot")
    file = io.BytesIO()
    about = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "calibrant"}):
        figure.savefig(file, format=kind, dpi=150, metadata=about)
    return file.getvalue()


def _new(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    figure = require("matplotlib.figure", "plot").Figure(
        figsize=(width, height), layout="constrained"
    )
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(visible=True, color="#e5e5e5", linewidth=0.7)
        one.set_axisbelow(True)
    return figure, axes


def _look(name: str) -> dict[str, Any]:
    place = _NAMES.index(name)
    return {"color": _COLOURS[place], "marker": _MARKS[place]}


def _figure1(found: dict[str, Any]) -> Any:
    figure, [axes] = _new(7, 4.5)
    along = found["weight"]
    axes.fill_between(
        along,
        found["lower"],
        found["upper"],
        step="mid",
        color="#56B4E9",
        alpha=0.35,
        linewidth=0,
        label="95% band for the true frequency",
    )
    axes.step(along, found["observed"], where="mid", color="#0072B2", label="observed frequency")
    dense = np.linspace(min(along), max(along), 300)
    sigmoid = 1 / (1 + np.exp(-(found["a"] * dense + found["b"])))
    axes.plot(dense, sigmoid, color="#D55E00", linewidth=2, label="sigmoid")
    axes.set(
        xlabel="w(X), the sum of word weights",
        ylabel="probability of the label",
        ylim=(0, 1),
        title="Figure 1: the sigmoid against what was observed",
    )
    axes.legend(frameon=False, loc="lower right")
    return figure


def _figure2(bars: list[dict[str, Any]]) -> Any:
    data = list(dict.fromkeys(one["data"] for one in bars))
    figure, panels = _new(5 * len(data), 4.2, len(data))
    for axes, name in zip(panels, data, strict=True):
        some = [one for one in bars if one["data"] == name][::-1]
        place = np.arange(len(some))
        error = np.array([one["c_emp"]["mean"] for one in some])
        ends = np.array([[one["lower"], one["upper"]] for one in some]).T
        reach = np.abs(ends - error)
        axes.barh(place, error, color="#56B4E9", height=0.6)
        axes.errorbar(error, place, xerr=reach, fmt="none", ecolor="#000000", capsize=3)
        axes.set_yticks(place, [one["classifier"] for one in some])
        axes.set(xlabel="calibration error on test rows", title=name, xlim=(0, None))
        axes.locator_params(axis="x", nbins=5)
    figure.suptitle(
        "Figure 2: the calibration error; whiskers hold the true ones, all at once, at 95%"
    )
    return figure


def _figure3(found: dict[str, Any]) -> Any:
    curves = found["curves"]
    data = list(dict.fromkeys(one["data"] for one in curves))
    figure, panels = _new(5.5 * len(data), 4.5, len(data))
    p = np.array(found["p"])
    for axes, name in zip(panels, data, strict=True):
        for one in (one for one in curves if one["data"] == name):
            look = _look(one["classifier"])
            ratio = [point["mean"] for point in one["ratio"]]
            axes.plot(p, ratio, **look, markersize=4, linewidth=1.5, label=one["classifier"])
            if all(point["interval"] for point in one["ratio"]):
                low, high = np.array([point["interval"] for point in one["ratio"]]).T
                axes.fill_between(p, low, high, color=look["color"], alpha=0.15, linewidth=0)
        axes.axhline(1, color="#000000", linewidth=0.8)
        axes.set(xlabel="p, the cost of a false positive", ylabel="loss after / loss before")
        axes.set(title=name, ylim=(0, min(2.0, axes.get_ylim()[1])))
    named = panels[0].get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    figure.suptitle(
        "Figure 3: what isotonic regression makes of the loss; bands are 95% over splits"
    )
    return figure


def _conjecture(found: dict[str, Any]) -> Any:
    figure, panels = _new(11, 4.8, 2)
    names = [name for name in _NAMES if any(p["classifier"] == name for p in found["points"])]
    parts = (
        ("most_saved", "most saved at one p", "Saved cost, and its bound"),
        ("share_saved", "share of the whole cost saved", "Saved share of the cost"),
    )
    for axes, (part, label, title) in zip(panels, parts, strict=True):
        for name in names:
            some = [point for point in found["points"] if point["classifier"] == name]
            axes.scatter(
                [point["c_emp"]["mean"] for point in some],
                [point[part]["mean"] for point in some],
                **_look(name),
                s=36,
                alpha=0.85,
                label=name,
            )
        axes.set(xlabel="calibration error before", ylabel=label, title=title, xlim=(0, None))
        axes.axhline(0, color="#000000", linewidth=0.8)
    end = panels[0].get_xlim()[1]
    panels[0].plot([0, end], [0, end], color="#000000", linestyle="--", label="the bound")
    panels[0].legend(frameon=False, fontsize="small")
    figure.suptitle("Who benefits from calibration? Every point is a classifier on a data set")
    return figure
