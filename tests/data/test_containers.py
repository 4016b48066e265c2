"""One dataset in every container gives one answer."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calibrant as cb

RNG = np.random.default_rng(0)
PROB = RNG.random(70_000)
LABEL = RNG.random(70_000) < PROB**1.2
EXPECTED = cb.audit(LABEL, PROB)


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


CONTAINERS = {
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(v.tolist()),
    "read-only": read_only,
    "strided": lambda v: np.repeat(v, 3)[::3],
    "reversed view": lambda v: v[::-1].copy()[::-1],
    "column of a matrix": lambda v: np.column_stack([v, v])[:, 1],
    "masked array": np.ma.masked_array,
    "object": lambda v: v.astype(object),
    "pandas": pd.Series,
    "pandas nullable": lambda v: pd.Series(v).convert_dtypes(),
    "pandas arrow": lambda v: pd.Series(v).convert_dtypes(dtype_backend="pyarrow"),
    "pandas odd index": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "polars": pl.Series,
    "polars chunks": lambda v: pl.concat([pl.Series(v[:1000]), pl.Series(v[1000:])], rechunk=False),
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda v: pa.chunked_array([v[:1000], v[1000:]]),
}


@pytest.mark.parametrize("wrap", CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_gives_the_same_audit(wrap):
    found = cb.audit(wrap(LABEL), wrap(PROB))
    assert found.calibration_error == pytest.approx(EXPECTED.calibration_error, abs=1e-12)
    assert found.worst_intervals[0].p1 == EXPECTED.worst_intervals[0].p1
    assert found.worst_intervals[0].p2 == EXPECTED.worst_intervals[0].p2


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "float32", "float64", "bool"])
def test_every_label_type_gives_the_same_error(kind):
    found = cb.calibration_error(LABEL.astype(kind), PROB)
    assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)


@pytest.mark.parametrize("kind", ["float16", "float32", "longdouble"])
def test_scores_of_other_precision_are_taken_as_they_are(kind):
    scores = PROB.astype(kind)
    found = cb.calibration_error(LABEL, scores)
    assert found == pytest.approx(cb.calibration_error(LABEL, scores.astype(float)), abs=1e-15)


def test_minus_one_and_one_are_labels():
    signs = np.where(LABEL, 1, -1)
    for labels in (signs, signs.astype(float)):
        assert cb.calibration_error(labels, PROB) == pytest.approx(EXPECTED.calibration_error)
    with pytest.warns(UserWarning, match="single value"):
        assert cb.calibration_error([-1, -1], [0.5, 0.25]) == 0.375


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series, pd.Categorical])
def test_words_are_labels_with_pos_label(wrap):
    words = wrap(["yes" if label else "no" for label in LABEL])
    found = cb.calibration_error(words, PROB, pos_label="yes")
    assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)


def test_any_two_numbers_are_labels_with_pos_label():
    found = cb.calibration_error(np.where(LABEL, 2, 7), PROB, pos_label=2)
    assert found == pytest.approx(EXPECTED.calibration_error, abs=1e-15)
    flipped = cb.calibration_error(LABEL, 1 - PROB, pos_label=0)
    assert flipped == pytest.approx(EXPECTED.calibration_error, abs=1e-12)


def test_decimals_are_numbers():
    assert cb.calibration_error([Decimal(0), Decimal(1)], [Decimal("0.25"), Decimal("0.5")]) == 0.25


@pytest.mark.parametrize(("function", "share"), [(cb.calibration_error, 1 / 4), (cb.audit, 3 / 2)])
@pytest.mark.parametrize("draw", ["uniform", "rare"])
def test_memory_is_a_share_of_the_input(function, share, draw):
    import tracemalloc

    rows = 2_000_000
    rng = np.random.default_rng(0)
    prob = rng.random(rows) if draw == "uniform" else rng.beta(0.02, 5, rows)
    label = rng.random(rows) < prob
    tracemalloc.start()
    function(label, prob)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (prob.nbytes + label.nbytes) * share


def test_rows_without_weight_leave_no_trace():
    # a soft label that does not count makes labels no less binary, nor a class less single
    found = cb.audit([0, 0.5, 1], [0.25, 0.5, 0.75], sample_weight=[1, 0, 1])
    assert found.data.labels_binary
    found = cb.audit([0, 0, 1], [0.25, 0.5, 0.75], sample_weight=[1, 1, 0])
    assert any("single value" in warning for warning in found.warnings)
