"""Expressions in the SQL of databases: SQLite gives the numbers that arrays give."""

import sqlite3

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql

from calibrant.core.expressions import LABEL, SCORE, col, count, how_many, lit, plain, text_of
from calibrant.data.engine.dialects import Dialect, Postgres, Sqlite, dialect_of
from reference.expressions import evaluated, expressions, rows_of

TABLE = sa.table("t", sa.column("f", sa.Double()), sa.column("y", sa.Double()))
SPOKEN = Sqlite(dict(TABLE.c), {})


def asked(columns, *each):
    """Ask SQLite for expressions of every row."""
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        driver: sqlite3.Connection = connection.connection.driver_connection
        for name in ("ln", "exp"):  # not every SQLite knows them
            numeric = np.log if name == "ln" else np.exp
            driver.create_function(name, 1, lambda x, f=numeric: float(f(x)))
        connection.execute(sa.text("CREATE TABLE t (f DOUBLE, y DOUBLE)"))
        rows = zip(columns["f"].tolist(), columns["y"].tolist(), strict=True)
        driver.executemany("INSERT INTO t VALUES (?, ?)", list(rows))
        labelled = [SPOKEN.element(one).label(f"c{k}") for k, one in enumerate(each)]
        found = connection.execute(sa.select(*labelled).select_from(TABLE)).all()
    engine.dispose()
    return [list(values) for values in zip(*found, strict=True)]


@settings(max_examples=60, deadline=None)
@given(expressions(), st.integers(0, 5))
def test_sqlite_gives_what_arrays_give(each, seed):
    columns = rows_of(seed)
    for one, found in zip(each, asked(columns, *plain(each)), strict=True):
        assert found == pytest.approx(evaluated(one, columns), rel=1e-9, abs=1e-9)


def test_sqlite_adds_up_rows_and_counts_them():
    columns = rows_of(1)
    sums = (SCORE.sum(), SCORE.min(), (SCORE * LABEL).max(), how_many(), count(SCORE > 0.5))
    found = [one for [one] in asked(columns, *sums)]
    f, y = columns["f"], columns["y"]
    assert found == pytest.approx([f.sum(), f.min(), (f * y).max(), len(f), (f > 0.5).sum()])


def test_doubles_are_texts_that_give_them_back():
    columns = {"f": np.array([0.1, 1 / 3, 5e-324, 1.0]), "y": np.zeros(4)}
    [texts] = asked(columns, SCORE.text())
    assert [float(text) for text in texts] == columns["f"].tolist()


def test_texts_are_joined_and_values_are_never_code():
    columns = {"f": np.array([0.5]), "y": np.array([1.0])}
    hostile = "'); DROP TABLE t; --"
    [[joined]] = asked(columns, text_of(lit(hostile), lit("b"), between="-"))
    assert joined == f"{hostile}-b"


@pytest.mark.parametrize("values", [[0.5, 0.25], []])
def test_many_values_are_looked_up(values):
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE t (f DOUBLE, y DOUBLE)"))
        connection.execute(sa.text("INSERT INTO t VALUES (0.5, 0), (0.75, 1)"))
        query = sa.select(TABLE.c.f).where(SPOKEN.many("f", values))
        assert connection.execute(query).scalars().all() == ([0.5] if values else [])
    engine.dispose()


def test_postgresql_keeps_products_from_rounding_to_0():
    """It refuses a product that is too small for a double, so none that could be is made."""
    for term in (SCORE.squared(), SCORE.weighed(col("y"))):
        spoken = Postgres(dict(TABLE.c), {}).element(term)
        text = str(spoken.compile(dialect=postgresql.dialect()))
        assert text.startswith("CASE WHEN (t.f > ")
        assert " OR t.f < " in text


def test_each_database_speaks_its_own():
    assert dialect_of("postgresql") is Postgres
    assert dialect_of("sqlite") is Sqlite
    assert dialect_of("mysql") is Dialect
