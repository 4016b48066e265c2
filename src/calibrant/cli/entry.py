"""The way in: a command is run, and what goes wrong becomes one message and an exit code."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Any

from calibrant._text import shown
from calibrant.cli.commands import app
from calibrant.cli.output import note, say
from calibrant.cli.typed import check_secrets
from calibrant.cli.words import in_options
from calibrant.errors import InputError

#: What there is to say when memory runs out, wherever that is.
_NO_MEMORY = "There is not enough memory for this. Free some, or use a random sample of the rows."


def main() -> None:
    """Run the command line; bad input becomes one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a mark that cannot be shown is no failure
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("once", UserWarning)  # whatever -W says: here they are notes
            warnings.showwarning = note
            check_secrets()
            sys.exit(_exit_code())
    except (InputError, UnicodeError) as error:
        say(f"Error: {in_options(str(error))}")
        sys.exit(2)
    except MemoryError:
        say(f"Error: {_NO_MEMORY}")
        sys.exit(2)
    except OSError as error:
        place = "" if error.filename is None else f"{shown(str(error.filename))}: "
        say(f"Error: {place}{error.strerror or error}.")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _exit_code() -> int:
    """Run a command; a wrong option becomes one message, like any other bad input."""
    try:
        return int(app(standalone_mode=False) or 0)
    except SystemExit:  # help that nobody reads to its end: our own codes are returned
        return 0 if sys.argv[1:] else _no_command()
    except Exception as error:
        words: Any = getattr(error, "format_message", None)
        if words is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # which has shown the help already
            return _no_command()
        where = getattr(getattr(error, "ctx", None), "command_path", "calibrant")
        said = words()
        say(f"Error: {said}{'' if said.endswith(('.', '?')) else '.'} See: {where} --help")
        return 2


def _no_command() -> int:
    """Refuse a line without a command: a gate that lost its words has not passed."""
    say("Error: Name a command. See: calibrant --help")
    return 2
