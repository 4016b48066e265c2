"""The command `calibrant`: signals and streams are settled before anything is loaded.

A module of its own next to the package, because importing any part of the package loads numpy: an
interrupt meanwhile would end in a traceback, and a closed stream in an exit code of its own.
"""

try:  # with nothing before it, not even a __future__
    import os
    import signal
    import sys
    import time
    from types import FrameType
    from typing import NoReturn, TextIO
except KeyboardInterrupt:  # nothing takes signals yet
    raise SystemExit(130) from None

#: Signals that end a command as Ctrl-C does; the one that says most names the exit code.
_STOPS = ("SIGTERM", "SIGHUP", "SIGINT")
#: The error that a command ends with if what it printed went nowhere.
_NOT_PRINTED = 2
#: Seconds after a signal in which others are ignored, so that temporary files are removed.
_GRACE = 5.0


def main() -> NoReturn:
    """Run the command line; end with one of its exit codes, whatever happens to its streams."""
    stopper = _Stopper()
    code = None
    try:
        _open_missing()
        stopper.listen()
        from calibrant.cli import main as run

        run()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:
        if not (stopper.seen or isinstance(error, KeyboardInterrupt)):
            raise
        # an interrupt, or what compiled modules that were being imported made of it
    if code is None or stopper.seen:
        stopper.ignore()  # while Python ends, it has no handler of ours
        code = stopper.code
    sys.exit(_flushed(code))


class _Stopper:
    """Turns signals into an interrupt, which cleans up like Ctrl-C, and remembers them."""

    def __init__(self) -> None:
        known = (getattr(signal, name, None) for name in _STOPS)  # Windows has fewer
        self._numbers = [number for number in known if number is not None]
        self.seen: set[int] = set()
        self._last = -_GRACE

    @property
    def code(self) -> int:
        """The exit code, as shells count it."""
        first = next((one for one in self._numbers if one in self.seen), signal.SIGINT)
        return 128 + int(first)

    def listen(self) -> None:
        """Take all of them, unless whoever started the command wants them ignored."""
        for number in self._numbers:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self)

    def ignore(self) -> None:
        """Take no more of them: the command ends."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.seen.add(number)
        now = time.monotonic()
        if now - self._last >= _GRACE:
            self._last = now
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
