"""Tables through narwhals: their order and their errors are kept."""

import duckdb
import polars as pl
import pytest

import calibrant as cb
from calibrant.errors import InputError
from reference.tables import LABEL, PROB, TABLE


def test_an_error_that_speaks_of_interrupts_is_an_error():
    def fail(_):
        raise RuntimeError("an interrupt of the data feed")

    lazy = pl.LazyFrame({"y": LABEL, "p": PROB}).map_batches(fail)
    with pytest.raises(InputError, match="interrupt of the data feed"):
        cb.Predictions(lazy, label="y", prob="p")


def test_the_first_row_is_the_first_whatever_the_order():
    connection = duckdb.connect()
    connection.execute("SET default_order = 'desc'")
    frame = TABLE.assign(p=PROB.copy())
    frame.loc[[5, 8], "p"] = 1.5
    relation = connection.from_df(frame)
    with pytest.raises(InputError, match="first at row 5 "):
        cb.Predictions(relation, label="y", prob="p")
