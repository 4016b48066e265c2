"""Addresses: where a database is, and every text without the password that opens it."""

from __future__ import annotations

import os
import re

from calibrant import _checks
from calibrant._extras import require

_ENVIRONMENT = "env:"
#: What stands before the host of an address, and what is said to be a password anywhere.
_USER_INFO = re.compile(r":/{1,2}[^\s'\"?]*:[^\s'\"]*@")
_ASSIGNED = re.compile(r"\b(password|passwd|pwd|\w*token|\w*secret)=[^\s'\"&;]+", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*")


def url_from(text: str) -> str:
    """Return a URL as it is, or from the environment variable NAME if the text is env:NAME."""
    if not text.startswith(_ENVIRONMENT):
        return text
    name = text.removeprefix(_ENVIRONMENT)
    if not _NAME.fullmatch(name):  # perhaps an address, which is not to be shown
        raise _checks.url_unreadable()
    if not os.environ.get(name):
        raise _checks.variable_unset(name)
    return os.environ[name]


def without_secrets(text: str) -> str:
    """Return any text without the passwords of addresses in it."""
    return _ASSIGNED.sub(r"\1=***", _USER_INFO.sub("://***@", text))


def shown_url(url: str) -> str:
    """Return a URL without the user's name, the password and all that comes after a ?."""
    if url.startswith(_ENVIRONMENT):
        return url if _NAME.fullmatch(url.removeprefix(_ENVIRONMENT)) else "***"
    require("sqlalchemy", "sql")
    from calibrant.sources.database import place_of

    return place_of(url)
