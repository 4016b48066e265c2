"""How fast is each engine? The same table everywhere, and what one would write by hand in it.

``make bench`` prints the tables and writes them to benchmarks/sources.md. The files are made in a
temporary folder, and the memory of an audit is that of a process of its own.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import calibrant as cb
from calibrant.data.groups import resolve_groups
from measure import show

SIZES = (10**7, 10**8)
REPETITIONS = {10**7: 3, 10**8: 1}
GROUPS = 1000
BY_SQL = "SELECT max(g) - min(g) FROM (SELECT sum(y - p) OVER (ORDER BY p) AS g FROM t)"
#: An audit as a user would run it, and the most memory it held.
AUDIT = """
import re, sys, time
from calibrant.data.files.reading import read_predictions
import calibrant as cb
start = time.perf_counter()
cb.audit(read_predictions(sys.argv[1], label="y", prob="p"))
used = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(time.perf_counter() - start, int(used) / 2**20)
"""


def make(rows: int, folder: Path) -> Path:
    """Write scores that crowd towards 0, calibrated, with a group for each row."""
    path = folder / f"{rows}.parquet"
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "COPY (SELECT p, (random() < p)::TINYINT AS y, (random() * 999)::SMALLINT AS g FROM "
            f"(SELECT pow(random(), 1.7) AS p FROM range({rows}))) TO '{path}' (FORMAT parquet)"
        )
    return path


def seconds(task: Callable[[], Any], repetitions: int) -> float:
    """Return the shortest time that a task takes."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def error(table: Any) -> Callable[[], float]:
    return lambda: cb.calibration_error(cb.Predictions(table, label="y", prob="p"))


def polars_by_hand(table: pl.LazyFrame) -> Callable[[], Any]:
    """Pool ties, sort, add up: what the window function of SQL does."""
    steps = table.group_by("p").agg((pl.col("y") - pl.col("p")).sum().alias("step"))
    walk = steps.sort("p").select(pl.col("step").cum_sum())
    return walk.select(pl.all().max() - pl.all().min()).collect


def polars_without_ties(table: pl.LazyFrame) -> Callable[[], Any]:
    """The same for scores without ties; wrong if there are any."""
    walk = table.sort("p").select((pl.col("y") - pl.col("p")).cum_sum())
    return walk.select(pl.all().max() - pl.all().min()).collect


