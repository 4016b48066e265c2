"""`calibrant export`: a calibrator as SQL or ONNX."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from calibrant._text import visible
from calibrant._writing import check_new, write_whole
from calibrant.calibrators.export_sql import SqlDialect
from calibrant.cli import options
from calibrant.cli.output import print_written, printed
from calibrant.errors import InputError


def command(
    file: Annotated[Path, typer.Argument(help="A calibrator, as `calibrant calibrate` wrote it.")],
    to: Annotated[Literal["sql", "onnx"], typer.Option(help="What to turn it into.")],
    column: Annotated[
        str | None, typer.Option(help="With --to sql: the column of scores; p if not given.")
    ] = None,
    dialect: Annotated[
        SqlDialect | None, typer.Option(help="With --to sql: the engine; duckdb if not given.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this .sql or .onnx file."),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Turn a calibrator into a SQL expression, or an ONNX model, that others run without calibrant.

    For example: calibrant export calibrator.json --to sql --column p --dialect postgres

    Or: calibrant export calibrator.json --to onnx -o calibrator.onnx

    Scores that are missing or outside [0, 1] become NULL in SQL, and NaN in ONNX.
    """
    _check_export(to, column, dialect, output, overwrite)
    from calibrant.calibrators.estimators.calibrator import Calibrator

    calibrator = Calibrator.load(file)
    content: str | bytes
    if to == "sql":
        content = calibrator.to_sql("p" if column is None else column, dialect or "duckdb") + "\n"
    else:
        content = calibrator.to_onnx()
    with printed() as console:
        if output is not None:
            write_whole(output, content, overwrite=overwrite)
            print_written(console, output)
        elif isinstance(content, str):
            _print_whole(content)


def _print_whole(text: str) -> None:
    """Print text of which no letter may be replaced by one that the output can show."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        raise _not_shown(encoding) from None
    if visible(text, keep="\n") != text:
        raise _not_visible()
    print(text, end="")


def _check_export(
    to: str, column: str | None, dialect: str | None, output: Path | None, overwrite: bool
) -> None:
    """Refuse, before any work is done, options that do not go together."""
    if to == "onnx":
        for name, value in (("--column", column), ("--dialect", dialect)):
            if value is not None:
                raise _option_of_sql(name)
        if output is None:
            raise _output_missing(to)
    if output is not None:
        check_new(output, f".{to}", overwrite=overwrite)
    elif overwrite:
        raise _overwrite_without_output()


def _output_missing(kind: str) -> InputError:
    return InputError(
        f"--to {kind} writes a file that is not text: say where, as -o calibrator.{kind}."
    )


def _option_of_sql(name: str) -> InputError:
    return InputError(f"{name} is for --to sql; an ONNX model has no columns. Leave it out.")


def _not_shown(encoding: str) -> InputError:
    return InputError(
        f"The output is {encoding}, which lacks letters of the column's name. Write the SQL to a "
        "file: -o calibrator.sql."
    )


def _not_visible() -> InputError:
    return InputError(
        "The column's name has control characters, which would reach the terminal. Write the SQL "
        "to a file: -o calibrator.sql."
    )


def _overwrite_without_output() -> InputError:
    return InputError("--overwrite replaces a file: name it, as -o calibrator.sql.")
