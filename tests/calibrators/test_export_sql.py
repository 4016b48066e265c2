"""Calibrators as SQL: what DuckDB makes of them is what Python does."""

import math
import re

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant.errors import InputError
from reference.exported import (
    CALIBRATORS,
    SMALL,
    TIGHT,
    TINY,
    each_its_own,
    hard_scores,
    thresholds,
)

each = pytest.mark.parametrize("fitted", CALIBRATORS.values(), ids=CALIBRATORS)
SPARK_NUMBER = r"(?<![\w`])([\d.]+(?:e[-+]?\d+)?)D\b"


def as_duckdb(text, dialect):
    """Turn an expression into one that DuckDB reads, by the letter: it knows PostgreSQL's casts."""
    if dialect != "spark":
        return text
    numbers = re.sub(SPARK_NUMBER, r"CAST('\1' AS DOUBLE)", text)
    return numbers.replace("`", '"')


def run(expression, values, kind="DOUBLE", column='"p"'):
    frame = pd.DataFrame({"value": values})
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"CREATE TABLE t AS SELECT CAST(value AS {kind}) AS {column} FROM frame")
        return connection.execute(f"SELECT {expression} FROM t").fetchnumpy().popitem()[1]


@each
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_sql_is_predict(fitted, dialect):
    scores = hard_scores(fitted.function_)
    found = run(as_duckdb(fitted.to_sql("p", dialect), dialect), scores)
    expected = fitted.predict(scores)
    assert not np.ma.is_masked(found)
    off = np.abs(found - expected)
    assert off.max() <= 1e-12
    if fitted.method in {
        "isotonic",
        "histogram",
        "venn_abers",
    }:  # the last bit at most, and what is next to 0
        assert (off <= np.maximum(np.spacing(expected), 1e-20)).all()
    ends = (scores == 0) | (scores == 1)
    assert (off[ends] <= 1e-50).all()


FEW = {name: fitted for name, fitted in CALIBRATORS.items() if "many" not in name}
few = pytest.mark.parametrize("fitted", FEW.values(), ids=FEW)


@few
def test_what_python_refuses_is_null(fitted):
    wrong = [np.nan, -5e-324, -1.0, np.nextafter(1, 2), 2.0, np.inf, -np.inf]
    values = ["NULL", *(f"'{float(value)!r}'::DOUBLE" for value in wrong)]
    expression = fitted.to_sql("p")
    rows = ", ".join(f"({value})" for value in values)
    found = duckdb.sql(f"SELECT {expression} FROM (VALUES {rows}) t(p)").fetchall()
    assert found == [(None,)] * 8
    # constants are worked out before the query runs, and must not fail there either
    for value in (values[0], values[1], values[-1]):
        [[alone]] = duckdb.sql(f"SELECT {expression} FROM (SELECT {value} AS p)").fetchall()
        assert alone is None


@few
def test_every_type_of_number_is_a_double_first(fitted):
    edges = thresholds(fitted.function_)
    scores = np.append(np.random.default_rng(0).random(2000), edges).round(9)
    singles = np.append(scores, edges).astype(np.float32)
    near = [np.nextafter(singles, np.float32(end)) for end in (0, 1)]  # where rounding decides
    singles = np.concatenate([singles, *near]).astype(np.float64)
    for kind in ("FLOAT", "DECIMAL(18, 9)", "INTEGER"):
        exact = {"FLOAT": singles, "INTEGER": np.round(scores)}.get(kind, scores)
        found = run(fitted.to_sql("p"), exact, kind=kind)
        assert np.abs(found - fitted.predict(exact)).max() <= 1e-12


