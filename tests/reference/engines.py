"""One table in every engine, and what it means that two answers are the same."""

import math

import duckdb
import polars as pl
import pyarrow as pa

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
LAZY = {
    "polars lazy": lambda t, _: pl.LazyFrame(t),
    "polars scan": lambda t, folder: pl.scan_parquet(parquet(t, folder)),
    "duckdb table": lambda t, _: CONNECTION.from_df(t),
    "duckdb file": lambda t, folder: duckdb.read_parquet(str(parquet(t, folder))),
}
ENGINES = {**EAGER, **LAZY}


def same(found, expected, where=""):
    """Compare everything an audit says: numbers to 1e-12, all else exactly."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name in expected:
            same(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{where}[{i}]")
    elif isinstance(expected, float) and not where.endswith((".p1", ".p2")):
        assert math.isclose(found, expected, rel_tol=1e-11, abs_tol=1e-12), where
    elif not where.endswith("warnings[0]"):
        assert found == expected, where
