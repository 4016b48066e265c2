"""How numbers are written, the same in every report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from calibrant._figures import decimals, percentage, rounded_down, rounded_up


def number(value: float | None, sign: str = "") -> str:
    """Show four decimals, and more of a small number, so that two digits say something."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return "infinite"
    return f"{value:{sign}.{decimals(value, 4)}f}"


def count(value: float) -> str:
    """Show a number of rows."""
    return f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class Format:
    """How a number is written, and both ends of an interval around it."""

    value: Callable[[float], str]
    lower: Callable[[float], str] = number
    upper: Callable[[float], str] = number


def _signed(value: float) -> str:
    return number(value, sign="+")


def _plus(figure: str) -> str:
    """Put a + before a figure that has no sign."""
    return figure if figure.startswith("-") else f"+{figure}"


def _bound(value: float) -> str:
    """Show six decimals or more, rounded up: a bound may grow but not shrink."""
    places = decimals(value, 6)
    return f"{math.ceil(value * 10**places - 1e-6) / 10**places:.{places}f}"


def _error(value: float) -> str:
    """Show six decimals or more."""
    return f"{value:.{decimals(value, 6)}f}"


NUMBER = Format(number)
COUNT = Format(count)
WEIGHT = Format("{:,.6g}".format)
RATE = Format(partial(percentage, least=4))
#: The calibration error, and what is proved about it.
ERROR, BOUND = Format(_error), Format(_bound)
#: Differences, whose ends are rounded outward.
DIFFERENCE = Format(
    _signed, lambda value: _plus(rounded_down(value)), lambda value: _plus(rounded_up(value))
)
