"""Files and SELECTs, short and long: what is in memory and what stays in DuckDB say the same."""

import csv
import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.auditing.compare import comparison_of
from calibrant.data.files import reading as files
from calibrant.data.files.reading import read_models, read_predictions
from calibrant.errors import InputError
from reference.engines import same

RNG = np.random.default_rng(2)
ROWS = 3000


def table(rows=ROWS):
    prob = RNG.beta(0.7, 1.4, rows)
    label = (RNG.random(rows) < prob**1.1).astype(int)
    return pd.DataFrame(
        {
            "y": label,
            "p": prob,
            "q": prob**1.5,
            "w": RNG.integers(0, 3, rows),
            "word": np.where(label, "yes", "no"),
            "truth": np.where(label, "True", "False"),
            "region": RNG.choice(["north", "south"], rows),
            "id": RNG.integers(0, 400, rows),
        }
    )


TABLE = table()
WRITERS = {
    "csv": lambda t, path: t.to_csv(path, index=False),
    "csv.gz": lambda t, path: t.to_csv(path, index=False),
    "parquet": lambda t, path: t.to_parquet(path, index=False),
    "jsonl": lambda t, path: t.to_json(path, orient="records", lines=True, double_precision=15),
}


@pytest.fixture(params=["short", "long"])
def length(request, monkeypatch):
    """Read into memory, or leave the table where it is."""
    if request.param == "long":
        monkeypatch.setattr(files, "SHORT", 100)
    return request.param


def written(frame, folder, ending="csv"):
    path = folder / f"table.{ending}"
    WRITERS[ending](frame, path)
    return path


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_audit(length, ending, weight, tmp_path):
    path = written(TABLE, tmp_path, ending)
    data = read_predictions(path, label="y", prob="p", weight=weight, by=["region"])
    found = cb.audit(data, by=["region"]).to_dict()
    frame = TABLE if ending != "jsonl" else pd.read_json(path, lines=True, precise_float=True)
    options = {"label": "y", "prob": "p", "weight": weight}
    expected = cb.audit(frame, by=["region"], **options).to_dict()
    provenance = found.pop("provenance")
    del expected["provenance"]
    same(found, expected)
    assert provenance["file"] == str(path)
    assert len(provenance["file_sha256"]) == 64


@pytest.mark.parametrize(
    ("label", "pos_label"), [("word", "yes"), ("truth", None), ("truth", "true"), ("y", "1")]
)
def test_every_kind_of_label(length, label, pos_label, tmp_path):
    for ending in ("csv", "parquet"):
        path = written(TABLE, tmp_path, ending)
        data = read_predictions(path, label=label, prob="p", pos_label=pos_label)
        expected = cb.calibration_error(TABLE["y"], TABLE["p"])
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


def test_rows_with_missing_values_can_be_left_out(length, tmp_path):
    frame = TABLE.astype({"y": object})
    frame.loc[[3, 50], "p"] = np.nan
    frame.loc[[7, 50], "word"] = None
    for ending in ("csv", "parquet"):
        path = written(frame, tmp_path, ending)
        options = {"label": "word", "prob": "p", "pos_label": "yes"}
        data = read_predictions(path, **options, drop_missing=True)
        assert (len(data), data.origin.dropped) == (ROWS - 3, 3)
        kept = frame.drop(index=[3, 7, 50])
        expected = cb.calibration_error(kept["word"] == "yes", kept["p"])
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)
        with pytest.raises(InputError, match="'word' has missing values in 2 rows, first at row 7"):
            read_predictions(path, **options)


def test_clusters_stay_with_their_rows(length, tmp_path):
    path = written(TABLE, tmp_path)
    data = read_predictions(path, label="y", prob="p", clusters="id")
    options = {"estimand": "cluster", "method": "certified"}
    expected = cb.certify(TABLE["y"], TABLE["p"], clusters=TABLE["id"], **options)
    assert cb.certify(data, **options).upper == pytest.approx(expected.upper, abs=1e-12)


