"""Duck: a file, many files, or a SELECT, as a table that DuckDB reads part by part."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from calibrant._progress import progress_bar
from calibrant.data import refusals
from calibrant.data.engine.addresses import without_secrets, words_without_secrets
from calibrant.data.engine.table import Fetched, Table
from calibrant.errors import InputError, engine_words, listing, path_shown, place_shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

#: Cells of a CSV file that mean "no value".
MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null"]
#: Types that a column of a CSV file may turn out to have. Left to itself DuckDB also takes words
#: such as yes and no for truth values, and which ones depends on its version.
#: A line that starts with # is a row, and the first line is the header: left to itself DuckDB
#: passes over all lines before the longest run of equal ones, rows of another length included.
_CSV = (
    "read_csv({path}, header = true, sample_size = -1, comment = '', skip = 0, "
    f"nullstr = [{', '.join(repr(word) for word in MISSING_WORDS)}], "
    "auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR']{more})"
)
#: All rows are looked at before types are chosen, or 0.4 after many a 1 would become 0.
_JSON = "read_json({path}, format = 'newline_delimited', sample_size = -1{more})"
_READERS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), _CSV),
    **dict.fromkeys((".parquet", ".pq"), "read_parquet({path}{more})"),
    **dict.fromkeys((".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"), _JSON),
}
#: In a single file a folder named x=1 adds no column x; among many that is how they are parted.
ALONE = ", hive_partitioning = false"
#: Files may differ in the type of a column: it then has one that holds them all.
_UNITED = ", union_by_name = true"
_REMOTE = re.compile(r"\b[a-z][a-z0-9]+://", re.IGNORECASE)
_NO_EXTENSIONS = ("autoinstall_known_extensions", "autoload_known_extensions")
#: A name in SQL is no variable of this program.
_NO_PYTHON = {"python_enable_replacements": False}
#: How often a bar looks at how far a query is, in seconds.
_LOOK = 0.1


class Duck:
    """A table that DuckDB reads: it is never fetched whole unless it is short.

    Attributes
    ----------
    name : str
        What errors call it.
    kinds : dict of str
        The type of each column.
    """

    #: The table function for each ending of a file's name.
    readers: ClassVar[dict[str, str]] = _READERS
    #: What DuckDB is told when it starts.
    settings: ClassVar[dict[str, Any]] = {}

    def __init__(self, file: str | Path | None = None, sql: str | None = None) -> None:
        import duckdb  # here, because it is heavy and arrays never need it

        if (file is None) == (sql is None):
            raise _file_or_sql()
        text = str(file) if sql is None else sql
        self._text = text
        self.name = without_secrets(repr(text)) if sql is None else "the result of the query"
        # nothing is fetched from anywhere unless the user names a remote place
        local: dict[str, Any] = {}
        if not _REMOTE.search(text):
            local = dict.fromkeys(_NO_EXTENSIONS, False)
        self.connection: duckdb.DuckDBPyConnection = duckdb.connect(
            config={**local, **_NO_PYTHON, **self.settings}
        )
        for setting in ("enable_progress_bar = true", "enable_progress_bar_print = false"):
            self.connection.execute(f"SET {setting}")
        self.connection.execute("SET progress_bar_time = 0")
        self.table = _table(text, self.readers) if sql is None else self._query(sql)
        self.kinds = self._kinds()
        if sql is None and len(self.kinds) == 1:
            self.table = _split(self.table, next(iter(self.kinds)))
            self.kinds = self._kinds()

    def _query(self, sql: str) -> str:
        """Return a SELECT as a table; anything else is refused before it runs."""
        with self.translated():
            statements = self.connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type.name != "SELECT":
                raise refusals.not_a_select()
            # the bracket stands on a line of its own, because the text may end in a comment
            return f"({_without_end(statements[0].query)}\n)"

    def _kinds(self) -> dict[str, str]:
        described = self._fetched(f"DESCRIBE SELECT * FROM {self.table}")  # noqa: S608
        names, kinds = described["column_name"].tolist(), described["column_type"].tolist()
        return dict(zip(names, kinds, strict=True))

    def check(self, names: list[str]) -> None:
        """Refuse names that are no columns."""
        for name in names:
            if name not in self.kinds:
                raise refusals.unknown_column(name, list(self.kinds), self.name)

    def relation(self, select: str = "*", where: str | None = None) -> Any:
        """Return the table, or what is selected from it, as a relation that nothing has run."""
        condition = "" if where is None else f" WHERE {where}"
        query = f"SELECT {select} FROM {self.table}{condition}"  # noqa: S608 (names are quoted)
        with self.translated():
            return self.connection.sql(query)

    def select(self, columns: str, more: str = "") -> Fetched:
        """Select columns of the table and return them; names in the text must be quoted."""
        return self._fetched(f"SELECT {columns} FROM {self.table} {more}")  # noqa: S608

    def _fetched(self, query: str) -> Fetched:
        with self.translated():
            found: Fetched = self.connection.execute(query).fetchnumpy()
        return found

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn DuckDB's errors into ours, with its own words in them."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if "KeyboardInterrupt" in str(error):  # Ctrl-C while it called a function of ours
                raise KeyboardInterrupt from error
            raise self._unreadable(error) from None
        except (RuntimeError, TypeError, UnicodeError) as error:
            if "interrupt" in str(error).lower():  # what DuckDB makes of Ctrl-C
                raise KeyboardInterrupt from error
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> InputError:
        return _file_unreadable(self.name, words_without_secrets(str(error), self._text))

    def lazy(self, select: str = "*", where: str | None = None) -> Table:
        """Return what is selected as a table; on a terminal its queries show how far they are."""
        import narwhals as nw

        from calibrant.data.engine.narwhals_table import lazy_table

        frame = nw.from_native(self.relation(select, where))
        return lazy_table(frame, lambda: self.watched(f"Reading {self.name}"))

    @contextmanager
    def watched(self, what: str) -> Iterator[None]:
        """Show, on a terminal, how far the query is that runs meanwhile."""
        if not sys.stderr.isatty():
            yield
            return
        done = threading.Event()
        with progress_bar(what, 100) as show:

            def look() -> None:
                while not done.wait(_LOOK):
                    show(max(0, int(self.connection.query_progress())))

            watcher = threading.Thread(target=look, daemon=True)
            watcher.start()
            try:
                yield
            finally:
                done.set()
                watcher.join()


def _table(text: str, readers: dict[str, str]) -> str:
    """Return the table function that reads a file, a folder, or all files that match a pattern."""
    path = Path(text)
    pattern = any(mark in text for mark in "*?[")
    remote = _REMOTE.match(text) is not None
    if path.is_dir():
        return _folder(path)
    if not path.exists() and not pattern and not remote:
        raise refusals.file_missing(text)
    if path.exists() and not path.is_file():
        raise _not_a_file(text)
    name = text.lower()
    reader = next((sql for ending, sql in readers.items() if name.endswith(ending)), None)
    if reader is None:
        raise _file_kind(text, list(readers))
    if path.exists():
        if path.stat().st_size == 0:
            raise refusals.file_without_rows(repr(text))
        return reader.format(path=literal(plain(path)), more=ALONE)
    return reader.format(path=literal(text), more=_UNITED)


def _folder(path: Path) -> str:
    """Read a folder of Parquet files, which may be parted into folders such as day=1."""
    if next(path.rglob("*.parquet"), None) is None:
        raise _not_a_file(str(path))
    return f"read_parquet({literal(plain(path) + '/**/*.parquet')}{_UNITED})"


def plain(path: Path) -> str:
    """Return a pattern that only one path matches, whatever marks are in its name."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))


