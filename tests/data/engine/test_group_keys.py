"""Group values in engines: none is taken for another, whatever they hold."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb
from calibrant.data import groups
from calibrant.errors import InputError
from reference.engines import CONNECTION, ENGINES, LAZY, same
from reference.tables import LABEL, PROB, RNG, ROWS, TABLE, groups_of, in_every_engine

STRANGE = [["\x02", None, "?"], ["\x01", "+", "rare"], ["=", "==", "a\x1fb"], ["a", "A", "=a"]]


@pytest.mark.parametrize("values", STRANGE)
def test_group_values_are_never_taken_for_marks(values, tmp_path):
    frame = TABLE.assign(g=RNG.choice(np.array(values, dtype=object), ROWS))
    for table in in_every_engine(frame, tmp_path).values():
        found = cb.audit(table, label="y", prob="p", by="g").groups
        counts = frame["g"].value_counts(dropna=False)
        assert sorted(one.rows for one in found) == sorted(counts)
        for one in found:
            value = one.group["g"]
            inside = frame["g"].isna() if value is None else frame["g"] == value
            assert one.rows == inside.sum()


def test_pairs_are_told_apart_whatever_they_hold(tmp_path, monkeypatch):
    frame = TABLE.assign(
        g=RNG.choice(["a", "a\x1fb", "1\x1fa"], ROWS), h=RNG.choice(["b\x1fc", "c"], ROWS)
    )
    counts = sorted(frame.groupby(["g", "h"]).size())
    for large in (groups._LARGE, 10):
        monkeypatch.setattr(groups, "_LARGE", large)
        monkeypatch.setattr(groups, "_TABLE_BITS", 20 if large > 10 else 4)
        for table in in_every_engine(frame, tmp_path).values():
            found = cb.audit(table, label="y", prob="p", by=["g", "h"]).groups
            assert sorted(one.rows for one in found if len(one.columns) == 2) == counts


def test_missing_numbers_and_signed_zeros_make_one_group(tmp_path):
    group = np.array([np.nan, 0.0, -0.0, 1.5])[np.arange(ROWS) % 4]
    frame = pl.DataFrame({"y": LABEL, "p": PROB, "g": group})
    frame = frame.with_columns(g=pl.when(pl.int_range(ROWS) % 8 == 0).then(None).otherwise("g"))
    for table in (frame, frame.lazy(), frame.to_arrow(), CONNECTION.sql("SELECT * FROM frame")):
        found = {name: one.rows for name, one in groups_of(table).items()}
        assert found == {"g is missing": 1000, "g = 0.0": 2000, "g = 1.5": 1000}


WORDS = ["it's", "", "B", "a", "é\x1f", "a\x00b", "x'); DROP TABLE t; --", "?", "+", "=a"]


@pytest.mark.parametrize("kind", ["polars categories", "polars enum", "duckdb enum", "duckdb text"])
@pytest.mark.parametrize("zero", [True, False])
def test_words_are_told_apart_by_their_code(kind, zero):
    """Codes are looked up by word, whatever codes the table's own type gives them."""
    words = WORDS if zero and "duckdb" not in kind else [w for w in WORDS if "\x00" not in w]
    rng = np.random.default_rng(5)
    place = rng.integers(0, len(words) + 1, 4000)
    group = [words[i] if i < len(words) else None for i in place]
    prob = rng.random(4000)
    table = pl.DataFrame({"y": (rng.random(4000) < prob).astype(int), "p": prob, "g": group})
    expected = cb.audit(table, label="y", prob="p", by="g").to_dict()["groups"]
    ordered = sorted(words, reverse=True)
    with duckdb.connect() as connection:
        if kind == "polars categories":
            given = table.with_columns(pl.col("g").cast(pl.Categorical)).lazy()
        elif kind == "polars enum":
            given = table.with_columns(pl.col("g").cast(pl.Enum([*ordered, "unused"]))).lazy()
        else:
            connection.register("t0", table.to_arrow())
            listed = ", ".join("'" + word.replace("'", "''") + "'" for word in ordered)
            cast = f"g::ENUM({listed})" if kind == "duckdb enum" else "g"
            connection.execute(f"CREATE TABLE t AS SELECT y, p, {cast} AS g FROM t0")
            given = connection.table("t")
        found = cb.audit(given, label="y", prob="p", by="g").to_dict()["groups"]
    same(found, expected)