def engines(path: Path, rows: int) -> Iterator[tuple[str, Callable[[], Any], str]]:
    """Yield name, task, and the task by hand to compare it with."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT p, y FROM '{path}'")
    by_sql = lambda: connection.execute(BY_SQL).fetchall()  # noqa: E731
    yield "DuckDB, by hand", by_sql, ""
    yield "DuckDB table", error(connection.table("t")), "DuckDB, by hand"
    by_file = BY_SQL.replace("FROM t", f"FROM '{path}'")
    yield "DuckDB, Parquet file, by hand", lambda: connection.execute(by_file).fetchall(), ""
    file = connection.read_parquet(str(path))
    yield "DuckDB, Parquet file", error(file), "DuckDB, Parquet file, by hand"
    connection.execute("DROP TABLE t")
    table = pl.read_parquet(path, columns=["p", "y"])
    yield "polars, by hand", polars_by_hand(table.lazy()), ""
    yield "polars, by hand, ties not pooled", polars_without_ties(table.lazy()), ""
    yield "polars", error(table), "polars, by hand"
    yield "polars, lazy", error(table.lazy()), "polars, by hand"
    yield "polars, Parquet file, by hand", polars_by_hand(pl.scan_parquet(path)), ""
    yield "polars, Parquet file", error(pl.scan_parquet(path)), "polars, Parquet file, by hand"
    if rows <= 10**7:
        yield "pyarrow", error(table.to_arrow()), ""
        frame = table.to_pandas()
        yield "pandas", error(frame), ""
        label, prob = frame["y"].to_numpy(), frame["p"].to_numpy()
        yield "numpy", lambda: cb.calibration_error(label, prob), ""


def speed(path: Path, rows: int) -> Iterator[str]:
    yield ""
    yield f"## The calibration error of {rows:,} rows"
    yield ""
    yield "| engine | seconds | million rows a second | faster than by hand |"
    yield "| :-- | --: | --: | --: |"
    found: dict[str, float] = {}
    for name, task, by_hand in engines(path, rows):
        found[name] = seconds(task, REPETITIONS[rows])
        ratio = f"{found[by_hand] / found[name]:.1f}" if by_hand else ""
        yield f"| {name} | {found[name]:.2f} | {rows / found[name] / 1e6:.0f} | {ratio} |"


def groups(path: Path, rows: int) -> Iterator[str]:
    """Time tally and zoom of every group, and of the whole."""
    yield ""
    yield f"## {GROUPS:,} groups of {rows:,} rows: tally and zoom, against those of the whole"
    yield ""
    yield "| table | seconds | ungrouped | ratio |"
    yield "| :-- | --: | --: | --: |"
    frame = pl.read_parquet(path).to_pandas()
    words = frame["g"].map(lambda g: f"group {g:03d}").astype("category")
    connection = duckdb.connect()
    listed = ", ".join(f"'group {g:03d}'" for g in range(GROUPS))
    connection.execute(
        f"CREATE TABLE t AS SELECT p, y, printf('group %03d', g)::ENUM({listed}) AS g FROM '{path}'"
    )
    lazy = pl.scan_parquet(path).collect()
    tables = {
        "pandas, whole numbers": frame,
        "pandas, categories": frame.assign(g=words),
        "DuckDB, Parquet file, whole numbers": duckdb.read_parquet(str(path)),
        "DuckDB table, categories": connection.table("t"),
        "polars, lazy, whole numbers": lazy.lazy(),
        "polars, lazy, categories": lazy.with_columns(
            g=pl.Series(words.astype(str)).cast(pl.Categorical)
        ).lazy(),
    }
    for name, table in tables.items():
        data = cb.Predictions(table, label="y", prob="p")
        grouped = data.grouped(["g"])
        whole = seconds(error(table), 3)
        split = seconds(lambda grouped=grouped: list(resolve_groups(grouped)), 3)
        yield f"| {name} | {split:.2f} | {whole:.2f} | {split / whole:.1f} |"


def models(path: Path, rows: int) -> Iterator[str]:
    yield ""
    yield f"## Three models on {rows:,} rows, against three calibration errors"
    yield ""
    yield "| table | compare | three errors | ratio |"
    yield "| :-- | --: | --: | --: |"
    columns = "y, p AS a, p * p AS b, sqrt(p) AS c"
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE m AS SELECT {columns} FROM '{path}'")
    tables = {"pandas": connection.table("m").df(), "DuckDB table": connection.table("m")}
    for name, table in tables.items():
        together = seconds(lambda table=table: cb.compare(table, label="y", probs=list("abc")), 1)
        apart = sum(
            seconds(
                lambda table=table, model=model: cb.calibration_error(
                    cb.Predictions(table, label="y", prob=model)
                ),
                1,
            )
            for model in "abc"
        )
        yield f"| {name} | {together:.2f} | {apart:.2f} | {together / apart:.1f} |"


def memory(path: Path, rows: int) -> Iterator[str]:
    yield ""
    yield f"## A whole audit of {rows:,} rows of Parquet ({path.stat().st_size / 2**30:.2f} GiB)"
    yield ""
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, str(path)], capture_output=True, text=True, check=True
    )
    took, used = map(float, done.stdout.split())
    yield f"{took:.1f} seconds; {used:.2f} GiB of resident memory at most."


def report() -> Iterator[str]:
    yield "# Tables and files, measured"
    yield ""
    yield f"Made by `make bench` with DuckDB {duckdb.__version__}, polars {pl.__version__}, pandas"
    yield f"{pd.__version__} and numpy {np.__version__}, 2 cores. By hand is what the engine has:"
    yield "`sum(y - p) OVER (ORDER BY p)` in SQL, which pools ties; in polars the same, and a"
    yield "variant that is wrong if scores tie."
    with tempfile.TemporaryDirectory() as folder:
        for rows in SIZES:
            path = make(rows, Path(folder))
            yield from speed(path, rows)
            if rows == SIZES[0]:
                yield from groups(path, rows)
                yield from models(path, rows)
            else:
                yield from memory(path, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the tables to this file as well")
    show(report(), parser.parse_args().save)


if __name__ == "__main__":
    main()
