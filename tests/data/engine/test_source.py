"""One table in every engine gives one answer, and the same words when something is wrong."""

import math
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.errors import InputError
from reference.engines import ENGINES, LAZY, UNORDERED, same, without_row

RNG = np.random.default_rng(0)
ROWS = 30_000


def sample(rows=ROWS):
    prob = RNG.beta(0.5, 1.5, rows)
    prob[:200] = np.repeat([0.25, 0.5], 100)  # ties
    label = (RNG.random(rows) < prob**1.2).astype(int)
    weight = RNG.integers(0, 4, rows)
    group = RNG.choice(["a", "b", 'c"; DROP TABLE t; --'], rows)
    return pd.DataFrame(
        {"y": label, "p": prob, "w": weight, "g": group, "id": RNG.integers(0, 5000, rows)}
    )


TABLE = sample()


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_one_audit_from_every_engine(wrap, weight, tmp_path):
    expected = cb.audit(
        TABLE["y"], TABLE["p"], sample_weight=None if weight is None else TABLE["w"]
    )
    found = cb.audit(wrap(TABLE, tmp_path), label="y", prob="p", weight=weight)
    same(found.to_dict(), expected.to_dict())


FUNCTIONS = {
    "calibration_error": cb.calibration_error,
    "log_loss_parts": cb.log_loss_parts,
    "roc_auc": cb.roc_auc,
    "slope": cb.calibration_slope,
    "slope, clipped": lambda d: cb.calibration_slope(d, clip=0.1),
    "intercept": cb.calibration_intercept,
    "intercept, clipped": lambda d: cb.calibration_intercept(d, clip=0.1),
    "ratio": cb.observed_expected_ratio,
    "ece": cb.expected_calibration_error,
    "certify": lambda d: cb.certify(d, sided="both"),
    "betting": lambda d: cb.certify(d, method="betting"),
    "test": lambda d: cb.calibration_test(d, method="exact", draws=99),
    "far tail": lambda d: math.log(cb.calibration_test(d, method="asymptotic").p_value),
    "isotonic": lambda d: cb.IsotonicCalibrator().fit(d).predict(np.linspace(0, 1, 99)),
    "platt": lambda d: cb.PlattCalibrator().fit(d).predict(np.linspace(0, 1, 99)),
    "venn_abers": lambda d: cb.VennAbersCalibrator().fit(d).predict(np.linspace(0, 1, 99)),
    "cost": lambda d: cb.expected_cost(d, false_positive=1, false_negative=3).cost,
    "cost_curve": cb.cost_curve,
    "band": lambda d: cb.confidence_band(d).lower,
    "tally": lambda d: d.tally(12).to_json(),
}


def plain(value):
    return value.to_dict() if hasattr(value, "to_dict") else value


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("wrap", LAZY.values(), ids=LAZY)
def test_every_function_takes_a_lazy_table(wrap, name, tmp_path):
    few = TABLE[:3000]
    expected = plain(FUNCTIONS[name](cb.Predictions(few["y"], few["p"])))
    found = plain(FUNCTIONS[name](cb.Predictions(wrap(few, tmp_path), label="y", prob="p")))
    if isinstance(expected, dict):
        same(found, expected)
    elif isinstance(expected, str):
        assert len(found) == pytest.approx(len(expected), rel=0.01)
    else:
        assert np.asarray(found) == pytest.approx(np.asarray(expected), abs=1e-12)


