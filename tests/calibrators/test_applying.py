"""A calibrator applied to files: right values, everything else as it was, whole or not at all."""

import csv
import datetime as dt
import decimal
import json
import os
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibrant as cb
from calibrant.calibrators import applying
from calibrant.calibrators.applying import apply_calibrator
from calibrant.calibrators.blocks import Blocks
from calibrant.data.files.copying import Original
from calibrant.errors import InputError
from calibrant.simulate import overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(3000)
FITTED = cb.IsotonicCalibrator("linear").fit(Y_PROB, Y_TRUE)
KINDS = {
    "step": cb.IsotonicCalibrator(),
    "linear": cb.IsotonicCalibrator("linear"),
    "strict": cb.IsotonicCalibrator("strict"),
    "histogram": cb.HistogramCalibrator(),
    "platt": cb.PlattCalibrator(),
    "beta": cb.BetaCalibrator(),
    "temperature": cb.TemperatureCalibrator(),
    "venn_abers": cb.VennAbersCalibrator(),
}
MOMENT = dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
ZONE = pa.timestamp("us", "UTC")
#: A column of every type that Parquet has, with a gap, as Arrow reads it back.
TYPES = {
    "bool": pa.array([True, None, False]),
    **{
        f"{sign}int{bits}": pa.array([2 ** (bits - 1) - 1, None, 0], f"{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "float": pa.array([0.1, None, -0.0], pa.float32()),
    "double": pa.array([0.1, None, 5e-324]),
    "decimal": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-3.00")]),
    "long decimal": pa.array(
        [decimal.Decimal("9" * 28 + ".12"), None, None], pa.decimal128(38, 10)
    ),
    "date": pa.array([MOMENT.date(), None, dt.date(1, 1, 1)]),
    "time": pa.array([MOMENT.time(), None, dt.time()]),
    "timestamp": pa.array([MOMENT, None, MOMENT]),
    "zoned": pa.array([MOMENT, None, MOMENT], ZONE),
    "nanoseconds": pa.array([1, None, -1], pa.timestamp("ns")),
    "text": pa.array(["", None, "NA\n\"'é\0"]),
    "blob": pa.array([b"", None, b"\x00\xff"]),
    "list": pa.array([[[1, None], []], None, []], pa.list_(pa.list_(pa.int32()))),
    "struct": pa.array([{"a": MOMENT, "b": ["x"]}, None, {"a": None, "b": None}]),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
}


def applied(file, output, fitted=FITTED, prob="p", **options):
    return apply_calibrator(fitted, file, Path(output), prob=prob, **options)


def cells(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def run(query):
    """Run a query on a connection of its own, which leaves nothing behind."""
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def small(tmp_path):
    """Leave a CSV file of three rows in the folder of the test."""
    path = tmp_path / "in.csv"
    path.write_text("id,p\n007,0.25\n008,\n009,0.75\n", encoding="utf-8")
    return path


@pytest.fixture(params=["expression", "lookup"])
def way(request, monkeypatch):
    """Apply calibrators of few blocks in the way of those of many, too."""
    if request.param == "lookup":
        monkeypatch.setattr(applying, "_MOST_PIECES", 0)
    return request.param


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("start", "end"), [("csv", "csv"), ("parquet", "parquet"), ("csv", "parquet")]
)
def test_values_are_those_of_python(kind, start, end, way, tmp_path):
    fitted = KINDS[kind].fit(Y_PROB, Y_TRUE)
    scores = np.concatenate([[0, 1, 5e-324, 1e-300, np.nextafter(1, 0)], Y_PROB])
    file, output = tmp_path / f"in.{start}", tmp_path / f"out.{end}"
    frame = pd.DataFrame({"p": scores})
    frame.to_csv(file, index=False) if start == "csv" else frame.to_parquet(file)
    found = applied(file, output, fitted)
    assert (found.rows, found.missing) == (len(scores), 0)
    if end == "csv":
        values = np.array([float(row[1]) for row in cells(output)[1:]])
    else:
        table = pq.read_table(output)
        assert table.schema.types == [pa.float64(), pa.float64()]
        assert table["p"].to_numpy().tolist() == scores.tolist()
        values = table["calibrated"].to_numpy()
    np.testing.assert_allclose(values, fitted.predict(scores), rtol=0, atol=1e-12)
    if way == "lookup" and kind not in {"platt", "beta", "temperature"}:
        assert (values == fitted.predict(scores)).all()


def of_blocks(count, interpolation="step"):
    """Return a calibrator of so many blocks."""
    ends = np.sort(np.random.default_rng(count).random(2 * count))
    value = np.arange(count) / count
    fitted = cb.IsotonicCalibrator(interpolation).fit([0.2, 0.7], [0, 1])
    weight = np.ones(count)
    fitted.function_ = Blocks(ends[::2], ends[1::2], weight, value, value, interpolation)
    fitted.rows_, fitted.events_ = float(count), float(value.sum())
    return fitted


@pytest.mark.parametrize("interpolation", ["step", "linear", "strict"])
def test_a_hundred_thousand_blocks_take_no_longer_to_read_than_rows(interpolation, tmp_path):
    fitted = of_blocks(100_000, interpolation)
    (tmp_path / "c.json").write_text(fitted.to_json(), encoding="utf-8")
    rng = np.random.default_rng(1)
    scores = np.concatenate([rng.random(200_000), fitted.function_.low, [np.nan, 0.0, 1.0]])
    rng.shuffle(scores)
    frame = pd.DataFrame({"i": np.arange(len(scores)), "p": scores})
    frame.to_parquet(tmp_path / "in.parquet", row_group_size=20_000)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            APPLY,
            *(tmp_path / f for f in ("c.json", "in.parquet", "o.parquet")),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    if sys.platform == "linux":
        before, after = map(float, done.stdout.split())
        assert after - before < 180, (before, after)  # an expression took gigabytes
    found = pd.read_parquet(tmp_path / "o.parquet")
    assert (found["i"] == np.arange(len(scores))).all()
    gap = np.isnan(scores)
    assert found["calibrated"].isna().to_numpy().tolist() == gap.tolist()
    assert (found["calibrated"][~gap] == fitted.predict(scores[~gap])).all()


def test_parquet_keeps_every_type_and_value(tmp_path):
    columns = {**TYPES, "p": pa.array([0.25, None, 0.75])}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet", store_schema=False)
    before = pq.read_table(tmp_path / "in.parquet")
    applied(tmp_path / "in.parquet", tmp_path / "out.parquet")
    after = pq.read_table(tmp_path / "out.parquet")
    assert after.column_names == [*before.column_names, "calibrated"]
    for name in before.column_names:
        ours, theirs = after.schema.field(name).type, before.schema.field(name).type
        assert re.sub("element|item", "", str(ours)) == re.sub("element|item", "", str(theirs))
        assert after[name].to_pylist() == before[name].to_pylist(), name
    low, high = FITTED.predict([0.25, 0.75])
    assert after["calibrated"].to_pylist() == pytest.approx([low, None, high], abs=1e-12)


@pytest.mark.skipif(duckdb.__version__ < "2", reason="earlier versions write no such columns")
def test_parquet_columns_that_are_never_null_stay_so(tmp_path):
    fields = [pa.field("p", pa.float64(), nullable=False), pa.field("x", pa.int8())]
    table = pa.table([[0.5], [None]], schema=pa.schema(fields))
    pq.write_table(table, tmp_path / "in.parquet", store_schema=False)
    applied(tmp_path / "in.parquet", tmp_path / "out.parquet")
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert [schema.field(name).nullable for name in ("p", "x")] == [False, True]


def test_categories_of_pandas_and_enums_of_duckdb_stay_their_words(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(["b", None, "a"]), "p": [0.1, 0.2, 0.3]})
    frame.to_parquet(tmp_path / "in.parquet")
    applied(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["c"].to_pylist() == ["b", None, "a"]
    query = "SELECT 0.5 AS p, 'x'::ENUM('x', 'y') AS e"
    run(f"COPY ({query}) TO '{tmp_path}/enum.parquet' (FORMAT parquet)")
    applied(tmp_path / "enum.parquet", tmp_path / "out.parquet", overwrite=True)
    assert pq.read_table(tmp_path / "out.parquet")["e"].to_pylist() == ["x"]


TEXTS = [
    "007",
    "1e5",
    "1.10",
    "2024-02-29",
    "True",
    "NA",
    "null",
    " spaced ",
    "l1\nl2\r\nl3",
    'a "quoted", b',
    "'tis",
    "'so'",
    "# no comment",
    "é 漢 \U0001f600",
    "\\n \\",
    "a;b\tc|d",
]


def test_csv_keeps_the_text_of_every_cell(tmp_path):
    rows = [["", "P", "word", "p", "p", 'a "b"; '], *[["1", t, t, "0.50", "x", t] for t in TEXTS]]
    with (tmp_path / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    # the first p, because names that are taken get another one, and P takes it
    assert applied(tmp_path / "in.csv", tmp_path / "out.csv", prob="p_1").rows == len(TEXTS)
    value = repr(float(FITTED.predict([0.5])[0]))
    expected = [[*rows[0], "calibrated"], *[[*row, value] for row in rows[1:]]]
    assert cells(tmp_path / "out.csv") == expected


def test_csv_tells_no_value_from_a_text_without_letters(tmp_path):
    (tmp_path / "in.csv").write_text('a,p\n,0.5\n"",0.5\n"x",\n', encoding="utf-8")
    applied(tmp_path / "in.csv", tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["a", "", '""', "x"]
    applied(tmp_path / "in.csv", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["a"].to_pylist() == [None, "", "x"]


@pytest.mark.parametrize("early", ["x", '"x"'])
@pytest.mark.parametrize("file", ["in.csv", "i?.csv"])
def test_a_quote_late_in_a_csv_file_is_a_quote(file, early, tmp_path):
    rows = f"1,{early},0.5\n" * 60_000
    late = '2,"y ""z"", w",0.5\n3,"plain",0.5\n'
    (tmp_path / "in.csv").write_text(f"id,t,p\n{rows}{late}", encoding="utf-8")
    assert applied(tmp_path / file, tmp_path / "out.csv").rows == 60_002
    assert [row[1] for row in cells(tmp_path / "out.csv")[-2:]] == ['y "z", w', "plain"]


def test_two_quotes_are_one_even_if_no_row_that_was_looked_at_has_them(tmp_path):
    (tmp_path / "in.csv").write_text('t,p\n"a",0.5\n', encoding="utf-8")
    assert "escape = '\"'" in Original(tmp_path / "in.csv").table


def test_what_looks_like_a_quote_is_none(tmp_path):
    (tmp_path / "in.csv").write_text("t,p\n'a',0.5\n'b',0.5\n", encoding="utf-8")
    applied(tmp_path / "in.csv", tmp_path / "out.csv")
    assert [row[0] for row in cells(tmp_path / "out.csv")] == ["t", "'a'", "'b'"]
    pipes = '2,pipe of 5" and,0.5\n3,5" of it,0.5\n'
    rows = "1,x,0.5\n" * 60_000
    for text in (pipes, pipes + rows, rows + pipes):
        (tmp_path / "in.csv").write_text(f"id,t,p\n{text}", encoding="utf-8")
        applied(tmp_path / "in.csv", tmp_path / "out.csv", overwrite=True)
        found = [row[1] for row in cells(tmp_path / "out.csv")[1:] if row[0] != "1"]
        assert found == ['pipe of 5" and', '5" of it']


@pytest.mark.parametrize(
    "text",
    [
        "id;p\n007;0.25\n008;\n",
        "id\tp\n007\t0.25\n008\t\n",
        "id,p\r\n007,0.25\r\n008,\r\n",
        "\ufeffid,p\n007,0.25\n008,",
        'id,p\n"007",0.25\n008,NA\n',
    ],
)
def test_other_kinds_of_csv(text, tmp_path):
    (tmp_path / "in.csv").write_text(text, encoding="utf-8", newline="")
    assert applied(tmp_path / "in.csv", tmp_path / "out.csv").missing == 1
    found = cells(tmp_path / "out.csv")
    assert found[0] == ["id", "p", "calibrated"]
    assert [row[0] for row in found[1:]] == ["007", "008"]


def test_one_column_and_no_rows(tmp_path):
    (tmp_path / "in.csv").write_text("p\n0.5\n\nNA\n", encoding="utf-8")
    found = applied(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (found.rows, found.missing) == (3, 2)
    assert [row[0] for row in cells(tmp_path / "out.csv")] == ["p", "0.5", "", "NA"]
    (tmp_path / "none.csv").write_text("id,p\n", encoding="utf-8")
    assert applied(tmp_path / "none.csv", tmp_path / "none.parquet").rows == 0
    assert pq.read_schema(tmp_path / "none.parquet").names == ["id", "p", "calibrated"]


def test_csv_to_parquet_guesses_nothing(tmp_path):
    (tmp_path / "in.csv").write_text("id,day,p\n007,2024-02-29,0.5\n1e5,NA,NA\n", encoding="utf-8")
    applied(tmp_path / "in.csv", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "double", "double"]
    assert table["id"].to_pylist() == ["007", "1e5"]
    assert table["day"].to_pylist() == ["2024-02-29", "NA"]
    assert table["p"].to_pylist() == [0.5, None]


def test_parquet_to_csv_is_what_duckdb_prints(tmp_path, monkeypatch):
    columns = {name: TYPES[name] for name in ("double", "zoned", "text", "list", "blob")}
    pq.write_table(pa.table({**columns, "p": [0.5, 0.5, 0.5]}), tmp_path / "in.parquet")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    applied(tmp_path / "in.parquet", tmp_path / "out.csv")
    raw = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert raw.splitlines()[1].startswith(
        '0.1,2024-02-29 23:59:59.123456+00,"","[[1, NULL], []]",""'
    )
    rows = cells(tmp_path / "out.csv")
    assert rows[2][:5] == ["", "", "", "", ""]
    assert float(rows[3][0]) == 5e-324
    assert rows[3][4] == "\\x00\\xFF"


def test_json_lines_keep_their_types_and_texts(tmp_path):
    row = {"day": "2024-02-29", "at": "2024-02-29T01:02:03Z", "n": 7, "o": {"a": [1]}, "p": 0.5}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    applied(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    [found] = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert found.pop("calibrated") == pytest.approx(FITTED.predict([0.5])[0], abs=1e-12)
    assert found == row


@pytest.mark.parametrize(
    ("ending", "name"), [("csv", "x"), ("csv", "P"), ("parquet", "x")], ids=str
)
def test_rows_keep_their_order(ending, name, way, tmp_path):
    rows = 700_000  # more than one thread reads at a time
    file, output = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    run(f"COPY (SELECT hash(i) % 1000 AS x, 0.5 AS p, i FROM range({rows}) t(i)) TO '{file}'")
    if name == "P":  # which DuckDB takes for p, so that the names are written another way
        file.write_text(file.read_text(encoding="utf-8").replace("x", "P", 1), encoding="utf-8")
    applied(file, output, prob="p" if name == "x" else "p_1")
    after = (pd.read_csv if ending == "csv" else pd.read_parquet)(output)
    assert list(after) == [name, "p", "i", "calibrated"]
    assert (after["i"] == np.arange(rows)).all()


def test_patterns_and_folders(tmp_path):
    parts = tmp_path / "day"
    for day in (1, 2):
        (parts / f"day={day}").mkdir(parents=True)
        pq.write_table(pa.table({"p": [day / 4]}), parts / f"day={day}" / "x.parquet")
        (tmp_path / f"{day}.csv").write_text(f"id,p\n00{day},0.5\n", encoding="utf-8")
    applied(parts, tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {
        "p": [0.25, 0.5],
        "day": [1, 2],
        "calibrated": pytest.approx(FITTED.predict([0.25, 0.5]).tolist(), abs=1e-12),
    }
    applied(f"{tmp_path}/?.csv", tmp_path / "out.csv")
    assert [row[0] for row in cells(tmp_path / "out.csv")] == ["id", "001", "002"]


AWKWARD = ["a b", "a.b", 'a"b', "a'b", "é", "*", "score", 'x" FROM t; DROP TABLE t; --', "select"]


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_are_names_and_never_code(name, ending, tmp_path):
    folder = tmp_path / "it's [a] *?"
    folder.mkdir()
    frame = pd.DataFrame({name: [0.25], "score_": ["kept"]})
    file, output = folder / f"in.{ending}", folder / f"out.{ending}"
    frame.to_csv(file, index=False) if ending == "csv" else frame.to_parquet(file)
    new = f"{name} (new)"
    applied(file, output, prob=name, name=new)
    after = pd.read_csv(output) if ending == "csv" else pd.read_parquet(output)
    assert list(after) == [name, "score_", new]
    assert after.iloc[0].tolist() == [0.25, "kept", pytest.approx(FITTED.predict([0.25])[0])]


def test_a_column_may_be_called_what_the_scores_are_called_inside(tmp_path):
    pq.write_table(
        pa.table({"score": [0.9], "Score_": ["x"], "p": [0.25]}), tmp_path / "in.parquet"
    )
    applied(tmp_path / "in.parquet", tmp_path / "out.parquet", name="value")
    [row] = pq.read_table(tmp_path / "out.parquet").to_pylist()
    expected = pytest.approx(FITTED.predict([0.25])[0], abs=1e-12)
    assert row == {"score": 0.9, "Score_": "x", "p": 0.25, "value": expected}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.usefixtures("way")
def test_missing_scores_stay_and_are_counted(kind, tmp_path):
    scores = [0.25, None, float("nan"), 0.75]
    if kind == "csv":
        text = "p,i\n0.25,1\nNA,2\nnan,3\n0.75,4\n"
        (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    else:
        pq.write_table(pa.table({"p": scores}), tmp_path / "in.parquet")
    found = applied(tmp_path / f"in.{kind}", tmp_path / "out.parquet")
    assert repr(found) == f"Written to {tmp_path}/out.parquet: 4 rows, 2 of them without a score."
    after = pq.read_table(tmp_path / "out.parquet")["calibrated"].to_pylist()
    low, high = FITTED.predict([0.25, 0.75])
    assert after == pytest.approx([low, None, None, high], abs=1e-12)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("high", "column 'p' must hold numbers, but row 2 (the first row is 0) holds 'high'"),
        ("0,5", "column 'p' must hold numbers, but row 2 (the first row is 0) holds '0,5'"),
        ("1.5", "column 'p' must lie between 0 and 1, but 1 row does not, first row 2 "),
        ("-1e-9", "first row 2 (the first row is 0) with -1e-09. If this is rounding noise"),
        ("inf", "first row 2 (the first row is 0) with inf"),
    ],
)
def test_scores_that_are_none_are_named_and_nothing_is_written(kind, cell, words, tmp_path):
    file = tmp_path / f"in.{kind}"
    values = ["0.5", None, cell, "0.5"]
    frame = pd.DataFrame({"p": pd.Series(values, dtype=object)})
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    output = tmp_path / "out.csv"
    output.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(words)):
        applied(file, output, overwrite=True)
    assert output.read_text(encoding="utf-8") == "mine"
    assert names_in(tmp_path) == [file.name, "out.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prob": "q"}, "There is no column 'q'"),
        ({"prob": "P"}, "Did you mean 'p'?"),
        ({"name": "id"}, "There is a column 'id' already"),
        ({"name": "ID"}, "There is a column 'id' already, so none can be added as 'ID'"),
        ({"name": ""}, "name must be the name of a column, but it is ''"),
        ({"name": "a\0"}, "name must be the name of a column"),
    ],
)
def test_names_that_are_refused(options, words, small, tmp_path):
    with pytest.raises(InputError, match=re.escape(words)):
        applied(small, tmp_path / "out.csv", **options)
    assert names_in(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"x": pa.array([1], pa.decimal256(50, 1))}, "'x' has decimals of 50 digits"),
        ({"a": [1], "A": [2]}, "would have to call some of them 'A_1'"),
        ({"": [1]}, "Columns must have names"),
    ],
)
def test_parquet_that_would_change_is_refused(column, words, tmp_path):
    pq.write_table(pa.table({"p": [0.5], **column}), tmp_path / "in.parquet")
    with pytest.raises(InputError, match=re.escape(words)):
        applied(tmp_path / "in.parquet", tmp_path / "out.parquet")


