"""What no argument means: numbers at the edge, and values of every other kind."""

from __future__ import annotations

import decimal
import fractions
import functools
import math

import numpy as np
import pandas as pd
import polars as pl


class Word(str):
    """A word of another class."""

    __slots__ = ()


def _ragged():
    cells = np.empty(2, dtype=object)
    cells[:] = [[1], [1, 2]]
    return cells


#: Each makes a new one, because a generator is used up by the first look.
RUBBISH = {
    "None": lambda: None,
    "True": lambda: True,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "2**63": lambda: 2**63,
    "-1": lambda: -1,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e-300": lambda: 1e-300,
    "5e-324": lambda: 5e-324,
    "-0.0": lambda: -0.0,
    "1e308": lambda: 1e308,
    "no word": str,
    "a long word": lambda: "x" * 10**6,
    "control characters": lambda: "\0\x1b[31m",
    "half a letter": lambda: "\ud800",
    "word of another class": lambda: Word("word"),
    "bytes": lambda: b"bytes",
    "object": object,
    "function": lambda: lambda: 0,
    "class": lambda: int,
    "generator": lambda: (number for number in (0, 1)),
    "list": list,
    "dict": dict,
    "set": lambda: {0, 1},
    "nested": lambda: functools.reduce(lambda inner, _: [inner], range(200), []),
    "ragged": lambda: [[1], [1, 2]],
    "list of 10**400": lambda: [10**400] * 40,
    "list of None": lambda: [None] * 40,
    "dict of numbers": lambda: {0: 1, "a": None},
    "array 0-d": lambda: np.array(0.5),
    "array empty": lambda: np.array([]),
    "array 3-d": lambda: np.zeros((2, 2, 2)),
    "array complex": lambda: np.full(40, 0.5 + 1j),
    "array of dates": lambda: np.full(40, "2020-01-01", dtype="datetime64[D]"),
    "array of no time": lambda: np.full(40, "NaT", dtype="timedelta64[s]"),
    "array structured": lambda: np.zeros(40, dtype=[("a", float), ("b", "U3")]),
    "array of None": lambda: np.full(40, None),
    "array ragged": _ragged,
    "array float16": lambda: np.full(40, 0.5, dtype=np.float16),
    "array long double": lambda: np.full(40, np.longdouble("1e4000")),
    "array masked": lambda: np.ma.masked_array(np.full(40, 0.5), np.arange(40) < 3),
    "array of bytes": lambda: np.full(40, b"a"),
    "array of tables": lambda: np.array([pl.DataFrame({"a": [1]}), None], dtype=object),
    "complex": lambda: 1j,
    "long double": lambda: np.longdouble("1e4000"),
    "float32": lambda: np.float32(0.1),
    "date": lambda: np.datetime64("2020-01-01"),
    "masked": lambda: np.ma.masked,
    "decimal": lambda: decimal.Decimal("0.1"),
    "decimal nan": lambda: decimal.Decimal("sNaN"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "pandas NA": lambda: pd.NA,
    "pandas table": lambda: pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "pandas column": lambda: pd.Series([0.5, None]),
    "polars table": lambda: pl.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "polars lazy table": lambda: pl.LazyFrame({"a": [1, 2]}),
    "polars column": lambda: pl.Series("a", [[1], [2, 3]]),
}