class Double(float):
    """A double with the arithmetic of PostgreSQL: what is lost or too large is an error."""

    def __add__(self, other):
        return Double(float(self) + float(other))

    def __sub__(self, other):
        return Double(float(self) - float(other))

    def __neg__(self):
        return Double(-float(self))

    def __mul__(self, other):
        return self._held(float(self) * float(other), other)

    def __truediv__(self, other):
        return self._held(float(self) / float(other), other)

    def _held(self, result, other):
        assert result != 0 or self == 0 or other == 0, "value out of range: underflow"
        assert np.isfinite(result), "value out of range: overflow"
        return Double(result)


def exponential(value):
    result = math.exp(value)
    assert result > 2.3e-308, "value out of range: underflow"
    return Double(result)


def first_that_holds(*parts):
    """Evaluate a CASE as engines must: conditions in order, and nothing but the result."""
    for condition, result in zip(parts[::2], parts[1::2], strict=False):
        if condition():
            return result()
    return parts[-1]() if len(parts) % 2 else None


def as_python(text):
    text = re.sub(r"'(\S+?)'::float8", r"Double('\1')", text)
    text = text.replace('CAST("p" AS float8)', "p").replace('"p"', "p").replace(" AND ", " and ")
    text = text.replace("CASE WHEN ", "case(lambda: ").replace(" END", ")")
    for word in (" WHEN ", " THEN ", " ELSE "):
        text = text.replace(word, ", lambda: ")
    names = {"Double": Double, "case": first_that_holds, "least": min, "greatest": max}
    names |= {"ln": lambda value: Double(math.log(value)), "exp": exponential}
    return eval(f"lambda p: {text}", names)


