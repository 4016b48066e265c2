"""Signs of life while something long goes on, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from calibrant._text import named

if TYPE_CHECKING:
    from rich.status import Status

#: What is on the screen: a terminal shows one such line at a time.
_shown: list[Status] = []
#: Characters of it: what is drawn many times a second has to be short.
_LONGEST = 240


def _line(what: str) -> str:
    return named(what, _LONGEST)


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Say what goes on until it is done; off a terminal say nothing."""
    if not sys.stderr.isatty() or _shown:
        yield
        return
    from rich.markup import escape

    from calibrant._console import SafeConsole

    with SafeConsole(stderr=True).status(escape(_line(what))) as status:
        _shown.append(status)
        try:
            yield
        finally:
            _shown.clear()


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], object]]:
    """Give a function to tell how much is done; off a terminal it does nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.markup import escape

    if _shown:
        text = escape(_line(what))
        yield lambda count: _shown[0].update(f"{text} {100 * count // total}%")
        return
    from rich.progress import Progress

    from calibrant._console import SafeConsole

    with Progress(console=SafeConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(_line(what)), total=total)
        yield lambda count: bar.update(task, completed=count)
