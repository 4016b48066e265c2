"""The command line: parse, call, print, and an exit code that a pipeline can use."""

from calibrant.cli.entry import main
from calibrant.cli.root import app

__all__ = ["app", "main"]
