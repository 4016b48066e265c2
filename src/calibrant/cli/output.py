"""What is printed: answers to those who read on, errors and notes to those who read errors."""

from __future__ import annotations

import json as json_module
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from calibrant._console import SafeConsole
from calibrant._text import bounded, named
from calibrant.cli.words import in_options
from calibrant.data.engine.addresses import without_secrets
from calibrant.errors import InputError
from calibrant.report import terminal


@contextmanager
def printed() -> Iterator[Console]:
    """Print to a reader who may stop reading, as `head` does: that changes no exit code."""
    console = SafeConsole()
    # a narrower terminal wraps the lines, which loses less than cutting off numbers
    console.width = max(console.width, terminal.LEAST_WIDTH)
    try:
        yield console
        sys.stdout.flush()
    except InputError:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise _not_printed(error.strerror or str(error)) from None


def answer(
    document: Callable[[], dict[str, Any]],
    draw: Callable[[Console], None],
    *,
    json: bool,
    quiet: bool = False,
) -> None:
    """Print what a command found: as JSON, in words and tables, or not at all."""
    with printed() as console:
        if json:
            print(json_module.dumps(document(), indent=2, allow_nan=False))
        elif not quiet:
            draw(console)


def print_written(console: Console, path: Path) -> None:
    """Say which file was written."""
    console.print(f"Written to {named(path, 240)}.", markup=False, soft_wrap=True)


def note(message: Warning | str, *_details: Any, **_more: Any) -> None:
    """Say a warning to a reader who knows no Python."""
    # bounded before it is translated, which takes the square of its length at worst
    say(f"Note: {in_options(bounded(str(message)))}")


def say(words: str) -> None:
    """Print a message to those who read errors."""
    console = SafeConsole(stderr=True, soft_wrap=True)
    with suppress(OSError):  # an error that cannot be read changes no exit code
        console.print(bounded(without_secrets(words)), markup=False)


def _not_printed(why: str) -> InputError:
    return InputError(f"The answer could not be printed ({named(why, 200)}). Print it elsewhere.")