@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize(
    "words",
    [
        [f"w{i % 97}" for i in range(ROWS)],
        [None] * ROWS,
        [None if i % 5 else f"w{i}" for i in range(ROWS)],
    ],
    ids=["all small", "all missing", "only the missing ones large"],
)
def test_words_none_of_which_stands_for_itself(engine, words, tmp_path):
    table = TABLE.assign(g=pd.Series(words, dtype="string"))
    expected = {name: one.rows for name, one in groups_of(table).items()}
    found = groups_of(ENGINES[engine](table, tmp_path))
    assert {name: one.rows for name, one in found.items()} == expected


def test_words_that_a_collation_takes_for_the_same_are_refused():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (y INT, p DOUBLE, g VARCHAR COLLATE NOCASE)")
        connection.execute(
            "INSERT INTO t SELECT (i * 7) % 10 > 4, (i % 97) / 97.0, "
            "['z', 'a', 'A', 'b'][i % 4 + 1] FROM range(4000) r(i)"
        )
        with pytest.raises(InputError, match="collation"):
            groups_of(connection.table("t"))


@pytest.mark.parametrize("words", [["a\0", "c\0", "b"], ["a", "a\0", "b"], ["\0", "", "b\0b"]])
def test_words_that_end_in_nul(words):
    table = pl.DataFrame({"y": LABEL, "p": PROB, "g": [words[i % 3] for i in range(ROWS)]})
    expected, found = groups_of(table), groups_of(table.lazy())
    assert found.keys() == expected.keys()
    assert all(found[name].rows == expected[name].rows for name in expected)


@pytest.mark.parametrize(
    ("kind", "values"),
    [("int8", (-100, 100)), ("int16", (-32768, 32767)), ("uint8", (0, 255)), ("int8", (-128, 127))],
)
def test_narrow_whole_numbers_far_apart(kind, values):
    table = TABLE.assign(g=np.array(values, dtype=kind)[np.arange(ROWS) % 2])
    assert set(groups_of(table)) == {f"g = {value}" for value in values}
    assert set(groups_of(pl.from_pandas(table).lazy())) == {f"g = {value}" for value in values}


def test_floats_and_decimals_have_one_name_everywhere():
    short = pl.Series([0.1, 0.5], dtype=pl.Float32)
    exact = pl.Series(["0.25", "0.00"]).cast(pl.Decimal(10, 2))
    for values in (short, exact):
        table = pl.DataFrame({"y": LABEL, "p": PROB}).with_columns(
            g=values.gather(np.arange(ROWS) % 2)
        )
        with duckdb.connect() as connection:
            connection.register("t", table.to_arrow())
            kinds = [table.lazy(), connection.table("t"), table.to_arrow()]
            assert all(groups_of(kind).keys() == groups_of(table).keys() for kind in kinds)


def test_no_control_character_is_left_to_part_words():
    words = [f"{chr(i)} word" for i in range(1, 32)] + ["a\0b"]
    table = pl.DataFrame({"y": LABEL, "p": PROB, "g": [words[i % 32] for i in range(ROWS)]})
    expected = groups_of(table)
    with duckdb.connect() as connection:
        connection.register("t", table.to_arrow())
        connection.execute("CREATE TABLE u AS SELECT * FROM t")
        assert groups_of(connection.table("u")).keys() == expected.keys()


def test_whole_numbers_of_128_bits():
    wide = pl.Series(LABEL).cast(pl.Int128)
    table = pl.DataFrame({"y": wide, "p": PROB, "g": wide})
    expected = cb.calibration_error(LABEL, PROB)
    for given in (table, table.lazy()):
        data = cb.Predictions(given, label="y", prob="p")
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)
        assert set(groups_of(given)) == {"g = 0", "g = 1"}
    odd = table.with_columns(y=pl.Series([-5, *[0, 1] * (ROWS // 2)][:ROWS]).cast(pl.Int128))
    for given in (odd, odd.lazy()):
        with pytest.raises(InputError, match="must hold two label values"):
            cb.Predictions(given, label="y", prob="p")
