"""Applying: a calibrator to a whole file, which need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._writing import check_new, taking_place
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.fingerprint import fingerprint, fingerprint_level
from calibrant.calibrators.links import Link
from calibrant.calibrators.lookup import lookup_of, pieces_in
from calibrant.certificates.evidence import MANY_ROWS
from calibrant.data import refusals
from calibrant.data.engine.table import quoted
from calibrant.data.files.copying import Original
from calibrant.data.files.duckdb_tables import MISSING_WORDS, literal
from calibrant.errors import InputError, path_shown

#: How a file is written, for the endings that it may have.
_FORMATS = {
    ".csv": "FORMAT csv, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR ''",
    ".parquet": "FORMAT parquet",
}
#: Steps or lines up to which a calibrator becomes an expression, which DuckDB runs in parallel. On
#: two cores it was as fast as a lookup row by row at about so many, and ten times that took 5 to 20
#: times as long and gigabytes.
_MOST_PIECES = 1000
#: Types that text is tried as, and which values of a column {0} print back; "nan" is a word.
_BACK = "CAST(TRY_CAST({0} AS %s) AS VARCHAR) = {0}"
_PRINTED_BACK = {
    "BIGINT": _BACK % "BIGINT",
    "DOUBLE": f"isfinite(TRY_CAST({{0}} AS DOUBLE)) AND {_BACK % 'DOUBLE'}",
}
#: Rows that tell most columns of text.
_FIRST_ROWS = 2048
#: The name of the lookup in queries.
_LOOKUP = "calibrated"
#: The first row that is written holds the names of the columns.
_OWN_TITLES = ", HEADER false"


@dataclass(frozen=True, slots=True, repr=False)
class Applied:
    """What was written.

    Attributes
    ----------
    output : Path
        The file.
    rows : int
        Its rows.
    missing : int
        How many of them have no score, and so no calibrated one.
    fitted_here : bool
        Whether the scores are those that the calibrator was fitted to, as if it were these rows.
    """

    output: Path
    rows: int
    missing: int
    fitted_here: bool = False

    def __repr__(self) -> str:
        rows = f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        gaps = f", {self.missing:,} of them without a score" if self.missing else ""
        own = ""
        if self.fitted_here:
            own = (
                " The scores are those that the calibrator was fitted to. If these are the same "
                "rows, an audit of the calibrated ones proves nothing: audit rows that it has not "
                "seen."
            )
        return f"Written to {self.output}: {rows}{gaps}.{own}"


def apply_calibrator(
    calibrator: Calibrator,
    file: str | Path,
    output: Path,
    *,
    prob: str,
    name: str = "calibrated",
    overwrite: bool = False,
) -> Applied:
    """Write a file again with one more column: the calibrated scores.

    Rows stay in their order and other columns as they are: Parquet keeps its types, and CSV the
    text of its cells. From CSV to Parquet the two columns of scores are numbers, and any other if
    every value of it prints back as it stands: 7 and 0.5 are numbers, 007 and 0.50 stay text. From
    Parquet to CSV columns are what DuckDB prints, times being UTC.

    Parameters
    ----------
    calibrator : Calibrator
        A fitted one.
    file : str or Path
        CSV, Parquet or JSON lines; a pattern; or a folder of Parquet files.
    output : Path
        A .csv or .parquet file, which appears whole or not at all. It may be the file that is read.
    prob : str
        The column of scores. Where one is missing or NaN, its calibrated value is missing.
    name : str
        The new column.
    overwrite : bool
        Whether the output may replace a file.
    """
    ending = output.suffix.lower()
    if ending not in _FORMATS:
        raise _output_ending(str(output), list(_FORMATS))
    check_new(output, ending, overwrite=overwrite)
    table = Original(file)
    if table.holds(output):
        raise _output_among_inputs(str(output))
    table.check([prob])
    _check_name(name, list(table.kinds))
    scores = _Scores(table, prob)
    rows, missing = scores.checked()
    known = calibrator.fitted_scores_
    # unchanged scores can be audited anywhere
    learned = known is not None and calibrator.method != "identity"
    fitted_here = learned and known == scores.fingerprint(rows - missing)
    query, options = _query(scores, calibrator, name, ending)
    with taking_place(output, overwrite=overwrite) as part:
        group = "ROW_GROUP_SIZE" if ending == ".parquet" else ""
        found = table.write(query, part, f"{_FORMATS[ending]}{options}", group)
        found -= options == _OWN_TITLES
        if found != rows:
            raise refusals.table_changes(found, rows)
    return Applied(output, rows, missing, fitted_here)


def _query(scores: _Scores, calibrator: Calibrator, name: str, ending: str) -> tuple[str, str]:
    """Return the SELECT of what is written, and the options that go with it."""
    table, new = scores.table, _expression(scores, calibrator)
    columns = {column: quoted(column) for column in table.kinds}
    if ending == ".parquet" and table.is_text:
        for column, kind in scores.numbers().items():
            columns[column] = f"CAST({quoted(column)} AS {kind}) AS {quoted(column)}"
        columns[scores.prob] = f"{quoted(scores.name)} AS {quoted(scores.prob)}"
    query = scores.select([*columns.values(), f"{new} AS {quoted(name)}"])
    if ending == ".parquet":
        return query, ""
    table.connection.execute("SET TimeZone = 'UTC'")  # not where the machine happens to be
    titles = table.titles()
    if titles == list(columns):
        return query, ", HEADER true"
    # names that DuckDB gives to no column are a row above the others; not always so, because it
    # does not say how far it is with such a query
    rest = scores.select([*columns.values(), f"CAST({new} AS VARCHAR)"])
    return f"(SELECT {_texts([*titles, name])}) UNION ALL ({rest})", _OWN_TITLES


def _expression(scores: _Scores, calibrator: Calibrator) -> str:
    """Return what a score becomes in SQL: all of it if that is short, else a call."""
    function = calibrator.function_
    if isinstance(function, Link) or pieces_in(function) <= _MOST_PIECES:
        return calibrator.to_sql(scores.name, "duckdb")
    scores.table.calls(_LOOKUP, lookup_of(function))
    score = quoted(scores.name)
    return f"CASE WHEN {score} BETWEEN 0 AND 1 THEN {_LOOKUP}({score}) END"


def _texts(titles: list[str | None]) -> str:
    return ", ".join("NULL" if title is None else literal(title) for title in titles)


class _Scores:
    """The rows of a table next to their scores as doubles, missing where there is none."""

    def __init__(self, table: Original, prob: str) -> None:
        self.table, self.prob = table, prob
        taken = {column.lower() for column in table.kinds}
        self.name = "score"
        while self.name in taken:
            self.name += "_"
        column = quoted(prob)
        self.given = f"{column} IS NOT NULL"
        if table.is_text:
            # one by one: DuckDB joins with a list of them, and a join keeps no order of rows
            self.given += "".join(f" AND {column} <> {literal(word)}" for word in MISSING_WORDS)
        number = f"CASE WHEN {self.given} THEN TRY_CAST({column} AS DOUBLE) END"
        self.rows = f"(SELECT *, {number} AS {quoted(self.name)} FROM {table.table})"  # noqa: S608

    def select(self, columns: list[str]) -> str:
        """Return a SELECT of expressions, in which names are quoted."""
        return f"SELECT {', '.join(columns)} FROM {self.rows}"  # noqa: S608

    def checked(self) -> tuple[int, int]:
        """Count rows, and those without a score; refuse words and scores outside [0, 1]."""
        score = quoted(self.name)
        word = f"({self.given} AND {score} IS NULL)"
        gap = f"({score} IS NULL OR isnan({score}))"
        outside = f"(NOT {gap} AND NOT {score} BETWEEN 0 AND 1)"
        counts = [f"count(*) FILTER (WHERE {rule})" for rule in (gap, word, outside)]
        with self.table.watched("Checking scores"):
            found = self._row(["count(*)", *counts, f"max({score}) FILTER (WHERE {outside})"])
        rows, missing, words, wrong, highest = found
        name = f"column {shown(self.prob)}"
        if words:
            raise refusals.not_numeric(name, *self._first(word, f"{quoted(self.prob)}::VARCHAR"))
        if wrong:
            raise refusals.outside_unit(name, wrong, *self._first(outside, score), highest)
        return rows, missing

    def numbers(self) -> dict[str, str]:
        """Return the other columns of text that are numbers, and which: all values print back."""
        others = [column for column in self.table.kinds if column != self.prob]
        asked = [(column, kind) for column in others for kind in _PRINTED_BACK]
        with self.table.watched("Looking for columns of numbers"):
            asked = self._printing_back(asked, "0", f"LIMIT {_FIRST_ROWS}")  # which drops most text
            return dict(self._printing_back(asked, "1"))

    def _printing_back(
        self, asked: list[tuple[str, str]], least: str, rows: str = ""
    ) -> list[tuple[str, str]]:
        """Return the columns and types of which every value, so many at least, prints back."""
        if not asked:
            return []
        rules = []
        for column, kind in asked:
            values, same = f"count({quoted(column)})", _PRINTED_BACK[kind].format(quoted(column))
            rules.append(f"{values} >= {least} AND {values} = count(*) FILTER (WHERE {same})")
        query = f"SELECT {', '.join(rules)} FROM (SELECT * FROM {self.table.table} {rows})"  # noqa: S608
        with self.table.translated():
            [row] = self.table.connection.execute(query).fetchall()
        return [one for one, holds in zip(asked, row, strict=True) if holds]

    def fingerprint(self, rows: int) -> str | None:
        """Hash the scores as a calibrator does those that it is fitted to."""
        if rows < MANY_ROWS:
            return None
        score, cells = quoted(self.name), 1 << fingerprint_level(rows)
        cell = f"least(floor({score} * {cells}), {cells - 1})::BIGINT AS cell"
        given = f"{score} IS NOT NULL AND NOT isnan({score})"
        query = f"{self.select([cell, 'count(*)'])} WHERE {given} GROUP BY cell"
        with self.table.watched("Looking for rows that were fitted"), self.table.translated():
            found = np.array(self.table.connection.execute(query).fetchall(), dtype=np.int64)
        return fingerprint(found[:, 0], found[:, 1])

    def _first(self, condition: str, value: str) -> tuple[int, Any]:
        """Return the first row where a condition holds, and a value of it."""
        number = "row_number() OVER () - 1 AS number"
        more = f"QUALIFY {condition} ORDER BY number LIMIT 1"
        row, found = self._row([number, f"{value} AS value"], more)
        return int(row), found

    def _row(self, columns: list[str], more: str = "") -> tuple[Any, ...]:
        with self.table.translated():
            found = self.table.connection.execute(f"{self.select(columns)} {more}").fetchall()
        if not found:  # though it was there a moment ago
            raise refusals.table_changes(0, 1)
        return tuple(found[0])


def _check_name(name: str, columns: list[str]) -> None:
    """Refuse a name that is none, or that of another column as engines see it."""
    if not name or "\0" in name:
        raise errors.out_of_range("name", "the name of a column", name)
    taken = [column for column in columns if column.lower() == name.lower()]
    if taken:
        raise _column_exists(name, taken[0])


def _output_ending(path: str, endings: Sequence[str]) -> InputError:
    return InputError(
        f"{path_shown(path)} must be the name of a file that ends in {' or '.join(endings)}. Name "
        "it so."
    )


def _output_among_inputs(path: str) -> InputError:
    return InputError(
        f"{path_shown(path)} is one of the files that are read, so all rows would take the place "
        "of its own. Write to another file."
    )


def _column_exists(name: str, column: str) -> InputError:
    return InputError(
        f"There is a column {shown(column)} already, so none can be added as {shown(name)}. Give "
        'it another name: name="calibrated_2".'
    )
