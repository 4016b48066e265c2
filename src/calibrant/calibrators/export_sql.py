"""Export to SQL: a calibrator as one expression, which a warehouse runs where the scores are.

A query cannot refuse a row, so NULL, NaN and scores outside [0, 1] become NULL. Where a product is
too small for a double, or an exponential too large, PostgreSQL stops with an error; the expressions
keep clear of that by changes far below 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from calibrant import errors
from calibrant._writing import is_text
from calibrant.calibrators.blocks import STRICT_SHARE, Blocks
from calibrant.calibrators.links import NO_SHARE, PLAIN_SLOPE, Link, features
from calibrant.calibrators.venn_abers import Pairs
from calibrant.errors import InputError

SqlDialect: TypeAlias = Literal["duckdb", "postgres", "spark"]
DIALECTS = ("duckdb", "postgres", "spark")
#: exp has a value in every engine from minus this to this; beyond, a probability is 0 or 1.
_LARGEST_EXPONENT = 700.0
#: Slopes and values below these count as 0.
_LEAST_SLOPE, _LEAST_VALUE = 1e-20, 1e-50
#: Blocks in one expression: DuckDB takes 14 s and 3.7 GB to read as many steps, and more for lines.
_MOST_BLOCKS = 100_000
#: On the line that crosses the first, a score below the second counts as the second.
_SMALL, _LEAST_SCORE = 1e-180, 1e-200


@dataclass(frozen=True, slots=True)
class _Language:
    """How a dialect writes a double to the bit, the name of its type, and the name of a column."""

    number: Callable[[str], str]
    double: str
    quote: str


#: 0.1 is a decimal in all of them, and 0.1e0 still is in PostgreSQL.
_LANGUAGES = {
    "duckdb": _Language(lambda text: text if "e" in text else f"{text}e0", "DOUBLE", '"'),
    "postgres": _Language("'{}'::float8".format, "float8", '"'),
    "spark": _Language("{}D".format, "DOUBLE", "`"),
}


def sql_of(function: Blocks | Link | Pairs, column: object, dialect: SqlDialect) -> str:
    """Return an expression for the probability of the score in a column."""
    errors.one_of("dialect", dialect, DIALECTS)
    if not isinstance(column, str) or not column or not is_text(column):
        raise errors.out_of_range("column", "the name of a column", column)
    if not isinstance(function, Link) and len(function) > _MOST_BLOCKS:
        raise _too_many_for_sql(len(function), _MOST_BLOCKS)
    language = _LANGUAGES[dialect]
    quoted = language.quote + column.replace(language.quote, 2 * language.quote) + language.quote
    writer = _Writer(language, quoted)
    return writer.link(function) if isinstance(function, Link) else writer.blocks(function)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes expressions of one column, which is quoted already."""

    language: _Language
    column: str

    def number(self, value: float) -> str:
        """Write a double so that it reads back to the bit."""
        return self.language.number(repr(float(value)).removesuffix(".0"))

    def link(self, link: Link) -> str:
        """Write the curve between the scores that all others count as, and its values there."""
        low, high = (self.number(score) for score in (link.low, link.high))
        least, most = (self.number(value) for value in link(np.array([link.low, link.high])))
        score = self.column
        return (
            f"CASE WHEN {score} >= {self.number(0)} AND {score} <= {low} THEN {least} "
            f"WHEN {score} > {low} AND {score} < {high} THEN {self.curve(link)} "
            f"WHEN {score} >= {high} AND {score} <= {self.number(1)} THEN {most} END"
        )

    def curve(self, link: Link) -> str:
        """Write 1 / (1 + exp(-(a ln p - b ln(1 - p) + c)))."""
        # some engines have another logarithm, of less precision, for columns of decimals
        score = f"CAST({self.column} AS {self.language.double})"
        terms = []
        if link.a > _LEAST_SLOPE:
            terms.append(f"{self.number(-link.a)} * ln({score})")
        if link.b > _LEAST_SLOPE:
            terms.append(f"{self.number(link.b)} * {self.log_rest(score, link.b)}")
        if link.c != 0 or not terms:
            terms.append(self.number(-link.c))
        exponent = " + ".join(terms)
        slopes = np.array([link.a, link.b, link.c])
        ends = slopes @ features(np.array([link.low, link.high]), link.low, link.high)
        if np.abs(ends).max() > _LARGEST_EXPONENT:
            most, least = (self.number(end) for end in (_LARGEST_EXPONENT, -_LARGEST_EXPONENT))
            exponent = f"greatest({least}, least({most}, {exponent}))"
        return f"{self.number(1)} / ({self.number(1)} + exp({exponent}))"

    def log_rest(self, score: str, slope: float) -> str:
        """Write ln(1 - p); a steep slope shows how 1 - p was rounded, so that is divided out."""
        one = self.number(1)
        plain = f"ln({one} - {score})"
        if slope <= PLAIN_SLOPE:
            return plain
        recalibrated = f"{plain} * {score} / ({one} - ({one} - {score}))"
        return f"CASE WHEN {score} < {self.number(NO_SHARE)} THEN -{score} ELSE {recalibrated} END"

    def blocks(self, blocks: Blocks | Pairs) -> str:
        """Write a search among the blocks, for scores that are in [0, 1]."""
        inside = f"{self.column} >= {self.number(0)} AND {self.column} <= {self.number(1)}"
        if isinstance(blocks, Blocks) and blocks.is_identity:
            return f"CASE WHEN {inside} THEN CAST({self.column} AS {self.language.double}) END"
        if isinstance(blocks, Pairs) or blocks.interpolation == "step":
            begin, value = blocks.steps()
            edges, leaves = begin[1:].tolist(), [self.number(one) for one in value]
        else:
            pieces = _pieces(blocks)
            edges = [piece.left for piece in pieces[1:]]
            strict = blocks.interpolation == "strict"
            leaves = [self.piece(piece, strict) for piece in pieces]
        return f"CASE WHEN {inside} THEN {self.tree(edges, leaves)} END"

    def tree(self, edges: Sequence[float], leaves: Sequence[str]) -> str:
        """Nest conditions, each of which halves what is left; leaf i ends at edge i."""
        if len(leaves) == 1:
            return leaves[0]
        half = len(leaves) // 2
        below = self.tree(edges[: half - 1], leaves[:half])
        above = self.tree(edges[half:], leaves[half:])
        edge = self.number(edges[half - 1])
        return f"CASE WHEN {self.column} < {edge} THEN {below} ELSE {above} END"

    def piece(self, piece: _Piece, strict: bool) -> str:
        """Write a piece of the line; operations are those of Python, in its order."""
        score, mixed = self.scores(piece)
        line = start = self.number(piece.start)
        if piece.end > piece.start:
            left, gap = self.number(piece.left), self.number(piece.right - piece.left)
            rise, end = self.number(piece.end - piece.start), self.number(piece.end)
            line = f"least({start} + ({score} - {left}) / {gap} * {rise}, {end})"
        return f"{line} + {self.number(STRICT_SHARE)} * ({mixed} - {line})" if strict else line

    def scores(self, piece: _Piece) -> tuple[str, str]:
        """Write the score for the line, and the one to be mixed in, so that no product is lost."""
        if piece.right <= _SMALL:
            return self.column, self.number(0)
        if piece.left >= _SMALL:
            return self.column, self.column
        score = f"greatest({self.column}, {self.number(_LEAST_SCORE)})"
        return score, score


@dataclass(frozen=True, slots=True)
class _Piece:
    """A straight piece of a calibrating function: from a score on, to the next piece."""

    left: float
    right: float
    start: float
    end: float


def _pieces(blocks: Blocks) -> list[_Piece]:
    """Return the pieces from 0 to 1: a flat one for each block, and a rising one to the next."""
    value = np.where(blocks.value < _LEAST_VALUE, 0.0, blocks.value).tolist()
    low, high = [0.0, *blocks.low[1:].tolist()], [*blocks.high[:-1].tolist(), 1.0]
    pieces = [_Piece(low[0], high[0], value[0], value[0])]
    for i in range(1, len(value)):
        pieces.append(_Piece(high[i - 1], low[i], value[i - 1], value[i]))
        if low[i] < high[i] or i == len(value) - 1:
            pieces.append(_Piece(low[i], high[i], value[i], value[i]))
    return pieces


def _too_many_for_sql(blocks: int, most: int) -> InputError:
    return InputError(
        f"This calibrator has {blocks:,} blocks, and an SQL expression would hold each of them: "
        f"engines take minutes and gigabytes to read more than {most:,}. Apply the "
        "calibrator itself, or export it to ONNX."
    )
