"""Copying: a file as it is, read part by part, to be written again with more columns.

Types stay what they are, and a CSV file is text: 007 and 1e5 are not numbers here, nor is a word a
date. What DuckDB could not give back unchanged is refused.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar

from calibrant._text import named, shown
from calibrant.data.files.duckdb_tables import Duck, literal, plain
from calibrant.errors import InputError, listing, path_shown, place_shown

#: An empty cell is no value; a quoted one is a text without letters.
_AS_TEXT = "comment = '', nullstr = '', allow_quoted_nulls = false, skip = 0"
#: Not sought in the first rows, which may have none; and 'tis is not the start of a quoted text.
#: A backslash is a letter: files that have it before a quote inside a quoted text are refused.
_QUOTE = ", quote = '\"', escape = '\"'"
_CSV = f"read_csv({{path}}, header = true, all_varchar = true, {_AS_TEXT}{_QUOTE}{{more}})"
#: Formats that no text has, so that none is taken for a date.
_NO_DATES = "dateformat = 'x', timestampformat = 'x'"
_JSON = f"read_json({{path}}, format = 'newline_delimited', sample_size = -1, {_NO_DATES}{{more}})"
_REPLACED = {"read_csv": _CSV, "read_json": _JSON}
#: With Python and its libraries this stays under 1 GiB of resident memory. Columns beyond the first
#: 500 take a megabyte more each.
_MEMORY_MB, _MANY_COLUMNS = 512, 500
_MEMORY = f"{_MEMORY_MB}MB"
#: More threads would hold more rows at a time than that has room for.
_MOST_THREADS = 4
#: From DuckDB 2.0 on threads of their own write files, and one in forty queries that Ctrl-C stopped
#: waited for them forever.
_WRITERS = "async_threads"
#: Rows that are written at once if the usual 122,880 take too much memory.
_FEW_ROWS = 2048
#: Digits of a decimal number beyond which DuckDB makes it a double.
_MOST_DIGITS = 38


class Original(Duck):
    """A file, files that match a pattern, or a folder, whose rows are copied in little memory."""

    readers: ClassVar[dict[str, str]] = {
        ending: _REPLACED.get(sql.partition("(")[0], sql) for ending, sql in Duck.readers.items()
    }
    settings: ClassVar[dict[str, Any]] = {
        "memory_limit": _MEMORY,
        "threads": min(_MOST_THREADS, os.cpu_count() or 1),
        "temp_directory": "",  # rows stream, so nothing is put aside on disk and left there
    }

    def __init__(self, file: str | Path) -> None:
        path = Path(file)
        self.alone = path.is_file()
        self._pattern = plain(path) if path.exists() else str(file)
        if path.is_dir():
            self._pattern += "/**/*.parquet"
        self._first_row: str | None = None
        super().__init__(file)
        settings = self._fetched("SELECT name FROM duckdb_settings()")["name"]
        if _WRITERS in settings:
            self.connection.execute(f"SET {_WRITERS} = 0")
        more = len(self.kinds) - _MANY_COLUMNS
        if more > 0:  # a part of the rows holds 2,048 cells of each
            self.connection.execute(f"SET memory_limit = '{_MEMORY_MB + more}MB'")
        if self.table.startswith("read_parquet"):
            self._refuse_changes()

    @property
    def is_text(self) -> bool:
        """Whether the columns are the text of a CSV file."""
        return self.table.startswith("read_csv")

    def _kinds(self) -> dict[str, str]:
        if self.is_text:
            self._settle()
        return super()._kinds()

    def _files(self) -> list[str]:
        found = self._fetched(f"SELECT file FROM glob({literal(self._pattern)})")  # noqa: S608
        files: list[str] = sorted(found["file"].tolist())
        return files

    def _settle(self) -> None:
        """Find out once how the cells of CSV files are told apart, from the first of them."""
        files = self._files()
        if not files:
            return  # the caller says so
        for file in files[1:]:  # or a row would be taken for a header, and its cells be lost
            if _first_line(file) != _first_line(files[0]):
                raise _headers_differ(files[0], file)
        asked = self.readers[".csv"].replace("read_csv", "sniff_csv", 1)
        asked = asked.format(path=literal(plain(Path(files[0]))), more="")
        sniffed = self._fetched(f"SELECT * FROM {asked}")  # noqa: S608
        found = {name: values[0] for name, values in sniffed.items()}
        names = [str(column["name"]) for column in found["Columns"]]
        if len(names) == 1:
            return  # one column, or a separator that not all rows have: the caller looks again
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
        # in parallel DuckDB cannot read every file that has line breaks in its cells
        settled = (
            f"read_csv({literal(self._pattern)}, delim = {literal(found['Delimiter'])}{_QUOTE}, "
            f"{_AS_TEXT}, auto_detect = false, hive_partitioning = false, parallel = false, "
            f"columns = {{{columns}}}, header = "
        )
        self.table = f"{settled}true)"
        self._first_row = f"{settled}false)"

    def titles(self) -> list[str | None]:
        """Return the names of the columns as they are in the file.

        DuckDB gives a name of its own to a column that has none, or that of another one.
        """
        if self._first_row is None:
            return list(self.kinds)
        with self.translated():
            query = f"SELECT * FROM {self._first_row} LIMIT 1"  # noqa: S608
            [row] = self.connection.execute(query).fetchall()
        return list(row)

    def holds(self, path: Path) -> bool:
        """Say whether a file is one of several that are read, or would be the next time."""
        if self.alone:
            return False
        pattern = str(Path(self._pattern).absolute())
        if any(fnmatch(str(path.absolute()), one) for one in (pattern, pattern.replace("/**", ""))):
            return True
        return path.exists() and any(path.samefile(file) for file in self._files())

    def calls(self, name: str, function: Callable[[float], float]) -> None:
        """Give queries a function of a double; rows keep their order, as they do not in a join.

        It is called row by row: DuckDB hands over many at once only with pyarrow.
        """
        self.connection.create_function(name, function, ["DOUBLE"], "DOUBLE")

    def write(self, query: str, part: Path, options: str, group: str = "") -> int:
        """Write what a SELECT gives to a file, in its order, and return the number of rows.

        Failing to write is an OSError. `group` is the option for how many rows go together.
        """
        try:
            return self._copy(query, part, options)
        except MemoryError:
            # rows of many kilobytes: one thread, and fewer of them at a time
            self.connection.execute("SET threads = 1")
            fewer = f"{options}, {group} {_FEW_ROWS}" if group else options
        try:
            return self._copy(query, part, fewer)
        except MemoryError:
            raise _rows_too_long(self.name, _MEMORY) from None

    def _copy(self, query: str, part: Path, options: str) -> int:
        import duckdb

        copy = f"COPY ({query}) TO {literal(str(part))} ({options}, USE_TMP_FILE false)"
        with self.translated(), self.watched("Writing"):
            try:
                [(rows,)] = self.connection.execute(copy).fetchall()
            except duckdb.OutOfMemoryException as error:
                raise MemoryError from error
            except duckdb.Error as error:
                if part.name in str(error):
                    raise OSError(_reason(str(error))) from None
                raise
        return int(rows)

    def _refuse_changes(self) -> None:
        """Refuse Parquet columns that DuckDB reads as something else, or under another name."""
        facts = "name, coalesce(precision, 0) AS digits, coalesce(logical_type, '') AS kind"
        schema = f"parquet_schema({literal(self._pattern)})"
        found = self._fetched(f"SELECT DISTINCT {facts} FROM {schema}")  # noqa: S608
        names = found["name"].tolist()
        new = [name for name in self.kinds if name not in names] if self.alone else []
        if new:
            raise _columns_renamed(new)
        if not self.alone:
            self._refuse_mixtures(schema, names)
        fine = any("TIMESTAMPTZ_NS" in kind for kind in self.kinds.values())
        for name, digits, kind in zip(names, found["digits"], found["kind"], strict=True):
            if digits > _MOST_DIGITS:
                raise _decimal_too_long(name, int(digits), _MOST_DIGITS)
            if "NANOS=Nano" in kind and "isAdjustedToUTC=1" in kind and not fine:
                raise _nanoseconds_lost(name)

    def _refuse_mixtures(self, schema: str, names: list[str]) -> None:
        """Refuse files that differ in a column, and columns that folders replace."""
        parts = [part for file in self._files() for part in Path(file).parts[:-1]]
        for key in sorted({part.partition("=")[0] for part in parts if "=" in part}):
            if key.lower() in {name.lower() for name in names}:
                raise _folder_replaces(key)
        kind = "concat_ws('/', type, converted_type, scale, precision, logical_type::VARCHAR)"
        found = self._fetched(
            f"SELECT min(name) AS name FROM (SELECT file_name, name, list({kind}) AS kinds "  # noqa: S608
            f"FROM {schema} WHERE num_children IS NULL GROUP BY file_name, name) "
            "GROUP BY lower(name) HAVING count(DISTINCT (name, kinds)) > 1"
        )
        if len(found["name"]):
            raise _types_differ(str(found["name"][0]))


def _first_line(file: str) -> bytes:
    """Return the header of a CSV file, whatever ends its line."""
    opened = gzip.open if file.lower().endswith(".gz") else open
    with opened(file, "rb") as lines:
        line: bytes = lines.readline()
    return line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")


def _reason(message: str) -> str:
    """Return why a file was not written: what DuckDB says, without its quoted name."""
    found = re.search(r'": ([^"]+)', message)
    return found[1] if found else message.strip().splitlines()[0]


def _rows_too_long(path: str, memory: str) -> InputError:
    return InputError(
        f"{place_shown(path)} has rows so long that {memory} of memory hold too few of them. Leave "
        "out columns of long texts, and join the result to them."
    )


def _columns_renamed(new: Sequence[str]) -> InputError:
    return InputError(
        "Columns must have names, and these must differ in more than upper and lower case, but "
        f"DuckDB would have to call some of them {listing(new, show=shown)}. Rename them first."
    )


def _headers_differ(one: str, other: str) -> InputError:
    return InputError(
        f"{path_shown(one)} and {path_shown(other)} begin with different lines, so that they "
        "cannot be one table with one header. Apply the calibrator to each of them."
    )


def _folder_replaces(column: str) -> InputError:
    return InputError(
        f"There are folders named {named(column)}=..., and a column {shown(column)} in the files, "
        "which their names would replace. Rename one of them."
    )


def _types_differ(column: str) -> InputError:
    return InputError(
        f"Column {shown(column)} is not of one type, or not of one name, in all files, and made "
        "one it might not keep every digit. Apply the calibrator to each of them."
    )


def _decimal_too_long(name: str, digits: int, most: int) -> InputError:
    return InputError(
        f"Column {shown(name)} has decimals of {digits} digits, and DuckDB keeps {most}. Leave it "
        f"out, or make it a decimal of {most} digits or fewer, or text."
    )


def _nanoseconds_lost(name: str) -> InputError:
    return InputError(
        f"Column {shown(name)} has nanoseconds with a time zone, which this version of DuckDB "
        "does not keep: pip install --upgrade duckdb. Or make it microseconds first."
    )
