"""A file longer than what is read into memory is audited part by part."""

import json
import subprocess
import sys

import duckdb
import pytest

ROWS = 12_000_000
#: Run in a process of its own, whose peak is that of the audit.
AUDIT = """
import json, re, sys
import calibrant as cb
from calibrant.data.files.reading import read_predictions

def peak():
    # not what getrusage says, which a process inherits from the one that started it
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 2**10

warm = read_predictions(sys.argv[2], label="y", prob="p")
cb.audit(warm)
before = peak()
found = cb.audit(read_predictions(sys.argv[1], label="y", prob="p"))
print(json.dumps([found.data.rows, before, peak()]))
"""


def written(connection, path, rows):
    connection.execute(
        "COPY (SELECT p, random() < p AS y FROM (SELECT random() AS p "
        f"FROM range({rows}))) TO '{path}' (FORMAT parquet)"
    )
    return str(path)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted differently elsewhere")
def test_an_audit_takes_far_less_memory_than_its_rows(tmp_path):
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.1)")
        long = written(connection, tmp_path / "long.parquet", ROWS)
        short = written(connection, tmp_path / "short.parquet", 1000)
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, long, short], capture_output=True, text=True, check=True
    )
    rows, before, after = json.loads(done.stdout)
    assert rows == ROWS
    # read into memory it takes 1,280 MiB; in parts 550, of which 130 are there before
    assert after < 800, (before, after)
