"""How fast is a calibrator applied to a file, and in how much memory?

``make bench`` prints the tables and writes them to benchmarks/apply.md. The files are made in a
temporary folder, and every measurement is that of a process of its own.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd

import calibrant as cb
from measure import show

SMALL, LARGE = 10**7, 10**8
REPETITIONS = {SMALL: 3, LARGE: 1}
MEASURED = """
import re, sys, time
from pathlib import Path
calibrator, file, output = map(Path, sys.argv[1:])
{imports}
start = time.perf_counter()
{work}
used = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(time.perf_counter() - start, int(used) / 2**20)
"""
OURS = MEASURED.format(
    imports="import duckdb\n"
    "from calibrant.calibrators.applying import apply_calibrator\n"
    "from calibrant import Calibrator",
    work='apply_calibrator(Calibrator.load(calibrator), file, output, prob="p")',
)
#: What one would write by hand: read, predict, write.
BY_HAND = MEASURED.format(
    imports="import pandas as pd\nfrom calibrant import Calibrator",
    work="""
kind = file.suffix[1:]
frame = pd.read_csv(file) if kind == "csv" else pd.read_parquet(file)
frame["calibrated"] = Calibrator.load(calibrator).predict(frame["p"])
frame.to_csv(output, index=False) if kind == "csv" else frame.to_parquet(output, index=False)
""",
)


def make(rows: int, folder: Path, ending: str) -> Path:
    """Write scores that crowd towards 0, an outcome, a group, a time and a word."""
    path = folder / f"{rows}.{ending}"
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "COPY (SELECT pow(random(), 1.7) AS p, (random() < 0.3)::TINYINT AS y, "
            "(random() * 999)::SMALLINT AS g, TIMESTAMP '2024-01-01' + to_seconds(i) AS at, "
            f"'customer ' || (i % 100_000) AS who FROM range({rows}) t(i)) TO '{path}' "
            f"(FORMAT {ending})"
        )
    return path


def measured(code: str, calibrator: Path, file: Path, repetitions: int) -> tuple[float, float]:
    """Return the shortest time, and the most memory in GiB."""
    output = file.with_name(f"out{file.suffix}")
    runs = []
    for _ in range(repetitions):
        output.unlink(missing_ok=True)
        command = [sys.executable, "-c", code, *map(str, (calibrator, file, output))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(tuple(map(float, done.stdout.split())))
    output.unlink()
    return min(took for took, _ in runs), max(used for _, used in runs)


def compared(rows: int, ending: str, calibrator: Path, folder: Path) -> Iterator[str]:
    file = make(rows, folder, ending)
    size = file.stat().st_size / 2**30
    yield ""
    yield f"## {rows:,} rows of {ending} ({size:.2f} GiB)"
    yield ""
    yield "| | seconds | million rows a second | GiB of resident memory at most |"
    yield "| :-- | --: | --: | --: |"
    took, used = measured(OURS, calibrator, file, REPETITIONS[rows])
    yield f"| calibrant apply | {took:.1f} | {rows / took / 1e6:.2f} | {used:.2f} |"
    if rows == SMALL:
        by_hand, held = measured(BY_HAND, calibrator, file, REPETITIONS[rows])
        yield f"| pandas, by hand | {by_hand:.1f} | {rows / by_hand / 1e6:.2f} | {held:.2f} |"
        yield ""
        yield f"{by_hand / took:.1f} times as fast, in {used / held:.2f} of the memory."
    file.unlink()


def report() -> Iterator[str]:
    yield "# Applying a calibrator, measured"
    yield ""
    yield f"Made by `make bench` with DuckDB {duckdb.__version__} and pandas {pd.__version__}, 2"
    yield "cores. An isotonic calibrator, with lines between its blocks, adds a column to a table"
    yield "of five. By hand is reading all of it with pandas, `predict`, and writing."
    y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calibrator = folder / "calibrator.json"
        fitted = cb.IsotonicCalibrator("linear").fit(y_prob, y_true)
        calibrator.write_text(fitted.to_json(), encoding="utf-8")
        for rows, ending in ((SMALL, "parquet"), (SMALL, "csv"), (LARGE, "parquet")):
            yield from compared(rows, ending, calibrator, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the tables to this file as well")
    show(report(), parser.parse_args().save)


if __name__ == "__main__":
    main()
