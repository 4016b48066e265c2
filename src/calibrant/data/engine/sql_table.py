"""SQL: a table or a query in a database, asked through SQLAlchemy. Its rows stay there."""

from __future__ import annotations

from typing import Any

from calibrant._extras import require
from calibrant._writing import is_text
from calibrant.data import refusals
from calibrant.data.engine.table import Table
from calibrant.errors import InputError


def sql_table(connection: Any, table: str | None = None, *, query: str | None = None) -> Table:
    """Return a table of a database, or the result of a query, to stand where a table is asked for.

    What is asked of it is a few sums, each a ``GROUP BY`` that runs in the database. Its rows do
    not leave it, but for those in the few cells of the diagram that must be looked into.

    Parameters
    ----------
    connection : str, or a URL, Engine or Connection of SQLAlchemy
        Where the table is. From a URL or an engine a connection of its own is opened, which
        ends with the table; in PostgreSQL it only reads, and sees the rows as they are now. Your
        own connection is used as it is: for all queries to see the same rows, begin a
        transaction with REPEATABLE READ.
    table : str, optional
        The name of a table or view, which may have its schema before it, as in ``risk.scores``.
    query : str, optional
        A SELECT instead. A parser reads it before the database does: what writes, locks, or is
        not understood is refused, and its comments are left out.

    Returns
    -------
    Table
        For `Predictions`, `audit` and `compare`, with the names of its columns.

    Raises
    ------
    ValueError
        If the database cannot be reached or refuses: with its own words, but never a password.

    Notes
    -----
    It takes ``pip install 'calibrant[sql]'`` and the driver of the database. Tested with
    PostgreSQL (psycopg) and SQLite; others need floor, ln and exp.

    Examples
    --------
    >>> import calibrant as cb
    >>> import sqlalchemy as sa
    >>> engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    >>> with engine.begin() as connection:
    ...     _ = connection.execute(sa.text("CREATE TABLE scores (churned INTEGER, p REAL)"))
    ...     rows = [{"y": 0, "p": 0.2}, {"y": 1, "p": 0.7}, {"y": 1, "p": 0.9}]
    ...     _ = connection.execute(sa.text("INSERT INTO scores VALUES (:y, :p)"), rows)
    >>> table = cb.sql_table(engine, "scores")
    >>> cb.calibration_error(cb.Predictions(table, label="churned", prob="p"))
    0.1333...
    """
    if (table is None) == (query is None):
        raise _table_or_query()
    for name, text in {"table": table, "query": query}.items():
        if text is not None and not isinstance(text, str):
            raise _not_a_name(name, type(text).__name__)
    if isinstance(connection, str) and not is_text(connection):
        raise refusals.url_unreadable()
    require("sqlalchemy", "sql")
    if query is not None:
        require("sqlglot", "sql")  # before anything is opened
    from calibrant.data.engine.sql import open_select

    return open_select(connection, table, query)


def _not_a_name(name: str, kind: str) -> InputError:
    return InputError(f"{name} must be a text, but is of type {kind}.")


def _table_or_query() -> InputError:
    return InputError("Give either the name of a table or query=, a SELECT; not both, not neither.")
