"""Statistic: what a measure needs opened, what it needs summed over rows, and its value.

A new measure is one of these. Whatever computes it, for one function or for a whole audit, opens
what all of them need together, adds up their sums in one pass, and asks each for its value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from calibrant._types import FloatArray
from calibrant.core.arrays import Sums
from calibrant.core.diagram import Diagram, Needs, Source, nothing
from calibrant.core.tally import Totals
from calibrant.errors import InputError, tally_hides

T = TypeVar("T")


class RowSums(NamedTuple):
    """Sums over the rows that cells do not hold.

    Attributes
    ----------
    known : float array
        Those that the statistic named, in its order.
    source : Source
        Adds up more of them by `total`, for what is found step by step.
    """

    known: FloatArray
    source: Source


_NO_SUMS = Sums()
_NO_ROWS = RowSums(np.zeros(0), cast("Source", None))


def no_sums(_totals: Totals) -> Sums:
    """Ask for no sum over rows."""
    return _NO_SUMS


@dataclass(frozen=True, slots=True)
class Statistic(Generic[T]):
    """A number, or several, that a cumulative diagram and sums over rows give.

    Attributes
    ----------
    name : str
        What it is called in a refusal.
    value : callable
        Its value, from a diagram opened as far as it needs, and its sums.
    needs : callable
        Marks the cells that must be opened for it.
    sums : callable
        What cells do not hold, as expressions: one set for 0/1 labels, and maybe another for
        fractions.
    bounded : bool
        It has a value where cells stay closed too, which says how far off that can be.
    """

    name: str
    value: Callable[[Diagram, RowSums], T]
    needs: Needs = nothing
    sums: Callable[[Totals], Sums] = no_sums
    bounded: bool = False


def read(statistic: Statistic[T], diagram: Diagram) -> T:
    """Return the value of a statistic that asks for no sums over rows."""
    return statistic.value(diagram, _NO_ROWS)


def values_of(source: Source, diagram: Diagram, *statistics: Statistic[Any]) -> list[Any]:
    """Return the value of each statistic, or the error that says why there is none."""
    wanted = [one.sums(diagram.totals) for one in statistics]
    some = [one for one in wanted if one.each]
    total: FloatArray | None = np.zeros(0)
    if some:
        together = some[0] if len(some) == 1 else Sums(*(e for one in some for e in one.each))
        total = source.total(together)
    values, start = [], 0
    for statistic, sums in zip(statistics, wanted, strict=True):
        end = start + len(sums.each)
        # without rows there are no sums, which only matters to those that ask for some
        known = np.zeros(0) if not sums.each else None if total is None else total[start:end]
        values.append(_value(statistic, diagram, known, source))
        start = end
    return values


def _value(
    statistic: Statistic[Any], diagram: Diagram, known: FloatArray | None, source: Source
) -> Any:
    hidden = not statistic.bounded and diagram.hides(statistic.needs)
    if hidden or known is None:
        return tally_hides(statistic.name)
    try:
        return statistic.value(diagram, RowSums(known, source))
    except InputError as error:
        return error
