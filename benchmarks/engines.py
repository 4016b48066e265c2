"""How fast are Spark, PostgreSQL, Dask and SQLite, and what do they send back?

The same table in each of them: what one would write by hand, a window function, against ours; and
how time, rows and bytes grow. ``make bench-engines`` prints the tables, writes them to
benchmarks/engines.md, and what was measured to docs/engines.json. It needs Java and PostgreSQL.
"""

import argparse
import importlib.util
import json
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb

import calibrant as cb
from calibrant.data.engine import narwhals_table as lazy
from calibrant.data.engine.database import Database
from measure import show
from sources import make, seconds

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from reference import servers  # noqa: E402
from reference.wire import Wire  # noqa: E402

_spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "engines.py")
assert _spec is not None
pages: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)  # type: ignore[union-attr]

HAND = "SELECT max(g) - min(g) AS g FROM (SELECT sum(y - p) OVER (ORDER BY p) AS g FROM {}) s"
SIDE_BY_SIDE = 10**7
SIZES = (10**6, 10**7, 10**8)
REPETITIONS = {10**6: 5, 10**7: 5, 10**8: 1}


class Meter:
    """Counts what queries bring back: how many rows, and how many queries."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        lazy.LazyTable.fetch = self._wrapped(lazy.LazyTable.fetch)  # type: ignore[method-assign]
        Database.fetch = self._packed(Database.fetch)  # type: ignore[method-assign]

    def _wrapped(self, fetch: Callable[..., Any]) -> Callable[..., Any]:
        def watched(table: Any) -> Any:
            found = fetch(table)
            self.rows.append(len(next(iter(found.values()))))
            return found

        return watched

    def _packed(self, fetch: Callable[..., Any]) -> Callable[..., Any]:
        def watched(database: Any, query: Any) -> Any:
            names, columns = fetch(database, query)
            first = columns[0].tolist() if columns else []
            packed = bool(first) and isinstance(first[0], bytes)
            self.rows.append(len(first[0]) // 8 if packed else len(first))
            return names, columns

        return watched

    def of(self, task: Callable[[], Any]) -> list[int]:
        """Return the rows of each query of a task that brings back more than one."""
        self.rows.clear()
        task()
        return [rows for rows in self.rows if rows > 1]


def error(table: Callable[[], Any]) -> Callable[[], float]:
    return lambda: cb.calibration_error(cb.Predictions(table(), label="y", prob="p"))


class Postgres:
    name = "PostgreSQL"

    def __init__(self) -> None:
        import psycopg

        self._connect = psycopg.connect
        self._server = servers.postgres()
        self._address = self._server.url.replace("+psycopg", "")
        self._wire = Wire(self._server.port)
        self._url = self._server.url.replace(f":{self._server.port}/", f":{self._wire.port}/")

    def load(self, path: Path, rows: int) -> None:
        lines = path.with_suffix(".csv")
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT p, y FROM '{path}') TO '{lines}' (HEADER false)")
        with self._connect(self._address) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE t{rows} (p float8, y smallint)")
            with (
                cursor.copy(f"COPY t{rows} FROM STDIN (FORMAT csv)") as copy,
                lines.open("rb") as f,
            ):
                while some := f.read(1 << 22):
                    copy.write(some)
        with self._connect(self._address, autocommit=True) as connection:
            connection.execute(f"VACUUM ANALYZE t{rows}")
        lines.unlink()

    def ours(self, rows: int) -> Callable[[], float]:
        return error(lambda: cb.sql_table(self._server.url, f"t{rows}"))

    def by_hand(self, rows: int) -> Callable[[], Any]:
        def run() -> Any:
            with self._connect(self._address) as connection:
                return connection.execute(HAND.format(f"t{rows}")).fetchone()[0]

        return run

    def received(self, rows: int) -> int:
        """Return the bytes that come back over the network."""
        before = self._wire.received
        error(lambda: cb.sql_table(self._url, f"t{rows}"))()
        return self._wire.received - before

    def drop(self, rows: int) -> None:
        with self._connect(self._address) as connection:
            connection.execute(f"DROP TABLE t{rows}")


class Spark:
    name = "Spark"

    def __init__(self, folder: Path) -> None:
        self._log = folder / "events"
        self._log.mkdir()
        logged = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false"}
        logged |= {
            "spark.eventLog.dir": f"file://{self._log}",
            "spark.sql.shuffle.partitions": "200",
        }
        logged |= {"spark.eventLog.rolling.enabled": "false"}
        self._session = servers.spark(tuple(logged.items()))
        self._path: dict[int, str] = {}

    def load(self, path: Path, rows: int) -> None:
        self._path[rows] = str(path)
        self._session.read.parquet(str(path)).createOrReplaceTempView(f"t{rows}")

    def _table(self, rows: int) -> Any:
        return self._session.read.parquet(self._path[rows])

    def ours(self, rows: int) -> Callable[[], float]:
        return error(lambda: self._table(rows))

    def by_hand(self, rows: int) -> Callable[[], Any]:
        return lambda: self._session.sql(HAND.format(f"t{rows}")).collect()[0][0]

    def received(self, rows: int) -> int:
        """Return the bytes of all results that executors send to the driver."""
        group = f"counted {rows}"
        self._session.sparkContext.setJobGroup(group, group)
        self.ours(rows)()
        self._session.sparkContext.setJobGroup("others", "others")
        time.sleep(2)  # the log is written behind
        return self._results(group)

    def _results(self, group: str) -> int:
        stages: set[int] = set()
        size = 0
        for file in self._log.iterdir():
            for line in file.read_text().splitlines():
                event = json.loads(line)
                if event["Event"] == "SparkListenerJobStart":
                    if event["Properties"].get("spark.jobGroup.id") == group:
                        stages |= set(event["Stage IDs"])
                elif event.get("Task Type") == "ResultTask" and event["Stage ID"] in stages:
                    size += event.get("Task Metrics", {}).get("Result Size", 0)
        return size

    def drop(self, rows: int) -> None:
        self._session.catalog.dropTempView(f"t{rows}")


class Dask:
    name = "Dask"

    def __init__(self) -> None:
        servers.dask()

    def load(self, path: Path, _rows: int) -> None:
        import dask.dataframe as dd

        self._table = dd.read_parquet(path, columns=["y", "p"], split_row_groups=10)

    def ours(self, _rows: int) -> Callable[[], float]:
        return error(lambda: self._table)

    def by_hand(self, _rows: int) -> Callable[[], Any]:
        def run() -> float:
            table = self._table.sort_values("p")
            walk = (table["y"] - table["p"]).cumsum()
            high, low = walk.max(), walk.min()
            return float((high - low).compute())

        return run

    def drop(self, _rows: int) -> None:
        del self._table


class Sqlite:
    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scores.db"

    def load(self, path: Path, rows: int) -> None:
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT p, y FROM '{path}'").fetchnumpy()
        with sqlite3.connect(self._file) as connection:
            connection.execute(f"CREATE TABLE t{rows} (p REAL, y INTEGER)")
            values = zip(found["p"].tolist(), found["y"].tolist(), strict=True)
            connection.executemany(f"INSERT INTO t{rows} VALUES (?, ?)", values)

    def ours(self, rows: int) -> Callable[[], float]:
        return error(lambda: cb.sql_table(f"sqlite:///{self._file}", f"t{rows}"))

    def by_hand(self, rows: int) -> Callable[[], Any]:
        def run() -> Any:
            with sqlite3.connect(self._file) as connection:
                return connection.execute(HAND.format(f"t{rows}")).fetchone()[0]

        return run

    def drop(self, _rows: int) -> None:
        self._file.unlink()


def compared(engine: Any, rows: int, meter: Meter, repetitions: int) -> dict[str, Any]:
    """Measure one engine side by side with what one would write by hand there."""
    ours, hand = engine.ours(rows), engine.by_hand(rows)
    found = ours(), hand()  # once before, for caches and compilers
    times: dict[str, list[float]] = {"ours": [], "hand": []}
    for _ in range(repetitions):
        times["ours"].append(seconds(ours, 1))
        times["hand"].append(seconds(hand, 1))
    fetched = meter.of(ours)
    return {
        "engine": engine.name,
        "ours": min(times["ours"]),
        "hand": min(times["hand"]),
        "rows": rows,
        "fetched": sum(fetched),
        "difference": abs(found[0] - found[1] / rows),
    }


def grown(engine: Any, rows: int, meter: Meter) -> dict[str, Any]:
    ours = engine.ours(rows)
    ours()
    taken = seconds(ours, REPETITIONS[rows])
    fetched = meter.of(ours)
    return {
        "engine": engine.name,
        "rows": rows,
        "seconds": taken,
        "fetched": fetched,
        "bytes": engine.received(rows),
    }


def report(results: dict[str, list[Any]]) -> Iterator[str]:
    versions = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "dask", "psycopg"))
    yield "# Engines, measured"
    yield ""
    yield f"Made by `make bench-engines` with {versions}, SQLite {sqlite3.sqlite_version} and"
    yield f"PostgreSQL as installed, on {os.cpu_count()} cores of {platform.machine()}: Spark in"
    yield "local-cluster[2,1,1024], Dask with two processes, PostgreSQL with its defaults. By hand"
    yield "is a window function (in Dask sort_values and cumsum), taken in turns with ours; the"
    yield "fastest of several runs. Scores are calibrated, which is what takes longest."
    yield "\n### The calibration error of 10^7 rows\n"
    yield from pages.side_by_side(results)
    yield "\n### How it grows\n"
    yield from pages.growth(results)
    yield "\n### Time = start + each * rows\n"
    yield from pages.models(results)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the largest table")
    options = parser.parse_args()
    meter = Meter()
    found: dict[str, list[Any]] = {"side_by_side": [], "growth": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        engines = [Spark(folder), Postgres(), Dask(), Sqlite(folder)]
        for rows in (size for size in SIZES if size <= options.most):
            path = make(rows, folder)
            for engine in engines:
                if rows != SIDE_BY_SIDE and engine.name not in {"Spark", "PostgreSQL"}:
                    continue
                engine.load(path, rows)
                if rows == SIDE_BY_SIDE:
                    often = 1 if engine.name == "SQLite" else 5
                    found["side_by_side"].append(compared(engine, rows, meter, often))
                if hasattr(engine, "received"):
                    found["growth"].append(grown(engine, rows, meter))
                engine.drop(rows)
                print({name: values[-1:] for name, values in found.items()}, file=sys.stderr)
            path.unlink()
    show(report(found), options.save)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