@each
def test_postgres_is_never_made_to_stop(fitted):
    function = as_python(fitted.to_sql("p", "postgres"))
    edges = thresholds(fitted.function_)
    edges = np.concatenate([TINY, SMALL, TIGHT, edges[:: 1 + len(edges) // 100]])
    scores = np.concatenate([edges, np.nextafter(edges, 2), np.nextafter(edges, -1)])
    scores = scores[(scores >= 0) & (scores <= 1)]
    found = [function(Double(score)) for score in scores]
    assert np.abs(found - fitted.predict(scores)).max() <= 1e-12
    assert [function(Double(wrong)) for wrong in (-5e-324, 1.5, np.inf)] == [None] * 3


def test_a_link_is_short_and_takes_no_logarithm_of_nothing():
    fitted = CALIBRATORS["platt"]
    for dialect in ("duckdb", "postgres", "spark"):
        text = fitted.to_sql("p", dialect)
        assert len(text) < 500
        assert text.count("ln(") == 2
        assert "greatest" not in text  # nothing overflows between its ends
        # PostgreSQL has a logarithm of decimals, of 16 digits; a column may hold them
        assert not re.search(r"ln\((?!.{0,16}CAST\()", text)
    assert "greatest" in CALIBRATORS["beta, all below"].to_sql("p")
    # the curve is for scores strictly between low and high only
    assert re.search(r'WHEN "p" > \S+ AND "p" < \S+ THEN 1e0 / ', fitted.to_sql("p"))


def depth(expression):
    """Return how deep CASEs are nested."""
    deepest = level = 0
    for word in re.findall(r"\bCASE\b|\bEND\b", expression):
        level += 1 if word == "CASE" else -1
        deepest = max(deepest, level)
    assert level == 0
    return deepest


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 64, 65, 1000])
def test_the_tree_is_balanced(blocks):
    step = each_its_own(np.linspace(0.1, 0.9, max(blocks, 2)), "step")
    if blocks == 1:
        step = CALIBRATORS["step, one block"]
    assert len(step.function_) == blocks
    text = step.to_sql("p")
    assert depth(text) == 1 + int(np.ceil(np.log2(blocks)))
    assert text.count(" < ") == blocks - 1


@pytest.mark.parametrize("interpolation", ["linear", "strict"])
def test_lines_take_two_leaves_a_block_at_most(interpolation):
    fitted = CALIBRATORS[interpolation]
    text = fitted.to_sql("p")
    blocks = len(fitted.function_)
    assert blocks > 50
    assert depth(text) <= 2 + int(np.ceil(np.log2(2 * blocks)))
    assert text.count(" < ") <= 2 * blocks


NUMBERS = {
    "duckdb": r"(?<![\w\".])\d[\d.]*e[-+]?\d+",
    "postgres": r"'-?\d[\d.]*(?:e[-+]?\d+)?'::float8",
    "spark": SPARK_NUMBER,
}


@each
@pytest.mark.parametrize("dialect", NUMBERS)
def test_every_number_is_a_double(fitted, dialect):
    """A number without the mark of a double would be a decimal, and round differently."""
    text = fitted.to_sql("p", dialect)
    rest, count = re.subn(NUMBERS[dialect], "", text)
    assert count
    assert not re.search(r"\d", rest.replace("float8", "")), rest


def test_numbers_read_back_to_the_bit():
    rng = np.random.default_rng(0)
    values = 10.0 ** rng.uniform(-323, 0, 500) * rng.random(500)
    values = np.unique(np.concatenate([values, [5e-324, 2.2250738585072014e-308, 0.1, 1 / 3]]))
    fitted = each_its_own(values, "step")
    for dialect in ("duckdb", "postgres", "spark"):
        text = fitted.to_sql("p", dialect)
        for value in values[1:]:
            assert f"< {literal(value, dialect)} " in text


def literal(value, dialect):
    text = repr(float(value))
    if dialect == "duckdb":
        return text if "e" in text else f"{text}e0"
    return f"'{text}'::float8" if dialect == "postgres" else f"{text}D"


NAMES = [
    "p",
    "P",
    "the score",
    'say "p"',
    "a.b",
    "größe ψ 概率",
    "it's",
    "back`tick",
    "select",
    'p"; DROP TABLE t; --',
    'p" /* ',
    "new\nline",
    "100%",
    "{p}",
    "\\",
    '"',
    "`",
    "'",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["step", "strict", "beta, steep"])
def test_awkward_names_are_names(name, kind):
    fitted = CALIBRATORS[kind]
    scores = [0.0, 1e-7, 0.25, 1.0]
    for dialect in ("duckdb", "postgres"):
        quoted = '"' + name.replace('"', '""') + '"'
        text = fitted.to_sql(name, dialect)
        assert quoted in text
        found = run(text, scores, column=quoted)
        assert np.abs(found - fitted.predict(scores)).max() <= 1e-12
    text = fitted.to_sql(name, "spark")
    quoted = "`" + name.replace("`", "``") + "`"
    # nothing is left of the name outside of its marks
    assert text.replace(quoted, "`p`") == fitted.to_sql("p", "spark")


def test_bad_input():
    fitted = CALIBRATORS["step"]
    with pytest.raises(ValueError, match="dialect must be one of duckdb, postgres, spark, but it"):
        fitted.to_sql("p", "oracle")
    with pytest.raises(ValueError, match="Did you mean 'postgres'"):
        fitted.to_sql("p", "postgresql")
    for wrong in ("", None, 3, ["p"], "p\0"):
        with pytest.raises(ValueError, match="column must be the name of a column, but it is"):
            fitted.to_sql(wrong)
    with pytest.raises(NotFittedError):
        cb.PlattCalibrator().to_sql("p")


def test_more_blocks_than_engines_read_are_refused():
    n = 100_001
    score = np.linspace(0, 1, n)
    fitted = cb.HistogramCalibrator(n_bins=n).fit(score, np.arange(n) % 2)
    with pytest.raises(InputError, match=r"has 100,001 blocks.*Apply the calibrator itself"):
        fitted.to_sql("p")


def test_a_calibrator_that_was_kept_gives_the_same_text():
    for fitted in CALIBRATORS.values():
        kept = cb.Calibrator.from_json(fitted.to_json())
        assert kept.to_sql("p", "spark") == fitted.to_sql("p", "spark")
