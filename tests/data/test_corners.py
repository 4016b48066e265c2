"""Tables that once gave a wrong number, a crash, or words that mislead."""

import datetime as dt
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calibrant as cb
from calibrant.data import groups
from calibrant.data.files import reading as files
from calibrant.data.files.reading import read_predictions
from calibrant.data.memory.columns import Column
from calibrant.data.memory.factorize import codes_of
from calibrant.errors import InputError
from reference.engines import CONNECTION, ENGINES, LAZY, same

RNG = np.random.default_rng(0)
ROWS = 4000
PROB = RNG.random(ROWS)
LABEL = (RNG.random(ROWS) < PROB**1.3).astype(int)
TABLE = pd.DataFrame({"y": LABEL, "p": PROB})
IN_TURN = ["pandas", "polars", "pyarrow", "polars lazy", "duckdb table"]


def groups_of(table, by="g", **options):
    found = cb.audit(table, label="y", prob="p", by=by, **options)
    return {one.name: one for one in found.groups}


def in_every_engine(frame, folder, names=IN_TURN):
    return {name: ENGINES[name](frame, folder) for name in names}


def test_clusters_stay_with_rows_that_come_in_another_order_each_time():
    clusters = np.sort(RNG.zipf(1.3, ROWS) % 300)
    frame = pl.DataFrame({"id": np.arange(ROWS), "y": LABEL, "p": PROB, "c": clusters})
    expected = cb.certify(LABEL, PROB, clusters=clusters, estimand="cluster", method="certified")
    for table in (frame.lazy().unique(), CONNECTION.sql("SELECT DISTINCT * FROM frame")):
        data = cb.Predictions(table, label="y", prob="p", clusters="c")
        found = cb.certify(data, estimand="cluster", method="certified")
        assert found.upper == pytest.approx(expected.upper, abs=1e-12)
        rows, codes = data.source.rows(), data.source.clusters()
        order = np.argsort(rows.score)
        assert (codes[order] == clusters[np.argsort(PROB)]).all()


