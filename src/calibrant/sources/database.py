"""Database: a connection that only reads, and errors that never show how it was opened."""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

import numpy as np
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from calibrant import _checks
from calibrant._types import AnyArray

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
        "extra_float_digits = 3",
        "datestyle = 'ISO'",
        "timezone = 'UTC'",
        "parallel_setup_cost = 0",
        "parallel_tuple_cost = 0",
    ),
}
#: The user's name and password in a URL.
_USER_INFO = re.compile(r"(?<=://)[^/?#\s'\"]*@")
#: All that could be a password: what is between the first colon after the user and the last @.
_AFTER_COLON = re.compile(r"://[^:/@]*:(.*)@")
#: What may carry a secret after the ? of a URL.
_SECRET = re.compile(r"pass|pwd|token|secret|key|cred|connect|auth", re.IGNORECASE)
#: Shorter secrets are looked for as words: they could be part of any.
_SHORT = 4
_HIDDEN = "***"


class Database:
    """A connection to a database, opened here from a URL or an engine, or the user's own.

    Attributes
    ----------
    engine : str
        The kind of database, as people write it.
    kind : str
        The same, as SQLAlchemy writes it.
    """

    def __init__(self, connection: Any) -> None:
        self.engine, self._secrets = "SQLAlchemy", _secrets_of(connection)
        with self.translated():
            if isinstance(connection, sa.Connection):
                self._connection = connection
            else:
                self._connection = self._opened(connection)
        self.kind = self._connection.dialect.name
        if self.kind == "sqlite":
            self._add_functions()
        self.engine = _name_of(self.kind)

    def _opened(self, target: Any) -> sa.Connection:
        if isinstance(target, sa.Engine):
            engine = target
        elif isinstance(target, str | sa.URL):
            engine = sa.create_engine(target, poolclass=NullPool)
        else:
            raise _checks.not_a_connection(type(target).__name__)
        kind = engine.dialect.name
        self.engine = _name_of(kind)
        if kind == "sqlite":
            _check_there(engine.url)
        connection = engine.connect()
        # closed with the last table that asks it: an open one would keep old rows from being freed
        weakref.finalize(self, connection.close)
        connection = connection.execution_options(**_SNAPSHOT.get(kind, {}))
        for setting in _SETTINGS.get(kind, ()):
            connection.execute(sa.text(f"SET LOCAL {setting}"))
        return connection

    def _add_functions(self) -> None:
        """Give SQLite the logarithm and the exponential if it was built without them."""
        options = self.fetch(sa.text("PRAGMA compile_options"))[1][0].tolist()
        driver: Any = self._connection.connection.driver_connection
        if "ENABLE_MATH_FUNCTIONS" not in options:
            for name, function in {"ln": math.log, "exp": math.exp}.items():
                driver.create_function(name, 1, function, deterministic=True)

    def fetch(self, query: sa.Executable) -> tuple[list[str], list[AnyArray]]:
        """Run a query; return its columns and their names."""
        with self.translated():
            answer = self._connection.execute(query)
            names, rows = list(answer.keys()), answer.fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return names, [_array(column) for column in columns]

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn errors of the database into ours, with its words but without its secrets."""
        try:
            yield
        except ModuleNotFoundError as error:
            raise _checks.driver_missing(str(error.name)) from None
        except NoSuchModuleError as error:
            raise _checks.database_unknown(self._scrubbed(_words(error))) from None
        except (ArgumentError, ValueError) as error:
            if isinstance(error, _checks.InputError):
                raise
            raise _checks.url_unreadable() from None
        except (SQLAlchemyError, OSError, RuntimeError) as error:
            raise _checks.query_failed(self.engine, self._scrubbed(_words(error))) from None

    def _scrubbed(self, text: str) -> str:
        for secret in self._secrets:
            wanted = re.escape(secret)
            text = re.sub(wanted if len(secret) >= _SHORT else rf"\b{wanted}\b", _HIDDEN, text)
        return _USER_INFO.sub(f"{_HIDDEN}@", text)


def _check_there(url: sa.URL) -> None:
    """Refuse a file that is not there: SQLite would make an empty one."""
    file = url.database or ":memory:"
    if not file.startswith((":memory:", "file:")) and not Path(file).exists():
        raise _checks.file_missing(file)


def _name_of(kind: str) -> str:
    return _NAMES.get(kind, kind)


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


def without_secrets(url: str) -> str:
    """Return a URL without the user's name, the password and all that comes after a ?."""
    try:
        full = sa.make_url(url)
        where = sa.URL.create(
            full.drivername, host=full.host, port=full.port, database=full.database
        )
        return where.render_as_string()
    except (SQLAlchemyError, ValueError):
        return _HIDDEN


def _secrets_of(connection: Any) -> list[str]:
    """Return what may never be shown, in every form that it may take in a message."""
    url = getattr(connection, "engine", connection)
    url = getattr(url, "url", url)
    secrets: list[str] = []
    if isinstance(url, str):
        secrets += _AFTER_COLON.findall(url)  # also where a mark in it was not escaped
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
    forms = {form(one) for one in secrets if one for form in (str, quote, quote_plus, unquote_plus)}
    return sorted(forms, key=len, reverse=True)
