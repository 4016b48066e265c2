"""`calibrant compare`: several models on the same rows."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant import errors
from calibrant._progress import busy
from calibrant._writing import check_name
from calibrant.auditing.compare import comparison_of
from calibrant.cli import inputs, options
from calibrant.cli.output import answer
from calibrant.report import terminal
from calibrant.report.html import check_ready


def command(
    context: typer.Context,
    label: options.Label,
    prob: Annotated[
        list[str], typer.Option(help="Column of a model's probabilities; give two or more.")
    ],
    file: options.File = None,
    sql: options.Sql = None,
    url: options.Url = None,
    table: options.TableName = None,
    weight: options.Weight = None,
    pos_label: options.PosLabel = None,
    drop_missing: options.DropMissing = False,
    confidence: options.Confidence = 0.95,
    quiet: options.Quiet = False,
    json: options.Json = False,
    html: options.Html = None,
    title: Annotated[str | None, typer.Option(help="With --html: title of the report.")] = None,
) -> None:
    """Compare several models on the same rows, and say which differences are proved or significant.

    For example: calibrant compare predictions.parquet --label y --prob old --prob new
    """
    errors.inner_share("confidence", confidence)
    if html is not None:
        check_name(html, ".html")
        check_ready()
    with busy("Reading"):
        found = comparison_of(inputs.models(context), confidence)
    if html is not None:
        found.to_html(html, title=title, data=None if file is None else str(file))
    answer(
        found.to_dict,
        lambda console: terminal.render_comparison(found, console),
        json=json,
        quiet=quiet,
    )
