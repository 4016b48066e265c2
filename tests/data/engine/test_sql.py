"""Databases without a server: SQLite, and what every database has in common."""

import json
import sqlite3
import sys

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import calibrant as cb
from calibrant import _extras
from calibrant.cli import main
from calibrant.data.engine import database
from calibrant.errors import InputError
from reference.engines import same, sqlite

RNG = np.random.default_rng(0)
PROB = RNG.random(2000)
TABLE = pd.DataFrame({"y": (RNG.random(2000) < PROB).astype(int), "p": PROB})


@pytest.fixture
def file(tmp_path):
    sqlite(TABLE, tmp_path)
    return tmp_path / "table.db"


def run(file, *statements):
    connection = sqlite3.connect(file)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def table(file, name="scores", **options):
    return cb.sql_table(f"sqlite:///{file}", None if "query" in options else name, **options)


def refusal(file, name="scores", **options):
    with pytest.raises(InputError) as caught:
        cb.audit(table(file, name), **{"label": "y", "prob": "p", **options})
    return str(caught.value)


def test_groups_of_doubles_that_differ_in_the_last_digit(tmp_path):
    frame = TABLE.assign(g=np.repeat([0.3, 0.1 + 0.2], 1000))
    found = cb.audit(sqlite(frame, tmp_path), label="y", prob="p", by=["g"])
    same(found.to_dict(), cb.audit(frame, label="y", prob="p", by=["g"]).to_dict())
    assert len(found.groups) == 2


@pytest.mark.parametrize("value", ["'abc'", "'0.5 or so'", "''", "x'00ff'"])
@pytest.mark.parametrize("column", ["y", "p", "w", "g"])
def test_a_column_of_several_kinds_is_refused(file, column, value):
    """A text in arithmetic would count as 0."""
    run(
        file,
        "CREATE TABLE mixed AS SELECT y, p, p AS w, p AS g FROM scores",
        f"UPDATE mixed SET {column} = {value} WHERE rowid = 1700",
    )
    words = refusal(file, "mixed", weight="w", by=["g"])
    assert words.startswith(f"column {column!r} holds values of several kinds, such as ")


def test_columns_of_one_name_are_refused(file):
    for query in (
        "SELECT y, p, p * p AS p FROM scores",
        "SELECT p, * FROM scores",
        "SELECT y, p AS P, p * p AS p FROM scores",
    ):
        with pytest.raises(InputError, match="Columns must have different names"):
            table(file, query=query)


def test_a_column_named_as_sqlite_names_a_second_one(file):
    run(file, 'CREATE TABLE odd AS SELECT y, 1 - p AS p, p AS "p:1" FROM scores')
    expected = cb.audit(TABLE, label="y", prob="p", by=["y"]).to_dict()
    for asked in (
        table(file, "odd"),
        table(file, query="SELECT * FROM odd"),
        table(file, query='SELECT y, "p:1" FROM odd'),
    ):
        found = cb.audit(asked, label="y", prob="p:1", by=["y"]).to_dict()
        assert found["calibration_error"] == pytest.approx(expected["calibration_error"], abs=1e-12)
    with pytest.raises(InputError, match="Columns must have different names"):
        table(file, query='SELECT y, p, "p:1", p FROM odd')


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        table(tmp_path / "nothing.db")
    assert list(tmp_path.iterdir()) == []


def test_rows_cannot_change_while_they_are_read(file):
    data = cb.Predictions(table(file), label="y", prob="p")
    other = sqlite3.connect(file, timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="locked"), other:
        other.execute("UPDATE scores SET y = 1 - y")
    found = cb.calibration_error(data)
    assert found == pytest.approx(cb.calibration_error(TABLE["y"], TABLE["p"]), abs=1e-12)
    del data  # and with it the connection
    with other:
        other.execute("UPDATE scores SET y = 1 - y")
    other.close()


def test_a_connection_of_ones_own_is_asked_and_left(file):
    engine = sa.create_engine(f"sqlite:///{file}", poolclass=sa.NullPool)
    with engine.connect() as connection:
        found = cb.audit(cb.sql_table(connection, "scores"), label="y", prob="p")
        assert not connection.in_transaction()
        assert not connection.closed
    same(found.to_dict(), cb.audit(TABLE, label="y", prob="p").to_dict())