def literal(text: str) -> str:
    """Quote a text as an SQL string, so that it is never code."""
    return "'" + text.replace("'", "''") + "'"


def _without_end(query: str) -> str:
    """Return a statement without semicolons at its end, by DuckDB's own reading of it."""
    import duckdb

    text = query.encode()  # places are counted in bytes
    end = len(text)
    for place, kind in reversed(duckdb.tokenize(query)):
        if kind == duckdb.token_type.operator and text[place : place + 1] == b";":
            end = place
        elif kind != duckdb.token_type.comment:
            break
    return text[:end].decode()


def _split(table: str, header: str) -> str:
    """Insist on the separator seen in a header that was taken for one column.

    DuckDB gives up on a separator when rows differ in length; named, it says which row does.
    """
    separator = next((mark for mark in (",", ";", "\t", "|") if mark in header), None)
    if not table.startswith("read_csv") or separator is None:
        return table
    return f"{table.removesuffix(')')}, delim = '{separator}')"


def _not_a_file(path: str) -> InputError:
    return InputError(
        f"{path_shown(path)} is a folder without Parquet files, or a device. "
        "Name a file that holds the rows."
    )


def _file_kind(path: str, endings: Sequence[str]) -> InputError:
    return InputError(
        f"{path_shown(path)} is not a file that calibrant reads: its name must end in "
        f"{listing(endings, most=20)}. Export the table to CSV or Parquet."
    )


def _file_unreadable(path: str, why: str) -> InputError:
    return InputError(f"{place_shown(path)} could not be read. DuckDB says: {engine_words(why)}")


def _file_or_sql() -> InputError:
    return InputError("Name a file, or give sql=, a SELECT: one of the two. For a database: url=.")
