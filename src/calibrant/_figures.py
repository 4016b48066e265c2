"""Numbers as people read them: plain decimals, with as many digits as say something.

Python writes 0.00005 as 5e-05, which a report is not read by. Everything that is printed for
people is written here; p-values, which may be far smaller, have a rule of their own.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

#: Outside these the zeros could not be counted any more, and an exponent is easier to read.
_LEAST, _MOST = 1e-9, 1e15
#: From so many digits on, a number gets commas.
_MANY = 1_000


def figure(value: float, digits: int = 4, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a number with so many significant digits, without an exponent.

    Parameters
    ----------
    value : float
        Any number.
    digits : int
        Significant digits at most: zeros at the end are left out. What is larger is rounded to a
        whole number.
    rounding : str
        One of the module `decimal`.

    Examples
    --------
    >>> figure(0.0000384), figure(0.5), figure(0.123456), figure(12345.6)
    ('0.0000384', '0.5', '0.1235', '12,346')
    """
    if not math.isfinite(value):
        return f"{value}"
    exact = Decimal(repr(float(value)))
    plain = value == 0 or _LEAST <= abs(value) < _MOST
    whole = max(digits, exact.adjusted() + 1) if plain else digits
    kept = Context(prec=whole, rounding=rounding).create_decimal(exact)
    if not plain:
        return f"{float(kept):.{digits}g}"
    text = f"{kept.normalize():{',' if abs(kept) >= _MANY else ''}f}"
    return "0" if text == "-0" else text


def rounded_up(value: float, digits: int = 3) -> str:
    """Write an upper bound: it may grow by rounding, but not shrink.

    Examples
    --------
    >>> rounded_up(0.000033421)
    '0.0000335'
    """
    return figure(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int = 3) -> str:
    """Write a lower bound: it may shrink by rounding, but not grow."""
    return figure(value, digits, ROUND_FLOOR)


def decimals(value: float, least: int, digits: int = 2) -> int:
    """Return how many decimals show so many digits of a number, and no fewer than `least`."""
    if value == 0 or not math.isfinite(value) or abs(value) < _LEAST:
        return least
    # as it is written: rounding may lift 0.00009999 to 0.0001
    size = Decimal(f"{value:.{digits - 1}e}").adjusted()
    return max(least, digits - 1 - size)


def percentage(share: float, least: int = 2, digits: int = 2) -> str:
    """Write a share as a percentage, with two digits at least if it is small.

    Parameters
    ----------
    share : float
        A share of 1.
    least : int
        Decimals at least.
    digits : int
        Significant digits at least.

    Examples
    --------
    >>> percentage(0.1724), percentage(0.0000673)
    ('17.24%', '0.0067%')
    """
    return f"{100 * share:.{decimals(100 * share, least, digits)}f}%"


def apart(first: float, second: float, digits: int = 4) -> tuple[str, str]:
    """Write two numbers that differ with as many digits as tell them apart.

    Examples
    --------
    >>> apart(0.12341, 0.12342)
    ('0.12341', '0.12342')
    """
    enough = (d for d in range(digits, 17) if figure(first, d) != figure(second, d))
    least = next(enough, 17)
    return figure(first, least), figure(second, least)