def test_models_of_a_file(length, tmp_path):
    path = written(TABLE, tmp_path, "parquet")
    found = comparison_of(read_models(path, label="y", probs=["p", "q"], weight="w"), 0.95)
    expected = cb.compare(TABLE, label="y", probs=["p", "q"], weight="w")
    same(found.to_dict(), expected.to_dict())


def test_patterns_folders_and_parts(length, tmp_path):
    for region, part in TABLE.groupby("region"):
        folder = tmp_path / "parts" / f"region={region}"
        folder.mkdir(parents=True)
        part.drop(columns="region").to_parquet(folder / "a.parquet", index=False)
    expected = cb.audit(TABLE, label="y", prob="p", by="region")
    for file in (tmp_path / "parts", tmp_path / "parts" / "*" / "*.parquet"):
        data = read_predictions(file, label="y", prob="p", by=["region"])
        found = cb.audit(data, by="region")
        assert found.calibration_error == pytest.approx(expected.calibration_error, abs=1e-12)
        assert {one.name for one in found.groups} == {"region = north", "region = south"}
        assert data.origin.sha256 is None


def test_a_name_with_marks_of_a_pattern_is_a_name(length, tmp_path):
    path = tmp_path / "a[1] it's *.csv"
    TABLE.to_csv(path, index=False)
    (tmp_path / "a1 it's x.csv").write_text("y,p\n0,9\n")
    data = read_predictions(path, label="y", prob="p")
    assert len(data) == ROWS


def test_any_select(length, tmp_path):
    path = written(TABLE, tmp_path)
    sql = f"SELECT y AS \"the 'label'\", p / 2 AS half FROM '{path}' WHERE region = 'north';"
    data = read_predictions(sql=sql, label="the 'label'", prob="half")
    north = TABLE[TABLE["region"] == "north"]
    expected = cb.calibration_error(north["y"], north["p"] / 2)
    assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)
    assert data.origin.file is None


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE t",
        "SELECT 1 AS y, 0.5 AS p; CREATE TABLE t AS SELECT 1",
        "COPY (SELECT 1) TO 'here.csv'",
        "SELECT y, p FROM nowhere",
        "SELECT 1 AS y, 0.5 AS p) ; (SELECT 1",
    ],
)
def test_what_is_no_select_does_nothing(sql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"(the result of the query could not be read|query must be one SELECT)"
    ):
        read_predictions(sql=sql, label="y", prob="p")
    assert list(tmp_path.iterdir()) == []


def test_a_file_or_a_select_but_not_both():
    for options in ({}, {"file": "a.csv", "sql": "SELECT 1"}):
        with pytest.raises(InputError, match="Name a file, or give sql=, a SELECT"):
            read_predictions(label="y", prob="p", **options)


def fault(frame, folder, ending="csv", **options):
    with pytest.raises(InputError) as caught:
        read_predictions(written(frame, folder, ending), **{"label": "y", "prob": "p", **options})
    return str(caught.value)


