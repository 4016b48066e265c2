"""Files and queries as tables that are read part by part."""

import json
import subprocess
import sys

import duckdb
import pytest

import calibrant as cb
from calibrant.data.files.duckdb_tables import Duck
from calibrant.data.files.reading import read_predictions
from reference.tables import ROWS, TABLE


def test_files_of_different_types_are_read_as_what_holds_them_all(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    whole = TABLE.assign(w=1)
    whole.loc[:999, "p"] = whole.loc[:999, "y"]
    whole = whole.astype({"w": float})
    whole.loc[1000:, "w"] = 0.4
    first = whole[:1000].astype({"p": "int64", "w": "int64"})
    first.to_parquet(folder / "a.parquet")
    whole[1000:].to_parquet(folder / "b.parquet")
    for file in (folder, folder / "*.parquet"):
        data = read_predictions(file, label="y", prob="p", weight="w")
        expected = cb.calibration_error(whole["y"], whole["p"], sample_weight=whole["w"])
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


ENDS = ["", ";", "; ;", " -- all;", "; -- all", "\n/* all; */", "; /* é */ ;\n-- all"]


@pytest.mark.parametrize("end", [*ENDS, " WHERE 'é' <> ';--'", " WHERE $$;/*$$ <> ';'; "])
def test_a_select_may_end_as_it_likes(end, tmp_path):
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    sql = f"SELECT * FROM '{tmp_path / 'a.csv'}'{end}"
    assert len(read_predictions(sql=sql, label="y", prob="p")) == ROWS


@pytest.mark.parametrize("last", ["x' AS a", "' AS a" + ";" * 10**5, "' /* AS */ AS a --;"])
def test_the_end_of_a_select_is_read_once(last):
    """A pattern that goes back would be at it for ever."""
    sql = "SELECT 1 AS y, 0.5 AS p, ';" + "/**/" * 5000 + last
    assert Duck(sql=sql).kinds.keys() == {"y", "p", "a"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM nothing('password=''my S3cr3t pw9''', 'public', 't')",
        # what DuckDB shows of it begins and ends inside the password
        f"SELECT 'password=''a {'S3cr3t ' * 20}''' AS a, b > > c",
        f"SELECT b > > c, 'password=''a {'S3cr3t ' * 20}''' AS a",
    ],
)
def test_a_query_that_fails_shows_no_password(sql):
    with pytest.raises(cb.InputError, match="DuckDB says: ") as caught:
        Duck(sql=sql)
    assert "S3cr3t" not in str(caught.value)


MANY = 12_000_000
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
        long = written(connection, tmp_path / "long.parquet", MANY)
        short = written(connection, tmp_path / "short.parquet", 1000)
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, long, short], capture_output=True, text=True, check=True
    )
    rows, before, after = json.loads(done.stdout)
    assert rows == MANY
    # read into memory it takes 1,280 MiB; in parts 550, of which 130 are there before
    assert after < 800, (before, after)


@pytest.mark.parametrize("name", ["self", "text", "config"])
def test_a_name_in_a_query_is_no_variable_of_the_program(name):
    with pytest.raises(cb.InputError, match=f"Table with name {name} does not exist"):
        Duck(sql=f"FROM {name}")