def test_sqlite_without_mathematics(file, monkeypatch):
    """Some are built without ln and exp, and get them from Python."""
    made = []
    asked = database._add_functions

    def without(connection):
        driver = connection.connection.driver_connection

        class Result:
            def scalars(self):
                return self

            def all(self):
                return ["THREADSAFE=1"]

        class Pretending:
            connection = type("Pool", (), {"driver_connection": driver})

            def execute(self, _query):
                return Result()

        made.append(driver)
        asked(Pretending())

    monkeypatch.setattr(database, "_add_functions", without)
    same(
        cb.audit(table(file), label="y", prob="p").to_dict(),
        cb.audit(TABLE, label="y", prob="p").to_dict(),
    )
    assert made


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either the name of a table or query="),
        ({"table": "t", "query": "SELECT 1"}, "either the name of a table or query="),
        ({"table": 3}, "table must be a text"),
        ({"query": "DROP TABLE scores"}, "must be one SELECT"),
        ({"query": "SELECT 1; SELECT 2"}, "must be one SELECT"),
        ({"table": "absent"}, "SQLite says: no such table: absent"),
        ({"query": "SELECT absent FROM scores"}, "SQLite says: no such column: absent"),
    ],
)
def test_what_cannot_be_asked(file, arguments, words):
    with pytest.raises(InputError, match=words):
        cb.sql_table(f"sqlite:///{file}", **arguments)


def test_what_is_no_connection():
    with pytest.raises(InputError, match=r"connection must be a URL .* of type int"):
        cb.sql_table(3, "scores")


@pytest.mark.parametrize("module", ["sqlalchemy", "sqlglot"])
def test_without_the_extra_the_command_is_named(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(_extras.ExtraError, match=rf"{module} .* pip install 'calibrant\[sql\]'"):
        cb.sql_table("sqlite://", query="SELECT 1 AS y")


URL = "postgresql+psycopg://u:S3cr3t@127.0.0.1:1/d"
SPACED = "postgresql+psycopg://u:my S3cr3t'wo\"rd@127.0.0.1:1/d"


@pytest.mark.parametrize(
    "words",
    [
        ("audit", URL),
        ("audit", "a.csv", URL),
        ("audit", "--sql", URL),
        ("audit", f"--url {URL}"),
        ("audit", "a.csv", "--method", URL),
        ("audit", "a.csv", "--by", URL),
        ("audit", "--url", URL),
        ("audit", f"--url={URL}", "--table", "t"),
        ("audit", "--url", "env:" + URL, "--table", "t"),
        ("plan", "--epsilon", "0.1", "--scores", URL),
        ("audit", "--url", "S3cr3t", "--table", "t"),
        ("audit", SPACED),
        ("audit", "a.csv", "--by", SPACED),
        ("audit", "--url", SPACED, "--table", "t"),
        ("audit", f"--url={SPACED}", "--table", "t"),
        ("audit", "--url", *SPACED.split(), "--table", "t"),
        ("audit", *f"--url={SPACED}".split(), "--table", "t"),
        ("audit", "--sql", "ATTACH 'password=''a S3cr3t'' host=h' AS x (TYPE postgres)"),
        ("audit", "--sql", "SELECT * FROM nothing('password=''a S3cr3t'' host=h')"),
    ],
)
def test_no_command_shows_a_password(words, tmp_path, monkeypatch, capsys):
    columns = () if words[0] == "plan" else ("--label", "y", "--prob", "p")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["calibrant", *words, *columns])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    output, error = capsys.readouterr()
    assert error.strip()
    assert "S3cr3t" not in output + error


def test_the_command_line_asks_sqlite(file, monkeypatch, capsys):
    query = "SELECT y, p FROM scores WHERE p <> ':x:'"
    place = ["--url", f"sqlite:///{file}", "--sql", query]
    asked = ["calibrant", "audit", *place, "--label", "y", "--prob", "p", "--json"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    expected = cb.audit(TABLE, label="y", prob="p").to_dict()
    found = json.loads(capsys.readouterr().out)
    assert found["calibration_error"] == pytest.approx(expected["calibration_error"], abs=1e-12)
    assert found["provenance"]["command"].startswith("calibrant audit --url sqlite:///")


def test_a_password_in_sql_is_not_reported(file, monkeypatch, capsys):
    query = "SELECT y, p, 'host=h password=''my S3cr3t'' user=u' AS c FROM scores"
    place = ["--url", f"sqlite:///{file}", f"--sql={query}"]
    asked = ["calibrant", "audit", *place, "--label", "y", "--prob", "p", "--json"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert "S3cr3t" not in shown
    assert "password=*** user=u" in json.loads(shown)["provenance"]["command"]


def test_an_address_of_sqlite_makes_no_file(tmp_path):
    new = tmp_path / "new.db"
    with pytest.raises(ValueError, match="There is no file"):
        cb.sql_table(f"sqlite:///file:{new}?uri=true&mode=rwc", "t")
    assert not new.exists()
