"""Statements: that a query is one SELECT is said by a parser, before a server sees any of it.

What is sent is made of the words that the parser saw, without comments, and is what was checked.
Where a server could still see other words, because it may be set to read a mark in two ways, the
query is refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from calibrant import errors
from calibrant._extras import require
from calibrant.data import refusals
from calibrant.errors import InputError

#: The parser's names of databases, where SQLAlchemy has another one.
_DIALECTS = {
    "postgresql": "postgres",
    "cockroachdb": "postgres",
    "mariadb": "mysql",
    "mssql": "tsql",
    "awsathena": "athena",
}
#: Databases that have no mark to escape a quote with: a text is read in one way only.
_PLAIN_QUOTES = {"sqlite", "mssql", "oracle"}
#: Databases whose other marks the parser knows.
_KNOWN = {*_PLAIN_QUOTES, "postgresql", "mysql", "mariadb", "snowflake", "bigquery", "duckdb"}
#: What a server may read in another way than the parser, wherever it stands.
_TWO_WAYS = {
    "a NUL character": re.compile("\0"),
    "a text between dollar signs: write it between ' and '": re.compile(
        r"\$[\w\x80-\U0010ffff]*\$"
    ),
    "a comment that MySQL runs, /*!": re.compile(r"/\*M?!"),
}
_ESCAPED = re.compile(r"\\['\"`]")
#: Names of things that a SELECT has no use for, by their classes in the parser.
_WRITES = (
    "Command",
    "Into",
    "Lock",
    "DML",
    "DDL",
    "Copy",
    "Set",
    "Pragma",
    "Semicolon",
    "NextValueFor",
)
_SELECTS = ("Select", "SetOperation", "Union", "Except", "Intersect", "Subquery", "Values")
#: Locks that SQL Server is asked for by name, or holds on to for a level of isolation. They may
#: stand without WITH, where some releases of the parser take them for something else.
_LOCKING = re.compile(r"(UPD|X|TAB|PAG|ROW|HOLD|READCOMMITTED)LOCKX?|SERIALIZABLE|REPEATABLEREAD")


def one_select(query: str, kind: str, engine: str) -> str:
    """Return a query without its comments, or refuse what is not one SELECT.

    Parameters
    ----------
    query : str
        What the user wrote.
    kind, engine : str
        The database, as SQLAlchemy writes it, and as people do.
    """
    require("sqlglot", "sql")
    _refuse_two_ways(query, kind)
    with _silent():
        try:
            text, trees = _parsed(query, _dialect_of(kind))
        except errors.InputError:
            raise
        except Exception as error:  # a parser that fails in any way has not understood it
            raise _query_not_parsed(engine, _why(error)) from None
    if len(trees) != 1:
        raise refusals.not_a_select("It holds several statements." if trees else "It is empty.")
    _check_tree(trees[0])
    return text


def _refuse_two_ways(query: str, kind: str) -> None:
    for what, pattern in _TWO_WAYS.items():
        if pattern.search(query):
            raise _query_in_two_ways(what)
    if kind not in _PLAIN_QUOTES and _ESCAPED.search(query):
        raise _query_in_two_ways("a backslash before a quote: write a quote as ''")
    if _dialect_of(kind) == "mysql" and re.search(r"--[^\s]", query):
        raise _query_in_two_ways("-- without a space after it")
    if kind == "oracle" and re.search(r"\bn?q'", query, re.IGNORECASE):
        raise _query_in_two_ways("a text that begins with q'")
    if kind not in _KNOWN and re.search(r"[\\#`]", query):
        raise _query_in_two_ways("one of the marks \\ # and `")


def _dialect_of(kind: str) -> str | None:
    from sqlglot.dialects.dialect import Dialect

    name = _DIALECTS.get(kind, kind)
    return name if Dialect.get(name) is not None else None


def _parsed(query: str, dialect: str | None) -> tuple[str, list[Any]]:
    """Return the words of a query without its comments, and what the parser makes of them."""
    import sqlglot

    words = _words(query, sqlglot.tokenize(query, read=dialect))
    if dialect == "tsql" and any(_LOCKING.fullmatch(word.upper()) for word in words):
        raise refusals.not_a_select("It holds a lock.")
    text = "".join(words)
    seen = sqlglot.tokenize(text, read=dialect)
    if any(token.comments for token in seen) or len(seen) * 2 != len(words):
        raise ValueError("its words cannot be told apart")
    return text, sqlglot.parse(text, read=dialect) if seen else []


def _words(query: str, tokens: list[Any]) -> list[str]:
    """Return each word after what is before it, which is white space and in place of a comment."""
    while tokens and tokens[-1].token_type.name == "SEMICOLON":
        tokens.pop()
    words, done = [], 0
    for token in tokens:
        if token.token_type.name in {"HINT", "INTO"}:
            raise refusals.not_a_select(f"It holds {_NAMES[token.token_type.name]}.")
        gap = query[done : token.start]
        words += [gap if not gap.strip() else "\n", query[token.start : token.end + 1]]
        done = token.end + 1
    return words


#: What is refused, in words.
_NAMES = {
    "HINT": "a hint, /*+",
    "INTO": "INTO",
    "Into": "INTO",
    "Lock": "a lock, such as FOR UPDATE",
    "Insert": "an INSERT",
    "Update": "an UPDATE",
    "Delete": "a DELETE",
    "Merge": "a MERGE",
    "Copy": "a COPY",
}


def _check_tree(tree: Any) -> None:
    """Refuse anything but a SELECT, at the top and in every WITH; and what writes or locks."""
    from sqlglot import exp

    selects = tuple(getattr(exp, name) for name in _SELECTS if hasattr(exp, name))
    writes = tuple(getattr(exp, name) for name in _WRITES if hasattr(exp, name))
    for node in tree.walk():
        inner = node.this if isinstance(node, exp.CTE) else None
        if isinstance(node, writes) or (node is tree and not isinstance(node, selects)):
            raise _refused(node)
        if inner is not None and not isinstance(inner, selects):
            raise _refused(inner)
        if isinstance(node, (exp.Placeholder, exp.Parameter)):
            raise refusals.not_a_select("It holds a parameter, such as ? or :x: write its value.")


def _refused(node: Any) -> errors.InputError:
    name = type(node).__name__
    return refusals.not_a_select(f"It holds {_NAMES[name]}." if name in _NAMES else "")


def _why(error: Exception) -> str:
    """Return what the parser said, without the query, which it would underline."""
    first = next(iter(getattr(error, "errors", None) or []), None)
    if isinstance(first, dict):
        return f"line {first['line']}, column {first['col']}: {first['description']}"
    return "a quote or a bracket may be missing"


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the parser from writing to the terminal what it does not know."""

    def nothing(_record: logging.LogRecord) -> bool:
        return False

    logger = logging.getLogger("sqlglot")
    logger.addFilter(nothing)
    try:
        yield
    finally:
        logger.removeFilter(nothing)


def _query_not_parsed(engine: str, why: str) -> InputError:
    return InputError(
        f"The query must be one SELECT, but it cannot be parsed as SQL of {engine} ({why}). If the "
        "database reads it, make a view of it there, and name that instead: table=."
    )


def _query_in_two_ways(what: str) -> InputError:
    return InputError(
        f"The query must be one SELECT beyond doubt, but it holds {what}. A database may read that "
        "in two ways. Or make a view of it there, and name that instead: table=."
    )
