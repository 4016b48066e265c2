"""Values: what columns of a file hold, as the numbers, labels and groups that they stand for."""

from __future__ import annotations

import re

import numpy as np

from calibrant._text import shown
from calibrant._types import AnyArray
from calibrant.data import refusals
from calibrant.data.engine.table import quoted
from calibrant.data.files.duckdb_tables import Duck
from calibrant.data.memory.columns import is_missing, unmasked

#: What groups may be of as they are; other values are groups by their text.
_PLAIN = re.compile(r"(U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|BOOLEAN|VARCHAR)$")
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\s*\d+\))$")
#: Words that DuckDB reads as truth values.
_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)


def fetched(duck: Duck, names: dict[str, str], most: int | None) -> dict[str, AnyArray]:
    """Fetch columns as arrays; numbers as doubles, words as Python strings."""
    select = [f"{expression_of(role, name, duck)} AS {role}" for role, name in names.items()]
    words = [role for role, name in names.items() if is_number(role) and is_text_column(duck, name)]
    select += [f"{quoted(names[role])} AS {role}_words" for role in words]
    found = duck.select(", ".join(select), "" if most is None else f"LIMIT {most}")
    for role in words:
        _refuse_words(found[role], found[f"{role}_words"], f"column {shown(names[role])}")
    return {
        role: _objects(found[role]) if role.startswith("by") else unmasked(found[role])
        for role in names
    }


def _objects(values: AnyArray) -> AnyArray:
    """Return groups as Python values: whole numbers next to missing ones stay whole."""
    if not np.ma.is_masked(values):
        return unmasked(values)
    plain = np.asarray(values.data).astype(object)
    plain[np.ma.getmaskarray(values)] = None
    return plain


def is_number(role: str) -> bool:
    """Whether a column of this role holds numbers."""
    return role == "weight" or role.startswith("prob")


def is_text_column(duck: Duck, name: str) -> bool:
    """Whether a column holds no numbers."""
    return _NUMBERS.match(duck.kinds[name]) is None


def expression_of(role: str, name: str, duck: Duck) -> str:
    """Say how a column is fetched: numbers as doubles, labels in words as text."""
    kind = duck.kinds[name]
    if role in {"clusters", "label"} and is_text_column(duck, name):
        return f"CAST({quoted(name)} AS VARCHAR)"
    if role.startswith("by"):
        plain = _PLAIN.match(kind) is not None
        return quoted(name) if plain else f"CAST({quoted(name)} AS VARCHAR)"
    if role == "clusters":
        return quoted(name)
    if role == "label" and not kind.startswith(("DECIMAL", "HUGEINT", "UHUGEINT")):
        return quoted(name)
    return f"TRY_CAST({quoted(name)} AS DOUBLE)"


def _refuse_words(numbers: AnyArray, words: AnyArray, name: str) -> None:
    """Refuse text that is no number, naming its first row."""
    failed = is_missing(unmasked(numbers)) & ~is_missing(unmasked(words).astype(object))
    if failed.any():
        row = int(np.argmax(failed))
        raise refusals.not_numeric(name, row, str(words[row]))


def refuse_words_in_engine(duck: Duck, name: str) -> None:
    """Refuse text that is no number, naming its first row."""
    column = quoted(name)
    found = duck.select(
        f"{column} AS word, row_number() OVER () - 1 AS row",
        f"QUALIFY TRY_CAST({column} AS DOUBLE) IS NULL AND {column} IS NOT NULL LIMIT 1",
    )
    if len(found["word"]):
        raise refusals.not_numeric(
            f"column {shown(name)}", int(found["row"][0]), str(found["word"][0])
        )


def refuse_other_words(duck: Duck, label: str, name: str) -> None:
    """Refuse a word next to true and false."""
    other = f"WHERE lower({label}) NOT IN ('true', 'false') LIMIT 4"
    words = duck.select(f"DISTINCT {label} AS label", other)["label"].tolist()
    if words:
        raise refusals.labels_not_binary(f"column {shown(name)}", ["false", "true", *words])


def truth_values(labels: AnyArray) -> AnyArray:
    """Turn true and false in words into truth values, missing ones staying so."""
    words = {"true": True, "false": False}
    if labels.dtype.kind != "O":
        return labels
    missing = is_missing(labels)
    read = [words.get(str(label).lower()) for label in labels.tolist()]
    if missing.all() or any(
        value is None and not gap for value, gap in zip(read, missing.tolist(), strict=True)
    ):
        return labels
    return np.array(read, dtype=object if missing.any() else bool)


def typed(pos_label: str | None, labels: AnyArray, name: str) -> object:
    """Read a label from the command line as the type of its column."""
    if pos_label is None:
        return None
    known = labels[~is_missing(labels)]
    first = known[:1].tolist()
    if first and isinstance(first[0], str):
        return pos_label
    try:
        if first and isinstance(first[0], bool):
            return _TRUTH[pos_label.lower()]
        return int(pos_label) if labels.dtype.kind in "iu" else float(pos_label)
    except (KeyError, ValueError):
        found = list(dict.fromkeys(known.tolist()))
        raise refusals.labels_lack_pos_label(f"column {shown(name)}", pos_label, found) from None
