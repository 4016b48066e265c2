"""`calibrant reproduce`: the experiments of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant import errors
from calibrant._extras import require
from calibrant._progress import busy
from calibrant.cli import options
from calibrant.cli.output import note, printed
from calibrant.cli.typed import command_line
from calibrant.errors import InputError, path_shown
from calibrant.experiments.cache import Cache
from calibrant.experiments.run import Part, Study
from calibrant.report import terminal
from calibrant.report.html import check_ready


def command(
    part: Annotated[Part, typer.Argument(help="Which experiment of the paper to run.")],
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the UCI files; CALIBRANT_DATA, or a download otherwise."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    runs: Annotated[int, typer.Option(help="How often each experiment is repeated.")] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small simulated data only: a look within a minute.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results, in place of earlier ones.")
    ] = Path("reproduction"),
    quiet: options.Quiet = False,
) -> None:
    """Run the experiments of the paper, and say which of its statements hold.

    An interrupted run goes on where it was: what is done is kept in the folder.

    For example: calibrant reproduce figure2 --data-dir uci -o results
    """
    # not above: scikit-learn takes a second to import
    from calibrant.experiments.page import headline
    from calibrant.experiments.reproduce import reproduce, write_results

    seed = errors.whole_number("seed", seed, least=0)
    runs = errors.whole_number("runs", runs, least=1)
    check_ready()
    require("matplotlib", "plot")
    if data_dir is not None and not data_dir.is_dir():
        raise _data_folder_missing(str(data_dir))
    if output.exists() and not output.is_dir():
        raise _not_a_folder(str(output))
    output.mkdir(parents=True, exist_ok=True)
    study = Study(
        seed=seed, runs=runs, quick=quick, data_dir=data_dir, cache=Cache(output / "cache")
    )
    try:
        results = reproduce(study, part, command_line())
    except KeyboardInterrupt:
        note("Stopped. The same command goes on where it was.")
        raise
    with busy("Drawing"):
        written = write_results(results, output)
    with printed() as console:
        if not quiet:
            terminal.render_claims(headline(results), results["claims"], written, console)


def _data_folder_missing(folder: str) -> InputError:
    return InputError(
        f"There is no folder {path_shown(folder)}. Name the one that has the UCI files with "
        "--data-dir or CALIBRANT_DATA, or neither, and they are downloaded."
    )


def _not_a_folder(path: str) -> InputError:
    return InputError(
        f"{path_shown(path)} is a file, not a folder. Name a folder, which is made if need be."
    )