@pytest.mark.parametrize("kind", ["spread", "crowded", "tiny", "ties", "ends", "neighbours"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(
    "engine",  # the others are slow, and take the same queries
    [name for name in ("polars lazy", "duckdb table", "postgresql") if name in LAZY],
)
def test_cells_that_must_be_split_often(engine, soft, kind, monkeypatch, tmp_path):
    """With no room to open cells at once, they are split in the engine until they are small."""
    from calibrant.data.engine import source as frames

    monkeypatch.setattr(frames, "_FEW_ROWS", 10)
    monkeypatch.setattr(frames, "_FEW_SHARE", 60)
    monkeypatch.setattr(frames, "_FINER_BITS", 8)
    rng = np.random.default_rng(3)
    prob = {
        "spread": rng.random(500),
        "crowded": rng.beta(0.2, 60, 500),
        "tiny": 10.0 ** rng.uniform(-300, -1, 500),
        "ties": rng.choice([0.1, 0.3, 0.7], 500),
        "ends": rng.choice([0.0, 1.0, 0.5, np.nextafter(1, 0)], 500),
        "neighbours": 0.5 + rng.integers(-3, 4, 500) * 2.0**-53,
    }[kind]
    label = rng.random(500) if soft else (rng.random(500) < 0.3).astype(int)
    table = LAZY[engine](pd.DataFrame({"y": label, "p": prob}), tmp_path)
    found, expected = cb.Predictions(table, label="y", prob="p"), cb.Predictions(label, prob)
    assert cb.calibration_error(found) == pytest.approx(cb.calibration_error(expected), abs=1e-12)
    same(plain(cb.worst_interval(found)), plain(cb.worst_interval(expected)))
    if kind != "neighbours":  # where the slope of the log-odds is all rounding
        same(cb.audit(found).to_dict(), cb.audit(expected).to_dict())


@pytest.mark.filterwarnings("ignore:.*(single value|not counted):UserWarning")
@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 0.5, 1e-9, 1 - 1e-9]) | st.floats(0, 1),
            st.booleans(),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=40,
    ).filter(lambda rows: any(row[2] for row in rows)),
    weighted=st.booleans(),
    engine=st.sampled_from(["polars lazy", "duckdb table", "pandas", "pyarrow"]),
)
def test_frames_equal_arrays(rows, weighted, engine):
    prob, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    table = ENGINES[engine](pd.DataFrame({"y": label, "p": prob, "w": weight}), None)
    found = cb.Predictions(table, label="y", prob="p", weight="w" if weighted else None)
    expected = cb.Predictions(label, prob, sample_weight=weight if weighted else None)
    assert found.warnings == tuple(
        one.replace("sample_weight", "column 'w'").replace("y_true", "column 'y'")
        for one in expected.warnings
    )
    same(plain(cb.worst_interval(found)), plain(cb.worst_interval(expected)))
    same(cb.audit(found).to_dict()["measures"], cb.audit(expected).to_dict()["measures"])


