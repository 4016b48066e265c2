"""Engine: where a lazy table lives. Queries run there, and only their results come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from calibrant import _checks
from calibrant._types import AnyArray, FloatArray
from calibrant.sources.columns import numbers, unmasked

Fetched: TypeAlias = dict[str, AnyArray]
#: Runs a lazy query and returns its columns.
Run: TypeAlias = Callable[[Any], Fetched]
#: The name of the column that numbers rows.
ROW = "row"


def fetch(frame: nw.LazyFrame[Any]) -> Fetched:
    """Run a query where its table lives; its failure keeps the engine's own message."""
    try:
        return _fetched(frame)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # polars panics with what is no Exception
        interrupted = frame.implementation.is_duckdb() and isinstance(error, RuntimeError)
        if interrupted and "interrupt" in str(error).lower():
            raise KeyboardInterrupt from error  # what DuckDB makes of Ctrl-C
        raise _checks.query_failed(engine_of(frame), str(error)) from error


def _fetched(frame: nw.LazyFrame[Any]) -> Fetched:
    if frame.implementation.is_duckdb():
        # its own arrays: other containers would need pyarrow
        found: Fetched = nw.to_native(frame).fetchnumpy()
        return {name: unmasked(values) for name, values in found.items()}
    table = _streamed(frame) if frame.implementation.is_polars() else frame.collect()
    return {name: unmasked(_array(table[name])) for name in table.columns}


def _streamed(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Let polars read in parts, which takes less memory if rows come from a file."""
    try:
        return frame.collect("polars", engine="streaming")
    except (TypeError, ValueError):  # before 1.23 it had another name
        return frame.collect()


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


def fetch_numbers(frame: nw.LazyFrame[Any], run: Run) -> dict[str, FloatArray]:
    """Run a query that gives numbers only; the sum of no rows, which is null, is NaN."""
    return {name: numbers(values, 0, name) for name, values in run(frame).items()}


def engine_of(frame: nw.LazyFrame[Any]) -> str:
    """Return the name of an engine as people write it."""
    names = {"duckdb": "DuckDB", "polars": "polars", "pyspark": "Spark", "dask": "Dask"}
    engine = str(frame.implementation.value)
    return names.get(engine, engine)


def chosen(table: nw.LazyFrame[Any], columns: dict[str, str]) -> nw.LazyFrame[Any]:
    """Return columns under the names given, which no engine can take for anything else.

    They are chosen by place, because a name such as * or ^a$ means several columns to polars.
    """
    try:
        known = table.collect_schema().names()
    except Exception as error:
        raise _checks.query_failed(engine_of(table), str(error)) from error
    for name in columns.values():
        if name not in known:
            raise _checks.unknown_column(name, known, "the table")
    if table.implementation.is_duckdb():  # where * means all columns however it is asked for
        names = ", ".join(f"{quoted(name)} AS {new}" for new, name in columns.items())
        relation: nw.LazyFrame[Any] = nw.from_native(nw.to_native(table).project(names))
        return relation
    return table.select(**{new: nw.nth(known.index(name)) for new, name in columns.items()})


def quoted(name: str) -> str:
    """Quote a name as an SQL identifier, so that it is never code."""
    return '"' + name.replace('"', '""') + '"'


def numbered(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
    """Add the number of each row, or return None if rows have no order in this engine."""
    if frame.implementation.is_duckdb():
        native = nw.to_native(frame).project(f'*, row_number() OVER () - 1 AS "{ROW}"')
    elif frame.implementation.is_polars():
        native = nw.to_native(frame).with_row_index(ROW)
    else:
        return None
    lined_up: nw.LazyFrame[Any] = nw.from_native(native)
    return lined_up


def first(
    frame: nw.LazyFrame[Any], condition: nw.Expr, value: nw.Expr, run: Run
) -> tuple[int | None, Any]:
    """Return the first row where a condition holds, and a value of it."""
    lined_up = numbered(frame)
    if lined_up is None:
        found = run(frame.filter(condition).select(value.alias("value")).head(1))
        return None, found["value"].tolist()[0]
    rows = lined_up.filter(condition).select(nw.col(ROW), value.alias("value"))
    row = int(run(rows.select(nw.col(ROW).min()))[ROW][0])
    return row, run(rows.filter(nw.col(ROW) == row).select("value"))["value"].tolist()[0]


def keep_in(
    frame: nw.LazyFrame[Any], column: str, values: Sequence[int | str] | Sequence[int]
) -> nw.LazyFrame[Any]:
    """Keep the rows where a column, of whole numbers or of texts, holds one of many values."""
    if not frame.implementation.is_duckdb():
        return frame.filter(nw.col(column).is_in(list(values)))
    # DuckDB takes seconds and a gigabyte to read a hundred thousand values one by one, so they
    # come as one text, which it splits
    marks = map(chr, (*range(1, 32), *range(0xE000, 0xF900)))  # control characters, private ones
    between = next(mark for mark in marks if all(mark not in str(v) for v in values))
    kind = "VARCHAR" if isinstance(next(iter(values), ""), str) else "BIGINT"
    # a NUL in the text of a query ends it for some versions
    text = between.join(map(str, values)).replace("'", "''").replace("\0", "' || chr(0) || '")
    many = f"SELECT unnest(string_split(('{text}'), chr({ord(between)}))::{kind}[])"
    found: nw.LazyFrame[Any] = nw.from_native(
        nw.to_native(frame).filter(f"CAST({quoted(column)} AS {kind}) IN ({many})")
    )
    return found


def coded_words(
    frame: nw.LazyFrame[Any], column: str, words: Sequence[str], new: str
) -> nw.LazyFrame[Any] | None:
    """Add a column that says which of some words a text is, null if none; or None if it cannot."""
    native: Any
    if not words:
        return None
    if frame.implementation.is_duckdb() and not any("\0" in word for word in words):
        listed = ", ".join("'" + word.replace("'", "''") + "'" for word in words)
        code = f"enum_code(TRY_CAST({quoted(column)} AS ENUM({listed})))"
        native = nw.to_native(frame).project(f"*, {code}::BIGINT AS {quoted(new)}")
    elif frame.implementation.is_polars():
        import polars as pl

        text = pl.col(column).cast(pl.Enum(list(words)), strict=False)
        native = nw.to_native(frame).with_columns(text.to_physical().cast(pl.Int64).alias(new))
    else:
        return None
    coded: nw.LazyFrame[Any] = nw.from_native(native)
    return coded


def count(condition: nw.Expr) -> nw.Expr:
    """Count the rows where a condition holds (Spark does not add up truth values)."""
    return condition.cast(nw.Int64).sum()
