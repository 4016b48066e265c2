"""What every engine's table does alike."""

import duckdb
import polars as pl
import pytest

from calibrant.core.expressions import col, lit
from calibrant.data.engine.source import open_table
from calibrant.data.engine.table import quoted
from calibrant.errors import InputError

FRAME = pl.DataFrame({"a": [3, 1, 2, 1], "b": [0.5, None, 0.25, 1.0]})
#: Relations of old releases do not keep theirs open.
CONNECTION = duckdb.connect()
TABLES = {
    "polars": FRAME.lazy,
    "duckdb": lambda: CONNECTION.from_arrow(FRAME.to_arrow()),
}
each = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@each
def test_columns_get_new_names_and_unknown_ones_are_refused(table):
    found = open_table(table()).columns({"x": "b", "y": "a"})
    assert set(found.kinds) == {"x", "y"}
    assert found.number(col("y").sum()) == 7
    with pytest.raises(InputError, match="There is no column 'c'"):
        open_table(table()).columns({"x": "c"})


@each
def test_the_first_row_where_something_holds_is_named_with_its_value(table):
    asked = open_table(table()).columns({"x": "a", "y": "b"})
    assert asked.first(col("x") == 1, col("x") + 10) == (1, 11)
    assert asked.first(col("y") > 0.3, col("y")) == (0, 0.5)


@each
def test_the_sum_of_no_rows_is_not_a_number(table):
    asked = open_table(table()).columns({"x": "a"})
    [total] = asked.filter(col("x") > 5).select(n=col("x").sum()).numbers()["n"]
    assert not total > 0
    assert asked.select(n=lit(2.0) * col("x").sum()).numbers()["n"].tolist() == [14]


@pytest.mark.parametrize("name", ["a", 'a"b', "x'); DROP TABLE t; --", "", "select"])
def test_a_quoted_name_is_never_code(name):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE {quoted('t' + name)} ({quoted('c' + name)} INT)")
        [row] = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
        assert row == ("t" + name, "c" + name)
