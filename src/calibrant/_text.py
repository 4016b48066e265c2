"""Text that is safe to show: names, values and words that come from data, files or engines.

A name can hold anything: an escape sequence that rewrites the terminal, a mark that turns the
reading direction, a megabyte. What is shown of it is visible and short, in every output.
"""

from __future__ import annotations

import reprlib
import unicodedata
from collections.abc import Callable

#: Characters that are shown of one value, and of a whole message.
MOST_OF_VALUE, MOST_OF_MESSAGE = 80, 2000
#: Controls, formats (bidi and invisible marks), lone surrogates, separators of lines.
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
#: Formats that words of some languages, and emoji, are written with.
_JOINERS = "\u00ad\u200c\u200d"

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = MOST_OF_VALUE


def visible(text: str, keep: str = "") -> str:
    r"""Show what would move a cursor, change a colour or turn the reading direction by its code.

    Parameters
    ----------
    text : str
        Any text.
    keep : str
        Controls that stay as they are, such as the ends of lines.

    Examples
    --------
    >>> print(visible("red \x1b[31m, and back \u202e"))
    red \x1b[31m, and back \u202e
    """
    if text.isprintable():
        return text
    return "".join(one if one in keep or not _hidden(one) else _code(one) for one in text)


def _hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN and letter not in _JOINERS


def _code(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def named(value: object, most: int = MOST_OF_VALUE) -> str:
    """Return a name, or what an engine says, as part of a sentence: visible, and cut if long.

    Examples
    --------
    >>> named("income"), named("a" * 1000, most=8)
    ('income', 'aaaaaaaa... (1,000 characters)')
    """
    text = _written(str, value)
    found = visible(text[:most])
    whole = len(text) <= most and len(found) <= most
    return found if whole else f"{found[:most]}{_cut(text)}"


def shown(value: object, most: int = MOST_OF_VALUE) -> str:
    """Return a value as Python writes it, in quotes if it is a text: visible, and cut if long.

    Examples
    --------
    >>> print(shown("income"), shown(0.5), shown("a" * 1000, most=8))
    'income' 0.5 'aaaaaaaa'... (1,000 characters)
    """
    if type(value) is not str:
        return named(_written(_short.repr, value), most)
    found = repr(value[:most])
    # codes are longer than what they stand for, and may be cut once more
    whole = len(value) <= most and len(found) <= 2 * most
    return found if whole else f"{found[: 2 * most]}{_cut(value)}"


def bounded(text: str) -> str:
    """Return a whole message: visible, in one line, and short whatever went into it."""
    return named(text, MOST_OF_MESSAGE - len("... (1,000,000,000 characters)"))


def _cut(text: str) -> str:
    return f"... ({len(text):,} characters)"


def _written(how: Callable[[object], str], value: object) -> str:
    """Return a value as text; objects may refuse, as numbers of 10,000 digits do."""
    try:
        return how(value)
    except Exception:
        return f"<{type(value).__name__}>"
