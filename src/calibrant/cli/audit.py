"""`calibrant audit`: what can be said about the predictions in a file."""

from __future__ import annotations

import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from calibrant import errors
from calibrant._progress import busy
from calibrant._writing import check_name, write_whole
from calibrant.auditing.limit import limit_of
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.cli import inputs, options
from calibrant.cli.gate import judged
from calibrant.cli.output import answer
from calibrant.cli.typed import command_line
from calibrant.cli.words import in_options
from calibrant.decisions.costs import costs_of
from calibrant.errors import InputError
from calibrant.report import terminal
from calibrant.report.html import check_ready
from calibrant.report.log_odds import Scale


def command(
    context: typer.Context,
    label: options.Label,
    prob: options.Prob,
    file: options.File = None,
    sql: options.Sql = None,
    url: options.Url = None,
    table: options.TableName = None,
    by: options.By = None,
    crossed: options.CrossedName = "first",
    weight: options.Weight = None,
    pos_label: options.PosLabel = None,
    soft: options.Soft = False,
    drop_missing: options.DropMissing = False,
    confidence: options.Confidence = 0.95,
    method: options.MethodName = "auto",
    clusters: options.Clusters = None,
    estimand: options.EstimandName = "row",
    max_cluster_size: options.MaxClusterSize = None,
    clip: Annotated[
        float | None,
        typer.Option(
            help="For the calibration slope and intercept alone, move scores below this up to it, "
            "and those above 1 minus it down, such as 0.001 if there are scores of 0 and 1."
        ),
    ] = None,
    html: options.Html = None,
    markdown: Annotated[
        Path | None,
        typer.Option(help="Write the findings to this Markdown file, in place of one there is."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the reports.")] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model, in the reports.")] = None,
    axis: Annotated[
        Scale, typer.Option(help="With --html: axes of the reliability diagram.")
    ] = "auto",
    open_: Annotated[
        bool, typer.Option("--open", help="Show the HTML report in the browser.")
    ] = False,
    false_positive: Annotated[
        float, typer.Option(help="With --html or --max-cost: cost of a false positive.")
    ] = 1.0,
    false_negative: Annotated[
        float, typer.Option(help="With --html or --max-cost: cost of a false negative.")
    ] = 1.0,
    quiet: options.Quiet = False,
    json: options.Json = False,
    max_error: options.MaxError = None,
    max_relative_error: options.MaxRelativeError = None,
    max_cost: options.MaxCost = None,
    gate: options.Gate = "upper",
) -> None:
    """Audit the predictions in a file.

    For example: calibrant audit predictions.csv --label y --prob p --html report.html --open

    In a pipeline: calibrant audit predictions.csv --label y --prob p --max-error 0.02 --quiet

    Exit code 0; 1 if the true calibration error is not proved to be within the limit that
    --max-error, --max-relative-error or --max-cost states; 2 on bad input.
    """
    errors.inner_share("confidence", confidence)
    errors.clip_or_none(clip)
    _check_reports(html, markdown, open_)
    costs = {"false_positive": false_positive, "false_negative": false_negative}
    costs_of(**costs)
    limit = limit_of(max_error, max_relative_error, max_cost, **costs)
    with busy("Reading"):
        found = audit(
            inputs.predictions(context),
            confidence=confidence,
            method=method,
            estimand=estimand,
            max_cluster_size=max_cluster_size,
            by=by or None,
            crossed=crossed,
            clip=clip,
            max_error=max_error,
            max_relative_error=max_relative_error,
            max_cost=max_cost,
            false_positive=false_positive,
            false_negative=false_negative,
        )
    judgement = judged(found, limit, gate)
    found = _as_typed(found)
    if html is not None:
        found.to_html(html, **costs, title=title, model=model, axis=axis)
    if markdown is not None:
        write_whole(markdown, found.to_markdown(title=title, model=model))

    def draw(console: Console) -> None:
        terminal.render(found, console)
        if judgement is not None:
            console.print(f"\n{judgement.sentence}", style="bold")

    plain = None if judgement is None else judgement.to_dict()
    answer(lambda: {**found.to_dict(), "gate": plain}, draw, json=json, quiet=quiet)
    if open_ and html is not None:  # last, because a browser may print what it likes
        webbrowser.open(html.absolute().as_uri())
    if judgement is not None and not judgement.passed:
        raise typer.Exit(1)


def _check_reports(html: Path | None, markdown: Path | None, opened: bool) -> None:
    """Refuse, before any work is done, reports that cannot be written."""
    if opened and html is None:
        raise _open_without_html()
    for path, ending in ((html, ".html"), (markdown, ".md")):
        if path is not None:
            check_name(path, ending)
    if html is not None:
        check_ready()


def _as_typed(found: Audit) -> Audit:
    """Return an audit for those who typed a command: it names the command, and speaks of options.

    Terminal, reports and JSON then do alike.
    """
    return replace(
        found,
        provenance=replace(found.provenance, command=command_line()),
        warnings=tuple(in_options(text) for text in found.warnings),
        missing={name: in_options(why) for name, why in found.missing.items()},
        verdict=replace(found.verdict, sentence=in_options(found.verdict.sentence)),
    )


def _open_without_html() -> InputError:
    return InputError("--open shows the HTML report: say where to write it, as --html report.html.")
