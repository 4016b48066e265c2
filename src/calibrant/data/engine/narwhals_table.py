"""Lazy: tables of polars, DuckDB, Spark and Dask, all of them through narwhals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np

from calibrant import errors
from calibrant._extras import require
from calibrant._types import AnyArray
from calibrant.core.expressions import OPERATORS, Expression, col, how_many, kept, lit, when
from calibrant.data import refusals
from calibrant.data.engine.table import ROW, Fetched, Table, Watch, quoted, unwatched
from calibrant.data.memory.columns import unmasked

_NAMES = {
    "duckdb": "DuckDB",
    "polars": "polars",
    "pyspark": "Spark",
    "pyspark[connect]": "Spark",
    "dask": "Dask",
}
_AGGREGATES = {"sum", "min", "max"}
#: Values that Spark takes one by one.
_FEW = 1000
#: The name of a column that nothing else has.
_WANTED = "wanted_"


class LazyTable(Table):
    """A table that narwhals knows how to ask."""

    def __init__(self, frame: nw.LazyFrame[Any], watch: Watch = unwatched) -> None:
        self._frame, self._watch = frame, watch
        engine = str(frame.implementation.value)
        self.engine = _NAMES.get(engine, engine)

    def _like(self, frame: nw.LazyFrame[Any]) -> Self:
        return type(self)(frame, self._watch)

    def _native(self, frame: Any) -> Self:
        return self._like(nw.from_native(frame))

    @property
    def kinds(self) -> Mapping[str, Any]:
        try:
            return self._frame.collect_schema()
        except Exception as error:
            raise refusals.query_failed(self.engine, str(error)) from error

    def chosen(self, columns: Mapping[str, str]) -> Self:
        # by place, because a name such as * or ^a$ means several columns to polars
        known = list(self.kinds)
        places = {new: nw.nth(known.index(name)) for new, name in columns.items()}
        return self._like(self._frame.select(**places))

    def select(self, **terms: Expression) -> Self:
        return self._like(self._frame.select(**_expressions(terms)))

    def with_columns(self, **terms: Expression) -> Self:
        return self._like(self._frame.with_columns(**_expressions(terms)))

    def filter(self, condition: Expression) -> Self:
        return self._like(self._frame.filter(expression(condition)))

    def grouped(self, by: Sequence[str], **sums: Expression) -> Self:
        return self._like(self._frame.group_by(*by).agg(**_expressions(sums)))

    def distinct(self) -> Self:
        return self._like(self._frame.unique())

    def head(self, rows: int) -> Self:
        return self._like(self._frame.head(rows))

    def above(self, others: Sequence[Self]) -> Self:
        frames = [self._frame, *(other._frame for other in others)]
        return self._like(nw.concat(frames, how="vertical"))

    def keep_in(self, column: str, values: Sequence[int | str] | Sequence[int]) -> Self:
        return self._like(self._frame.filter(nw.col(column).is_in(list(values))))

    def fetch(self) -> Fetched:
        try:
            with self._watch():
                return self._fetched()
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # polars panics with what is no Exception
            raise refusals.query_failed(self.engine, str(error)) from error

    def _fetched(self) -> Fetched:
        table = self._collected()
        return {name: unmasked(_array(table[name])) for name in table.columns}

    def _collected(self) -> nw.DataFrame[Any]:
        return self._frame.collect()


class DuckTable(LazyTable):
    """A relation of DuckDB."""

    def chosen(self, columns: Mapping[str, str]) -> Self:
        # where * means all columns however it is asked for
        names = ", ".join(f"{quoted(name)} AS {new}" for new, name in columns.items())
        return self._native(nw.to_native(self._frame).project(names))

    def keep_in(self, column: str, values: Sequence[int | str] | Sequence[int]) -> Self:
        # DuckDB takes seconds and a gigabyte to read a hundred thousand values one by one, so
        # they come as one text, which it splits
        between = _between(values)
        kind = "VARCHAR" if isinstance(next(iter(values), ""), str) else "BIGINT"
        # a NUL in the text of a query ends it for some versions
        text = between.join(map(str, values)).replace("'", "''").replace("\0", "' || chr(0) || '")
        many = f"SELECT unnest(string_split(('{text}'), chr({ord(between)}))::{kind}[])"
        within = f"CAST({quoted(column)} AS {kind}) IN ({many})"
        return self._native(nw.to_native(self._frame).filter(within))

    def coded_words(self, column: str, words: Sequence[str], new: str) -> Self | None:
        if not words or any("\0" in word for word in words):
            return None
        listed = ", ".join("'" + word.replace("'", "''") + "'" for word in words)
        code = f"enum_code(TRY_CAST({quoted(column)} AS ENUM({listed})))"
        native = nw.to_native(self._frame).project(f"*, {code}::BIGINT AS {quoted(new)}")
        return self._native(native)

    def numbered(self) -> Self | None:
        row = f'*, row_number() OVER () - 1 AS "{ROW}"'
        return self._native(nw.to_native(self._frame).project(row))

    def fetch(self) -> Fetched:
        try:
            return super().fetch()
        except errors.InputError as error:
            cause = error.__cause__
            if isinstance(cause, RuntimeError) and "interrupt" in str(cause).lower():
                raise KeyboardInterrupt from cause  # what DuckDB makes of Ctrl-C
            raise

    def _fetched(self) -> Fetched:
        # its own arrays: other containers would need pyarrow
        found: Fetched = nw.to_native(self._frame).fetchnumpy()
        return {name: unmasked(values) for name, values in found.items()}


class PolarsTable(LazyTable):
    """A LazyFrame of polars."""

    def coded_words(self, column: str, words: Sequence[str], new: str) -> Self | None:
        import polars as pl

        if not words:
            return None
        text = pl.col(column).cast(pl.Enum(list(words)), strict=False)
        code = text.to_physical().cast(pl.Int64).alias(new)
        return self._native(nw.to_native(self._frame).with_columns(code))

    def numbered(self) -> Self | None:
        return self._native(nw.to_native(self._frame).with_row_index(ROW))

    def _collected(self) -> nw.DataFrame[Any]:
        try:  # in parts, which takes less memory if rows come from a file
            return self._frame.collect("polars", engine="streaming")
        except (TypeError, ValueError):  # before 1.23 it had another name
            return self._frame.collect()


class SparkTable(LazyTable):
    """A DataFrame of Spark."""

    few_groups = True

    def chosen(self, columns: Mapping[str, str]) -> Self:
        # by numbers, because a dot in a name means a field to Spark, and * every column
        known = list(self.kinds)
        numbered = nw.to_native(self._frame).toDF(*(f"c{place}" for place in range(len(known))))
        names = {new: f"c{known.index(name)} AS {new}" for new, name in columns.items()}
        return self._native(numbered.selectExpr(*names.values()))

    def keep_in(self, column: str, values: Sequence[int | str] | Sequence[int]) -> Self:
        native = nw.to_native(self._frame)
        if len(values) <= _FEW and not isinstance(next(iter(values), ""), str):
            listed = ", ".join(map(str, values)) or "NULL"
            return self._native(native.filter(f"{column} IN ({listed})"))
        # Spark takes half a millisecond for each value in a condition, so many come as one text,
        # which is split in the cluster and sent to every executor; rows stay where they are
        functions = require("pyspark.sql.functions", "spark")
        between, kind = _between(values), "string" if isinstance(values[0], str) else "bigint"
        text = functions.lit(between.join(map(str, values)))
        each = functions.explode(functions.split(text, between, -1)).alias(_WANTED)
        wanted = native.sparkSession.range(1).select(each).select(functions.col(_WANTED).cast(kind))
        on = functions.col(column) == functions.col(_WANTED)
        return self._native(native.join(functions.broadcast(wanted), on, "left_semi"))


class DaskTable(LazyTable):
    """A dataframe of Dask."""

    def grouped(self, by: Sequence[str], **sums: Expression) -> Self:
        # what is added up must be a column, and how many rows there are is asked for once
        before: dict[str, Expression] = {}
        plain: dict[str, Expression] = {}
        for name, term in sums.items():
            if term.what in _AGGREGATES and term.parts[0].what != "column":
                before[name] = term.parts[0]
                plain[name] = Expression(term.what, (col(name),))
            elif term.what in {"count", "rows"}:
                before[name] = when(term.parts[0], 1, 0) if term.parts else lit(1)
                plain[name] = col(name).sum()
            else:
                plain[name] = term
        table = self.with_columns(**before) if before else self
        return super(DaskTable, table).grouped(by, **plain)

    def distinct(self) -> Self:
        names = list(self.kinds)  # not unique, which moves all rows between the workers
        return self.grouped(names, rows=how_many()).select(**kept(*names))


def lazy_table(frame: nw.LazyFrame[Any], watch: Watch = unwatched) -> LazyTable:
    """Return the table behind a lazy frame."""
    engine = frame.implementation
    if engine.is_duckdb():
        return DuckTable(frame, watch)
    if engine.is_polars():
        return PolarsTable(frame, watch)
    if engine.is_pyspark() or engine.is_pyspark_connect():
        return SparkTable(frame, watch)
    return DaskTable(frame, watch) if engine.is_dask() else LazyTable(frame, watch)


def _between(values: Sequence[int | str] | Sequence[int]) -> str:
    """Return a mark that is in none of some values: a control character, or a private one."""
    marks = map(chr, (*range(1, 32), *range(0xE000, 0xF900)))
    return next(mark for mark in marks if all(mark not in str(value) for value in values))


def _array(series: nw.Series[Any]) -> AnyArray:
    values: AnyArray
    # arrays of texts lose a NUL at their end, and know no whole numbers of 128 bits
    if series.dtype in (nw.String, nw.Int128, nw.UInt128):
        values = np.array([*series.to_list(), None], dtype=object)[:-1]
    else:
        values = series.to_numpy()
    if series.null_count():  # not every backend shows them as NaN or None
        return np.ma.masked_array(values, series.is_null().to_numpy())
    return values


def _expressions(terms: Mapping[str, Expression]) -> dict[str, nw.Expr]:
    return {name: expression(term) for name, term in terms.items()}


def expression(term: Any) -> Any:
    """Turn an expression into one of narwhals; plain values stay as they are."""
    if not isinstance(term, Expression):
        return term
    return _MADE[term.what](*(expression(part) for part in term.parts))


def _when(condition: nw.Expr, then: Any, otherwise: Any) -> nw.Expr:
    return nw.when(condition).then(_lit(then)).otherwise(_lit(otherwise))


def _lit(value: Any) -> nw.Expr:
    return value if isinstance(value, nw.Expr) else nw.lit(value)


_MADE: dict[str, Callable[..., Any]] = {
    "column": nw.col,
    "value": nw.lit,
    **OPERATORS,
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.invert,
    "when": _when,
    "double": lambda x: x.cast(nw.Float64),
    "whole": lambda x: x.cast(nw.Int64),
    "narrow": lambda x: x.cast(nw.Int32),
    "text": lambda x: x.cast(nw.String),
    "characters": lambda x: x.str.len_chars(),
    "join": lambda between, *parts: nw.concat_str(*map(_lit, parts), separator=between),
    "floor": lambda x: x.floor(),
    "squared": lambda x: x * x,
    "weighed": operator.mul,
    "ln": lambda x: x.log(),
    "exp": lambda x: x.exp(),
    "is null": lambda x: x.is_null(),
    "is nan": lambda x: x.is_nan(),
    "is in": lambda x, values: x.is_in(values),
    "sum": lambda x: x.sum(),
    "min": lambda x: x.min(),
    "max": lambda x: x.max(),
    "rows": nw.len,
    # not a sum of truth values, which Spark does not know
    "count": lambda x: nw.when(x).then(nw.lit(1)).otherwise(nw.lit(0)).sum(),
}
