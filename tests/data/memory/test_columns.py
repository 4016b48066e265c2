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


@pytest.mark.parametrize("kind", ["float16", "float32", "longdouble"])
def test_scores_of_other_precision_are_taken_as_they_are(kind):
    scores = PROB.astype(kind)
    found = cb.calibration_error(LABEL, scores)
    assert found == pytest.approx(cb.calibration_error(LABEL, scores.astype(float)), abs=1e-15)


def test_decimals_are_numbers():
    assert cb.calibration_error([Decimal(0), Decimal(1)], [Decimal("0.25"), Decimal("0.5")]) == 0.25
