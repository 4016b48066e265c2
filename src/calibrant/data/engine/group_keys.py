"""Group keys: how the values of a group column are known in an engine, as numbers or as texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

import narwhals as nw  # the kinds of columns
import numpy as np

from calibrant._types import IntArray
from calibrant.core.expressions import Expression, col, lit, text_of, when
from calibrant.data.groups import plain_value
from calibrant.data.memory.columns import is_missing

Mark: TypeAlias = int | str
#: What comes between the parts of a text.
_BETWEEN = "\x1f"
#: Whole numbers further apart than this are marked by their text.
_FAR = 1 << 40
#: Keys made of whole numbers must stay below this.
_MOST = 1 << 62


class Numbers:
    """Whole numbers: the distance from the least of them, from 2 on."""

    _missing, _pooled = 0, 1

    @staticmethod
    def suit(kind: Any) -> bool:
        """Say whether a column holds whole numbers that fit 64 bits with a sign."""
        wide = any(kind == one for one in (nw.UInt64, nw.UInt128, nw.Int128))
        return bool(kind.is_integer()) and not wide

    def told(self, column: Expression) -> Expression:
        """Return what tells values apart."""
        return column

    def value(self, one: Any) -> Any:
        """Read a value from what told it apart."""
        return None if is_missing(np.array([one], dtype=object))[0] else int(one)

    def fits(self, found: Sequence[Any]) -> bool:
        """Say whether the values lie close enough together."""
        known = [value for value in map(self.value, found) if value is not None]
        return not known or (max(known) - min(known) < _FAR and max(map(abs, known)) < _FAR)

    def marked(
        self, column: Expression, found: Sequence[Any], *, pooled: bool
    ) -> tuple[Expression, list[Mark]]:
        """Return the mark of each row, and the marks of the values and of those pooled."""
        values = [self.value(one) for one in found]
        low = min((value for value in values if value is not None), default=0)
        marks: list[Mark] = [self._missing if v is None else v - low + 2 for v in values]
        missing = lit(self._missing if None in values else self._pooled)
        gaps = pooled or None in values
        # pandas, in the workers of Dask, makes no whole number of what is missing
        given = when(column.is_null(), low, column) if gaps else column
        near = (given.whole() - low) + 2
        if pooled:
            known = column.is_in([value for value in values if value is not None])
            near = when(known, near, self._pooled)
        return when(column.is_null(), missing, near), [*marks, self._pooled]


class Texts:
    """Other values: their text with a sign before it, so that none is taken for another mark."""

    _missing, pooled = "?", "+"

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def told(self, column: Expression) -> Expression:
        """Return what tells values apart."""
        missing = column.is_null()
        if self._kind.is_float():
            missing = missing | column.is_nan()
            column = column.double()  # whose text says the value, not the nearest short one
            column = when(column == 0, 0.0, column)  # -0.0 is 0
        text = text_of("=", column.text())
        return when(missing, self._missing, text)

    def value(self, one: str) -> Any:
        """Read a value from what told it apart."""
        if one == self._missing:
            return None
        word = one[1:]
        if self._kind.is_integer():
            return int(word)
        if self._kind == nw.Boolean:
            return word.lower() in {"true", "1"}
        if self._kind.is_numeric():
            return float(word)
        return plain_value(datetime.fromisoformat(word)) if self._kind == nw.Datetime else word

    def fits(self, _found: Sequence[Any]) -> bool:
        """Say that every value has a text."""
        return True

    def marked(
        self, column: Expression, found: Sequence[Any], *, pooled: bool
    ) -> tuple[Expression, list[Mark]]:
        """Return the mark of each row, and the marks of the values and of those pooled."""
        marks = self.told(column)
        if pooled:
            known = marks.is_in(list(found))
            marks = when(known, marks, self.pooled)
        return marks, [*found, self.pooled]


class Words(Texts):
    """Words: their place among those that stand for themselves, which the engine looks up."""

    _missing_mark, _pooled_mark = 0, 1

    @staticmethod
    def suit(kind: Any) -> bool:
        """Say whether a column holds words."""
        return any(kind == one for one in (nw.String, nw.Categorical, nw.Enum))

    def words(self, found: Sequence[str]) -> list[str]:
        """Return the words among what told values apart."""
        return [self.value(one) for one in found if one != self._missing]

    def marked_by_code(
        self, column: Expression, code: Expression, found: Sequence[str]
    ) -> tuple[Expression, list[Mark]]:
        """Return the mark of each row from its word's place, and the marks of the values."""
        place = {word: mark for mark, word in enumerate(self.words(found), start=2)}
        marks: list[Mark] = [place.get(self.value(one), self._missing_mark) for one in found]
        no_word = self._missing_mark if self._missing in found else self._pooled_mark
        other = when(column.is_null(), no_word, self._pooled_mark)
        mark = when(code.is_null(), other, code + 2)
        return mark, [*marks, self._pooled_mark]


class Joint:
    """One key for the marks of some columns and a cell: a whole number, or a text."""

    def __init__(self, marks: list[list[Mark]], bits: int = 0) -> None:
        self._marks, self._bits = marks, bits
        whole = [[mark for mark in column if isinstance(mark, int)] for column in marks]
        self._sizes = [max(column, default=0) + 1 for column in whole]
        room = 1 << bits
        for size in self._sizes:
            room *= size
        self.whole = [len(c) for c in whole] == [len(c) for c in marks] and room < _MOST
        self._narrow = room < 1 << 31

    def group(self, columns: Sequence[str]) -> Expression:
        """Return the part of the key that says which group a row is in."""
        first, *others = (col(name) for name in columns)
        if self.whole:
            for size, other in zip(self._sizes[1:], others, strict=True):
                first = first * size + other
            return first
        if not others:
            return first.text()
        # the length of the first text says where the second one begins
        texts = first.text(), others[0].text()
        length = texts[0].characters().text()
        return text_of(length, text_of(*texts), between=_BETWEEN)

    def key(self) -> Expression:
        """Return the key of a row, from the columns `group` and `cell`."""
        group, cell = col("group"), col("cell")
        if self.whole:
            key = group * (1 << self._bits) + cell
            return key.whole(narrow=True) if self._narrow else key  # shorter keys are found faster
        return text_of(group, cell.text(), between=_BETWEEN)

    def group_of(self, codes: Sequence[int]) -> Mark:
        """Return what `group` gives for the codes of a group."""
        first, *second = (marks[code] for marks, code in zip(self._marks, codes, strict=True))
        if isinstance(first, int) and self.whole:
            return first * self._sizes[1] + int(second[0]) if second else first
        text = str(first)
        return f"{len(text)}{_BETWEEN}{text}{second[0]}" if second else text

    def key_of(self, group: Mark, cell: int) -> Mark:
        """Return the key of a group's cell."""
        return (
            (group << self._bits) + cell if isinstance(group, int) else f"{group}{_BETWEEN}{cell}"
        )

    def parted(self, key: IntArray) -> tuple[list[IntArray], IntArray]:
        """Take keys that are whole numbers apart: the mark of each column, and the cell."""
        group, marks = key >> self._bits, []
        for size in reversed(self._sizes):
            group, mark = np.divmod(group, size)
            marks.append(mark)
        return marks[::-1], key & ((1 << self._bits) - 1)
