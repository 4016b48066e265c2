"""The console that everything for a terminal is printed to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from calibrant._text import visible


class SafeConsole(Console):
    """A console on which only its own styles move the cursor or change a colour.

    Names and words from data, files and engines are cut where they enter a sentence; this is the
    last gate, which shows the controls that are left in any text by their codes.
    """

    def __init__(self, **options: Any) -> None:
        # a name such as ":bomb:" is no picture, and a number in it is no figure of ours
        super().__init__(highlight=False, emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """Leave the exit code to the command: rich would exit with 1, which means a failed gate."""
        raise BrokenPipeError

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render into segments whose text is visible."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible(segment.text, keep="\n"), segment.style)
