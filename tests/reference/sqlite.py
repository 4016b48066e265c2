"""A database of SQLite, changed and asked."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.errors import InputError
from reference.engines import sqlite

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
