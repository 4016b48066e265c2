"""`calibrant calibrate`: fit a calibrator, and keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer
from rich.console import Console

from calibrant._progress import busy
from calibrant._writing import check_new, write_whole
from calibrant.auditing.advice import Advice
from calibrant.auditing.run import audit
from calibrant.calibrators.fitting import Objective
from calibrant.calibrators.registry import CalibratorName
from calibrant.cli import inputs, options
from calibrant.cli.output import answer, print_written
from calibrant.data.predictions import Predictions
from calibrant.errors import InputError
from calibrant.report import terminal

#: A calibrator, or the one that is advised.
Method: TypeAlias = Literal["auto", CalibratorName]


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
    method: Annotated[
        Method,
        typer.Option(
            help="The kind of calibrator; auto is the one that an audit of these rows advises, and "
            "identity, which changes no score, if it advises none."
        ),
    ] = "auto",
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

    Use rows that the model was not trained on. What an audit of them advises is fitted. Before and
    after are measured by cross-fitting: every row is calibrated by a calibrator that was fitted on
    other rows.
    """
    check_new(output, ".json", overwrite=overwrite)
    # not above: scikit-learn takes a second to import
    from calibrant.calibrators.evaluation import calibrator_named, evaluate_calibrator

    with busy("Calibrating"):
        data = inputs.predictions(context)
        advice = _advice(data) if method == "auto" else None
        name = method if advice is None else advice.recommended or "identity"
        found = evaluate_calibrator(data, calibrator_named(name, objective))
        write_whole(output, found.calibrator.to_json() + "\n", overwrite=overwrite)

    def draw(console: Console) -> None:
        if advice is not None:
            console.print(f"What to do: {advice.summary[0]}\n", markup=False)
        terminal.render_evaluation(found, console)
        console.print()
        print_written(console, output)

    advised = None if advice is None else advice.to_dict()
    answer(lambda: {**found.to_dict(), "advice": advised}, draw, json=json, quiet=quiet)


def _advice(data: Predictions) -> Advice:
    """Return what an audit advises; refuse rows that there is no advice for."""
    advice = audit(data).advice
    if advice is None:
        raise _method_missing()
    return advice


def _method_missing() -> InputError:
    return InputError(
        "--method auto asks an audit, which advises on 0/1 labels and weights that count rows, and "
        "these are others. Name the calibrator, such as --method isotonic."
    )
