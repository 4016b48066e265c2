"""Files: predictions in CSV and Parquet, read by DuckDB."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import _checks
from calibrant._types import AnyArray
from calibrant.sources.columns import is_missing, unmasked
from calibrant.sources.engine import quoted
from calibrant.sources.predictions import Origin, Predictions

if TYPE_CHECKING:
    import duckdb

#: Cells of a CSV file that mean "no value".
_MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null"]
#: Types that a column of a CSV file may turn out to have. Left to itself DuckDB also takes words
#: such as yes and no for truth values, and which ones depends on its version.
#: A line that starts with # is a row, and a folder named x=1 adds no column x.
_CSV = (
    "read_csv(?, header = true, sample_size = -1, nullstr = ?, comment = '', "
    "hive_partitioning = false, auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR'])"
)
_READERS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), _CSV),
    **dict.fromkeys((".parquet", ".pq"), "read_parquet(?, hive_partitioning = false)"),
}
_NO_EXTENSIONS = ("autoinstall_known_extensions", "autoload_known_extensions")
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\s*\d+\))$")


def read_predictions(
    path: Path,
    *,
    label: str,
    prob: str,
    weight: str | None = None,
    clusters: str | None = None,
    pos_label: str | None = None,
    soft: bool = False,
    drop_missing: bool = False,
) -> Predictions:
    """Read columns of a CSV or Parquet file into checked predictions.

    Parameters
    ----------
    path : Path
        The file; its ending tells its format.
    label, prob, weight, clusters : str
        Names of the columns.
    pos_label : str, optional
        The label that is the event, as it is written in the file.
    soft : bool
        Whether fractional labels are meant.
    drop_missing : bool
        Leave out rows with a missing value instead of refusing them.
    """
    roles = {"label": label, "prob": prob, "weight": weight, "clusters": clusters}
    names = {role: name for role, name in roles.items() if name is not None}
    columns = _columns(path, names)
    columns["label"] = _truth_values(columns["label"])
    dropped = _drop_missing(columns, path) if drop_missing else 0
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        data = Predictions(
            columns["label"],
            columns["prob"],
            sample_weight=columns.get("weight"),
            clusters=columns.get("clusters"),
            pos_label=_typed(pos_label, columns["label"], label),
            _names=_checks.Names(*(f"column {name!r}" for name in roles.values())),
            _origin=Origin(str(path), digest, dropped),
            _fine=True,
        )
        if data.first_fraction is not None and not soft:
            raise _checks.labels_soft(f"column {label!r}", *data.first_fraction)
    except _checks.InputError as error:
        if dropped:  # the row numbers of the message are no longer those of the file
            raise _checks.InputError(
                f"{error} (Rows are counted after {dropped:,} with missing values were dropped.)"
            ) from None
        raise
    return data


def read_scores(path: Path, *, prob: str) -> AnyArray:
    """Read the scores alone; missing ones are left out."""
    scores = _columns(path, {"prob": prob})["prob"]
    missing = is_missing(scores)
    if missing.all():
        raise _checks.file_all_missing(str(path), len(missing))
    return scores[~missing]


def _columns(path: Path, names: dict[str, str]) -> dict[str, AnyArray]:
    """Fetch the columns as arrays; numbers as doubles, words as Python strings."""
    import duckdb  # here, because it is heavy and arrays never need it

    table, arguments = _table(path)
    # nothing is fetched from anywhere: the file is local and the readers are built in
    try:
        with duckdb.connect(config=dict.fromkeys(_NO_EXTENSIONS, False)) as connection:
            kinds = _kinds(connection, table, arguments)
            if len(kinds) == 1:
                table = _split(table, next(iter(kinds)))
                kinds = _kinds(connection, table, arguments)
            for name in names.values():
                if name not in kinds:
                    raise _checks.unknown_column(name, list(kinds), str(path))
            wanted = {role: _expression(role, name, kinds[name]) for role, name in names.items()}
            select = ", ".join(f"{sql} AS {role}" for role, sql in wanted.items())
            words = [role for role in ("prob", "weight") if _is_text(kinds, names.get(role))]
            select += "".join(f", {quoted(names[role])} AS {role}_words" for role in words)
            query = f"SELECT {select} FROM {table}"  # noqa: S608 (names are quoted, paths bound)
            fetched = connection.execute(query, arguments).fetchnumpy()
    except duckdb.Error as error:
        raise _checks.file_unreadable(str(path), str(error)) from None
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C
        raise KeyboardInterrupt from error
    if len(fetched["prob"]) == 0:
        raise _checks.file_without_rows(str(path))
    for role in words:
        _refuse_words(fetched[role], fetched[f"{role}_words"], f"column {names[role]!r}")
    return {role: unmasked(fetched[role]) for role in names}


def _table(path: Path) -> tuple[str, list[Any]]:
    """Return the table function that reads the file, and its arguments."""
    if not path.exists():
        raise _checks.file_missing(str(path))
    if not path.is_file():
        raise _checks.not_a_file(str(path))
    name = path.name.lower()
    reader = next((sql for ending, sql in _READERS.items() if name.endswith(ending)), None)
    if reader is None:
        raise _checks.file_kind(str(path), list(_READERS))
    if path.stat().st_size == 0:
        raise _checks.file_without_rows(str(path))
    literal = re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))  # a name is no pattern
    return reader, [literal, _MISSING_WORDS] if reader == _CSV else [literal]


def _split(table: str, header: str) -> str:
    """Insist on the separator seen in a header that was taken for one column.

    DuckDB gives up on a separator when rows differ in length; named, it says which row does.
    """
    separator = next((mark for mark in (",", ";", "\t", "|") if mark in header), None)
    if table != _CSV or separator is None:
        return table
    return f"{table.removesuffix(')')}, delim = '{separator}')"


def _kinds(
    connection: duckdb.DuckDBPyConnection, table: str, arguments: list[Any]
) -> dict[str, str]:
    """Return the type of each column."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}", arguments).fetchall()  # noqa: S608
    return {row[0]: row[1] for row in described}