def test_nanoseconds_with_a_zone_are_kept_or_refused(tmp_path, monkeypatch):
    moments = pa.array([1_234_567_891], pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"t": moments, "p": [0.5]}), tmp_path / "in.parquet")
    if duckdb.__version__ >= "2":
        applied(tmp_path / "in.parquet", tmp_path / "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet")["t"].combine_chunks() == moments
        kinds = {"t": "TIMESTAMP WITH TIME ZONE", "p": "DOUBLE"}  # as earlier versions say
        monkeypatch.setattr(Original, "_kinds", lambda _: kinds)
    with pytest.raises(InputError, match="'t' has nanoseconds next to a time zone"):
        applied(tmp_path / "in.parquet", tmp_path / "other.parquet")


def test_output_may_be_the_input_also_through_a_link(small, tmp_path):
    small.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(small)
    with pytest.raises(InputError, match="Add overwrite=True"):
        applied(small, link)
    applied(small, link, overwrite=True)
    assert link.is_symlink()
    assert stat.S_IMODE(small.stat().st_mode) == 0o640
    assert cells(small)[0] == ["id", "p", "calibrated"]
    assert [row[0] for row in cells(small)[1:]] == ["007", "008", "009"]
    applied(small, small, name="again", overwrite=True)
    assert cells(small)[0] == ["id", "p", "calibrated", "again"]
    assert names_in(tmp_path) == ["in.csv", "link.csv"]


