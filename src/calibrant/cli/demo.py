"""`calibrant demo`: a model of simulated documents, audited."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from calibrant._progress import progress_bar
from calibrant._text import named
from calibrant._writing import check_name, write_predictions
from calibrant.cli.output import printed
from calibrant.experiments.documents import documents_example
from calibrant.report import terminal


def command(
    save: Annotated[
        Path | None,
        typer.Option(help="Write the predictions to this CSV file, in place of one there is."),
    ] = None,
) -> None:
    """Train a model on simulated documents, audit it, and tell what the paper found."""
    if save is not None:
        check_name(save, ".csv")
    documents = 20_000
    with progress_bar("Drawing documents", 2 * documents) as progress:
        found = documents_example(documents=documents, progress=progress)
    if save is not None:
        write_predictions(save, y=found.y_true, p=found.y_prob, true_prob=found.true_prob)
    with printed() as console:
        console.print(
            f"Logistic regression, trained on {documents:,} simulated documents and audited on as "
            "many fresh ones.\n"
        )
        terminal.render(found.audit, console)
        console.print(f"\n{found.story}")
        file = "predictions.csv" if save is None else str(save)
        next_step = "Now your own" if save is None else f"Written to {named(file, 240)}. Go on with"
        command = shlex.join(["calibrant", "audit", file, "--label", "y", "--prob", "p"])
        console.print(f"\n{next_step}: {named(command, 1000)}", markup=False, soft_wrap=True)
