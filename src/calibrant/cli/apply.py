"""`calibrant apply`: a file with one more column, of calibrated scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant._progress import busy
from calibrant._text import bounded
from calibrant.cli import options
from calibrant.cli.output import printed


def command(
    calibrator: Annotated[
        Path, typer.Argument(help="A calibrator, as `calibrant calibrate` wrote it.")
    ],
    file: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet or JSON-lines file, a pattern in quotes such as "
            "'preds/*.parquet', or a folder of Parquet files."
        ),
    ],
    prob: options.Prob,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write to this .csv or .parquet file.")
    ],
    name: Annotated[
        str, typer.Option(help="The new column, of calibrated probabilities.")
    ] = "calibrated",
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a file again with one more column: its scores, calibrated.

    For example: calibrant apply calibrator.json new.parquet --prob p -o out.parquet

    Rows keep their order and other columns what they hold; a row without a score gets no calibrated
    one. The output appears when all of it is written, and larger than memory is fine.
    """
    from calibrant.calibrators.applying import apply_calibrator
    from calibrant.calibrators.estimators.calibrator import Calibrator

    with busy("Applying"):
        found = apply_calibrator(
            Calibrator.load(calibrator), file, output, prob=prob, name=name, overwrite=overwrite
        )
    with printed() as console:
        if not quiet:
            console.print(bounded(repr(found)), markup=False, soft_wrap=True)
