"""Terms: what a query computes from columns, said once for every engine.

A term is a small tree: a column, a value, or an operation on other terms. The table that a query
is put to turns it into the language of its engine.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Value: TypeAlias = "Term | bool | float | str"
#: Less than this, about 1e-150, is too small to count in a product.
SMALLEST = 2.0**-500
#: Operations that engines write as Python does.
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """An operation, and what it is applied to: terms and plain values."""

    what: str
    parts: tuple[Any, ...] = ()

    def __add__(self, other: Value) -> Term:
        return Term("+", (self, other))

    def __sub__(self, other: Value) -> Term:
        return Term("-", (self, other))

    def __rsub__(self, other: Value) -> Term:
        return Term("-", (other, self))

    def __mul__(self, other: Value) -> Term:
        return Term("*", (self, other))

    def __rtruediv__(self, other: Value) -> Term:
        return Term("/", (other, self))

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return Term("==", (self, other))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return Term("!=", (self, other))

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Value) -> Term:
        return Term("<", (self, other))

    def __le__(self, other: Value) -> Term:
        return Term("<=", (self, other))

    def __gt__(self, other: Value) -> Term:
        return Term(">", (self, other))

    def __ge__(self, other: Value) -> Term:
        return Term(">=", (self, other))

    def __and__(self, other: Term) -> Term:
        return Term("and", (self, other))

    def __or__(self, other: Term) -> Term:
        return Term("or", (self, other))

    def __invert__(self) -> Term:
        return Term("not", (self,))

    def __bool__(self) -> bool:
        raise TypeError("a term has no truth value before a query runs")

    def double(self) -> Term:
        """Return it as a double."""
        return Term("double", (self,))

    def whole(self, *, narrow: bool = False) -> Term:
        """Return it as a whole number of 64 bits, or of 32."""
        return Term("narrow" if narrow else "whole", (self,))

    def text(self) -> Term:
        """Return it as a text."""
        return Term("text", (self,))

    def characters(self) -> Term:
        """Return how many characters a text has."""
        return Term("characters", (self,))

    def floor(self) -> Term:
        """Return the largest whole number that is not above it, as a double."""
        return Term("floor", (self,))

    def squared(self) -> Term:
        """Return its square; 0 where that is too small for a double."""
        return Term("squared", (self,))

    def weighed(self, weight: Term) -> Term:
        """Return it times a weight; 0 where it is too small to count."""
        return Term("weighed", (self, weight))

    def log(self) -> Term:
        """Return the natural logarithm of a number above 0."""
        return Term("log", (self,))

    def exp(self) -> Term:
        """Return e to its power."""
        return Term("exp", (self,))

    def within(self, low: float, high: float) -> Term:
        """Return it, or the end of a range that it lies beyond."""
        return when(self < low, low, when(self > high, high, self))

    def is_null(self) -> Term:
        """Say whether there is no value."""
        return Term("is null", (self,))

    def is_nan(self) -> Term:
        """Say whether a double is not a number."""
        return Term("is nan", (self,))

    def is_in(self, values: Sequence[Any]) -> Term:
        """Say whether it is one of a few values."""
        return Term("is in", (self, list(values)))

    def sum(self) -> Term:
        """Add up rows."""
        return Term("sum", (self,))

    def min(self) -> Term:
        """Take the least of the rows."""
        return Term("min", (self,))

    def max(self) -> Term:
        """Take the greatest of the rows."""
        return Term("max", (self,))


def col(name: str) -> Term:
    """Return a column."""
    return Term("column", (name,))


def lit(value: Any) -> Term:
    """Return a plain value as a term."""
    return Term("value", (value,))


def when(condition: Term, then: Value, otherwise: Value) -> Term:
    """Return one value where a condition holds, and another elsewhere."""
    return Term("when", (condition, then, otherwise))


def text_of(*parts: Value, between: str = "") -> Term:
    """Join texts to one."""
    return Term("join", (between, *parts))


def how_many() -> Term:
    """Count the rows."""
    return Term("rows")


def count(condition: Term) -> Term:
    """Count the rows where a condition holds; what is neither true nor false does not count."""
    return Term("count", (condition,))


def kept(*names: str) -> dict[str, Term]:
    """Return columns under their own names."""
    return {name: col(name) for name in names}
