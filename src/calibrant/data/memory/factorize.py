"""Factorize: the distinct values of a column, and which one each row holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._types import AnyArray, IntArray
from calibrant.data import refusals
from calibrant.data.groups import order_of, plain_value
from calibrant.data.memory.columns import Column, is_missing

#: Whole numbers within this range are told apart by place.
_RANGE = 1 << 20


def codes_of(column: Column) -> tuple[list[Any], IntArray]:
    """Return the distinct values in order, None for missing ones, and which one each row holds."""
    values, codes = _by_library(column) or by_chunks(column)
    values = [plain_value(value) for value in values]
    return in_order(values, codes, [order_of(value) for value in values])


def in_order(values: list[Any], codes: IntArray, keys: list[Any]) -> tuple[list[Any], IntArray]:
    """Sort values by their keys, and number them anew."""
    ordered = sorted(range(len(values)), key=keys.__getitem__)
    number = np.empty(len(values), dtype=np.int64)
    number[ordered] = np.arange(len(values))
    return [values[place] for place in ordered], number[codes]


def by_chunks(column: Column) -> tuple[list[Any], IntArray]:
    """Return the distinct values as they are met, None for missing ones, and each row's."""
    seen: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for start, values in column.chunks():
        part = codes[start : start + len(values)]
        if values.dtype.kind in "biu" and int(values.max()) - int(values.min()) < _RANGE:
            _by_place(values, part, seen)
        else:
            part[:] = _by_value(column.objects(start), seen, column.name)
    return list(seen), codes


def _by_place(values: AnyArray, codes: IntArray, seen: dict[Any, int]) -> None:
    """Give whole numbers of a small range, or truth values, their codes through a table."""
    kind = values.dtype
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    low = int(values.min())
    if values.dtype != np.uint64:  # whose largest fit no signed integer
        values = values.astype(np.int64)  # a narrow one would not hold the distances
    offset = (values - values.min()).astype(np.int64)
    table = np.zeros(int(offset.max()) + 1, dtype=np.int64)
    for place in np.flatnonzero(np.bincount(offset)).tolist():
        value = kind.type(place + low).item()
        table[place] = seen.setdefault(value, len(seen))
    codes[:] = table[offset]


def _by_value(values: AnyArray, seen: dict[Any, int], name: str) -> list[int]:
    """Give values their codes one by one."""
    values[is_missing(values)] = None
    try:
        return [seen.setdefault(value, len(seen)) for value in values.tolist()]
    except TypeError:  # lists and the like
        raise refusals.labels_not_plain(name) from None


def _by_library(column: Column) -> tuple[list[Any], IntArray] | None:
    """Let the library of a column of words or categories tell them apart, which is faster."""
    native = column.native
    library = type(native).__module__.partition(".")[0]
    if library == "pandas" and native.dtype.kind in "OUS":
        codes, values = native.factorize()
        return _with_missing(values.tolist(), codes)
    if library == "polars" and str(native.dtype).startswith(("String", "Categorical", "Enum")):
        words = native.cast(type(native)([""]).dtype)
        values = words.drop_nulls().unique(maintain_order=True)
        codes = words.replace_strict(values, range(len(values)), default=-1)
        return _with_missing(values.to_list(), codes.to_numpy())
    if library == "pyarrow" and hasattr(native, "dictionary_encode"):
        whole = native.dictionary_encode().combine_chunks()
        codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return _with_missing(whole.dictionary.to_pylist(), codes)
    return None


def _with_missing(values: list[Any], codes: AnyArray) -> tuple[list[Any], IntArray]:
    """Make None a value of its own where the code is -1; equal values get one code."""
    whole = codes.astype(np.int64)
    if (whole < 0).any():
        whole[whole < 0] = len(values)
        values = [*values, None]
    plain = [None if value != value else value for value in values]  # noqa: PLR0124 (NaN)
    # by value, because one may stand in several places of which some are not used
    used = {plain[place] for place in np.unique(whole).tolist()}
    kept = [value for value in dict.fromkeys(plain) if value in used]
    number = {value: place for place, value in enumerate(kept)}
    table = np.array([number.get(value, 0) for value in plain], dtype=np.int64)
    return kept, table[whole]
