"""The command line: parse, call, print, and an exit code that a pipeline can use."""

from __future__ import annotations

import json as json_module
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from calibrant import __version__, simulate
from calibrant._checks import InputError
from calibrant.audit import Audit, audit
from calibrant.report import terminal
from calibrant.sources.files import read_predictions
from calibrant.sources.predictions import Predictions

app = typer.Typer(
    help="Can these scores be used as probabilities, and where do they fail?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

File = Annotated[Path, typer.Argument(help="A CSV or Parquet file with one prediction a row.")]
Label = Annotated[str, typer.Option(help="Column of outcomes.")]
Prob = Annotated[str, typer.Option(help="Column of predicted probabilities.")]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.")]
PosLabel = Annotated[str | None, typer.Option(help="The label that is the event.")]
Soft = Annotated[bool, typer.Option("--soft", help="Labels are fractions between 0 and 1.")]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
MaxError = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Exit with 1 if the calibration error is over this."),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"calibrant {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tell whether scores can be used as probabilities, and where they fail."""


@app.command("audit")
def audit_command(
    file: File,
    label: Label,
    prob: Prob,
    weight: Weight = None,
    pos_label: PosLabel = None,
    soft: Soft = False,
    drop_missing: DropMissing = False,
    json: Json = False,
    max_error: MaxError = None,
) -> None:
    """Audit the predictions in a file.

    For example: calibrant audit predictions.csv --label y --prob p --max-error 0.02

    Exit code 0; 1 if the calibration error is over --max-error; 2 on bad input.
    """
    with Console(stderr=True).status(f"Reading {file.name}"):
        data = read_predictions(
            file,
            label=label,
            prob=prob,
            weight=weight,
            pos_label=pos_label,
            soft=soft,
            drop_missing=drop_missing,
        )
        found = audit(data)
    command = shlex.join(["calibrant", *sys.argv[1:]])
    found = replace(found, provenance=replace(found.provenance, command=command))
    _show(found, json, max_error)


@app.command()
def demo() -> None:
    """Audit a simulated model that is too sure of itself."""
    console = Console()
    console.print("20,000 simulated predictions of a model that is too sure of itself.\n")
    terminal.render(audit(Predictions(*simulate.overconfident())), console)
    console.print(
        "\nNow your own: calibrant audit predictions.csv --label y --prob p", highlight=False
    )


def _show(found: Audit, json: bool, max_error: float | None) -> None:
    passed = max_error is None or found.calibration_error_at_most <= max_error
    if json:
        gate = None if max_error is None else {"max_error": max_error, "passed": passed}
        typer.echo(json_module.dumps({**found.to_dict(), "gate": gate}, indent=2, allow_nan=False))
    else:
        console = Console()
        terminal.render(found, console)
        if max_error is not None:
            verdict = "Passed: not over" if passed else "Failed: over"
            console.print(f"\n{verdict} the {max_error:g} allowed.", style="bold", highlight=False)
    if not passed:
        raise typer.Exit(1)


def main() -> None:
    """Run the command line; bad input becomes one message and exit code 2."""
    try:
        app()
    except BrokenPipeError:  # the reader has seen enough, such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (InputError, OSError) as error:
        Console(stderr=True, soft_wrap=True).print(f"Error: {error}", markup=False, highlight=False)
        sys.exit(2)


if __name__ == "__main__":
    main()
