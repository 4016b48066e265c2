"""Write docs/reference/commands.md from the command line itself."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo

from calibrant.cli import app

PAGE = Path(__file__).parent / "reference" / "commands.md"
HEAD = """# Command line

Every command prints sentences, explains bad input in one message with exit code 2, and shows
progress on a terminal only. `calibrant COMMAND --help` says the same as this page.
"""


def page() -> str:
    """Return the page."""
    return HEAD + "".join(
        "\n" + "\n".join(section(one.name or one.callback.__name__, one.callback)) + "\n"
        for one in app.registered_commands
        if one.callback is not None
    )


def section(name: str, command: Callable[..., Any]) -> Iterator[str]:
    """Describe a command, its arguments and its options."""
    yield f"## calibrant {name}"
    for paragraph in inspect.cleandoc(command.__doc__ or "").split("\n\n"):
        text = " ".join(paragraph.split())
        title, _, example = text.partition(": calibrant ")
        yield ""
        yield f"{title}: `calibrant {example}`" if example else text
    yield from ("", "| Option | Value | What it does |", "| :-- | :-- | :-- |")
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        if hints[parameter.name] is typer.Context:
            continue
        kind, info = get_args(hints[parameter.name])[:2]
        yield option(parameter.name, kind, info, parameter.default)


def option(name: str, kind: Any, info: Any, default: Any) -> str:
    """Return the line of one option or argument."""
    # typer keeps the first of the names it is given as a default
    given = (info.default, *(info.param_decls or ()))
    names = [one for one in given if isinstance(one, str)] or [f"--{name.replace('_', '-')}"]
    if isinstance(info, ArgumentInfo):
        names = [info.metavar or name]
    text = " ".join(info.help.split()).replace("|", "\\|")
    if default is inspect.Parameter.empty:
        text += " Required."
    elif default not in (None, False):
        text += f" By default {default}."
    return f"| {', '.join(f'`{one}`' for one in names)} | {value(kind)} | {text} |"


def value(kind: Any) -> str:
    """Say what an option takes."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_args(kind):  # X | None, or list[X]
        return value(get_args(kind)[0])
    return {bool: "", str: "text", Path: "path", int: "whole number", float: "number"}[kind]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