def test_one_of_several_inputs_is_not_replaced_by_all(tmp_path):
    for name in ("a", "b"):
        pq.write_table(pa.table({"p": [0.5]}), tmp_path / f"{name}.parquet")
    for file in (tmp_path, f"{tmp_path}/*.parquet"):
        with pytest.raises(InputError, match="is one of the files that are read"):
            applied(file, tmp_path / "a.parquet", overwrite=True)
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 1


def test_a_new_file_has_the_usual_mode(small, tmp_path):
    before = os.umask(0o027)
    try:
        applied(small, tmp_path / "out.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o640


def test_a_file_that_appears_meanwhile_is_not_replaced(small, tmp_path, monkeypatch):
    output, write = tmp_path / "out.csv", Original.write

    def slow(*arguments):
        output.write_text("theirs", encoding="utf-8")
        return write(*arguments)

    monkeypatch.setattr(Original, "write", slow)
    with pytest.raises(InputError, match="There is a file"):
        applied(small, output)
    assert output.read_text(encoding="utf-8") == "theirs"
    assert names_in(tmp_path) == ["in.csv", "out.csv"]


def test_a_file_that_changes_meanwhile_is_refused(small, tmp_path, monkeypatch):
    write = Original.write

    def longer(*arguments):
        with small.open("a", encoding="utf-8") as file:
            file.write("010,0.5\n")
        return write(*arguments)

    monkeypatch.setattr(Original, "write", longer)
    with pytest.raises(InputError, match="4 rows where there were 3 before"):
        applied(small, tmp_path / "out.csv")
    assert names_in(tmp_path) == ["in.csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder that takes no files there")
def test_a_folder_that_takes_no_files(small):
    with pytest.raises(InputError, match=r"'/proc/out.csv' could not be written \(.*\), and every"):
        applied(small, "/proc/out.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_loses_nothing(ending, tmp_path):
    """A limit on the size of files fails as a full disk does: in the middle of writing."""
    file, output = tmp_path / "in.csv", tmp_path / f"out.{ending}"
    rng = np.random.default_rng(0)
    pd.DataFrame({"p": rng.random(20_000), "q": rng.random(20_000)}).to_csv(file, index=False)
    output.write_text("mine", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(InputError, match=rf"out.{ending}' could not be written \(File too"):
            applied(file, output, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert output.read_text(encoding="utf-8") == "mine"
    assert names_in(tmp_path) == sorted(["in.csv", f"out.{ending}"])


def test_a_file_that_is_broken_further_on_is_called_unreadable(tmp_path):
    table = pa.table({"p": [0.5] * 1000, "x": np.arange(1000)})
    pq.write_table(table, tmp_path / "in.parquet", use_dictionary=False, compression="gzip")
    chunk = pq.read_metadata(tmp_path / "in.parquet").row_group(0).column(1)
    raw = bytearray((tmp_path / "in.parquet").read_bytes())
    raw[chunk.data_page_offset : chunk.data_page_offset + chunk.total_compressed_size] = bytes(
        chunk.total_compressed_size
    )
    (tmp_path / "in.parquet").write_bytes(raw)
    with pytest.raises(InputError, match=r"in\.parquet' could not be read"):
        applied(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert names_in(tmp_path) == ["in.parquet"]


def test_rows_of_many_kilobytes_go_a_few_at_a_time(tmp_path, monkeypatch):
    rows = 40_000
    query = f"SELECT 0.5 AS p, repeat(md5(i::VARCHAR), 300) AS x FROM range({rows}) t(i)"
    copy = f"COPY ({query}) TO '{tmp_path}/in.parquet' (FORMAT parquet, ROW_GROUP_SIZE 4096)"
    run(copy)
    monkeypatch.setitem(Original.settings, "memory_limit", "250MB")
    assert applied(tmp_path / "in.parquet", tmp_path / "out.parquet").rows == rows
    assert pq.read_metadata(tmp_path / "out.parquet").row_group(0).num_rows == 2048
    same = f"'{tmp_path}/in.parquet' i POSITIONAL JOIN '{tmp_path}/out.parquet' o"
    assert run(f"SELECT bool_and(i.x = o.x) FROM {same}") == [(True,)]
    monkeypatch.setitem(Original.settings, "memory_limit", "50MB")
    with pytest.raises(InputError, match="has rows so long"):
        applied(tmp_path / "in.parquet", tmp_path / "out2.parquet")
    assert names_in(tmp_path) == ["in.parquet", "out.parquet"]


WIDE, ROWS = 8, 4_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write 256 MB that cannot be compressed."""
    folder = tmp_path_factory.mktemp("large")
    columns = ", ".join(f"random() AS x{k}" for k in range(1, WIDE))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT random() AS p, {columns} FROM range({ROWS})) "
            f"TO '{folder}/in.parquet' (FORMAT parquet, COMPRESSION uncompressed)"
        )
    (folder / "c.json").write_text(FITTED.to_json(), encoding="utf-8")
    return folder


#: Run in a process of its own, whose peak is that of the work.
APPLY = """
import re, sys
from pathlib import Path
from calibrant.calibrators.applying import apply_calibrator
from calibrant import Calibrator
from calibrant.data.files.copying import Original

def peak():
    # not what getrusage says, which a process inherits from the one that started it
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 2**10

Original.settings["memory_limit"] = "64MB"
import duckdb
fitted = Calibrator.load(Path(sys.argv[1]))
before = peak()
apply_calibrator(fitted, sys.argv[2], Path(sys.argv[3]), prob="p")
print(before, peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted differently elsewhere")
def test_a_file_larger_than_its_memory(large, tmp_path):
    files = [large / "c.json", large / "in.parquet", tmp_path / "out.parquet"]
    done = subprocess.run(
        [sys.executable, "-c", APPLY, *map(str, files)], capture_output=True, text=True, check=True
    )
    before, after = map(float, done.stdout.split())
    size = files[1].stat().st_size / 2**20
    assert size > 240
    assert after - before < 180, (before, after)
    assert pq.read_metadata(files[2]).num_rows == ROWS


@pytest.mark.parametrize("blocks", [0, 5000])
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_stopped_in_the_middle(sent, code, blocks, large, tmp_path):
    output = tmp_path / "out.csv"
    output.write_text("mine", encoding="utf-8")
    calibrator = large / f"{blocks}.json"
    fitted = of_blocks(blocks) if blocks else FITTED
    calibrator.write_text(fitted.to_json(), encoding="utf-8")
    command = ["apply", calibrator, large / "in.parquet", "--prob", "p", "-o", output]
    started = subprocess.Popen(
        [sys.executable, "-m", "calibrant", *map(str, command), "--overwrite"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 60
    while not any(part.stat().st_size > 10**6 for part in tmp_path.glob(".calibrant.*")):
        assert started.poll() is None, started.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    started.send_signal(sent)
    printed, error = started.communicate(timeout=60)
    assert (started.returncode, printed) == (code, "")
    assert "Traceback" not in error
    assert output.read_text(encoding="utf-8") == "mine"
    left = [name for name in names_in(tmp_path) if name != "out.csv"]
    assert all(name.startswith(".calibrant.") for name in left)
    assert len(left) == (1 if sent == signal.SIGKILL else 0)


def test_json_is_looked_at_as_a_whole(tmp_path):
    """Left to itself DuckDB chooses types by the first 20,480 rows, and 0.4 becomes 0."""
    rows = ['{"p": 1, "a": null}'] * 20_480 + ['{"p": 0.4, "a": "007"}']
    (tmp_path / "in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    assert applied(tmp_path / "in.jsonl", tmp_path / "out.csv").missing == 0
    last = cells(tmp_path / "out.csv")[-1]
    assert last[:2] == ["0.4", "007"]
    assert float(last[2]) == pytest.approx(FITTED.predict([0.4])[0], abs=1e-12)
    (tmp_path / "in.jsonl").write_text("\n".join([*rows, '{"p": 1.4}']), encoding="utf-8")
    with pytest.raises(InputError, match=r"1\.4"):
        applied(tmp_path / "in.jsonl", tmp_path / "other.csv")


def test_two_tables_after_one_another_are_no_table(tmp_path):
    """The rows of the first would not be among those written."""
    text = "id,p\n1,0.1\n2,0.2\nid,p,z\n1,0.5,a\n1,0.4,b\n"
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        applied(tmp_path / "in.csv", tmp_path / "in.csv", overwrite=True)
    assert (tmp_path / "in.csv").read_text(encoding="utf-8") == text


def test_a_backslash_is_a_letter(tmp_path):
    text = 'id,p,z\n1,0.5,"C:\\new\\table, x"\n2,0.4,"a \\\\ b"\n'
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    applied(tmp_path / "in.csv", tmp_path / "out.csv")
    assert [row[2] for row in cells(tmp_path / "out.csv")[1:]] == ["C:\\new\\table, x", "a \\\\ b"]
    (tmp_path / "in.csv").write_text(f'{text}3,0.4,"a \\"b\\" c"\n', encoding="utf-8")
    with pytest.raises(InputError):
        applied(tmp_path / "in.csv", tmp_path / "out.csv", overwrite=True)


def test_line_breaks_in_cells_wherever_they_come(tmp_path):
    rng = random.Random(3)
    inside = [
        rng.choice(["a", "x" + "\n99,0.5,b" * rng.randint(30, 60), ""]) for _ in range(20_000)
    ]
    with (tmp_path / "in.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "p", "z"])
        writer.writerows([f"{i:07d}", 0.5, text] for i, text in enumerate(inside))
    assert applied(tmp_path / "in.csv", tmp_path / "out.csv").rows == 20_000
    assert [row[2] for row in cells(tmp_path / "out.csv")[1:]] == inside


def test_many_columns(tmp_path):
    names = [f"c{i}" for i in range(2000)]
    rows = [",".join([*names, "p"]), *[",".join(["1"] * 2000 + ["0.5"])] * 20]
    (tmp_path / "in.csv").write_text("\n".join(rows), encoding="utf-8")
    assert applied(tmp_path / "in.csv", tmp_path / "out.csv").rows == 20


@pytest.mark.parametrize("second", ["0.3,5\n0.4,1\n", "p,a,b\n0.4,1,2\n", ""])
def test_csv_files_of_a_pattern_share_their_header(second, tmp_path):
    (tmp_path / "a.csv").write_text("p,a\n0.5,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text(second, encoding="utf-8")
    with pytest.raises(InputError, match="begin with different lines"):
        applied(f"{tmp_path}/?.csv", tmp_path / "out.parquet")


def test_parquet_files_that_differ_are_not_made_one(tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    pq.write_table(pa.table({"p": [0.5], "n": [9007199254740993]}), folder / "a.parquet")
    pq.write_table(pa.table({"p": [0.5], "n": [0.5]}), folder / "b.parquet")
    with pytest.raises(InputError, match="Column 'n' is not of one type"):
        applied(folder, tmp_path / "out.parquet")
    pq.write_table(pa.table({"p": [0.5], "N": [1]}), folder / "b.parquet")
    with pytest.raises(InputError, match="not of one name"):
        applied(folder, tmp_path / "out.parquet")
    (folder / "b.parquet").unlink()
    (folder / "day=1").mkdir()
    pq.write_table(pa.table({"p": [0.5], "n": [1], "day": ["own"]}), folder / "day=1" / "c.parquet")
    with pytest.raises(InputError, match="folders named day="):
        applied(folder, tmp_path / "out.parquet")


def test_an_output_that_would_be_read_the_next_time_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("p\n0.5\n", encoding="utf-8")
    with pytest.raises(InputError, match="one of the files that are read"):
        applied(f"{tmp_path}/*.csv", tmp_path / "new.csv")
    folder = tmp_path / "f"
    folder.mkdir()
    pq.write_table(pa.table({"p": [0.5]}), folder / "a.parquet")
    with pytest.raises(InputError, match="one of the files that are read"):
        applied(folder, folder / "new.parquet")
    assert sorted(path.name for path in folder.iterdir()) == ["a.parquet"]
