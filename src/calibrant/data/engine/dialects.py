"""Dialects: expressions in the SQL of a database, through SQLAlchemy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import narwhals as nw  # the kinds of columns
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from calibrant.core.expressions import OPERATORS, SMALLEST, Expression

Element: TypeAlias = sa.ColumnElement[Any]
_OPERATORS = {**OPERATORS, "and": sa.and_, "or": sa.or_}


class Dialect:
    """SQL as most databases speak it.

    Parameters
    ----------
    columns : mapping of str to Element
        The columns that terms are made of.
    kinds : mapping of str to narwhals DType
        Their kinds, where they are known.
    """

    def __init__(self, columns: Mapping[str, Element], kinds: Mapping[str, Any]) -> None:
        self._columns, self._kinds = columns, kinds

    def element(self, term: Any) -> Element:
        """Turn an expression or a plain value into SQL."""
        if not isinstance(term, Expression):
            return self._value(term)
        if term.what in _OPERATORS:
            left, right = (self.element(part) for part in term.parts)
            found: Element = _OPERATORS[term.what](left, right)
            return found
        made: Element = getattr(self, "_" + term.what.replace(" ", "_"))(*term.parts)
        return made

    def fenced(self, source: sa.FromClause) -> sa.FromClause:
        """Return a table whose columns are computed before they are grouped by, if that helps."""
        return source

    def packed(self, _columns: Sequence[Element]) -> list[Element] | None:
        """Return columns of numbers as one string of bytes each, if that can be."""
        return None

    def many(self, column: str, values: Sequence[Any]) -> Element:
        """Say whether a column holds one of many values."""
        return self._columns[column].in_(list(values))

    def _column(self, name: str) -> Element:
        return self._columns[name]

    def _value(self, value: Any) -> Element:
        if isinstance(value, bool):
            return sa.true() if value else sa.false()
        if isinstance(value, int):
            return sa.literal(value, sa.BigInteger())
        return sa.literal(value, sa.Double() if isinstance(value, float) else None)

    def _double(self, part: Expression) -> Element:
        value = self.element(part)
        if part.what == "column" and self._kinds.get(part.parts[0]) == nw.Boolean:
            one, zero = self._value(1.0), self._value(0.0)
            return sa.case((value.is_(None), sa.null()), (value, one), else_=zero)
        return sa.cast(value, sa.Double())

    def _whole(self, part: Expression) -> Element:
        return sa.cast(self.element(part), sa.BigInteger())

    def _narrow(self, part: Expression) -> Element:
        return sa.cast(self.element(part), sa.Integer())

    def _text(self, part: Expression) -> Element:
        return sa.cast(self.element(part), sa.String())

    def _characters(self, part: Expression) -> Element:
        return sa.func.char_length(self.element(part))

    def _join(self, between: str, *parts: Any) -> Element:
        texts: list[Element] = [sa.type_coerce(self.element(part), sa.String()) for part in parts]
        joined = texts[0]
        for other in texts[1:]:
            joined = (joined.concat(between) if between else joined).concat(other)
        return joined

    def _floor(self, part: Expression) -> Element:
        return sa.func.floor(self.element(part), type_=sa.Double())

    def _squared(self, part: Expression) -> Element:
        return self.element(part) * self.element(part)

    def _weighed(self, part: Expression, weight: Expression) -> Element:
        return self.element(part) * self.element(weight)

    def _ln(self, part: Expression) -> Element:
        return sa.func.ln(self.element(part), type_=sa.Double())

    def _exp(self, part: Expression) -> Element:
        return sa.func.exp(self.element(part), type_=sa.Double())

    def _when(self, condition: Expression, then: Any, otherwise: Any) -> Element:
        return sa.case((self.element(condition), self.element(then)), else_=self.element(otherwise))

    def _not(self, part: Expression) -> Element:
        return sa.not_(self.element(part))

    def _is_null(self, part: Expression) -> Element:
        return self.element(part).is_(None)

    def _is_nan(self, part: Expression) -> Element:
        value = self.element(part)
        return value != value  # noqa: PLR0124

    def _is_in(self, part: Expression, values: Sequence[Any]) -> Element:
        return self.element(part).in_(values)

    def _sum(self, part: Expression) -> Element:
        return sa.func.sum(self.element(part))

    def _min(self, part: Expression) -> Element:
        return sa.func.min(self.element(part))

    def _max(self, part: Expression) -> Element:
        return sa.func.max(self.element(part))

    def _rows(self) -> Element:
        return sa.func.count()

    def _count(self, condition: Expression) -> Element:
        return sa.func.count(sa.case((self.element(condition), 1)))


class Postgres(Dialect):
    """PostgreSQL, which refuses to round a product to 0, and to which NaN equals NaN."""

    def fenced(self, source: sa.FromClause) -> sa.FromClause:
        """Return a table that is computed first: LIMIT NULL leaves all rows.

        Else the planner would expect as many cells as there are scores, sort the rows on disk,
        and leave all of it to one process.
        """
        return sa.select(source).limit(sa.literal_column("NULL")).subquery()

    def packed(self, columns: Sequence[Element]) -> list[Element] | None:
        """Return columns of numbers as strings of doubles: ten times as fast to fetch as rows."""
        nan, nothing = self._value(float("nan")), sa.literal(b"", sa.LargeBinary())
        doubles: list[Element] = [
            sa.func.coalesce(sa.cast(column, sa.Double()), nan) for column in columns
        ]
        return [sa.func.string_agg(sa.func.float8send(one), nothing) for one in doubles]

    def many(self, column: str, values: Sequence[Any]) -> Element:
        """Say whether a column holds one of many values: one array, which is hashed."""
        kind = sa.Text() if isinstance(next(iter(values), ""), str) else sa.BigInteger()
        return self._columns[column] == sa.any_(sa.literal(list(values), ARRAY(kind)))

    def _text(self, part: Expression) -> Element:
        # not a collation that takes different texts for the same
        return sa.collate(sa.cast(self.element(part), sa.Text()), "C")

    def _squared(self, part: Expression) -> Element:
        return self._weighed(part, part)

    def _weighed(self, part: Expression, weight: Expression) -> Element:
        value = self.element(part)
        large = sa.or_(value > self._value(SMALLEST), value < self._value(-SMALLEST))
        return sa.case((large, value * self.element(weight)), else_=self._value(0.0))

    def _is_nan(self, part: Expression) -> Element:
        return self.element(part) == self._value(float("nan"))


class Sqlite(Dialect):
    """SQLite, whose columns may hold values of any kind."""

    def many(self, column: str, values: Sequence[Any]) -> Element:
        """Say whether a column holds one of many values: one text, however many they are."""
        each = sa.func.json_each(json.dumps(list(values))).table_valued("value")
        return self._columns[column].in_(sa.select(each.c.value))

    def _text(self, part: Expression) -> Element:
        value = self.element(part)
        if isinstance(value.type, sa.Numeric | sa.Float):  # a cast would keep 15 digits of a double
            return sa.func.printf("%!.17g", value, type_=sa.String())
        return sa.collate(sa.cast(value, sa.String()), "BINARY")

    def _floor(self, part: Expression) -> Element:
        # nothing that is rounded down is under 0, and not every SQLite knows floor
        return sa.cast(self.element(part), sa.BigInteger())

    def _characters(self, part: Expression) -> Element:
        return sa.func.length(self.element(part))

    def _is_nan(self, part: Expression) -> Element:
        del part  # it keeps NaN as null
        return sa.false()


def dialect_of(name: str) -> type[Dialect]:
    """Return the dialect of a database."""
    return {"postgresql": Postgres, "sqlite": Sqlite}.get(name, Dialect)
