"""Threads: how many work side by side, and over which rows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from calibrant.errors import whole_number

T = TypeVar("T")
R = TypeVar("R")

#: The variables that say how many threads to use: ours, and that of OpenMP.
SETTING, OPENMP = "CALIBRANT_THREADS", "OMP_NUM_THREADS"
#: Threads at most, unless more are asked for: memory is no faster for more of them.
_MOST = 8
#: Threads at most, whoever asks.
_MOST_ASKED = 1024
#: Rows from which on threads take less time than starting them.
MANY_ROWS = 1 << 18

_forked = False


def _note_fork() -> None:
    global _forked  # noqa: PLW0603 (a process knows nothing else of its birth)
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def threads(rows: int) -> int:
    """Return how many threads share so many rows.

    One in a process or a thread that others started: they share the cores already, and a child
    by fork has only one thread to begin with.
    """
    if rows < MANY_ROWS or threading.current_thread() is not threading.main_thread():
        return 1
    from multiprocessing.process import current_process

    if _forked or current_process().name != "MainProcess":
        return 1
    asked = os.environ.get(SETTING, "").strip()
    if asked:
        number = _number(asked)
        value = asked if number is None else number
        return whole_number(SETTING, value, least=1, most=_MOST_ASKED)
    shared = _number(os.environ.get(OPENMP, "").split(",")[0].strip())
    return min(shared, _MOST_ASKED) if shared else min(_MOST, _cores())


def _number(text: str) -> int | None:
    """Return a whole number; None if the text is none, or longer than any count of threads."""
    return int(text) if text.isdecimal() and len(text) < 20 else None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(work: Callable[[T], R], parts: Sequence[T], workers: int) -> list[R]:
    """Return what `work` makes of each part, in their order."""
    workers = min(workers, len(parts))
    if workers <= 1:
        return [work(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        try:
            futures = [pool.submit(work, part) for part in parts]
        except RuntimeError:  # no more threads can be started, as when the program ends
            return [work(part) for part in parts]
        return [future.result() for future in futures]


def ranges(rows: int, parts: int, unit: int) -> list[slice]:
    """Cut rows into as many ranges of about the same size, each but the last whole units long."""
    size = max(1, -(-rows // (parts * unit))) * unit
    return [slice(start, min(rows, start + size)) for start in range(0, rows, size)]
