"""Groups split in the engine: what is no label, and values that it takes for the same."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb
from calibrant.errors import InputError
from reference.engines import CONNECTION
from reference.tables import LABEL, PROB, RNG, ROWS, TABLE, groups_of


def test_values_that_an_engine_takes_for_the_same():
    frame = TABLE.assign(g=RNG.choice(["a", "A"], ROWS))
    relation = CONNECTION.sql("SELECT y, p, g COLLATE NOCASE AS g FROM frame")
    try:
        found = cb.audit(relation, label="y", prob="p", by="g").groups
    except InputError as error:
        assert "does not tell the values" in str(error)  # noqa: PT017
    else:
        assert sum(one.rows for one in found) == ROWS
    assert len(frame) == ROWS


def test_groups_that_are_lists_are_refused(tmp_path):
    frame = pl.DataFrame({"y": LABEL, "p": PROB, "g": [[i % 2] for i in range(ROWS)]})
    for table in (frame, frame.lazy(), CONNECTION.sql("SELECT * FROM frame")):
        with pytest.raises(InputError, match="must hold plain labels"):
            cb.audit(table, label="y", prob="p", by="g")


def test_days_and_moments_are_groups_by_their_text(tmp_path):
    moments = np.where(LABEL, dt.datetime(2020, 1, 2), dt.datetime(2021, 2, 3, 4, 5))
    frame = pl.DataFrame({"y": LABEL, "p": PROB, "g": moments.tolist()})
    tables = {
        "polars": frame,
        "lazy": frame.lazy(),
        "duckdb": CONNECTION.sql("SELECT * FROM frame"),
        "pandas": frame.to_pandas(),
        "numpy": pd.DataFrame({"y": LABEL, "p": PROB, "g": moments.astype("datetime64[ns]")}),
    }
    for table in tables.values():
        assert set(groups_of(table)) == {"g = 2020-01-02", "g = 2021-02-03 04:05:00"}
