"""Reading: the parts of a calibrator's JSON, held to their types."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from calibrant._text import shown
from calibrant._types import FloatArray
from calibrant.errors import InputError, listing


def calibrator_unreadable(why: str) -> InputError:
    """Say why a text is no calibrator."""
    return InputError(
        f"This is not a calibrator that calibrant can read: {why}. Write it with to_json()."
    )


def exactly(found: dict[str, object], names: Sequence[str], what: str) -> None:
    """Refuse a JSON object that lacks a name or has one that is not known."""
    missing = [name for name in names if name not in found]
    unknown = [name for name in found if name not in names]
    if missing or unknown:
        wrong = f"lack {listing(missing)}" if missing else f"hold {listing(unknown)}, which is new"
        raise calibrator_unreadable(f"{what} {wrong}")


def number_in(found: dict[str, object], name: str) -> float:
    """Return a finite number out of a JSON object."""
    value = found[name]
    try:
        number = float(value) if type(value) in {int, float} else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise calibrator_unreadable(f"{name} is {shown(value)}, not a number")
    return number


def numbers_in(found: dict[str, object], name: str) -> FloatArray:
    """Return a list of numbers out of a JSON object."""
    values = found[name]
    if type(values) is not list or not set(map(type, values)) <= {int, float}:
        raise calibrator_unreadable(f"{name} is not a list of numbers")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise calibrator_unreadable(f"{name} holds a number past the largest double") from None
