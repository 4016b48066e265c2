"""`calibrant plan`: how many labelled rows a certificate takes."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from calibrant._figures import figure
from calibrant.certificates.certificate import percent
from calibrant.certificates.plan import sample_size
from calibrant.certificates.specification import BETTING_BELOW, Method
from calibrant.cli import options
from calibrant.cli.output import printed
from calibrant.data.files.reading import read_scores
from calibrant.errors import InputError

#: What each method is for, the recommended one first.
_PURPOSE: dict[Method, str] = {
    "certified": "recommended: proved for any model and data",
    "asymptotic": "normal limit, not proved for finitely many rows",
    "fixed_design": "proved, about exactly these scores",
    "band": "proved, for all intervals of scores at once",
    "isotonic": "proved, on the rows a nondecreasing calibrator was fitted on",
    "gao2017": "the bound of Gao, Parameswaran and Peng (2017)",
}


def command(
    epsilon: Annotated[float, typer.Option(help="The calibration error to certify.")],
    confidence: options.Confidence = 0.95,
    scores: Annotated[
        str | None, typer.Option(help="A file of the model's scores; they need no labels.")
    ] = None,
    prob: Annotated[str | None, typer.Option(help="Column of scores in that file.")] = None,
    assurance: Annotated[
        float | None,
        typer.Option(
            help="Share of samples of that size that should do, such as 0.9; without it the mean "
            "bound reaches the error, so that about half of them do."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Say how many labelled rows it takes to certify a calibration error.

    For example: calibrant plan --epsilon 0.01
    """
    if scores is not None and prob is None:
        raise _scores_need_column()
    if prob is not None and scores is None:
        raise _column_needs_scores()
    known = None if scores is None or prob is None else read_scores(scores, prob=prob)
    found: dict[Method, int] = {
        method: sample_size(
            epsilon, confidence=confidence, method=method, scores=known, assurance=assurance
        )
        # the one that takes the most rows first, so that its refusal names an error for them all
        for method in reversed(_PURPOSE)
    }
    sizes = {method: found[method] for method in _PURPOSE}
    with printed() as console:
        if json:
            about = {"epsilon": epsilon, "confidence": confidence, "assurance": assurance}
            named = {"schema": "calibrant.plan", "schema_version": 1, **about, "rows": sizes}
            print(json_module.dumps(named))
        else:
            words = _sentence(sizes["certified"], epsilon, confidence)
            enough = _enough(sizes["certified"], assurance, sharp=known is not None)
            console.print(Group(Text(words, style="bold"), Text(enough), Text(), _table(sizes)))


def _sentence(rows: int, epsilon: float, confidence: float) -> str:
    return (
        f"To certify with {percent(confidence)} confidence that the calibration error "
        f"is at most {figure(epsilon, 6)}, label about {rows:,} rows."
    )


def _enough(rows: int, assurance: float | None, *, sharp: bool) -> str:
    """Say how far that many rows can be relied on."""
    basis = (
        "Computed for the scores given."
        if sharp
        else "Worst case over all scores; --scores FILE --prob COLUMN gives fewer."
    )
    enough = (
        "At that size the mean upper bound of a calibrated classifier equals this, so that about "
        "half of the samples of that size will do; --assurance 0.9 says where 90% will."
        if assurance is None
        else f"Of the samples of that size, {percent(assurance)} will do for a calibrated "
        "classifier."
    )
    if rows < BETTING_BELOW:
        enough += " Then audit with --method certified, because so few rows are bet on otherwise."
    return f"{enough} A miscalibrated one takes more, or never does. {basis}"


def _table(sizes: Mapping[Method, int]) -> Table:
    title = Text("Rows by method", style="bold")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("method", header_style="dim")
    table.add_column("rows", justify="right", header_style="dim")
    table.add_column("what it is", header_style="dim")
    for method, size in sizes.items():
        table.add_row(method, f"{size:,}", _PURPOSE[method])
    return table


def _scores_need_column() -> InputError:
    return InputError("--scores needs --prob, the name of the column that holds them.")


def _column_needs_scores() -> InputError:
    return InputError("--prob names a column of --scores FILE, but there is no file.")
