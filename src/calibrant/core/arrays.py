"""Arrays: what an expression is worth on rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from calibrant._types import FloatArray
from calibrant.core.expressions import OPERATORS, Expression


def _log(number: FloatArray) -> FloatArray:
    if number.size and number.min() <= 0:
        number = np.where(number > 0, number, 1.0)
    logarithm: FloatArray = np.log(number)
    return logarithm


def _sigmoid(odds: FloatArray) -> FloatArray:
    mean = np.negative(odds)
    np.exp(mean, out=mean)  # vectorised, which scipy's expit is not
    mean += 1
    return np.reciprocal(mean, out=mean)


class NoOddsError(ArithmeticError):
    """A score of 0 or 1 has no log-odds."""


def _odds(score: FloatArray) -> FloatArray:
    if score.min(initial=0.5) <= 0 or score.max(initial=0.5) >= 1:
        raise NoOddsError
    odds: FloatArray = np.log(score / (1 - score))
    return odds


_OPERATIONS: dict[str, Callable[..., Any]] = {
    **OPERATORS,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "when": np.where,
    "squared": np.square,
    "log": _log,
    "odds": _odds,
    "sigmoid": _sigmoid,
}


class Sums:
    """Expressions to be added up over the rows of one chunk after another.

    What several of them share is computed once for a chunk, and a product that is only added up
    is not kept as an array.
    """

    def __init__(self, *each: Expression) -> None:
        self.each = each
        self._uses: dict[int, int] = {}
        for one in each:
            self._count(one)
        self._places: dict[int, int] = {}
        self._columns: list[tuple[int, str]] = []
        #: What is at each place before any row is seen: plain values.
        self._known: list[Any] = []
        #: An operation, where its parts are and where its value goes; or a sum, by its number.
        steps: list[tuple[Callable[..., Any] | None, list[int], int]] = []
        for number, one in enumerate(each):
            only_added_up = one.what == "*" and self._uses[id(one)] == 1
            factors = one.parts if only_added_up else (one,)
            steps.append((None, [self._place(part, steps) for part in factors], number))
        self._steps = [
            (operation, _picked(parts), place, done)
            for (operation, parts, place), done in zip(steps, _last_uses(steps), strict=True)
        ]

    def _count(self, one: Any) -> None:
        if isinstance(one, Expression):
            count = self._uses[id(one)] = self._uses.get(id(one), 0) + 1
            if count == 1:
                for part in one.parts:
                    self._count(part)

    def _place(self, one: Any, steps: list[Any]) -> int:
        """Return where the value of an expression will be, or where a plain value is."""
        if isinstance(one, Expression) and id(one) in self._places:
            return self._places[id(one)]
        parts: list[int] = []
        if isinstance(one, Expression) and one.what != "column":
            parts = [self._place(part, steps) for part in one.parts]
        place = len(self._known)
        self._known.append(None if isinstance(one, Expression) else one)
        if isinstance(one, Expression):
            self._places[id(one)] = place
            if one.what == "column":
                self._columns.append((place, one.parts[0]))
            else:
                steps.append((_OPERATIONS[one.what], parts, place))
        return place

    def over(self, columns: Mapping[str, Any], weight: FloatArray | None) -> FloatArray:
        """Return the sums over some rows, each times its weight."""
        known, found = self._known.copy(), np.empty(len(self.each))
        for place, name in self._columns:
            known[place] = columns[name]
        with np.errstate(over="ignore"):  # a mean that rounds to 0
            for operation, picked, place, done in self._steps:
                values = picked(known)
                if operation is None:
                    found[place] = _total(values, weight)
                else:
                    known[place] = operation(*values)
                for part in done:
                    known[part] = None  # so that few arrays are in memory, and in the cache
        return found


def _picked(parts: list[int]) -> Callable[[Any], Any]:
    """Return what takes some values out of a list, faster than a loop over few rows would be."""
    return itemgetter(*parts) if len(parts) > 1 else itemgetter(slice(parts[0], parts[0] + 1))


def _total(factors: Any, weight: FloatArray | None) -> float:
    """Add up an array, or a product of two, times the weights."""
    one, other = factors if len(factors) == 2 else (factors[0], None)
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    # the product is made where there is a third factor, and where einsum would take it for another
    if other is not None and (weight is not None or not arrays or one.dtype == other.dtype == bool):
        one, other = one * other, None
    other = weight if other is None else other
    # einsum, not dot: BLAS would start threads for a few microseconds of work
    total: float = np.add.reduce(one) if other is None else np.einsum("i,i->", one, other)
    return total


def _last_uses(steps: list[Any]) -> list[list[int]]:
    """Return the places that are not read any more after each step."""
    seen: set[int] = set()
    done: list[list[int]] = []
    for _, parts, _ in reversed(steps):
        done.append([part for part in {*parts} if part not in seen])
        seen.update(parts)
    return done[::-1]
