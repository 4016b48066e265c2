"""One table in every engine, and what it means that two answers are the same."""

import itertools
import math
import os
import re
import sqlite3
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calibrant as cb
from reference import servers

#: Not the default one; some versions close a connection that nothing refers to.
CONNECTION = duckdb.connect()


def parquet(frame, folder):
    path = folder / "table.parquet"
    pl.DataFrame(frame).write_parquet(path)
    return path


EAGER = {
    "pandas": lambda t, _: t,
    "pandas nullable": lambda t, _: t.convert_dtypes(),
    "pandas arrow": lambda t, _: t.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda t, _: pl.DataFrame(t),
    "pyarrow": lambda t, _: pa.Table.from_pandas(t),
}
ALONE = {
    "polars lazy": lambda t, _: pl.LazyFrame(t),
    "polars scan": lambda t, folder: pl.scan_parquet(parquet(t, folder)),
    "duckdb table": lambda t, _: CONNECTION.from_df(t),
    "duckdb file": lambda t, folder: duckdb.read_parquet(str(parquet(t, folder))),
}
NUMBER = itertools.count()


def columns_of(frame):
    """Return the kind of each column, as SQL, and its values."""
    kinds = {"b": "BOOLEAN", "i": "BIGINT", "u": "BIGINT", "f": "DOUBLE PRECISION"}
    found = {}
    for name in frame.columns:
        values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        kind = kinds.get(frame[name].dtype.kind)
        if kind is None:
            first = next((value for value in values if value is not None), "")
            times = {
                "Timestamp": "TIMESTAMP",
                "date": "DATE",
                "Decimal": "NUMERIC",
                "bool": "BOOLEAN",
            }
            kind = times.get(type(first).__name__, "TEXT")
        if frame[name].dtype.kind == "f":  # where NaN is a value, not a gap
            values = frame[name].tolist()
        found[name] = kind, values
    return found


def quoted(name):
    return '"' + str(name).replace('"', '""') + '"'


def sqlite(frame, folder):
    file, columns = folder / "table.db", columns_of(frame)
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE IF EXISTS scores")
        listed = ", ".join(f"{quoted(name)} {kind}" for name, (kind, _) in columns.items())
        connection.execute(f"CREATE TABLE scores ({listed})")
        rows = zip(*(map(plain, values) for _, values in columns.values()), strict=True)
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO scores VALUES ({marks})", rows)
    connection.close()
    return cb.sql_table(f"sqlite:///{file}", "scores")


def plain(value):
    """Return a value as SQLite keeps it."""
    return value if value is None or isinstance(value, int | float | str) else str(value)


def postgres(frame, _):
    import psycopg

    server, columns = started(servers.postgres), columns_of(frame)
    name = f"scores_{next(NUMBER)}"
    address = server.url.replace("+psycopg", "")
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        listed = ", ".join(f"{quoted(column)} {kind}" for column, (kind, _) in columns.items())
        cursor.execute(f"CREATE TABLE {name} ({listed})")
        names = ", ".join(map(quoted, columns))
        with cursor.copy(f"COPY {name} ({names}) FROM STDIN") as copy:
            for row in zip(*(values for _, values in columns.values()), strict=True):
                copy.write_row(row)
    return cb.sql_table(server.url, name)


def spark(frame, folder):
    session, rows = started(servers.spark), pl.DataFrame(frame)
    for part in range(3):
        rows[part::3].write_parquet(folder / f"part{part}.parquet")
    return session.read.parquet(*(str(folder / f"part{part}.parquet") for part in range(3)))


def dask(frame, _):
    started(servers.dask)
    import dask.dataframe as dd

    for name in frame.columns:  # Dask makes texts of objects
        if any(isinstance(value, Decimal) for value in frame[name][:1]):
            frame = frame.astype({name: pd.ArrowDtype(pa.decimal128(20, 6))})
    return dd.from_pandas(frame, npartitions=max(1, min(3, len(frame))), sort=False)


def started(start):
    """Return an engine, or skip the test with the reason why there is none."""
    try:
        return start()
    except servers.Missing as error:
        pytest.skip(str(error))


#: Engines with servers of their own, which `make test-engines` asks.
SERVED = {"spark": spark, "dask": dask, "postgresql": postgres}
#: Engines whose rows have no order, so that errors cannot say which row is the first.
UNORDERED = {"sqlite": sqlite, **SERVED}
LAZY = {**ALONE, "sqlite": sqlite, **(SERVED if os.environ.get("CALIBRANT_ENGINES") else {})}
ENGINES = {**EAGER, **LAZY}


def without_row(words):
    """Return a message as it is where rows have no order."""
    words = re.sub(r" row \d+ \(0-based\) holds", " it holds", words)
    return re.sub(r", first at row \d+ \(0-based\)", "", words)


def same(found, expected, where=""):
    """Compare everything an audit says: numbers to 1e-12, all else exactly.

    Names of columns are left out, because arrays have none.
    """
    if where.endswith((".provenance.event", ".provenance.score")):
        return
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name in expected:
            same(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{where}[{i}]")
    elif isinstance(expected, float) and not where.endswith((".p1", ".p2")):
        # calibrators that are tried are fitted by an optimiser, which stops a little off the end
        near = 1e-10 if ".advice.trials" in where else 1e-12
        assert math.isclose(found, expected, rel_tol=10 * near, abs_tol=near), where
    elif not where.endswith(("warnings[0]", ".missing.slope", ".missing.intercept")):
        assert found == expected, where
