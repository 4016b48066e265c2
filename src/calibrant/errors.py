"""Errors: what is raised, the checks of arguments that packages share, and parts of messages.

A message says which argument, the rule, what was found and in which row, and the way out. It stands
next to what raises it; those of data, which arrays and engines share, stand in `data.refusals`.
"""

from __future__ import annotations

import difflib
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeGuard

import numpy as np

from calibrant._text import MOST_OF_MESSAGE, MOST_OF_VALUE, bounded, named, shown

#: The most entries of a table that is made for an argument, such as its bins.
MOST_ENTRIES = 10_000_000
#: The most rows or draws that anybody waits for.
MOST_DRAWS = 1_000_000_000

#: Characters that are shown of a path.
_LONGEST_PATH = 240
#: Words that one is compared with, which takes a millisecond each if they are long.
_MOST_COMPARED = 1000
_NUMBER = (int, float, np.integer, np.floating)
#: Costs, and the number of decisions, at most: their products are still doubles.
MOST_COST = 1e100


class InputError(ValueError):
    """The input breaks a rule; the message names it and the way out.

    Whatever went into the message, it is one line of visible text, under 2,000 characters.

    Examples
    --------
    >>> import calibrant as cb
    >>> try:
    ...     cb.calibration_error([0, 1], [0.2, 1.5])
    ... except cb.InputError as error:
    ...     print("Refused:", error)
    Refused: y_prob must lie between 0 and 1, but 1 row does not...
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(bounded(text))


class TallyHidesError(InputError):
    """A tally does not give `what` exactly."""

    what = ""


class WriteError(InputError, OSError):
    """A file could not be written; everything is as it was before."""


@dataclass(frozen=True)
class Names:
    """What the user calls each column: arguments in Python, columns of a file elsewhere."""

    label: str = "y_true"
    prob: str = "y_prob"
    weight: str = "sample_weight"
    clusters: str = "clusters"


def row_count(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def first_row(row: int | None, before: str = ", first at") -> str:
    """Name the first row at fault; engines whose rows have no order name none."""
    return "" if row is None else f"{before} row {row} (0-based)"


def listing(values: Iterable[object], most: int = 8, show: Callable[[object], str] = named) -> str:
    given = list(values)
    more = f", ... ({len(given) - most} more)" if len(given) > most else ""
    return ", ".join(map(show, given[:most])) + more


def path_shown(path: str) -> str:
    """Quote a path, of which more is shown than of a value: its end says which file it is."""
    return shown(path, _LONGEST_PATH)


def check_no_file_name(text: object, kind: str, way_out: str) -> None:
    """Refuse a path, or what looks like one, where the text of a file is asked for."""
    line = text if isinstance(text, str) and len(text) <= _LONGEST_PATH else ""
    plain = line.isprintable() and not set(line) & {"{", "["}
    if isinstance(text, PurePath) or (plain and (set(line) & {"/", "\\"} or PurePath(line).suffix)):
        raise InputError(
            f"This is not a {kind} that calibrant can read: from_json takes its text, and "
            f"{path_shown(str(text))} looks like the name of a file. {way_out}"
        )


def place_shown(path: str) -> str:
    """Name where rows come from: a path, a pattern, or words such as "the query"."""
    return named(path, _LONGEST_PATH)


def engine_words(why: str) -> str:
    """Return the first lines of what an engine says, as one."""
    lines = [line.strip() for line in why[: 8 * MOST_OF_MESSAGE].splitlines() if line.strip()]
    return named(" ".join(lines[:4]), 1000)


def near_words(
    word: object, words: Iterable[object], most: int = 1, cutoff: float = 0.6
) -> list[str]:
    """Return the words that a word may have been meant to be; long ones by their beginnings."""
    compared = itertools.islice(words, _MOST_COMPARED)
    known = {named(one)[:MOST_OF_VALUE]: str(one) for one in compared}
    near = difflib.get_close_matches(named(word)[:MOST_OF_VALUE], known, n=most, cutoff=cutoff)
    return [known[one] for one in near]


def out_of_range(name: str, rule: str, value: object) -> InputError:
    return InputError(f"{name} must be {rule}, but it is {shown(value)}.")


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return an argument that must be a whole number; refuse True, 2.0 and "2"."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        # a limit that guards memory is of no interest to those who are not past it
        past = most is not None and (most < MOST_ENTRIES or (number is not None and number > most))
        rule = f"between {least} and {most}" if past else f"{least} or more"
        raise out_of_range(name, f"a whole number, {rule}", value)
    return number


def is_number(value: object) -> TypeGuard[float]:
    """Say whether a value is one number; numpy takes a span of time for one."""
    return isinstance(value, _NUMBER) and not isinstance(value, np.timedelta64)


def number_between(name: str, value: object, low: float, high: float) -> float:
    """Return an argument that must be a number in [low, high]."""
    if is_number(value) and low <= value <= high:
        return float(value)
    raise out_of_range(name, f"a number between {low:g} and {high:g}", value)


def share(name: str, value: object) -> float:
    """Return an argument that must be a number between 0 and 1."""
    return number_between(name, value, 0, 1)


def inner_share(name: str, value: object) -> float:
    """Return an argument that must lie strictly between 0 and 1, such as a confidence."""
    # as a double, because a number that is wider or narrower may be rounded to 0 or 1
    if is_number(value) and 0 < value < 1 and 0 < float(value) < 1:
        return float(value)
    percent = is_number(value) and 1 < value < 100
    hint = f" For {value}% write {float(str(value)) / 100:g}." if percent else ""
    raise InputError(
        f"{name} must be a number strictly between 0 and 1, but it is {shown(value)}.{hint}"
    )


def is_single(value: object) -> bool:
    """Say whether an argument is one value, and not a list, an array or a table of them."""
    try:
        return np.ndim(value) == 0  # type: ignore[arg-type]
    except Exception:  # lists of different length, and objects that raise what they like
        return False


def finite_number(name: str, value: object, rule: str = "a finite number") -> float:
    """Return an argument that must be one finite number, of any kind."""
    try:
        number = float(value) if is_single(value) else math.nan  # type: ignore[arg-type]
    except Exception:  # 10**400 is past every double, and objects raise what they like
        number = math.nan
    if math.isfinite(number):
        return number
    raise out_of_range(name, rule, value)


def text_or_none(name: str, value: object) -> str | None:
    """Return an argument that must be text, or None."""
    if value is None or isinstance(value, str):
        return value
    raise out_of_range(name, "text, or None", value)


def switch(name: str, value: object) -> bool:
    """Return an argument that must be True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise out_of_range(name, "True or False", value)


