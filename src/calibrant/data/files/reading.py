"""Files: predictions in CSV, Parquet and JSON lines, in the result of a SELECT, or in a database.

A short table is read into memory once. A long one stays where it is, and DuckDB sums it up; that
of a database always does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import AnyArray
from calibrant.core.expressions import Expression, col, count, how_many, lit
from calibrant.data import refusals
from calibrant.data.engine.addresses import url_from
from calibrant.data.engine.sql_table import sql_table
from calibrant.data.engine.table import Table, quoted
from calibrant.data.files.duckdb_tables import Duck
from calibrant.data.files.values import (
    expression_of,
    fetched,
    is_number,
    is_text_column,
    refuse_other_words,
    refuse_words_in_engine,
    truth_values,
    typed,
)
from calibrant.data.memory.columns import is_missing, unmasked
from calibrant.data.models import ArrayModels, FrameModels, Models
from calibrant.data.predictions import Origin, Predictions, predictions_of
from calibrant.data.rules import Roles
from calibrant.errors import InputError, first_row, place_shown

#: Rows up to which a table is read into memory.
SHORT = 1 << 22
#: The address of a database, where a file was asked for.
_ADDRESS = re.compile(
    r"(postgres|mysql|mariadb|sqlite|mssql|oracle|snowflake|bigquery)[^:/]*:/"  # a path has one /
)


@dataclass(frozen=True, slots=True)
class Request:
    """What to read, and how.

    Attributes
    ----------
    file : str or Path, optional
        A file, whose ending tells its format; a pattern, such as preds/*.parquet; or a folder.
    sql : str, optional
        A SELECT, instead of a file or a table.
    url, table : str, optional
        A database, and the table there; or with `sql` the SELECT that it runs.
    label, probs, weight, clusters, by
        Names of columns.
    pos_label : str, optional
        The label that is the event, as it is written in the file.
    soft : bool
        Whether fractional labels are meant.
    drop_missing : bool
        Leave out rows with a missing value instead of refusing them.
    """

    label: str
    probs: tuple[str, ...]
    file: str | Path | None = None
    sql: str | None = None
    url: str | None = None
    table: str | None = None
    weight: str | None = None
    clusters: str | None = None
    by: tuple[str, ...] = ()
    pos_label: str | None = None
    soft: bool = False
    drop_missing: bool = False

    def roles(self, prob: str) -> Roles:
        """Return the roles of the columns for one model."""
        return Roles(self.label, prob, self.weight, self.clusters)

    def used(self) -> dict[str, str]:
        """Return the columns that are no groups."""
        return {role: name for role, name in self.columns().items() if not role.startswith("by")}

    def columns(self) -> dict[str, str]:
        """Return the column of each role; scores and groups are numbered."""
        named = {"label": self.label, "weight": self.weight, "clusters": self.clusters}
        given = {role: name for role, name in named.items() if name is not None}
        scores = {f"prob{k}": name for k, name in enumerate(self.probs)}
        return {**given, **scores, **{f"by{k}": name for k, name in enumerate(self.by)}}


def read_predictions(
    file: str | Path | None = None,
    *,
    label: str,
    prob: str,
    by: Sequence[str] = (),
    **options: Any,
) -> Predictions:
    """Read predictions of one model; the parameters are those of `Request`."""
    request = Request(label, (prob,), file, by=tuple(by), **options)
    _check_place(request)
    if request.url is not None:
        return _lazy(*_in_database(request, request.url), request, Origin())
    duck = _opened(request)
    origin = _origin(request)
    columns = _short(duck, request)
    if columns is None:
        return _lazy(*_prepared(duck, request), request, origin)
    columns["label"] = truth_values(columns["label"])
    dropped = _drop_missing(columns, duck) if request.drop_missing else 0
    try:
        data = _in_memory(columns, request, prob, 0, Origin(origin.file, origin.sha256, dropped))
        _check_soft(data, request)
    except errors.InputError as error:
        raise _after_dropping(error, dropped) from None
    return data


def read_models(
    file: str | Path | None = None, *, label: str, probs: Sequence[str], **options: Any
) -> Models:
    """Read predictions of several models on the same rows; as for `read_predictions`."""
    if len(set(probs)) < 2 or len(set(probs)) < len(probs):
        raise refusals.too_few_models("probs", "probs=['model_a', 'model_b']")
    request = Request(label, tuple(probs), file, **options)
    _check_place(request)
    if request.url is not None:
        table, pos_label, _ = _in_database(request, request.url)
        return FrameModels(table, list(probs), request.roles(probs[0]), pos_label)
    duck = _opened(request)
    columns = _short(duck, request)
    if columns is None:
        table, pos_label, _ = _prepared(duck, request)
        return FrameModels(table, list(probs), request.roles(probs[0]), pos_label)
    columns["label"] = truth_values(columns["label"])
    dropped = _drop_missing(columns, duck) if request.drop_missing else 0
    try:
        data = [
            _in_memory(columns, request, prob, k, Origin(dropped=dropped))
            for k, prob in enumerate(probs)
        ]
        _check_soft(data[0], request)
    except errors.InputError as error:
        raise _after_dropping(error, dropped) from None
    return ArrayModels(list(probs), data)


def read_scores(file: str | Path, *, prob: str) -> AnyArray:
    """Read the scores alone; missing ones are left out."""
    duck = Duck(file)
    duck.check([prob])
    scores = fetched(duck, {"prob0": prob}, None)["prob0"]
    missing = is_missing(scores)
    if missing.all():
        raise _file_all_missing(duck.name, len(missing))
    return scores[~missing]


def _check_place(request: Request) -> None:
    """Refuse two places to read from, or none, and a column with two roles."""
    if request.url is None and request.table is not None:
        raise _table_without_url()
    one = (request.table is None) != (request.sql is None) and request.file is None
    if request.url is not None and not one:
        raise _one_of_database()
    roles = list(request.used().values())
    for name in roles:
        if roles.count(name) > 1:
            raise _column_of_two_roles(name)


def _opened(request: Request) -> Duck:
    if request.file is not None and _ADDRESS.match(str(request.file)):
        raise _file_is_url()
    duck = Duck(request.file, request.sql)
    duck.check(list(request.columns().values()))
    return duck


def _origin(request: Request) -> Origin:
    """Say where predictions came from; a single file with its hash."""
    if request.file is None:
        return Origin()
    path = Path(request.file)
    if not path.is_file():
        return Origin(str(request.file))
    with path.open("rb") as file:
        return Origin(str(path), hashlib.file_digest(file, "sha256").hexdigest())


def _in_memory(
    columns: dict[str, AnyArray], request: Request, prob: str, place: int, origin: Origin
) -> Predictions:
    roles = request.roles(prob)
    return predictions_of(
        columns["label"],
        columns[f"prob{place}"],
        sample_weight=columns.get("weight"),
        clusters=columns.get("clusters"),
        pos_label=typed(request.pos_label, columns["label"], request.label),
        names=roles.names(),
        origin=origin,
        fine=True,
        more={name: columns[f"by{k}"] for k, name in enumerate(request.by)},
    )


def _check_soft(data: Predictions, request: Request) -> None:
    if data.first_fraction is not None and not request.soft:
        raise _labels_soft(f"column {shown(request.label)}", *data.first_fraction)


def _after_dropping(error: errors.InputError, dropped: int) -> errors.InputError:
    """Say that the row numbers of a message are no longer those of the file."""
    if not dropped:
        return error
    return errors.InputError(
        f"{error} (Rows are counted after {dropped:,} with missing values were dropped.)"
    )


def _short(duck: Duck, request: Request) -> dict[str, AnyArray] | None:
    """Return the columns of a short table; None if it is long."""
    columns = fetched(duck, request.columns(), SHORT + 1)
    rows = len(columns["label"])
    if rows == 0:
        raise refusals.file_without_rows(duck.name)
    return None if rows > SHORT else columns


def _drop_missing(columns: dict[str, AnyArray], duck: Duck) -> int:
    """Leave out, in place, the rows where a value is missing; return how many."""
    used = {role: values for role, values in columns.items() if not role.startswith("by")}
    missing = np.logical_or.reduce([is_missing(values) for values in used.values()])
    if missing.all():
        raise _file_all_missing(duck.name, len(missing))
    if missing.any():
        columns.update({role: values[~missing] for role, values in columns.items()})
    return int(missing.sum())


def _lazy(
    table: Table, pos_label: object, dropped: int, request: Request, origin: Origin
) -> Predictions:
    """Return predictions whose rows stay where they are."""
    data = predictions_of(
        table,
        label=request.label,
        prob=request.probs[0],
        weight=request.weight,
        clusters=request.clusters,
        pos_label=pos_label,
        origin=Origin(origin.file, origin.sha256, dropped),
        fine=True,
    )
    _check_soft(data, request)
    return data


def _in_database(request: Request, url: str) -> tuple[Table, object, int]:
    """Return a table of a database, the event, and how many rows are left out."""
    table = sql_table(url_from(url), request.table, query=request.sql)
    for name in request.columns().values():
        if name not in table.kinds:
            raise refusals.unknown_column(name, list(table.kinds), "the table")
    pos_label = None
    if request.pos_label is not None:
        few = table.columns({"label": request.label}).distinct().head(5)
        pos_label = typed(request.pos_label, few.fetch()["label"], request.label)
    if not request.drop_missing:
        return table, pos_label, 0
    given = _given(table, list(request.used().values()))
    rows, kept = int(table.number(how_many())), int(table.number(count(given)))
    if kept == 0:
        raise _file_all_missing("the table", rows)
    return table.filter(given), pos_label, rows - kept


def _given(table: Table, names: list[str]) -> Expression:
    """Say that no value of some columns is missing."""
    given = lit(True)
    for name in names:
        given = given & ~col(name).is_null()
        if table.kinds[name].is_float():
            given = given & ~col(name).double().is_nan()
    return given


def _prepared(duck: Duck, request: Request) -> tuple[Table, object, int]:
    """Return a relation read as short tables are, the event, and how many rows are left out."""
    columns = request.used()
    for role, name in columns.items():
        if is_number(role) and is_text_column(duck, name):
            refuse_words_in_engine(duck, name)
    read = {name: expression_of(role, name, duck) for role, name in columns.items()}
    label = read[request.label]
    few = unmasked(duck.select(f"DISTINCT {label} AS label", "LIMIT 5")["label"])
    labels = truth_values(few)
    if labels is not few:
        refuse_other_words(duck, label, request.label)
        read[request.label] = f"(lower({label}) = 'true')"
    pos_label = typed(request.pos_label, labels, request.label)
    replaced = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in read.items())
    if not request.drop_missing:
        return duck.lazy(f"* REPLACE ({replaced})"), pos_label, 0
    given = [f"({sql}) IS NOT NULL" for sql in read.values()]
    given += [
        f"NOT isnan(CAST(({read[name]}) AS DOUBLE))"
        for role, name in columns.items()
        if is_number(role) or not is_text_column(duck, name)
    ]
    where = " AND ".join(given)
    counts = duck.select(f"count(*) AS rows, count(*) FILTER (WHERE {where}) AS kept")
    rows, kept = int(counts["rows"][0]), int(counts["kept"][0])
    if kept == 0:
        raise _file_all_missing(duck.name, rows)
    return duck.lazy(f"* REPLACE ({replaced})", where), pos_label, rows - kept


def _labels_soft(name: str, row: int | None, value: float) -> InputError:
    return InputError(
        f"{name} must hold 0/1 labels, but{first_row(row, '') or ' it'} holds {shown(value)}. "
        "If these are soft labels (probabilities of the event), say so with soft=True."
    )


def _file_all_missing(path: str, rows: int) -> InputError:
    return InputError(
        f"All {rows:,} rows of {place_shown(path)} have a missing value, so nothing is left to "
        "measure. Check the columns that label= and prob= name."
    )


def _table_without_url() -> InputError:
    return InputError("table= is a table of a database: say which one by url=.")


def _one_of_database() -> InputError:
    return InputError(
        "url= names a database: say what to read there by either table= or sql=, and no file."
    )


def _file_is_url() -> InputError:
    return InputError(
        "This looks like the address of a database, not a file. Give it as url=, and what to read "
        "there by table= or sql=."
    )


def _column_of_two_roles(name: str) -> InputError:
    return InputError(
        f"Column {shown(name)} is named for two roles. Each needs a column of its own."
    )
