"""`calibrant calibrate`: fit a calibrator, and keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from calibrant._progress import busy
from calibrant._writing import check_new, write_whole
from calibrant.calibrators.fitting import Objective
from calibrant.calibrators.registry import CalibratorName
from calibrant.cli import inputs, options
from calibrant.cli.output import answer, print_written
from calibrant.report import terminal


def command(
    context: typer.Context,
    label: options.Label,
    prob: options.Prob,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the calibrator to this JSON file.")
    ],
    file: options.File = None,
    sql: options.Sql = None,
    url: options.Url = None,
    table: options.TableName = None,
    method: Annotated[CalibratorName, typer.Option(help="The kind of calibrator.")] = "isotonic",
    objective: Annotated[
        Objective, typer.Option(help="What links, such as platt, minimise.")
    ] = "log_loss",
    weight: options.Weight = None,
    pos_label: options.PosLabel = None,
    soft: options.Soft = False,
    drop_missing: options.DropMissing = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Fit a calibrator, show what it does to held-out rows, and keep it as JSON.

    For example: calibrant calibrate valid.csv --label y --prob p -o calibrator.json

    Use rows that the model was not trained on. Before and after are measured by cross-fitting:
    every row is calibrated by a calibrator that was fitted on other rows.
    """
    check_new(output, ".json", overwrite=overwrite)
    # not above: scikit-learn takes a second to import
    from calibrant.calibrators.evaluation import calibrator_named, evaluate_calibrator

    with busy("Calibrating"):
        data = inputs.predictions(context)
        found = evaluate_calibrator(data, calibrator_named(method, objective))
        write_whole(output, found.calibrator.to_json() + "\n", overwrite=overwrite)

    def draw(console: Console) -> None:
        terminal.render_evaluation(found, console)
        console.print()
        print_written(console, output)

    answer(found.to_dict, draw, json=json, quiet=quiet)