@contextmanager
def within_doubles(name: str) -> Iterator[None]:
    """Refuse numbers past the largest double in the words of calibrant, whoever meets them."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ArithmeticError:
        raise InputError(
            f"{name} must hold numbers that doubles can hold, at most 1.8e308 in size. "
            "Convert the column first."
        ) from None


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse an argument that is not one of some words; a table cannot be compared with them."""
    if not isinstance(value, str) or value not in allowed:
        raise not_among(name, value, allowed)


def clip_or_none(value: object) -> float | None:
    """Return an argument that moves scores into [clip, 1 - clip], or None, which leaves them."""
    if value is None:
        return None
    # below 1e-16 a double takes 1 - clip for 1, which has no log-odds
    if is_number(value) and 1e-16 <= value < 0.5:
        return float(value)
    raise InputError(
        "clip must be a number strictly between 0 and 0.5 (1e-16 or more), or None for scores as "
        f"they are, but it is {shown(value)}. With clip=0.001 a score of 0 counts as 0.001, and a "
        "score of 1 as 0.999."
    )


def not_among(name: str, value: object, allowed: Sequence[str]) -> InputError:
    near = near_words(value, allowed)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    return InputError(f"{name} must be one of {listing(allowed)}, but it is {shown(value)}.{hint}")


def not_for_clusters(what: str, instead: str) -> InputError:
    return InputError(
        f"{what} does not carry over to rows that come in clusters, which are not independent. "
        f"Use {instead}."
    )


def tally_hides(what: str) -> TallyHidesError:
    error = TallyHidesError(
        f"A tally holds no rows, and what it holds does not give {what} exactly. "
        "Pass the rows, or see what audit(tally) can say."
    )
    error.what = what
    return error


def needs_binary(what: str) -> InputError:
    return InputError(f"Labels must be 0/1 for {what}; soft labels are not outcomes.")


def model_lacks(name: str, kind: str, method: str) -> InputError:
    way_out = ""
    if method == "predict_proba":
        way_out = (
            f" A model of margins gets probabilities from CalibratedClassifier({name}).fit(X, y)."
        )
    return InputError(
        f"{name} must be a fitted classifier with {method}, but {kind} has none.{way_out}"
    )


def two_classes_only(kind: str) -> InputError:
    return InputError(
        f"Only binary classification is supported. The type of the target is {kind}. Turn y into "
        "one class against the rest, such as y == 'the class'."
    )
