"""Addresses: where a database is, and every text without the password that opens it.

Texts are scanned once from left to right, whatever is in them: they may come from a file.
"""

from __future__ import annotations

import os
import re

from calibrant._extras import require
from calibrant._text import named
from calibrant.data import refusals
from calibrant.errors import InputError

HIDDEN = "***"
_ENVIRONMENT = "env:"
_NAME = re.compile(r"[A-Za-z_]\w*")
#: What the user's part of an address may stand after; a path has lost a slash.
_MARK = re.compile(r":/{1,2}")
#: What ends a user's name; a colon, and a password follows.
_AFTER_USER = re.compile(r"[/?#@:]")
#: The name of a value in the query of an address, which ends at the next &.
_IN_QUERY = re.compile(r"[?&]\w*$")
_LONGEST = 40
#: Where an engine begins to show a part of a query.
_EXCERPT = re.compile(r"^LINE \d+:", re.MULTILINE)
_GAP = re.compile(r"[\s'\"]")
_SPACE = re.compile(r"\s")
_LETTER = re.compile(r"\w")
#: What is said to be a secret anywhere; in an address the = may be escaped.
_ASSIGNED = re.compile(
    r"(?:passw(?:or)?d|pwd|passphrase|token|secret(?:_?key)?|access_?key|account_?key|api_?key)"
    r"(?:['\"]?[ \t]{0,9}(?:=|%3D)|['\"]:)[ \t]{0,9}",
    re.IGNORECASE,
)
#: How a quoted value may begin, the longest first, and how it then ends: quotes are doubled in a
#: text of SQL, and escaped where a text is shown.
_QUOTES = {"''": "''", '""': '""', "\\'": "\\'", '\\"': '\\"', "'": "'", '"': '"', "{": "}"}


def url_from(text: str) -> str:
    """Return a URL as it is, or from the environment variable NAME if the text is env:NAME."""
    if not text.startswith(_ENVIRONMENT):
        return text
    name = text.removeprefix(_ENVIRONMENT)
    if not _NAME.fullmatch(name):  # perhaps an address, which is not to be shown
        raise refusals.url_unreadable()
    if not os.environ.get(name):
        raise _variable_unset(name)
    return os.environ[name]


def without_secrets(text: str) -> str:
    """Return any text without the passwords of addresses in it."""
    return _without_assigned(_without_users(text))  # a password may run over several lines


def words_without_secrets(words: str, query: str) -> str:
    """Return what an engine says about a query without the passwords in either.

    Of a query with a password nothing is quoted: what an engine shows may begin inside it.
    """
    if without_secrets(query) != query:
        words = _EXCERPT.split(words, maxsplit=1)[0]
    return without_secrets(words)


def shown_url(url: str) -> str:
    """Return a URL without the user's name, the password and all that comes after a ?."""
    if url.startswith(_ENVIRONMENT):
        return url if _NAME.fullmatch(url.removeprefix(_ENVIRONMENT)) else HIDDEN
    require("sqlalchemy", "sql")
    import sqlalchemy as sa

    if ambiguous(url):
        return HIDDEN
    try:
        full = sa.make_url(url)
        where = sa.URL.create(
            full.drivername, host=full.host, port=full.port, database=full.database
        )
        found = where.render_as_string()
    except (sa.exc.SQLAlchemyError, ValueError):
        return HIDDEN
    return HIDDEN if "@" in found else found  # else a part of a password


def ambiguous(url: str) -> bool:
    """Say whether there is more than one @ before any ?: the first belongs to a password."""
    return url.partition("?")[0].count("@") > 1


def password_in(url: str) -> str | None:
    """Return all that could be the password of an address, also where its marks are not escaped.

    It lies between the first colon after the user and the last @.
    """
    begin = _MARK.search(url)
    mark = None if begin is None else _AFTER_USER.search(url, begin.end())
    end = url.rfind("@")
    if mark is None or mark.group() != ":" or end < mark.end():
        return None
    return url[mark.end() : end]


def _without_users(text: str) -> str:
    """Return a text without what stands before the hosts of its addresses."""
    parts, done = [], 0
    last, gap, last_before_gap = text.rfind("@"), -1, -1
    begin = _MARK.search(text)
    while begin is not None and begin.end() <= last:
        start = begin.end()
        if start > gap:
            found = _GAP.search(text, start)
            gap = len(text) if found is None else found.start()
            last_before_gap = text.rfind("@", start, gap)
        known = _has_password(text, start)
        end = last if known else last_before_gap
        if known or _has_colon(text, start, end):
            parts += [text[done : begin.start()], f"://{HIDDEN}@"]
            done = start = end + 1
        begin = _MARK.search(text, start)
    return "".join([*parts, text[done:]])


def _has_password(text: str, start: int) -> bool:
    """Say whether a user and a colon begin here: then all up to the last @ may be a password."""
    mark = _AFTER_USER.search(text, start)
    return mark is not None and mark.group() == ":"


def _has_colon(text: str, start: int, end: int) -> bool:
    """Say whether a colon stands before an @ that no gap parts from it, and before any ?."""
    colon = text.find(":", start)  # at the latest in the next mark, so that all is read once
    return 0 <= colon < end and text.find("?", start, colon) < 0


def _without_assigned(text: str) -> str:
    """Return a text without the values that are said to be secrets."""
    parts, done = [], 0
    found = _ASSIGNED.search(text)
    while found is not None:
        begin = found.end()
        end = _end_of_value(text, found.start(), begin)
        parts += [text[done:begin], HIDDEN if end > begin else ""]
        done = end
        found = _ASSIGNED.search(text, end)
    return "".join([*parts, text[done:]])


def _end_of_value(text: str, name: int, begin: int) -> int:
    if _IN_QUERY.search(text[max(0, name - _LONGEST) : name]):
        end = text.find("&", begin)
        return len(text) if end < 0 else end
    quote = next((one for one in _QUOTES if text.startswith(one, begin)), None)
    if quote is not None:
        return _end_of_quoted(text, begin + len(quote), _QUOTES[quote])
    space = _SPACE.search(text, begin)
    return len(text) if space is None else space.start()


def _end_of_quoted(text: str, begin: int, closing: str) -> int:
    """Return where a quoted value ends: at the end of a text that was cut, or is malformed.

    A quote that is doubled, escaped, or before a letter, is part of the value.
    """
    place = text.find(closing, begin)
    while place >= 0:
        after = place + len(closing)
        if text.startswith(closing, after):
            after += len(closing)
        elif (text[place - 1] != "\\" or place == begin) and not _LETTER.match(text, after):
            return after
        place = text.find(closing, after)
    return len(text)


def _variable_unset(name: str) -> InputError:
    return InputError(
        f'url="env:{named(name)}" asks for the environment variable {named(name)}, '
        f"which is not set: export {named(name)}=postgresql+psycopg://..."
    )
