"""The command line: parse, call, print, and an exit code that a pipeline can use."""

from __future__ import annotations

import io
import json as json_module
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from calibrant import __version__
from calibrant._checks import InputError
from calibrant.audit import Audit, audit
from calibrant.diagram import TOLERANCE
from calibrant.experiments.documents import documents_example
from calibrant.report import terminal
from calibrant.sources.files import check_csv_name, read_predictions, write_predictions

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
    with Console(stderr=True).status(f"Reading {escape(file.name)}"):
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
def demo(
    save: Annotated[
        Path | None, typer.Option(help="Write the predictions to this CSV file.")
    ] = None,
) -> None:
    """Train a model on simulated documents, audit it, and tell what the paper found."""
    if save is not None:
        check_csv_name(save)
    documents = 20_000
    with _progress("Drawing documents", 2 * documents) as progress:
        found = documents_example(documents=documents, progress=progress)
    if save is not None:
        write_predictions(save, y=found.y_true, p=found.y_prob, true_prob=found.true_prob)
    with _output() as console:
        console.print(
            f"Logistic regression, trained on {documents:,} simulated documents and audited on as "
            "many fresh ones.\n"
        )
        terminal.render(found.audit, console)
        console.print(f"\n{found.story}")
        file = "predictions.csv" if save is None else str(save)
        next_step = "Now your own" if save is None else f"Written to {file}. Go on with"
        command = shlex.join(["calibrant", "audit", file, "--label", "y", "--prob", "p"])
        console.print(f"\n{next_step}: {command}", markup=False, soft_wrap=True)


def _show(found: Audit, json: bool, max_error: float | None) -> None:
    passed = max_error is None or found.calibration_error_at_most <= max_error + TOLERANCE
    with _output() as console:
        if json:
            gate = None if max_error is None else {"max_error": max_error, "passed": passed}
            print(json_module.dumps({**found.to_dict(), "gate": gate}, indent=2, allow_nan=False))
        else:
            terminal.render(found, console)
        if max_error is not None and not json:
            verdict = "Passed: not over" if passed else "Failed: over"
            console.print(f"\n{verdict} the {max_error:g} allowed.", style="bold")
    if not passed:
        raise typer.Exit(1)


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], object] | None]:
    """Show a bar while something goes on, on a terminal only."""
    screen = Console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    with Progress(console=screen, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.update(task, completed=count)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the exit code to us: rich would exit with 1, which here means a failed gate."""
        raise BrokenPipeError


@contextmanager
def _output() -> Iterator[Console]:
    """Print to a reader who may stop reading, as `head` does: that changes no exit code."""
    console = _Console(highlight=False)
    # a narrower terminal wraps the lines, which loses less than cutting off numbers
    console.width = max(console.width, terminal.LEAST_WIDTH)
    try:
        yield console
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line; bad input becomes one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a mark that cannot be shown is no failure
            stream.reconfigure(errors="replace")
    try:
        app()
    except (InputError, OSError) as error:
        Console(stderr=True, soft_wrap=True).print(f"Error: {error}", markup=False, highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
