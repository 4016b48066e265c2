"""A Spark cluster of two executors: rows stay where they are."""

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.data.engine import narwhals_table as lazy
from calibrant.data.engine import source as frames
from calibrant.errors import InputError
from reference import servers
from reference.engines import same, spark, started

pytestmark = pytest.mark.engines
ROWS = 200_000


def sample():
    rng = np.random.default_rng(0)
    prob = rng.beta(0.5, 1.5, ROWS)
    return pd.DataFrame({"y": (rng.random(ROWS) < prob**1.2).astype(int), "p": prob})


TABLE = sample()


def test_rows_are_not_moved(tmp_path, monkeypatch):
    """Only sums of cells are exchanged, and little comes back to the driver."""
    fetched, plans, ask = [], [], lazy.LazyTable.fetch

    def watched(self):
        plans.append(self._frame.to_native()._jdf.queryExecution().executedPlan().toString())
        found = ask(self)
        fetched.append(len(next(iter(found.values()))))
        return found

    monkeypatch.setattr(lazy.LazyTable, "fetch", watched)
    data = cb.Predictions(spark(TABLE, tmp_path), label="y", prob="p")
    found = cb.calibration_error(data)
    assert found == pytest.approx(cb.calibration_error(TABLE["y"], TABLE["p"]), abs=1e-12)
    assert len(plans) <= 3
    tally, *opened = plans
    assert tally.count("Exchange") == 1
    assert tally.index("partial_sum") > tally.index("Exchange")  # plans are read from the end
    for plan in opened:
        moved = plan.replace("BroadcastExchange", "")
        assert "Exchange" not in moved or "partial_" in moved
    assert fetched[0] <= 2 << 14  # two for each cell, however many rows there are
    assert 0 < sum(fetched[1:]) < 0.02 * ROWS


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("many", [3, 5000])
def test_many_values_are_found(kind, many, tmp_path):
    frame = pd.DataFrame({"k": [kind(value) for value in range(0, 20_000, 2)]})
    table = frames.open_table(spark(frame, tmp_path))
    wanted = [kind(value) for value in range(many)]
    found = table.keep_in("k", wanted).fetch()["k"].tolist()
    assert sorted(found) == sorted(value for value in frame["k"] if value in set(wanted))


def test_strange_texts_are_found(tmp_path):
    words = ["", "a", "a,b", "a\x01b", "'", "\\", "\n", '"', "ä", "%", "$0", "`"]
    table = frames.open_table(spark(pd.DataFrame({"k": [*words, "other"]}), tmp_path))
    assert sorted(table.keep_in("k", words).fetch()["k"].tolist()) == sorted(words)


def test_a_table_that_is_gone_keeps_sparks_words(tmp_path):
    table = spark(TABLE[:100], tmp_path)
    for file in tmp_path.glob("*.parquet"):
        file.unlink()
    with pytest.raises(InputError, match=r"The table could not be read\. Spark says: "):
        cb.audit(table, label="y", prob="p")


def test_one_column_is_not_there(tmp_path):
    with pytest.raises(InputError, match="There is no column 'q' in the table"):
        cb.audit(spark(TABLE[:100], tmp_path), label="y", prob="q")


def test_a_table_of_spark_sql(tmp_path):
    session = started(servers.spark)
    spark(TABLE, tmp_path).createOrReplaceTempView("scores")
    table = session.sql("SELECT y, CAST(p AS FLOAT) AS p FROM scores WHERE y IS NOT NULL")
    short = TABLE["p"].astype("float32").astype(float)
    found = cb.audit(table, label="y", prob="p").to_dict()
    same(found, cb.audit(TABLE["y"], short).to_dict())
