"""Databases: connections that only read, and that leave no trace."""

import sqlite3

import pytest
import sqlalchemy as sa

import calibrant as cb
from calibrant.data.engine import database
from calibrant.errors import InputError
from reference.engines import same
from reference.sqlite import TABLE, refusal, run, table


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


def test_what_is_no_connection():
    with pytest.raises(InputError, match=r"connection must be a URL .* of type int"):
        cb.sql_table(3, "scores")


def test_an_address_of_sqlite_makes_no_file(tmp_path):
    new = tmp_path / "new.db"
    with pytest.raises(ValueError, match="There is no file"):
        cb.sql_table(f"sqlite:///file:{new}?uri=true&mode=rwc", "t")
    assert not new.exists()