FEW = TABLE[:1500]
LABELS = {
    "words": (np.where(FEW["y"], "yes", "no"), "yes"),
    "categories": (pd.Categorical(np.where(FEW["y"], "yes", "no")), "yes"),
    "truth values": (FEW["y"].astype(bool), None),
    "truth values, named": (FEW["y"].astype(bool), True),
    "signs": (FEW["y"] * 2 - 1, None),
    "numbers": (FEW["y"] * 2 + 5, 7),
    "small integers": (FEW["y"].astype("int8"), None),
    "doubles": (FEW["y"].astype(float), None),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_every_kind_of_label(wrap, kind, tmp_path):
    values, pos_label = LABELS[kind]
    table = wrap(FEW.assign(y=values), tmp_path)
    data = cb.Predictions(table, label="y", prob="p", pos_label=pos_label)
    expected = cb.calibration_error(FEW["y"], FEW["p"])
    assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_decimal_scores(wrap, tmp_path):
    few = TABLE[:500].assign(p=[Decimal(f"{p:.6f}") for p in TABLE["p"][:500]])
    table = wrap(few, tmp_path)
    expected = cb.calibration_error(few["y"], few["p"].astype(float))
    found = cb.calibration_error(cb.Predictions(table, label="y", prob="p"))
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("wrap", LAZY.values(), ids=LAZY)
def test_clusters_and_rows_of_a_lazy_table(wrap, tmp_path):
    options = {"estimand": "cluster", "method": "certified"}
    expected = cb.certify(TABLE["y"], TABLE["p"], clusters=TABLE["id"], **options)
    data = cb.Predictions(wrap(TABLE, tmp_path), label="y", prob="p", clusters="id")
    assert cb.certify(data, **options).upper == pytest.approx(expected.upper, abs=1e-12)


def broken(**columns):
    return TABLE[:20].assign(**columns)


def with_value(column, value, row=7):
    values = TABLE[column][:20].astype(object if isinstance(value, str | None) else float)
    values[row] = value
    return {column: values}


FAULTS = {
    "no such column": (TABLE[:20], {"prob": "P"}),
    "missing score": (broken(**with_value("p", np.nan)), {}),
    "score above 1": (broken(**with_value("p", 1.5)), {}),
    "score below 0": (broken(**with_value("p", -0.25)), {}),
    "infinite score": (broken(**with_value("p", np.inf)), {}),
    "three labels": (broken(y=np.tile([0, 1, 2, 1], 5)), {}),
    "labels in words": (broken(y=np.tile(["no", "yes"], 10)), {}),
    "three words": (broken(y=np.tile(["no", "yes", "so", "no"], 5)), {"pos_label": "no"}),
    "wrong word": (broken(y=np.tile(["no", "yes"], 10)), {"pos_label": "Yes"}),
    "wrong type of word": (broken(y=np.tile([0, 1], 10)), {"pos_label": "1"}),
    "no single label": (broken(), {"pos_label": [1]}),
    "missing label": (broken(y=[0, 1, None, *([1] * 17)]), {}),
    "missing word": (broken(y=["a", "b", None, *("a" * 17)]), {"pos_label": "a"}),
    "negative weight": (broken(**with_value("w", -1.0)), {"weight": "w"}),
    "missing weight": (broken(**with_value("w", np.nan)), {"weight": "w"}),
    "no weight at all": (broken(w=0), {"weight": "w"}),
    "huge weights": (broken(w=1e300), {"weight": "w"}),
    "swapped": (TABLE[:20].rename(columns={"y": "p", "p": "y"}), {}),
    "no rows": (TABLE[:0], {}),
    "unnamed": (TABLE[:20], {"label": None}),
}


def refusal(table, options):
    with pytest.raises(InputError) as caught:
        cb.Predictions(table, **{"label": "y", "prob": "p", **options})
    return str(caught.value)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_bad_input_gets_the_same_words_everywhere(wrap, fault, tmp_path):
    table, options = FAULTS[fault]
    expected = refusal(table, options)
    if wrap in UNORDERED.values():
        expected = without_row(expected)
    found = refusal(wrap(table, tmp_path), options)
    assert found.replace("the table", "column 'y'", 1 if fault == "no rows" else 0) == expected


@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_words_where_numbers_should_be(wrap, tmp_path):
    table = wrap(broken(p=[f"{p:.3f}" for p in TABLE["p"][:20]]), tmp_path)
    words = refusal(table, {})
    expected = "column 'p' must hold numbers, but row 0 (0-based) holds '"
    assert words.startswith(without_row(expected) if wrap in UNORDERED.values() else expected)


NAMES = [
    "*",
    "^.*$",
    "label",
    'a"b',
    "a b",
    "x'); DROP TABLE t; --",
    "größe",
    "select",
    "a.b",
    "{p}",
    "a\\b",
    "*",
    "^.*$",
    "label",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_names_are_never_code(wrap, name, tmp_path):
    table = wrap(FEW.rename(columns={"p": name, "y": name + "y"}), tmp_path)
    data = cb.Predictions(table, label=name + "y", prob=name)
    expected = cb.calibration_error(FEW["y"], FEW["p"])
    assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


def test_a_query_that_fails_keeps_the_engine_s_message():
    lazy = pl.LazyFrame({"p": [0.5], "y": [1], "t": ["a"]}).with_columns(pl.col("t").cast(pl.Int64))
    with pytest.raises(InputError, match=r"polars says: .*conversion from `str` to `i64`"):
        cb.Predictions(lazy.filter(pl.col("t") > 0), label="y", prob="p")
    relation = duckdb.sql("SELECT 1 AS y, CAST(t AS DOUBLE) AS p FROM (VALUES ('x')) v(t)")
    with pytest.raises(InputError, match=r"DuckDB says: .*Could not convert string 'x'"):
        cb.Predictions(relation, label="y", prob="p")
    with pytest.raises(InputError, match="polars says"):
        cb.Predictions(pl.scan_parquet("nowhere.parquet"), label="y", prob="p")


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="name columns of a table, but this is a list"):
        cb.Predictions([1, 2], label="y", prob="p")
    with pytest.raises(InputError, match="y_prob cannot be given with a table"):
        cb.Predictions(TABLE, TABLE["p"], label="y", prob="p")
    with pytest.raises(InputError, match="y_prob is missing"):
        cb.Predictions(TABLE)