FAULTS = {
    "column": ({}, {"prob": "P"}, "There is no column 'P'"),
    "word": ({"p": "x"}, {}, "column 'p' must hold numbers, but row 5 (0-based)"),
    "range": ({"p": 1.5}, {}, "but 1 row does not, first at row 5 (0-based) with 1.5"),
    "label": ({"y": 2}, {}, "column 'y' must hold two label values"),
    "soft": ({"y": 0.5}, {}, "must hold 0/1 labels, but row 5 (0-based) holds 0.5"),
    "weight": ({"w": -1}, {"weight": "w"}, "column 'w' must not be negative"),
    "event": ({}, {"label": "word", "pos_label": "Yes"}, "Did you mean 'yes'?"),
    "words": ({}, {"label": "word"}, "are: pos_label='no' or pos_label='yes'"),
    "number": ({}, {"pos_label": "x"}, "pos_label='x' is not among the labels of column 'y'"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_bad_input_gets_the_same_words_short_and_long(length, kind, tmp_path):
    changes, options, words = FAULTS[kind]
    frame = TABLE.astype({"p": object, "y": object})
    for column, value in changes.items():
        frame.loc[5, column] = value
    assert words in fault(frame, tmp_path, **options)


def test_an_empty_table_and_one_of_missing_values(length, tmp_path):
    assert "is empty: at least one row" in fault(TABLE[:0], tmp_path)
    gone = TABLE.assign(p=np.nan)
    assert "All 3,000 rows" in fault(gone, tmp_path, "parquet", drop_missing=True)


NAMES = ['a"b', "x'); DROP TABLE t; --", "select", "größe", "a b", "*", "label", "word"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_never_code(length, name, tmp_path):
    frame = TABLE[["y", "p", "region"]].rename(columns={"p": name, "y": f"{name}y"})
    path = written(frame, tmp_path, "parquet")
    data = read_predictions(path, label=f"{name}y", prob=name, by=["region"])
    expected = cb.calibration_error(TABLE["y"], TABLE["p"])
    assert cb.audit(data, by="region").calibration_error == pytest.approx(expected, abs=1e-12)


def test_nothing_is_installed_or_loaded(tmp_path):
    from calibrant.data.files.duckdb_tables import Duck

    duck = Duck(written(TABLE, tmp_path))
    settings = duck.connection.execute(
        "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%_known_extensions'"
    ).fetchall()
    assert {value for _, value in settings} == {"false"}
    with pytest.raises(duckdb.Error):
        duck.connection.execute("SELECT * FROM read_xlsx('a.xlsx')")


def test_numbers_that_are_quoted_are_numbers(length, tmp_path):
    frame = TABLE.assign(p=[repr(p) for p in TABLE["p"].tolist()])
    data = read_predictions(written(frame, tmp_path, "parquet"), label="y", prob="p")
    expected = cb.calibration_error(TABLE["y"], TABLE["p"])
    assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)
    json.dumps(cb.audit(data).to_dict(), allow_nan=False)


def test_types_are_chosen_by_all_rows_of_a_json_file(tmp_path, length):
    """Left to itself DuckDB looks at 20,480 of them, and 0.4 after many a 1 becomes 0."""
    rows = ['{"y": 1, "p": 1}'] * 20_480 + ['{"y": 1, "p": 0.4}'] * 10_000
    rows += ['{"y": 0, "p": 0}'] * 1000
    (tmp_path / "in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    found = read_predictions(tmp_path / "in.jsonl", label="y", prob="p")
    assert cb.calibration_error(found) == pytest.approx(6000 / 31_480, abs=1e-12)


def test_no_row_of_a_csv_file_is_passed_over(tmp_path, length):
    """Left to itself DuckDB starts where rows begin to have one length."""
    text = "y,p\n1,0.1\n0,0.2\ny,p,z\n1,0.5,a\n0,0.4,b\n"
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_predictions(tmp_path / "in.csv", label="y", prob="p")


def test_a_column_in_two_roles_is_refused(tmp_path):
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match="'y' is named for two roles"):
        read_predictions(tmp_path / "a.csv", label="y", prob="p", clusters="y")


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("pos_label", [None, "1"])
def test_the_texts_0_and_1_are_labels(ending, pos_label, length, tmp_path):
    path = tmp_path / f"table.{ending}"
    texts = TABLE.assign(y=TABLE["y"].astype(str))
    if ending == "csv":
        texts.to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    else:
        WRITERS[ending](texts, path)
    found = read_predictions(path, label="y", prob="p", pos_label=pos_label)
    expected = cb.calibration_error(TABLE["y"], TABLE["p"])
    assert cb.calibration_error(found) == pytest.approx(expected, abs=1e-12)
    both = comparison_of(read_models(path, label="y", probs=["p", "q"], pos_label=pos_label), 0.95)
    assert both.models[0].calibration_error == pytest.approx(expected, abs=1e-12)
