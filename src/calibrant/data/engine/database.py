"""Database: a connection that only reads, and errors that never show how it was opened."""

from __future__ import annotations

import json
import math
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import numpy as np
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from calibrant import errors
from calibrant._text import named, shown
from calibrant._types import AnyArray
from calibrant.data import refusals
from calibrant.data.engine.addresses import HIDDEN, ambiguous, password_in, without_secrets
from calibrant.errors import InputError, engine_words

T = TypeVar("T")
#: Databases as people write them.
_NAMES = {
    "postgresql": "PostgreSQL",
    "sqlite": "SQLite",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "mssql": "SQL Server",
    "oracle": "Oracle",
    "duckdb": "DuckDB",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
}
#: Databases that can show every query of a connection the same rows.
_SNAPSHOT = {"postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}}
#: What a server may have set otherwise: how doubles and times are written. And opening cells is a
#: scan for few rows, which PostgreSQL thinks too cheap to share among processes.
_SETTINGS = {
    "postgresql": (
        "SET LOCAL extra_float_digits = 3",
        "SET LOCAL datestyle = 'ISO'",
        "SET LOCAL timezone = 'UTC'",
        "SET LOCAL parallel_setup_cost = 0",
        "SET LOCAL parallel_tuple_cost = 0",
    ),
    "sqlite": ("BEGIN",),  # which its driver leaves out before a SELECT
}
#: What may carry a secret after the ? of a URL.
_SECRET = re.compile(r"pass|pwd|token|secret|key|cred|connect|auth", re.IGNORECASE)
#: How a message may write a secret: escaped as in an address, in Python, in SQL, for libpq.
_FORMS: tuple[Callable[[str], str], ...] = (
    str,
    quote,
    quote_plus,
    unquote_plus,
    lambda text: repr(text)[1:-1],
    lambda text: text.replace("'", "''"),
    lambda text: text.replace("\\", "\\\\").replace("'", "\\'"),
    lambda text: json.dumps(text)[1:-1],
)
#: Shorter secrets are looked for as words: they could be part of any.
_SHORT = 4


class Database:
    """A connection to a database, opened here from a URL or an engine, or the user's own.

    Attributes
    ----------
    engine : str
        The kind of database, as people write it.
    kind : str
        The same, as SQLAlchemy writes it.
    """

    def __init__(self, target: Any) -> None:
        self.engine, self._secrets = "SQLAlchemy", _secrets_of(target)
        self._close: weakref.finalize[Any, Any] | None = None
        self._users: sa.Connection | None = None
        with self._translated(opening=True):
            if isinstance(target, sa.Connection):
                self._users, self._engine = target, target.engine
            else:
                self._engine = _engine_of(target)
        self.kind = self._engine.dialect.name
        self.engine = _NAMES.get(self.kind, self.kind)
        if self._users is not None and self.kind == "postgresql":
            self._check_settings()
        elif self._users is None and self.kind == "sqlite":
            _check_there(self._engine.url)

    def release(self) -> None:
        """Close a connection of its own; the next query opens another one."""
        if self._close is not None:
            self._close()
            self._close = None

    def fetch(self, query: sa.Executable) -> tuple[list[str], list[AnyArray]]:
        """Run a query; return its columns and their names."""
        names, rows = self.rows(query)
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return names, [_array(column) for column in columns]

    def names(self, query: sa.Executable) -> list[str]:
        """Return the names of the columns of a query, and fetch no row."""
        return self._asked(query, lambda answer: list(answer.keys()))

    def rows(self, query: sa.Executable) -> tuple[list[str], Sequence[Any]]:
        """Run a query; return the names of its columns, and its rows as they came."""
        return self._asked(query, lambda answer: (list(answer.keys()), answer.fetchall()))

    def _asked(self, query: sa.Executable, read: Callable[[sa.CursorResult[Any]], T]) -> T:
        opening = self._users is None and self._close is None
        try:
            with self._translated(opening=opening):
                connection = self._connected()
            with (
                self._translated(),
                self._left_as_it_was(connection),
                connection.execute(query) as answer,
            ):
                return read(answer)
        except BaseException:
            self.release()  # after an error it would answer nothing more
            raise

    def _connected(self) -> sa.Connection:
        if self._users is not None:
            return self._users
        if self._close is None:
            self._own = self._engine.connect()
            # closed with the last table that asks it: it would keep old rows from being freed
            self._close = weakref.finalize(self, self._own.close)
            self._own = self._own.execution_options(**_SNAPSHOT.get(self.kind, {}))
            for setting in _SETTINGS.get(self.kind, ()):
                self._own.execute(sa.text(setting))
            if self.kind == "sqlite":
                _add_functions(self._own)
        return self._own

    @contextmanager
    def _left_as_it_was(self, connection: sa.Connection) -> Iterator[None]:
        """Leave a transaction of the user's as it was, also where a query fails in it."""
        if connection is not self._users:
            yield
        elif not connection.in_transaction():
            try:
                yield
            finally:
                connection.rollback()
        elif self.kind == "postgresql":
            with connection.begin_nested():
                yield
        else:
            yield

    def _check_settings(self) -> None:
        """Refuse a connection that writes doubles or times in a way that loses something."""
        for name, fits in {"extra_float_digits": "[123]", "datestyle": "ISO"}.items():
            value = str(self.rows(sa.text(f"SHOW {name}"))[1][0][0])
            if not re.match(fits, value):
                raise _connection_setting(name, value)

    @contextmanager
    def _translated(self, *, opening: bool = False) -> Iterator[None]:
        """Turn errors of the database into ours, with its words but without its secrets."""
        try:
            yield
        except errors.InputError:
            raise
        except ModuleNotFoundError as error:
            raise _driver_missing(str(error.name)) from None
        except NoSuchModuleError as error:
            raise _database_unknown(self._scrubbed(_words(error))) from None
        except (SQLAlchemyError, OSError, RuntimeError, ValueError, TypeError) as error:
            if opening and isinstance(error, ArgumentError | ValueError | TypeError):
                raise refusals.url_unreadable() from None
            raise refusals.query_failed(self.engine, self._scrubbed(_words(error))) from None

    def _scrubbed(self, text: str) -> str:
        for secret in self._secrets:
            if len(secret) >= _SHORT:
                text = text.replace(secret, HIDDEN)
            else:
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
        return without_secrets(text)


def _engine_of(target: Any) -> sa.Engine:
    if isinstance(target, sa.Engine):
        return target
    if isinstance(target, str) and ambiguous(target):  # a part of it would be the host
        raise refusals.url_unreadable()
    if isinstance(target, str | sa.URL):
        return sa.create_engine(target, poolclass=NullPool)
    raise _not_a_connection(type(target).__name__)


def _add_functions(connection: sa.Connection) -> None:
    """Give SQLite the logarithm and the exponential if it was built without them."""
    options = connection.execute(sa.text("PRAGMA compile_options")).scalars().all()
    driver: Any = connection.connection.driver_connection
    if "ENABLE_MATH_FUNCTIONS" not in options:
        for name, function in {"ln": math.log, "exp": math.exp}.items():
            driver.create_function(name, 1, function, deterministic=True)


def _check_there(url: sa.URL) -> None:
    """Refuse a file that is not there: SQLite would make an empty one."""
    file = url.database or ":memory:"
    if file.startswith("file:"):  # an address of SQLite's own, which has its name first
        file = unquote(file.removeprefix("file:").partition("?")[0])
        file = file[file.find("/", 2) :] if file.startswith("//") else file
        file = ":memory:" if url.query.get("mode") == "memory" or not file else file
    if file != ":memory:" and not Path(file).exists():
        raise refusals.file_missing(file)


def _words(error: BaseException) -> str:
    """Return what the database said, without the query or how SQLAlchemy puts it."""
    return str(getattr(error, "orig", None) or error)


def _array(values: Sequence[Any]) -> AnyArray:
    """Return a column as an array: numbers as such, anything else as it came."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, float | Decimal):
        return np.array(values, dtype=np.float64)  # None becomes NaN
    if type(first) is int and None not in values:
        return np.array(values)
    plain = np.empty(len(values), dtype=object)
    plain[:] = values
    return plain


def _secrets_of(connection: Any) -> list[str]:
    """Return what may never be shown, in every form that it may take in a message."""
    url = getattr(connection, "engine", connection)
    url = getattr(url, "url", url)
    secrets: list[str] = []
    if isinstance(url, str):
        secrets.append(password_in(url) or "")
        try:
            url = sa.make_url(url)
        except (SQLAlchemyError, ValueError):
            secrets.append(url)
    if not isinstance(url, sa.URL):
        url = sa.URL.create("sqlite")
    secrets.append(str(url.password or ""))
    for name, values in url.query.items():
        if _SECRET.search(name):
            secrets += [values] if isinstance(values, str) else values
    forms = {form(one) for one in secrets if one for form in _FORMS}
    return sorted(forms, key=len, reverse=True)


def _not_a_connection(kind: str) -> InputError:
    return InputError(
        "connection must be a URL such as 'postgresql+psycopg://user@host/database', or an Engine "
        f"or Connection of SQLAlchemy, but is of type {kind}."
    )


def _connection_setting(name: str, value: str) -> InputError:
    wanted = {"extra_float_digits": "3", "datestyle": "'ISO'"}[name]
    return InputError(
        f"This connection has {name} = {named(value)}, so that values lose something on their way. "
        f"Run SET {name} = {wanted} on it first, or pass the engine or URL."
    )


def _database_unknown(why: str) -> InputError:
    return InputError(
        f"SQLAlchemy does not know this kind of database. It says: {engine_words(why)} Install its "
        "dialect, or check the beginning of the URL: postgresql+psycopg://, sqlite:///, mysql+pymysql://."
    )


def _driver_missing(module: str) -> InputError:
    packages = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary"}
    packages |= {"MySQLdb": "mysqlclient"}
    return InputError(
        f"The driver {shown(module)} that this URL asks for is not installed. Install it with: "
        f"pip install '{packages.get(module, module)}'"
    )
