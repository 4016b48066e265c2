"""The application that commands are added to."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant import __version__

app = typer.Typer(
    help="Can these scores be used as probabilities, and where do they fail?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        from calibrant.core import kernel_name

        typer.echo(f"calibrant {__version__} ({kernel_name()} kernel)")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tell whether scores can be used as probabilities, and where they fail."""
