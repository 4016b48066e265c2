"""Expressions: what is computed from the columns of rows, said once for arrays and every engine.

An expression is a small tree: a column, a value, or an operation on other expressions. Arrays
evaluate it chunk by chunk; a table turns it into the language of its engine.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

Value: TypeAlias = "Expression | bool | float | str"
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


class Expression:
    """An operation, and what it is applied to: expressions and plain values."""

    __slots__ = ("parts", "what")

    def __init__(self, what: str, parts: tuple[Any, ...] = ()) -> None:
        self.what, self.parts = what, parts

    def __add__(self, other: Value) -> Expression:
        return Expression("+", (self, other))

    def __sub__(self, other: Value) -> Expression:
        return Expression("-", (self, other))

    def __rsub__(self, other: Value) -> Expression:
        return Expression("-", (other, self))

    def __mul__(self, other: Value) -> Expression:
        return Expression("*", (self, other))

    def __rtruediv__(self, other: Value) -> Expression:
        return Expression("/", (other, self))

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return Expression("==", (self, other))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return Expression("!=", (self, other))

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Value) -> Expression:
        return Expression("<", (self, other))

    def __le__(self, other: Value) -> Expression:
        return Expression("<=", (self, other))

    def __gt__(self, other: Value) -> Expression:
        return Expression(">", (self, other))

    def __ge__(self, other: Value) -> Expression:
        return Expression(">=", (self, other))

    def __and__(self, other: Expression) -> Expression:
        return Expression("and", (self, other))

    def __or__(self, other: Expression) -> Expression:
        return Expression("or", (self, other))

    def __invert__(self) -> Expression:
        return Expression("not", (self,))

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value before a query runs")

    def double(self) -> Expression:
        """Return it as a double."""
        return Expression("double", (self,))

    def whole(self, *, narrow: bool = False) -> Expression:
        """Return it as a whole number of 64 bits, or of 32."""
        return Expression("narrow" if narrow else "whole", (self,))

    def text(self) -> Expression:
        """Return it as a text."""
        return Expression("text", (self,))

    def characters(self) -> Expression:
        """Return how many characters a text has."""
        return Expression("characters", (self,))

    def floor(self) -> Expression:
        """Return the largest whole number that is not above it, as a double."""
        return Expression("floor", (self,))

    def squared(self) -> Expression:
        """Return its square; 0 where that is too small for a double."""
        return Expression("squared", (self,))

    def weighed(self, weight: Expression) -> Expression:
        """Return it times a weight; 0 where it is too small to count."""
        return Expression("weighed", (self, weight))

    def log(self) -> Expression:
        """Return the natural logarithm of what is above 0, and 0 otherwise."""
        return Expression("log", (self,))

    def odds(self) -> Expression:
        """Return the log-odds of a score; scores of 0 and 1, which have none, are refused."""
        return Expression("odds", (self,))

    def sigmoid(self) -> Expression:
        """Return the score that has these log-odds."""
        return Expression("sigmoid", (self,))

    def within(self, low: Value, high: Value) -> Expression:
        """Return it, or the end of a range that it lies beyond."""
        return when(self < low, low, when(self > high, high, self))

    def is_null(self) -> Expression:
        """Say whether there is no value."""
        return Expression("is null", (self,))

    def is_nan(self) -> Expression:
        """Say whether a double is not a number."""
        return Expression("is nan", (self,))

    def is_in(self, values: Sequence[Any]) -> Expression:
        """Say whether it is one of a few values."""
        return Expression("is in", (self, list(values)))

    def sum(self) -> Expression:
        """Add up rows."""
        return Expression("sum", (self,))

    def min(self) -> Expression:
        """Take the least of the rows."""
        return Expression("min", (self,))

    def max(self) -> Expression:
        """Take the greatest of the rows."""
        return Expression("max", (self,))


def col(name: str) -> Expression:
    """Return a column."""
    return Expression("column", (name,))


#: The score of a row, and its outcome: 0, 1, or a fraction.
SCORE, LABEL = col("f"), col("y")


def log_gain(
    score: Expression, label: Expression, *, binary: bool
) -> tuple[Expression, Expression]:
    """Return the log of the probability given to what happened, and whether it was 0.

    An impossible event costs nothing where it does not happen.
    """
    if binary:  # one logarithm a row, not two
        hit = when(label == 1, score, 1 - score)
        return hit.log(), hit <= 0
    impossible = ((label > 0) & (score <= 0)) | ((label < 1) & (score >= 1))
    return label * score.log() + (1 - label) * (1 - score).log(), impossible


def plain(each: Iterable[Expression], **numbers: float) -> list[Expression]:
    """Say log, log-odds and their inverse by operations that every engine has.

    Engines differ on the logarithm of 0 and on numbers past a double, so these are never met.
    What is shared stays shared, and numbers take the place of columns of their names.
    """
    known: dict[int, Expression] = {}

    def said(one: Any) -> Any:
        if not isinstance(one, Expression):
            return one
        if one.what == "column" and one.parts[0] in numbers:
            return lit(numbers[one.parts[0]])
        if id(one) not in known:
            parts = tuple(said(part) for part in one.parts)
            known[id(one)] = (
                _PLAIN[one.what](*parts) if one.what in _PLAIN else Expression(one.what, parts)
            )
        return known[id(one)]

    return [said(one) for one in each]


def _ln(number: Expression) -> Expression:
    return Expression("ln", (when(number > 0, number, 1.0),))


def _sigmoid(odds: Expression) -> Expression:
    return 1 / (Expression("exp", (0 - odds.within(-700.0, 700.0),)) + 1)


_PLAIN: dict[str, Callable[..., Expression]] = {
    "log": _ln,
    "odds": lambda score: _ln(score) - _ln(1 - score),
    "sigmoid": _sigmoid,
}


def staged(each: Sequence[Expression]) -> tuple[list[dict[str, Expression]], list[Expression]]:
    """Split expressions into columns that several of them share, stage by stage, and the rest.

    Engines compute a column once, and an expression as often as it is written.
    """
    uses: Counter[int] = Counter()

    def count_uses(one: Any) -> None:
        if isinstance(one, Expression):
            uses[id(one)] += 1
            if uses[id(one)] == 1:
                for part in one.parts:
                    count_uses(part)

    for one in each:
        count_uses(one)
    stages: list[dict[str, Expression]] = []
    known: dict[int, tuple[Any, int]] = {}

    def named(one: Any) -> tuple[Any, int]:
        """Return an expression in terms of columns, and how many stages come before it."""
        if not isinstance(one, Expression) or not any(
            isinstance(part, Expression) for part in one.parts
        ):
            return one, 0
        if id(one) not in known:
            parts = [named(part) for part in one.parts]
            stage = max(level for _, level in parts)
            found = Expression(one.what, tuple(part for part, _ in parts))
            if uses[id(one)] > 1:
                stages.extend({} for _ in range(stage + 1 - len(stages)))
                name = f"shared_{len(known)}"
                stages[stage][name] = found
                found, stage = col(name), stage + 1
            known[id(one)] = found, stage
        return known[id(one)]

    return stages, [named(one)[0] for one in each]


def lit(value: Any) -> Expression:
    """Return a plain value as an expression."""
    return Expression("value", (value,))


def when(condition: Expression, then: Value, otherwise: Value) -> Expression:
    """Return one value where a condition holds, and another elsewhere."""
    return Expression("when", (condition, then, otherwise))


def text_of(*parts: Value, between: str = "") -> Expression:
    """Join texts to one."""
    return Expression("join", (between, *parts))


def how_many() -> Expression:
    """Count the rows."""
    return Expression("rows")


def count(condition: Expression) -> Expression:
    """Count the rows where a condition holds; what is neither true nor false does not count."""
    return Expression("count", (condition,))


def kept(*names: str) -> dict[str, Expression]:
    """Return columns under their own names."""
    return {name: col(name) for name in names}
