"""Tables and queries of a database, asked by name."""

import sys

import pytest

import calibrant as cb
from calibrant import _extras
from calibrant.errors import InputError
from reference.sqlite import TABLE, run, table


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


@pytest.mark.parametrize("module", ["sqlalchemy", "sqlglot"])
def test_without_the_extra_the_command_is_named(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(_extras.ExtraError, match=rf"{module} .* pip install 'calibrant\[sql\]'"):
        cb.sql_table("sqlite://", query="SELECT 1 AS y")
