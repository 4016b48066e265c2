"""How numbers are written, the same in every report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from calibrant.certificates.certificate import rounded_down, rounded_up


def number(value: float | None, sign: str = "") -> str:
    """Show four decimals, more where they would say nothing, and an exponent below a millionth."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return "infinite"
    if value == 0 or abs(value) >= 0.001:
        return f"{value:{sign}.4f}"
    if abs(value) < 1e-6:
        return f"{value:{sign}.1e}"
    return f"{value:{sign}.{1 - math.floor(math.log10(abs(value)))}f}"


def percent(value: float) -> str:
    """Show a share as a percentage."""
    return f"{100 * value:.2f}%"


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
    """Show six decimals, rounded up: a bound may grow but not shrink."""
    return f"{math.ceil(value * 1e6 - 1e-6) / 1e6:.6f}"


NUMBER = Format(number)
COUNT = Format(count)
WEIGHT = Format("{:,.6g}".format)
RATE = Format("{:.4%}".format)
#: The calibration error, and what is proved about it.
ERROR, BOUND = Format("{:.6f}".format), Format(_bound)
#: Differences, whose ends are rounded outward.
DIFFERENCE = Format(
    _signed, lambda value: _plus(rounded_down(value)), lambda value: _plus(rounded_up(value))
)
