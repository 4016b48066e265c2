"""SQL: a table or a query in a database; what is asked of it is a SELECT around a SELECT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Self

import narwhals as nw  # the kinds of columns
import numpy as np
import sqlalchemy as sa

from calibrant._text import shown
from calibrant._types import FloatArray
from calibrant.core.expressions import Expression, kept
from calibrant.data import refusals
from calibrant.data.engine.database import Database
from calibrant.data.engine.dialects import Dialect, Element, dialect_of
from calibrant.data.engine.statements import one_select
from calibrant.data.engine.table import Fetched, Table
from calibrant.errors import InputError

#: The kind of a column, from a value that it holds; the first that fits.
_KINDS = (
    (bool, nw.Boolean()),
    (int, nw.Int64()),
    ((float, Decimal), nw.Float64()),
    (str, nw.String()),
    (datetime, nw.Datetime()),
    (date, nw.Date()),
)
#: What SQLite adds to a name that a query has twice.
_NUMBERED = re.compile(r":\d+$")


class SqlTable(Table):
    """A table or a query in a database, opened by `open_select`."""

    def __init__(self, database: Database, source: sa.FromClause, kinds: Mapping[str, Any]) -> None:
        self._database, self._source, self._kinds = database, source, kinds
        self.engine = database.engine
        self.few_groups = database.kind == "postgresql"
        self._names = list(source.c.keys())

    def __repr__(self) -> str:
        return f"<table in {self.engine} with columns {', '.join(self._kinds)}>"

    @property
    def kinds(self) -> Mapping[str, Any]:
        return self._kinds

    def chosen(self, columns: Mapping[str, str]) -> Self:
        new = [self._source.c[name].label(new) for new, name in columns.items()]
        return self._with(sa.select(*new), _Renamed(self._kinds, columns))

    def select(self, **terms: Expression) -> Self:
        # a count of rows names no column that would say whose rows
        query = sa.select(*self._elements(terms)).select_from(self._source)
        return self._with(query, self._kinds_of(terms))

    def with_columns(self, **terms: Expression) -> Self:
        others = [name for name in self._names if name not in terms]
        return self.select(**kept(*others), **terms)

    def filter(self, condition: Expression) -> Self:
        return self._where(self._dialect().element(condition))

    def grouped(self, by: Sequence[str], **sums: Expression) -> Self:
        table = type(self)(self._database, self._dialect().fenced(self._source), self._kinds)
        columns = [table._source.c[name] for name in by]
        query = sa.select(*columns, *table._elements(sums)).group_by(*columns)
        return self._with(query, self._kinds_of({**kept(*by), **sums}))

    def distinct(self) -> Self:
        return self._with(sa.select(self._source).distinct(), self._kinds)

    def head(self, rows: int) -> Self:
        return self._with(sa.select(self._source).limit(rows), self._kinds)

    def above(self, others: Sequence[Self]) -> Self:
        tables = [self._source, *(other._source for other in others)]
        return self._with(sa.union_all(*(sa.select(table) for table in tables)), self._kinds)

    def keep_in(self, column: str, values: Sequence[int | str] | Sequence[int]) -> Self:
        return self._where(self._dialect().many(column, values))

    def fetch(self) -> Fetched:
        names, columns = self._database.fetch(sa.select(self._source))
        return dict(zip(names, columns, strict=True))

    def numbers(self) -> dict[str, FloatArray]:
        packed = self._dialect().packed([self._source.c[name] for name in self._names])
        if packed is None:
            return super().numbers()
        _, columns = self._database.fetch(sa.select(*packed))
        each = [np.frombuffer(column[0] or b"", ">f8") for column in columns]
        return {n: one.astype(np.float64) for n, one in zip(self._names, each, strict=True)}

    def release(self) -> None:
        self._database.release()

    def _where(self, condition: Element) -> Self:
        return self._with(sa.select(self._source).where(condition), self._kinds)

    def _with(
        self, query: sa.Select[Any] | sa.CompoundSelect[Any], kinds: Mapping[str, Any]
    ) -> Self:
        return type(self)(self._database, query.subquery(), kinds)

    def _dialect(self) -> Dialect:
        return dialect_of(self._database.kind)(dict(self._source.c.items()), self._kinds)

    def _elements(self, terms: Mapping[str, Expression]) -> list[Element]:
        dialect = self._dialect()
        return [dialect.element(term).label(name) for name, term in terms.items()]

    def _kinds_of(self, terms: Mapping[str, Expression]) -> Mapping[str, Any]:
        """Return the kinds of columns that are only kept; nobody asks for those of others."""
        return _Renamed(
            self._kinds, {n: t.parts[0] for n, t in terms.items() if t.what == "column"}
        )


def open_select(connection: Any, table: str | None, query: str | None) -> SqlTable:
    """Return a table of a database, or a query, with its columns; one of the two is given."""
    database = Database(connection)
    try:
        return _opened(database, table, query)
    except BaseException:
        database.release()
        raise


def _opened(database: Database, table: str | None, query: str | None) -> SqlTable:
    text = "" if query is None else _select(query, database)
    where = _named(table) if table is not None else sa.text(f"({text}\n) AS rows_")
    names, _ = database.fetch(sa.select(sa.literal_column("*")).select_from(where).limit(0))
    if query is not None and database.kind == "sqlite":
        names = _names_in_sqlite(database, names, text)
    # to SQLite p and P are one name
    told = [name.lower() for name in names] if database.kind == "sqlite" else names
    if len(set(told)) < len(told):
        raise refusals.columns_twice(told)
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in names]
    source: sa.FromClause
    if table is not None:
        source = _named(table, columns)
    else:
        source = sa.text(text).columns(*columns).subquery()
    return SqlTable(database, source, _LazyKinds(database, source))


def _named(table: str, columns: Sequence[sa.ColumnClause[Any]] = ()) -> sa.TableClause:
    schema, _, name = table.rpartition(".")
    return sa.table(name, *columns, schema=schema or None)


def _select(query: str, database: Database) -> str:
    """Return a SELECT so that it can stand in another one; refuse anything else."""
    text = one_select(query, database.kind, database.engine)
    # SQLAlchemy would take what follows a colon for a parameter
    return text.replace(":", "\\:") + "\n"


def _names_in_sqlite(database: Database, names: list[str], text: str) -> list[str]:
    """Return the names as the query has them: in another one the second p is called p:1."""
    known = {name.lower() for name in names}
    if any(_NUMBERED.sub("", name).lower() in known for name in names if _NUMBERED.search(name)):
        return database.names(sa.text(text))
    return names


class _LazyKinds(Mapping[str, Any]):
    """The kinds of columns, each found when it is asked for, from a value."""

    def __init__(self, database: Database, source: sa.FromClause) -> None:
        self._database, self._source = database, source
        self._known: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.c.keys())

    def __len__(self) -> int:
        return len(self._source.c)

    def __contains__(self, name: object) -> bool:
        return name in self._source.c.keys()  # noqa: SIM118 (it takes objects only)

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        if name not in self._known:
            values = self._values(self._source.c[name])
            others = [value for value in values if isinstance(value, str | bytes)]
            if others and len(others) < len(values):
                raise _texts_among_numbers(f"column {shown(name)}", others[0])
            self._known[name] = _kind_of(values)
        return self._known[name]

    def _values(self, column: Element) -> list[Any]:
        """Return a value of the column, or one of each kind where it may hold several."""
        given = sa.select(column).where(column.is_not(None)).limit(1)
        queries = [given]
        if self._database.kind == "sqlite":
            # the least and the greatest, because to group by them would sort all rows; between
            # blob and text there are but integer and real, which are numbers both
            kind = sa.func.typeof(column)
            ends = sa.select(sa.func.min(kind), sa.func.max(kind)).where(column.is_not(None))
            found = set(self._database.rows(ends)[1][0]) - {None}
            queries = [given.where(kind == name) for name in sorted(found)]
        return [row[0] for query in queries for row in self._database.rows(query)[1]]


def _kind_of(values: list[Any]) -> Any:
    """Return the kind that holds all of some values: whole numbers next to others are doubles."""
    if not values:
        return nw.String()  # nothing is asked of a column without values but that it has none
    kinds = [next((kind for types, kind in _KINDS if isinstance(v, types)), None) for v in values]
    if None in kinds:
        return nw.Unknown()
    return nw.Float64() if nw.Float64() in kinds else kinds[0]


class _Renamed(Mapping[str, Any]):
    """Some kinds under new names."""

    def __init__(self, kinds: Mapping[str, Any], names: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._names = {new: name for new, name in names.items() if name in kinds}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Any:
        return self._kinds[self._names[name]]


def _texts_among_numbers(name: str, text: object) -> InputError:
    return InputError(
        f"{name} holds values of several kinds, such as {shown(text)} and numbers. Ask for "
        "rows of one kind by a query with a WHERE, or with a CAST."
    )
