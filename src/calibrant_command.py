"""The command `calibrant`: signals and streams are settled before anything is loaded.

A module of its own next to the package, because importing any part of the package loads numpy: an
interrupt meanwhile would end in a traceback, and a closed stream in an exit code of its own.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn, TextIO

#: Exit codes of a command that is stopped, as shells count them.
INTERRUPTED, TERMINATED = 130, 143
#: The error that a command ends with if what it printed went nowhere.
_NOT_PRINTED = 2
#: Seconds after a signal in which others are ignored, so that temporary files are removed.
_GRACE = 5.0


def main() -> NoReturn:
    """Run the command line; end with one of its exit codes, whatever happens to its streams."""
    _open_missing()
    stopper = _Stopper()
    code = INTERRUPTED
    try:
        stopper.listen()
        from calibrant.cli import main as run

        run()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        pass
    if code == INTERRUPTED and stopper.terminated:
        code = TERMINATED
    sys.exit(_flushed(code))


class _Stopper:
    """Turns SIGTERM into an interrupt, which cleans up like Ctrl-C, and remembers which it was."""

    def __init__(self) -> None:
        self.terminated = False
        self._last = -_GRACE

    def listen(self) -> None:
        """Take both signals, unless whoever started the command wants them ignored."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self)

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last < _GRACE:
            return
        self._last = now
        self.terminated = number == signal.SIGTERM
        raise KeyboardInterrupt


def _open_missing() -> None:
    """Give a closed stream a place where nothing is kept.

    Otherwise the next file that is opened would get its number, and be printed to.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def _flushed(code: int) -> int:
    """Print what is left; if that fails leave nothing for Python, which has a code of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            _silence(stream)
            lost = stream is sys.stdout and not isinstance(error, BrokenPipeError)
            code = _NOT_PRINTED if lost and code == 0 else code
    return code


def _silence(stream: TextIO) -> None:
    """Let a stream that cannot be written to lead nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        stream.flush()
    except (OSError, ValueError):
        pass


if __name__ == "__main__":
    main()
