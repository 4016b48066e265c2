"""The list of commands: a module each, whose `command` has its options and its help."""

from __future__ import annotations

from collections.abc import Callable

from calibrant.cli import apply, audit, calibrate, compare, decide, demo, export, plan, reproduce
from calibrant.cli.once import OnceCommand
from calibrant.cli.root import app

__all__ = ["app"]

#: In the order of the help.
_COMMANDS: dict[str, Callable[..., None]] = {
    "audit": audit.command,
    "compare": compare.command,
    "demo": demo.command,
    "plan": plan.command,
    "calibrate": calibrate.command,
    "export": export.command,
    "apply": apply.command,
    "decide": decide.command,
    "reproduce": reproduce.command,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=OnceCommand)(_command)