def test_files_of_different_types_are_read_as_what_holds_them_all(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    whole = TABLE.assign(w=1)
    whole.loc[:999, "p"] = whole.loc[:999, "y"]
    whole = whole.astype({"w": float})
    whole.loc[1000:, "w"] = 0.4
    first = whole[:1000].astype({"p": "int64", "w": "int64"})
    first.to_parquet(folder / "a.parquet")
    whole[1000:].to_parquet(folder / "b.parquet")
    for file in (folder, folder / "*.parquet"):
        data = read_predictions(file, label="y", prob="p", weight="w")
        expected = cb.calibration_error(whole["y"], whole["p"], sample_weight=whole["w"])
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


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


def test_labels_past_what_doubles_hold(tmp_path):
    frame = TABLE.assign(y=LABEL + 2**53)
    expected = cb.calibration_error(LABEL, PROB)
    for table in in_every_engine(frame, tmp_path).values():
        data = cb.Predictions(table, label="y", prob="p", pos_label=2**53 + 1)
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pos_label", [10**400, 1j, np.inf])
def test_an_event_that_is_no_label(pos_label, tmp_path):
    for table in in_every_engine(TABLE, tmp_path, LAZY).values():
        with pytest.raises(InputError, match="is not among the labels"):
            cb.Predictions(table, label="y", prob="p", pos_label=pos_label)


def test_events_that_are_days(tmp_path):
    days = np.where(LABEL == 1, dt.date(2020, 1, 2), dt.date(2020, 1, 1))
    frame = pl.DataFrame({"y": days.tolist(), "p": PROB})
    expected = cb.calibration_error(LABEL, PROB)
    for table in (frame.lazy(), CONNECTION.sql("SELECT * FROM frame")):
        data = cb.Predictions(table, label="y", prob="p", pos_label=dt.date(2020, 1, 2))
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("length", [files.SHORT, 100])
def test_words_next_to_true_and_false(length, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHORT", length)
    words = np.array(["true", "True", "TRUE", "false", "False", "maybe"])[np.arange(ROWS) % 6]
    TABLE.assign(y=words).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="'maybe'"):
        read_predictions(tmp_path / "a.parquet", label="y", prob="p")


@pytest.mark.parametrize("length", [files.SHORT, 100])
def test_a_word_that_looks_like_no_number_is_a_word(length, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHORT", length)
    TABLE.assign(y=np.where(LABEL, "ok", "NaN")).to_parquet(tmp_path / "a.parquet")
    options = {"label": "y", "prob": "p", "pos_label": "ok", "drop_missing": True}
    data = read_predictions(tmp_path / "a.parquet", **options)
    assert len(data) == ROWS
    assert cb.calibration_error(data) == pytest.approx(cb.calibration_error(LABEL, PROB))


@pytest.mark.parametrize("length", [files.SHORT, 100])
@pytest.mark.parametrize("kind", ["BIGINT", "HUGEINT"])
def test_large_whole_numbers_are_groups_of_their_own(length, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHORT", length)
    CONNECTION.register("numbered", TABLE.assign(i=np.arange(ROWS)))
    group = f"CASE WHEN i % 3 = 0 THEN NULL ELSE CAST({2**53} + i % 3 AS {kind}) END AS g"
    sql = f"SELECT y, p, {group} FROM numbered"
    CONNECTION.sql(sql).write_parquet(str(tmp_path / "a.parquet"))
    file = f"SELECT y, p, CAST(g AS {kind}) AS g FROM '{tmp_path / 'a.parquet'}'"
    if kind == "HUGEINT":
        file = f"SELECT y, p, CAST(CASE WHEN g IS NOT NULL THEN {2**53} + (g::BIGINT)::HUGEINT - "
        file += f"{2**53} END AS HUGEINT) AS g FROM '{tmp_path / 'a.parquet'}'"
    data = read_predictions(sql=file, label="y", prob="p", by=["g"])
    found = cb.audit(data, by="g").groups
    assert len(found) == 3
    assert sorted(one.rows for one in found) == [1333, 1333, 1334]


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_whole_weights_equal_repetition_in_groups(tmp_path):
    group = RNG.choice(["a", "b"], ROWS).astype(object)
    group[:60], group[60:70] = "c", "d"
    weight = np.ones(ROWS, dtype=int)
    weight[:60], weight[60:70] = 3, 0
    frame = TABLE.assign(g=group, w=weight)
    repeated = frame.loc[frame.index.repeat(frame["w"])]
    expected = cb.audit(repeated, label="y", prob="p", by="g").to_dict()["groups"]
    for table in in_every_engine(frame, tmp_path).values():
        found = cb.audit(table, label="y", prob="p", weight="w", by="g").to_dict()["groups"]
        for one, other in zip(found, expected, strict=True):
            for part in (one, other):
                part["worst_interval"].pop("rows", None)
                part.pop("certificate", None)
            same(one, other)
    assert {one["group"]["g"] for one in expected} == {"a", "b", "c"}


def test_what_is_not_there_is_no_group():
    frame = TABLE.assign(g="x", h=RNG.choice(["u", "v"], ROWS))
    sorts = pd.CategoricalDtype(["x", "unused", "other"])
    plain = cb.audit(frame, label="y", prob="p", by=["g", "h"])
    sorted_ = cb.audit(frame.astype({"g": sorts}), label="y", prob="p", by=["g", "h"])
    assert len(plain.groups) == 3
    same(sorted_.to_dict()["groups"], plain.to_dict()["groups"])


def test_the_cap_names_the_same_values_everywhere(tmp_path):
    frame = pd.DataFrame({"g": np.repeat(np.arange(1050), 100)})
    frame["p"] = RNG.random(len(frame))
    frame["y"] = (RNG.random(len(frame)) < frame["p"]).astype(int)
    for table in in_every_engine(
        frame, tmp_path, ["pandas", "polars lazy", "duckdb table"]
    ).values():
        found = cb.audit(table, label="y", prob="p", by="g").groups
        named = {one.group["g"] for one in found if not one.pooled}
        assert named == set(range(1000))


def test_missing_numbers_and_signed_zeros_make_one_group(tmp_path):
    group = np.array([np.nan, 0.0, -0.0, 1.5])[np.arange(ROWS) % 4]
    frame = pl.DataFrame({"y": LABEL, "p": PROB, "g": group})
    frame = frame.with_columns(g=pl.when(pl.int_range(ROWS) % 8 == 0).then(None).otherwise("g"))
    for table in (frame, frame.lazy(), frame.to_arrow(), CONNECTION.sql("SELECT * FROM frame")):
        found = {name: one.rows for name, one in groups_of(table).items()}
        assert found == {"g is missing": 1000, "g = 0.0": 2000, "g = 1.5": 1000}


@pytest.mark.parametrize("large", [1 << 17, 100])
def test_a_claim_is_made_for_all_groups_or_none(large, monkeypatch, tmp_path):
    monkeypatch.setattr(groups, "_LARGE", large)
    monkeypatch.setattr(groups, "_TABLE_BITS", 20 if large > 100 else 4)
    soft = np.where(np.arange(ROWS) % 2, LABEL, PROB)
    frame = TABLE.assign(y=soft, g=np.arange(ROWS) % 2)
    for table in in_every_engine(frame, tmp_path).values():
        assert [one.certificate for one in groups_of(table).values()] == [None, None]


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_a_soft_label_of_no_weight_is_none(tmp_path):
    frame = TABLE.assign(y=LABEL.astype(float), w=1)
    frame.loc[0, ["y", "w"]] = [0.5, 0]
    for table in in_every_engine(frame, tmp_path).values():
        found = cb.audit(table, label="y", prob="p", weight="w")
        assert found.certificate is not None
        expected = cb.calibration_error(LABEL[1:], PROB[1:])
        assert found.calibration_error == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_a_score_without_odds_and_without_weight_is_none(tmp_path):
    frame = TABLE.assign(w=1)
    frame.loc[0, ["p", "w"]] = [1.0, 0]
    expected = cb.calibration_slope(LABEL[1:], PROB[1:]).value
    for table in in_every_engine(frame, tmp_path).values():
        data = cb.Predictions(table, label="y", prob="p", weight="w")
        assert cb.calibration_slope(data).value == pytest.approx(expected, abs=1e-9)


def test_scores_of_0_and_1_are_clipped_in_every_engine(tmp_path):
    prob = PROB.round(1)
    expected = cb.audit(LABEL, prob, clip=0.01)
    for name, table in in_every_engine(TABLE.assign(p=prob), tmp_path).items():
        found = cb.audit(table, label="y", prob="p", clip=0.01)
        for one in ("slope", "intercept"):
            same = pytest.approx(getattr(expected.measures, one).to_dict(), abs=1e-9)
            assert getattr(found.measures, one).to_dict() == same, name


def test_clusters_that_are_numbers_are_numbers_in_files_too(tmp_path):
    clusters = RNG.integers(0, 300, ROWS)
    TABLE.assign(c=clusters).to_csv(tmp_path / "a.csv", index=False)
    data = read_predictions(tmp_path / "a.csv", label="y", prob="p", clusters="c")
    found = cb.certify(data, estimand="cluster", method="betting")
    expected = cb.certify(LABEL, PROB, clusters=clusters, estimand="cluster", method="betting")
    assert found.upper == expected.upper


def test_rows_that_are_others_each_time_are_refused():
    rows = "SELECT random() AS p, random() < 0.5 AS y FROM range(5000)"
    drawn = CONNECTION.sql(f"SELECT * FROM ({rows}) WHERE random() < 0.5")
    with pytest.raises(InputError, match="The table changes while it is read"):
        cb.audit(drawn, label="y", prob="p")


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_a_value_whose_rows_have_no_weight():
    group = np.where(np.arange(ROWS) < 500, "z", "a")
    weight = np.where(np.arange(ROWS) < 500, 0, 1)
    found = cb.audit(LABEL, PROB, by={"g": group}, sample_weight=weight).groups
    assert [one.name for one in found] == ["g = a"]


def test_many_columns_of_many_values(tmp_path):
    rng = np.random.default_rng(1)
    columns = {f"g{k}": rng.integers(0, 300, ROWS) for k in range(8)}
    frame = TABLE.assign(**columns, h=np.arange(ROWS) % 2)
    for name in ("pandas", "polars lazy"):
        found = cb.audit(ENGINES[name](frame, tmp_path), label="y", prob="p", by=[*columns, "h"])
        assert len(found.groups) == 8 + 2


def test_infinite_and_huge_group_values_are_text_in_json(tmp_path):
    group = np.where(LABEL, np.inf, -np.inf)
    json.dumps(cb.audit(LABEL, PROB, by={"g": group}).to_dict(), allow_nan=False)
    huge = np.where(LABEL, 2**64 - 1, 2**64 - 2).astype(np.uint64)
    found = cb.audit(LABEL, PROB, by={"g": huge}).groups
    assert {one.group["g"] for one in found} == {2**64 - 1, 2**64 - 2}


def test_columns_of_one_name_and_names_that_are_no_words():
    twice = pd.DataFrame(np.c_[LABEL, PROB, PROB], columns=["y", "p", "p"])
    with pytest.raises(InputError, match="Columns must have different names"):
        cb.Predictions(twice, label="y", prob="p")
    numbered = pd.DataFrame({0: LABEL, 1: PROB})
    with pytest.raises(InputError, match="There is no column '0'"):
        cb.Predictions(numbered, label="0", prob="1")


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


def test_an_error_that_speaks_of_interrupts_is_an_error():
    def fail(_):
        raise RuntimeError("an interrupt of the data feed")

    lazy = pl.LazyFrame({"y": LABEL, "p": PROB}).map_batches(fail)
    with pytest.raises(InputError, match="interrupt of the data feed"):
        cb.Predictions(lazy, label="y", prob="p")


def test_names_that_would_move_the_cursor_are_shown_by_code():
    group = np.where(LABEL, "a\x1b[31mX\nY", "b")
    names = {one.name for one in cb.audit(LABEL, PROB, by={"g": group}).groups}
    assert names == {r"g = a\x1b[31mX\nY", "g = b"}


@pytest.mark.parametrize("end", ["", ";", " -- all", "; -- all", "\n/* all */"])
def test_a_select_may_end_as_it_likes(end, tmp_path):
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    sql = f"SELECT * FROM '{tmp_path / 'a.csv'}'{end}"
    assert len(read_predictions(sql=sql, label="y", prob="p")) == ROWS


def test_the_first_row_is_the_first_whatever_the_order():
    connection = duckdb.connect()
    connection.execute("SET default_order = 'desc'")
    frame = TABLE.assign(p=PROB.copy())
    frame.loc[[5, 8], "p"] = 1.5
    relation = connection.from_df(frame)
    with pytest.raises(InputError, match="first row 5 "):
        cb.Predictions(relation, label="y", prob="p")


def test_what_is_left_of_two_columns_has_a_name_of_its_own():
    frame = TABLE.assign(g=0, h=0)
    frame.loc[:499, "g"] = np.arange(500) // 50 + 1
    frame.loc[:499, "h"] = np.arange(500) // 50 + 1
    found = groups_of(frame, by=["g", "h"])
    assert {name: one.rows for name, one in found.items()} == {
        "g = 0": 3500,
        "10 small groups of g": 500,
        "h = 0": 3500,
        "10 small groups of h": 500,
        "g = 0, h = 0": 3500,
        "g = other, h = other": 500,
    }


def test_models_of_one_name_are_refused():
    with pytest.raises(InputError, match="two models or more, each once"):
        cb.compare(LABEL, {1: PROB, "1": PROB})


def test_a_column_in_two_roles_is_refused(tmp_path):
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match="'y' is named for two roles"):
        read_predictions(tmp_path / "a.csv", label="y", prob="p", clusters="y")


def test_dictionary_columns_of_arrow(tmp_path):
    words = np.where(LABEL, "yes", "no")
    table = pa.table({"y": pa.array(words).dictionary_encode(), "p": PROB, "g": words})
    table = table.set_column(2, "g", pa.array(words).dictionary_encode())
    found = cb.audit(table, label="y", prob="p", pos_label="yes", by="g").groups
    assert sorted(one.rows for one in found) == sorted([LABEL.sum(), ROWS - LABEL.sum()])


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


@pytest.mark.parametrize(
    ("codes", "dictionary"),
    [([None, 1], [None, "b"]), ([2, 1], ["a", "b", "a"]), ([None, None], [None])],
    ids=["gap", "twice", "gaps alone"],
)
def test_a_dictionary_may_hold_a_value_twice(codes, dictionary):
    kind = pa.string() if set(dictionary) != {None} else pa.null()
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(dictionary, kind))
    found, numbers = codes_of(Column(pa.chunked_array([column]), "g"))
    expected = [None if code is None else dictionary[code] for code in codes]
    assert [found[number] for number in numbers] == expected
