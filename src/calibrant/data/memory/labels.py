"""Labels: what the values of a label column mean, and the column as 0/1 or as fractions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import AnyArray, BoolArray, FloatArray, IntArray
from calibrant.data import refusals
from calibrant.data.memory.columns import Column, Found, is_missing, numbers
from calibrant.errors import InputError

#: Labels in words that count as 0 and 1, as files and databases often have them.
ZERO_ONE = ("0", "1")
#: Kinds of arrays that hold no text: numbers, dates, bytes.
_NO_TEXT = "biufcmMSV"
#: Distinct values looked for before the message says "or more".
ENOUGH = 4


class Labels:
    """A label column that has been read once, so that its values are known to be in order.

    Attributes
    ----------
    first_fraction : (int, float) or None
        Row and value of the first label strictly between 0 and 1; None if labels are binary.
    """

    def __init__(self, column: Column, pos_label: object = None) -> None:
        self._column = column
        self._positive = 1 if pos_label is None else pos_label
        self.first_fraction: tuple[int, float] | None = None
        self._plain = False
        in_words = self._zero_one_in_words()
        if in_words:
            self._positive = as_word(self._positive)
        if pos_label is not None:
            self._read_two_values(self._positive)
        elif not in_words:
            self._read()

    @classmethod
    def plain(cls, column: Column) -> Labels:
        """Return labels that are known to be the numbers 0 and 1."""
        labels = cls.__new__(cls)
        labels._column, labels._positive = column, 1
        labels.first_fraction, labels._plain = None, True
        return labels

    @property
    def binary(self) -> bool:
        """Every label is one of two values; otherwise they are fractions in [0, 1]."""
        return self.first_fraction is None

    def chunk(
        self, start: int, row: IntArray | slice, rows: int | None = None
    ) -> FloatArray | BoolArray:
        """Return labels of the chunk at `start`: booleans if binary, else fractions."""
        values = self._column.chunk(start, rows)[row]
        if not self.binary:
            return numbers(values, start, self._column.name)
        if self._plain and values.dtype.kind in "bi" and isinstance(row, slice):
            return values  # a whole chunk is a view; rows picked out become a byte each
        return np.asarray(values == self._positive, dtype=bool)

    def _read(self) -> None:
        """Accept 0/1, -1/1 and fractions; anything else needs `pos_label`."""
        missing = Found()
        low, high = np.inf, -np.inf
        zero_one = signs = True
        for start, values in self._column.chunks():
            if values.dtype.kind not in "biuf":
                values = self._as_numbers(start, values)  # noqa: PLW2901
            if missing.see(start, is_missing(values), values):
                continue
            least, most = float(values.min()), float(values.max())
            low, high = min(low, least), max(high, most)
            signs = signs and least != 0 and bool((np.abs(values) == 1).all())
            zero_one = zero_one and least >= 0 and most <= 1 and _no_fraction(values)
            if not zero_one and self.first_fraction is None:
                self._note_fraction(start, values)
        self._refuse_missing(missing)
        self._plain = zero_one
        if zero_one or signs:
            return
        if low < 0 or high > 1:
            self._refuse_values()

    def _zero_one_in_words(self) -> bool:
        """Whether all labels are the texts "0" and "1", which count as the numbers."""
        for _, values in self._column.chunks():
            if values.dtype.kind in _NO_TEXT:
                return False
            try:
                words = {*values.tolist()} <= {*ZERO_ONE}
            except TypeError:  # lists and the like
                return False
            if not words:
                return False
        return True

    def _note_fraction(self, start: int, values: AnyArray) -> None:
        found = Found()
        if found.see(start, (values > 0) & (values < 1), values):
            self.first_fraction = (found.row, found.value)

    def _read_two_values(self, pos_label: object) -> None:
        """Accept `pos_label` and one other value, of any type."""
        check_event(pos_label)
        missing = Found()
        others: dict[object, None] = {}
        found = False
        for start, values in self._column.chunks():
            if missing.see(start, is_missing(values), values):
                continue
            positive = np.asarray(values == pos_label, dtype=bool)
            found = found or bool(positive.any())
            if len(others) < ENOUGH:
                others.update(self._distinct(values[~positive]))
        self._refuse_missing(missing)
        if len(others) > 1 and found:
            raise refusals.labels_not_binary(
                self._column.name, [pos_label, *ordered_values(others)]
            )
        if len(others) > 1:
            raise refusals.labels_lack_pos_label(
                self._column.name, pos_label, ordered_values(others)
            )
        if others and not found:
            refuse_lookalike(self._column.name, pos_label, next(iter(others)))

    def _as_numbers(self, start: int, values: AnyArray) -> FloatArray:
        """Numbers kept as objects become doubles; words need `pos_label`."""
        known = values[~is_missing(values)]
        if values.dtype.kind != "O" or any(isinstance(v, str | bytes) for v in known.tolist()):
            missing = Found()
            for first, chunk in self._column.chunks():
                missing.see(first, is_missing(chunk), chunk)
            self._refuse_missing(missing)
            self._refuse_values()
        return numbers(values, start, self._column.name)

    def _distinct(self, values: AnyArray) -> dict[object, None]:
        try:
            return dict.fromkeys(values.tolist())
        except TypeError:  # lists and the like
            raise refusals.labels_not_plain(self._column.name) from None

    def _refuse_missing(self, missing: Found) -> None:
        if missing.count:
            raise refusals.missing(self._column.name, missing.count, missing.row)

    def _refuse_values(self) -> NoReturn:
        seen: dict[object, None] = {}
        for _, values in self._column.chunks():
            seen.update(self._distinct(values))
            if len(seen) >= ENOUGH:
                break
        found = ordered_values(seen)
        if len(found) > 2:
            raise refusals.labels_not_binary(self._column.name, found)
        raise refusals.labels_need_pos_label(self._column.name, found)


def as_word(event: object) -> object:
    """Return the numbers 0 and 1 as they are written; other values are what they are."""
    number = isinstance(event, int | float | np.number)
    return str(int(event == 1)) if number and event in (0, 1) else event


def _no_fraction(values: AnyArray) -> bool:
    """Whether values in [0, 1] are all 0 or 1; whole numbers are."""
    return values.dtype.kind in "biu" or bool(((values == 0) | (values == 1)).all())


def check_event(pos_label: object) -> None:
    """Refuse a `pos_label` that is not one value."""
    one = errors.is_single(pos_label) and isinstance(pos_label, Hashable)
    if one and not isinstance(pos_label, np.ndarray):
        try:
            hash(pos_label)
        except TypeError:  # tables say that they can be hashed, and then do not
            one = False
    if not one or is_missing(np.array([pos_label], dtype=object)).any():
        raise _pos_label_kind(pos_label)


def refuse_lookalike(name: str, pos_label: object, other: object) -> None:
    """Refuse a `pos_label` that never occurs if it seems to mean the label that does."""
    words = isinstance(pos_label, str), isinstance(other, str)
    if words[0] != words[1] or str(pos_label).strip().lower() == str(other).strip().lower():
        raise refusals.labels_lack_pos_label(name, pos_label, [other])


def ordered_values(values: Any) -> list[object]:
    """Sorted where the values can be compared with each other, else as they came."""
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def _pos_label_kind(pos_label: object) -> InputError:
    return InputError(
        f"pos_label must be one label, but it is {shown(pos_label)}. Pass the value of the event."
    )