def _is_text(kinds: dict[str, str], name: str | None) -> bool:
    return name is not None and _NUMBERS.match(kinds[name]) is None


def _expression(role: str, name: str, kind: str) -> str:
    """Say how a column is fetched: numbers as doubles, labels in words as text."""
    if role == "clusters" or (role == "label" and _NUMBERS.match(kind) is None):
        return f"CAST({quoted(name)} AS VARCHAR)"
    if role == "label" and not kind.startswith(("DECIMAL", "HUGEINT", "UHUGEINT")):
        return quoted(name)
    return f"TRY_CAST({quoted(name)} AS DOUBLE)"


def _refuse_words(numbers: AnyArray, words: AnyArray, name: str) -> None:
    """Refuse text that is no number, naming its first row."""
    failed = is_missing(unmasked(numbers)) & ~is_missing(unmasked(words).astype(object))
    if failed.any():
        row = int(np.argmax(failed))
        raise _checks.not_numeric(name, row, str(words[row]))


def _drop_missing(columns: dict[str, AnyArray], path: Path) -> int:
    """Leave out, in place, the rows where a value is missing; return how many."""
    missing = np.logical_or.reduce([is_missing(values) for values in columns.values()])
    if missing.all():
        raise _checks.file_all_missing(str(path), len(missing))
    if missing.any():
        columns.update({role: values[~missing] for role, values in columns.items()})
    return int(missing.sum())


def _truth_values(labels: AnyArray) -> AnyArray:
    """Turn true and false in words into truth values, missing ones staying so."""
    words = {"true": True, "false": False}
    if labels.dtype.kind != "O":
        return labels
    missing = is_missing(labels)
    read = [words.get(str(label).lower()) for label in labels.tolist()]
    if missing.all() or any(
        value is None and not gap for value, gap in zip(read, missing.tolist(), strict=True)
    ):
        return labels
    return np.array(read, dtype=object if missing.any() else bool)


def _typed(pos_label: str | None, labels: AnyArray, name: str) -> object:
    """Read a label from the command line as the type of its column."""
    if pos_label is None:
        return None
    known = labels[~is_missing(labels)]
    first = known[:1].tolist()
    if first and isinstance(first[0], str):
        return pos_label
    try:
        if first and isinstance(first[0], bool):
            return {"true": True, "1": True, "false": False, "0": False}[pos_label.lower()]
        return int(pos_label) if labels.dtype.kind in "iu" else float(pos_label)
    except (KeyError, ValueError):
        found = list(dict.fromkeys(known.tolist()))
        raise _checks.labels_lack_pos_label(f"column {name!r}", pos_label, found) from None


def check_csv_name(path: Path) -> None:
    """Refuse, before any work is done, a file that `write_predictions` could not write."""
    if path.suffix.lower() != ".csv" or path.is_dir():
        raise _checks.csv_name(str(path))
    _check_folder(path)


def check_json_name(path: Path) -> None:
    """Refuse, before any work is done, a name that is not one of a JSON file."""
    if path.suffix.lower() != ".json" or path.is_dir():
        raise _checks.json_name(str(path))
    _check_folder(path)


def _check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise _checks.folder_missing(str(path), str(path.parent))


def write_predictions(path: Path, **columns: AnyArray) -> None:
    """Write columns to a CSV file, whole or not at all; every number reads back to the bit."""
    check_csv_name(path)
    values = [
        (column.astype(int) if column.dtype == bool else column).tolist()
        for column in columns.values()
    ]
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in zip(*values, strict=True))]
    write_whole(path, "\n".join(lines) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all: under another name first, which then takes its place.

    A link stays a link to the file that is written, and a file that was there keeps its mode.
    """
    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    with tempfile.NamedTemporaryFile(
        "w", dir=path.absolute().parent, prefix=".calibrant.", encoding="utf-8", delete=False
    ) as file:
        part = Path(file.name)
        try:
            file.write(text)
            file.close()
            part.chmod(mode)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _umask() -> int:
    """Return the permissions that new files do without (there is no way to read but to set)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
