"""Files copied with a column more: every type, text and row stays what it was."""

import csv
import datetime as dt
import decimal
import json
import random
import re

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrant.data.files.copying import Original
from calibrant.errors import InputError
from reference.applying import FITTED, applied, cells, names_in, run

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
    with pytest.raises(InputError, match="'t' has nanoseconds with a time zone"):
        applied(tmp_path / "in.parquet", tmp_path / "other.parquet")


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
