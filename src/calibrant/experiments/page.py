"""Page: the reproduction as one HTML file, as Markdown and as tables."""

from __future__ import annotations

import base64
import csv
import io
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from calibrant.experiments.trials import CALIBRATORS
from calibrant.report.html import escaping_environment
from calibrant.report.policy import with_policy

#: Title and description of each picture.
PICTURES = {
    "figure1": (
        "Figure 1",
        "The sigmoid and the observed frequency of the label along the sum of word weights, with "
        "a band for the true frequency.",
    ),
    "figure2": (
        "Figure 2",
        "Bars of the calibration error of each classifier on each data set, with whiskers that "
        "hold the true one.",
    ),
    "figure3": (
        "Figure 3",
        "The loss after isotonic regression over the loss before it, for each cost of a false "
        "positive, classifier and data set.",
    ),
    "conjecture": (
        "The conjecture",
        "What calibration saves against the calibration error before it, a point for each "
        "classifier and data set, with the line that no point can cross.",
    ),
}


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows under named columns.

    Attributes
    ----------
    name, title, about : str
        Of the file; and above the rows, what they are.
    columns : list of str
        Names.
    rows : list of rows
        Words and numbers.
    """

    name: str
    title: str
    about: str
    columns: list[str]
    rows: list[list[Any]]

    def csv(self) -> str:
        """Return the rows as CSV text, numbers as they are."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([self.columns, *self.rows])
        return file.getvalue()

    def shown(self) -> list[list[str]]:
        """Return the rows for a reader: four digits."""
        return [
            [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in self.rows
        ]


def tables_of(results: dict[str, Any]) -> list[PageTable]:
    """Return every table that the results have."""
    tables = []
    if "table1" in results:
        tables += [_readings(results["table1"]), _grid(results["table1"])]
    if "figure1" in results:
        names = ["weight", "sigmoid", "observed", "lower", "upper"]
        columns = [results["figure1"][name] for name in names]
        rows = [list(row) for row in zip(*columns, strict=True)]
        tables.append(PageTable("figure1", "", "", names, rows))
    if "figure2" in results:
        tables.append(_bars(results["figure2"]))
    if "figure3" in results:
        tables += [_saved(results["figure3"]), _ratios(results["figure3"])]
    if "conjecture" in results:
        tables.append(_points(results["conjecture"]))
    if "beyond" in results:
        tables.append(_calibrators(results["beyond"]))
    return tables


def html_of(results: dict[str, Any], pictures: dict[str, bytes]) -> str:
    """Return the page as HTML text, with PNG pictures inside."""
    source = files("calibrant.experiments").joinpath("reproduction.html.jinja")
    page = (
        escaping_environment()
        .from_string(source.read_text(encoding="utf-8"))
        .render(
            headline=headline(results),
            lead=_LEAD,
            reading=reading(results),
            claims=results["claims"],
            pictures=[
                {"title": title, "alt": alt, "png": base64.b64encode(pictures[name]).decode()}
                for name, (title, alt) in PICTURES.items()
                if name in pictures
            ],
            tables=[
                {
                    "title": one.title,
                    "about": one.about,
                    "columns": one.columns,
                    "rows": one.shown(),
                }
                for one in tables_of(results)
                if one.title
            ],
            made=made(results),
        )
    )
    return with_policy(str(page), "img-src data:")


def markdown_of(results: dict[str, Any], pictures: dict[str, str]) -> str:
    """Return the page as Markdown, with links to pictures."""
    lines = [f"# {headline(results)}", "", _LEAD, ""]
    if reading(results):
        lines += [reading(results), ""]
    lines += ["## What the paper says, and what we measured", ""]
    names = ["where", "paper", "measured", "verdict"]
    rows = [[claim[name] for name in names] for claim in results["claims"]]
    lines += ['<div class="stack" markdown>', ""]
    lines += _markdown_table(["Where", "The paper", "Here", "Verdict"], rows, numbers=False)
    lines += ["", "</div>", "", "## How verdicts follow", ""]
    rules: dict[str, list[str]] = {}
    for claim in results["claims"]:
        where = rules.setdefault(claim["rule"], [])
        where += [claim["where"]] if claim["where"] not in where else []
    lines += [f"- {', '.join(where)}: {rule}" for rule, where in rules.items()]
    for name, (title, alt) in PICTURES.items():
        if name in pictures:
            lines += ["", f"## {title}", "", f"![{alt}]({pictures[name]})"]
    for one in tables_of(results):
        if one.title:
            lines += ["", f"## {one.title}", "", one.about, ""]
            lines += _markdown_table(one.columns, one.shown(), numbers=True)
    return "\n".join([*lines, "", "## How this was made", "", made(results), ""])


_LEAD = (
    "Gao, Parameswaran and Peng, “On the Interpretability of Conditional Probability Estimates in "
    "the Agnostic Setting” (AISTATS 2017), experiment by experiment. Every verdict is computed "
    "from the numbers below, by the rule that is given."
)


def headline(results: dict[str, Any]) -> str:
    """Say how many statements hold."""
    count = Counter(claim["verdict"] for claim in results["claims"] if not claim["ours"])
    parts = [f"{count['agrees']} of {sum(count.values())} statements hold up"]
    parts += [f"{count[name]} {words}" for name, words in _OTHER.items() if count[name]]
    said = "; ".join(parts) + "."
    if results["settings"]["quick"]:
        return f"A quick look on small simulated data, which says little of the paper: {said}"
    return f"The paper, reproduced: {said}"


_OTHER = {"disagrees": "do not", "undecided": "stay open"}


def reading(results: dict[str, Any]) -> str:
    """Say which reading of Table 1 the numbers support."""
    if "table1" not in results:
        return ""
    found = results["table1"]["supported"]
    where = {"training": "the training documents themselves", "fresh": "documents not seen before"}
    other = "fresh" if found["documents"] == "training" else "training"
    errors = {
        documents: [cell[documents]["c_emp"] for cell in results["table1"]["grid"]]
        for documents in ("training", "fresh")
    }
    spread = {
        one["topics"]: one["label_frequency"]["sd"]
        for one in results["table1"]["readings"]
        if (one["documents"], one["exponent"]) == (found["documents"], found["exponent"])
    }
    exponents = sorted({one["exponent"] for one in results["table1"]["readings"]})
    return (
        "Table 1 leaves several choices open. With weak regularisation, means over all topics, "
        "training or fresh documents, and word frequencies that fall as rank to the power "
        f"-{' or -'.join(f'{one:g}' for one in exponents)}, its numbers are nearest to those of "
        f"{where[found['documents']]} and -{found['exponent']:g}: within "
        f"{found['distance']:.1f} of the printed deviations. (The exponent was picked for that, so "
        "that agreement in both errors is one choice short of a test.) Over the grid, where one "
        f"choice is changed at a time, the calibration error on {found['documents']} documents is "
        f"{min(errors[found['documents']]):.4f} to "
        f"{max(errors[found['documents']]):.4f}, on {other} ones {min(errors[other]):.4f} to "
        f"{max(errors[other]):.4f}; the paper prints 0.0083. Between runs the label frequency "
        f"differs by {spread['one']:.4f} for one topic and by {spread['all']:.4f} for the mean of "
        "all; the paper prints 0.0001."
    )


def made(results: dict[str, Any]) -> str:
    """Say with which settings and versions the numbers were made."""
    settings = results["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    size = "A quick look on small simulated data, not the paper's" if settings["quick"] else "Full"
    missing = results.get("not_installed") or []
    left_out = f" Not installed, so left out: {', '.join(missing)}." if missing else ""
    return (
        f"{size} run with seed {settings['seed']} and {settings['runs']} runs, by "
        f"`{settings['command']}`, with {versions}.{left_out}"
    )


def _readings(table: dict[str, Any]) -> PageTable:
    names = ["l1", "c_emp", "trivial_l1", "label_frequency"]
    rows: list[list[Any]] = [
        [
            f"{one['documents']} documents, {one['topics']} topic{'s' * (one['topics'] == 'all')}, "
            f"exponent {one['exponent']:g}",
            *(f"{one[name]['mean']:.4f} ± {one[name]['sd']:.4f}" for name in names),
        ]
        for one in table["readings"]
    ]
    said = table["published"]
    rows.append(["the paper", *(f"{said[n]['mean']:.4f} ± {said[n]['sd']:.4f}" for n in names)])
    return PageTable(
        "table1",
        "Table 1, by reading",
        f"Mean and deviation over {table['runs']} runs of {table['documents']:,} documents.",
        ["reading", "l1 error", "c_emp", "trivial l1", "label frequency"],
        rows,
    )


_WHERE = ("l1 training", "c_emp training", "l1 fresh", "c_emp fresh")


def _grid(table: dict[str, Any]) -> PageTable:
    rows = [
        [
            f"{cell['exponent']:g}",
            f"{cell['regularisation']:g}",
            "fixed" if cell["fixed_length"] else "Poisson",
            *(cell[where][name] for where in ("training", "fresh") for name in ("l1", "c_emp")),
        ]
        for cell in table["grid"]
    ]
    return PageTable(
        "table1-grid",
        "Table 1, one choice changed at a time",
        f"One run, mean of {table['grid'][0]['topics']} topics. Regularisation is the weight of "
        "the squared norm.",
        ["exponent", "regularisation", "length", *_WHERE],
        rows,
    )


def _bars(bars: list[dict[str, Any]]) -> PageTable:
    rows = [
        [
            f"{one['data']}, {one['classifier']}",
            *(one["c_emp"][name] for name in ("mean", "sd")),
            *(one[name] for name in ("lower", "upper")),
            one["rows"][2],
        ]
        for one in bars
    ]
    columns = ["classifier", "c_emp", "deviation", "c(f) at least", "c(f) at most", "test rows"]
    about = (
        "Means over splits. With 95% confidence, whatever the data, all bounds hold at once: c(f) "
        "stands for the mean over the classifiers of all splits."
    )
    return PageTable("figure2", "Calibration errors", about, columns, rows)


def _ends(mean: dict[str, Any]) -> list[Any]:
    return list(mean["interval"]) if mean["interval"] else ["", ""]


def _saved(figure: dict[str, Any]) -> PageTable:
    rows = [
        [f"{one['data']}, {one['classifier']}", one["saved"]["mean"], *_ends(one["saved"])]
        for one in figure["curves"]
    ]
    return PageTable(
        "figure3",
        "What isotonic regression saves",
        "The share of the loss, mean over all p, with a 95% interval over splits (Student's, with "
        "the correction of Nadeau and Bengio for rows that splits share).",
        ["classifier", "saved", "from", "to"],
        rows,
    )


def _ratios(figure: dict[str, Any]) -> PageTable:
    rows = [
        [one["data"], one["classifier"], p, point["mean"], *_ends(point)]
        for one in figure["curves"]
        for p, point in zip(figure["p"], one["ratio"], strict=True)
    ]
    columns = ["data", "classifier", "p", "loss_ratio", "from", "to"]
    return PageTable("figure3-curves", "", "", columns, rows)


def _points(found: dict[str, Any]) -> PageTable:
    rows = [
        [f"{one['data']}, {one['classifier']}"]
        + [one[part]["mean"] for part in ("c_emp", "most_saved", "mean_saved", "share_saved")]
        for one in found["points"]
    ]
    return PageTable(
        "conjecture",
        "Who benefits from calibration",
        "Costs in units where a false positive and a false negative add up to 1, for p from 0.05 "
        "to 0.95 in steps of 0.05. At no p can the saving be more than the calibration error.",
        ["classifier", "c_emp before", "most saved", "saved, mean", "share saved"],
        rows,
    )


def _calibrators(found: list[dict[str, Any]]) -> PageTable:
    rows = [
        [f"{one['data']}, {one['classifier']}", one["before"]["c_emp"]]
        + [one["after"][name]["c_emp"] for name in CALIBRATORS]
        + [one["before"]["brier"], *(one["after"][name]["brier"] for name in CALIBRATORS)]
        for one in found
    ]
    names = list(CALIBRATORS)
    return PageTable(
        "beyond",
        "Every classifier and every calibrator",
        "First the calibration error, then the Brier score, before and after; means over splits.",
        ["classifier", "c_emp before", *names, "Brier before", *names],
        rows,
    )


def _markdown_table(columns: list[str], rows: list[list[str]], *, numbers: bool) -> list[str]:
    align = [":--", *(["--:"] if numbers else [":--"]) * (len(columns) - 1)]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [columns, align, *cells]]
