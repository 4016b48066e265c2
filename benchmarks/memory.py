"""How much memory and time do the commands take on 5 * 10^6 to 10^8 rows of Parquet?

``make bench-memory`` prints the table and writes it to benchmarks/memory.md. The files are made in
a temporary folder, and every command is a process of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from measure import show

SIZES = (5 * 10**6, 10**7, 10**8)
#: What is measured of `calibrate`: the default, a link by name, and blocks.
METHODS = ("auto", "platt", "isotonic")
#: One isotonic fit, reading included, as the measure of what `calibrate` may take.
FIT = """
import sys
from calibrant import IsotonicCalibrator
from calibrant.data.files.reading import read_predictions
IsotonicCalibrator().fit(read_predictions(sys.argv[1], label="y", prob="p"))
"""


def make(rows: int, folder: Path) -> Path:
    """Write spread-out scores of two models, an outcome and one of 100 groups."""
    path = folder / f"{rows}.parquet"
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "COPY (SELECT (u < f)::TINYINT AS y, pow(f, 1.2) AS p, 0.9 * f + 0.1 * v AS q, "
            "(i % 100)::SMALLINT AS g FROM (SELECT random() AS f, random() AS u, random() AS v, i "
            f"FROM range({rows}) t(i))) TO '{path}' (FORMAT parquet)"
        )
    return path


def commands(file: Path) -> dict[str, list[str]]:
    """Return what is measured; `apply` takes what `calibrate` wrote."""
    ours = [sys.executable, "-m", "calibrant"]
    columns = [str(file), "--label", "y", "--prob", "p"]
    calibrator, output = file.with_name("calibrator.json"), file.with_name("out.parquet")
    fit = [*ours, "calibrate", *columns, "-o", str(calibrator), "--overwrite", "--method"]
    calibrated = [str(calibrator), str(file), "--prob", "p", "-o", str(output)]
    return {
        "audit": [*ours, "audit", *columns],
        "one isotonic fit, in Python": [sys.executable, "-c", FIT, str(file)],
        **{f"calibrate --method {one}": [*fit, one] for one in METHODS},
        "apply": [*ours, "apply", *calibrated],
        "compare": [*ours, "compare", *columns, "--prob", "q"],
        "audit --by (100 groups)": [*ours, "audit", *columns, "--by", "g"],
    }


def measured(command: list[str]) -> tuple[float, float]:
    """Return the seconds that a command takes, and its peak resident memory in GiB (VmHWM)."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    return time.perf_counter() - start, used.ru_maxrss / 2**20


def compared(rows: int, folder: Path) -> Iterator[str]:
    file = make(rows, folder)
    size = file.stat().st_size / 2**30
    yield ""
    yield f"## {rows:,} rows ({size:.2f} GiB of Parquet)"
    yield ""
    yield "| | seconds | GiB of resident memory at most |"
    yield "| :-- | --: | --: |"
    seconds = {}
    for name, command in commands(file).items():
        seconds[name], used = measured(command)
        yield f"| {name} | {seconds[name]:.1f} | {used:.2f} |"
    yield ""
    one = seconds["one isotonic fit, in Python"]
    times = [f"{seconds[f'calibrate --method {name}'] / one:.1f} ({name})" for name in METHODS]
    yield f"In isotonic fits, `calibrate` with its five folds takes {', '.join(times)}."
    for path in folder.iterdir():
        path.unlink()


def report(sizes: list[int]) -> Iterator[str]:
    yield "# Memory of the commands, measured"
    yield ""
    yield f"Made by `make bench-memory` with DuckDB {duckdb.__version__}, 2 cores. Scores are"
    yield "doubles that hardly ever tie. Memory is VmHWM, that of Python and DuckDB included. The"
    yield "time of a fit includes the start of Python and reading the file, as for commands."
    yield "`calibrate` counts rows if they are 0/1 without weights, or with whole ones. The"
    yield "exceptions: fractional weights and soft labels are held row by row, some 170 bytes each"
    yield "(0.9 GiB for 5 million), and Venn-Abers takes 300 bytes a row (1.6 GiB for 5 million)."
    for rows in sizes:
        with tempfile.TemporaryDirectory() as name:
            yield from compared(rows, Path(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="sizes of the files")
    options = parser.parse_args()
    show(report(options.rows), options.save)


if __name__ == "__main__":
    main()
