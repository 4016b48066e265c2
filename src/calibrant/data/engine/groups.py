"""Grouped frames: rows of a lazy table, split by the values of columns, in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import narwhals as nw  # the kinds of columns
import numpy as np

from calibrant._text import shown
from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.core.expressions import Expression, col, how_many, kept
from calibrant.core.tally import Cells, Totals
from calibrant.data import refusals
from calibrant.data.engine.aggregate import Placed, cell_of, decoded, listed, points, pooled, summed
from calibrant.data.engine.group_keys import Joint, Mark, Numbers, Texts, Words
from calibrant.data.engine.source import FrameSource, check_same
from calibrant.data.engine.table import Fetched, Table
from calibrant.data.grouped_cells import order_in_groups
from calibrant.data.groups import (
    LEAST_ROWS,
    Split,
    View,
    name_values,
    order_of,
)
from calibrant.data.memory.columns import numbers
from calibrant.errors import InputError

#: Combinations are numbered anew when they pass this.
_MANY = 1 << 40
#: Rows that are fetched one by one rather than pooled.
_LISTED = 1 << 21
#: Numbers below this are looked up in a table.
_LOOKED_UP = 1 << 22


class GroupedFrames:
    """Rows of a FrameSource, and their group columns.

    A value is known in the engine by a mark, a whole number or a text.
    """

    finest = 2
    #: Sum of the squared scores of each combination, or None if it comes with the tally.
    _ff: FloatArray | None

    def __init__(self, source: FrameSource, names: Sequence[str]) -> None:
        self._source = source
        by = {f"by{k}": name for k, name in enumerate(names)}
        rows = source.read(by)
        kinds = rows.kinds
        for k, name in enumerate(names):
            _check_kind(kinds[f"by{k}"], name)
        self.splits: list[Split] = []
        codes: dict[str, Expression] = {}
        self._marks: list[list[Mark]] = []
        for k, name in enumerate(names):
            kind = kinds[f"by{k}"]
            coding = _coding(kind)
            found, others = self._named(rows, k, coding)
            if not coding.fits(found):
                coding = Texts(kind)
                found, others = self._named(rows, k, coding)
            self.splits.append(Split(name, [coding.value(one) for one in found], others))
            rows, column, marks = _marked(rows, k, coding, found, pooled=others > 0)
            codes[f"c{k}"] = column
            self._marks.append(marks)
        self._columns = tuple(codes)
        columns = ["f", "y", *(["w"] if source.weighted else []), *self._columns]
        self._rows = rows.with_columns(**codes).select(**kept(*columns))
        squared = self._rows.with_columns(ff=col("f").squared())
        squares = {"ff": col("ff").sum()} if source.plain else {}
        counts = squared.grouped(self._columns, **self._counts(), **squares).fetch()
        codes_found = self._codes(counts, range(len(names)))
        order = np.lexsort(codes_found.T[::-1])
        self.combos = codes_found[order]
        self.rows: IntArray = numbers(counts["n"], 0, "n").astype(np.int64)[order]
        self.sizes: IntArray = numbers(counts["size"], 0, "size").astype(np.int64)[order]
        # of each combination, not of each of its cells: those would take longer to add up
        self._ff = numbers(counts["ff"], 0, "ff")[order] if source.plain else None
        check_same(self.rows, source.facts.counted)

    def _counts(self) -> dict[str, Expression]:
        """Count rows, and what they stand for if weights are whole numbers."""
        source = self._source
        whole = source.weighted and source.facts.whole_weights
        return {"n": how_many(), "size": col("w").sum() if whole else how_many()}

    def _named(self, rows: Table, k: int, coding: Numbers | Texts) -> tuple[list[Any], int]:
        """Return what stands for itself, in order of value, and how many do not."""
        told = rows.with_columns(one=coding.told(col(f"by{k}")))
        each = told.grouped(["one"], **self._counts())
        distinct = int(each.number(how_many()))
        found = each.filter(col("size") >= LEAST_ROWS).select(**kept("one", "size")).fetch()
        if len(found["one"]) == distinct - 1:  # the last one may keep its name
            found = each.select(**kept("one", "size")).fetch()
        ones = found["one"].tolist()
        values = [coding.value(one) for one in ones]
        order = sorted(range(len(values)), key=lambda place: order_of(values[place]))
        sizes = numbers(found["size"], 0, "size").astype(np.int64)[order]
        named = [order[place] for place in name_values(sizes)[0]]
        return [ones[place] for place in named], distinct - len(named)

    @classmethod
    def stacked(
        cls,
        source: FrameSource,
        rows: Table,
        name: str,
        values: list[str],
        texts: list[str],
    ) -> GroupedFrames:
        """Return rows that stand once for each of some values, whose texts are in column c0."""
        found = cls.__new__(cls)
        found._source, found._rows = source, rows
        found.splits, found._marks = [Split(name, list(values), 0)], [[*texts, Texts.pooled]]
        found._columns, found._ff = ("c0",), None
        found.combos = np.arange(len(values))[:, None]
        found.rows = np.full(len(values), source.facts.counted)
        found.sizes = found.rows
        return found

    def tally(self, level: int) -> tuple[IntArray, Cells, list[Totals]]:
        """Tally all rows in one pass."""
        plain, weighted = self._source.plain, self._source.weighted
        placed, bits = _Stacked(level), level + int(plain)
        ask = partial(
            summed,
            placed=placed,
            plain=plain,
            weighted=weighted,
            squares=self._ff is None,
            ends=self._source.often_tied,
        )
        joint = Joint(self._marks, bits)
        if joint.whole:  # one number to group by is faster than several
            rows = self._rows.with_columns(group=joint.group(self._columns))
            answer = ask(rows, joint=joint).fetch()
            # never as doubles, which do not hold every whole number
            marks, key = joint.parted(answer["key"].astype(np.int64))
            answer |= dict(zip(self._columns, marks, strict=True))
        else:
            answer = ask(self._rows, by=self._columns).fetch()
            key = numbers(answer["key"], 0, "key").astype(np.int64)
        combo = self._places(self._codes(answer, range(len(self._columns))))
        sums = {name: answer[name] for name in answer.keys() - {"key", *self._columns}}
        found = {name: numbers(values, 0, name) for name, values in sums.items()}
        slot, cells = decoded(key + (combo << bits), found, placed, plain=plain)
        check_same(cells.rows, self.rows)
        combo_of_cell = slot >> level
        return combo_of_cell, cells, self._totals(combo, found, combo_of_cell, cells)

    def _totals(
        self, combo: IntArray, found: dict[str, FloatArray], combo_of_cell: IntArray, cells: Cells
    ) -> list[Totals]:
        facts, combos = self._source.facts, len(self.rows)
        ff = np.bincount(combo, found["ff"], combos) if self._ff is None else self._ff
        if self._source.plain:
            yy = np.bincount(combo_of_cell, cells.positives, combos)
            fy = yy - np.bincount(combo_of_cell, cells.rise, combos)
        else:
            fy, yy = (np.bincount(combo, found[name], combos) for name in ("fy", "yy"))
        return [
            Totals(float(a), float(b), float(c), facts.binary, facts.whole_weights)
            for a, b, c in zip(ff, fy, yy, strict=True)
        ]

    def opened(self, view: View, level: int, group: IntArray, wanted: Cells) -> Cells:
        """Pool by score the rows in some cells of some groups of a view, given in order of both."""
        columns = tuple(f"c{k}" for k in view.columns)
        joint = Joint([self._marks[k] for k in view.columns], level)
        rows = self._rows.with_columns(cell=cell_of(level), group=joint.group(columns))
        rows = rows.with_columns(key=joint.key())
        keys: list[Mark] = []
        wholes: list[Table] = []
        begin = np.flatnonzero(np.diff(group, prepend=-1))
        for number, cells in zip(group[begin], np.split(wanted.cell, begin[1:]), strict=True):
            members = [joint.group_of(codes) for codes in view.members[number].tolist()]
            if len(members) == 1:
                keys += [joint.key_of(members[0], cell) for cell in cells.tolist()]
            else:  # small groups that are pooled, too many to be joined with every cell
                wholes.append(rows.keep_in("group", members).keep_in("cell", cells.tolist()))
        parts = [*wholes, *([rows.keep_in("key", keys)] if keys else [])]
        ask = pooled if int(wanted.rows.sum()) > _LISTED else listed
        queries = [ask(part, weighted=self._source.weighted, by=columns) for part in parts]
        answers = [query.fetch() for query in queries]
        whole = {name: np.concatenate([one[name] for one in answers]) for name in answers[0]}
        group = self._group_in(view, self._codes(whole, view.columns))
        found = {name: numbers(whole[name], 0, name) for name in whole.keys() - {*columns}}
        return points(found, *order_in_groups(group, found["f"], len(view)))

    def _group_in(self, view: View, codes: IntArray) -> IntArray:
        """Return the group of a view that rows with these codes are in."""
        combos = np.unique(self.combos[:, view.columns], axis=0)
        sizes = [len(members) for members in view.members]
        group_of = np.empty(len(combos), dtype=np.int64)
        places = _places(combos, np.concatenate(view.members))
        group_of[places] = np.repeat(np.arange(len(view)), sizes)
        return group_of[_places(combos, codes)]

    def alone(self, view: View, group: int) -> FrameSource:
        """Return the rows of one group as a source of its own."""
        joint = Joint([self._marks[k] for k in view.columns])
        members = [joint.group_of(codes) for codes in view.members[group].tolist()]
        columns = tuple(f"c{k}" for k in view.columns)
        rows = self._rows.with_columns(group=joint.group(columns)).keep_in("group", members)
        return self._source.part(rows, int(view.rows[group]))

    def _codes(self, answer: Fetched, columns: Sequence[int]) -> IntArray:
        """Turn the marks of some columns into codes, a row each."""
        codes = [self._code(k, answer[f"c{k}"]) for k in columns]
        return np.stack(codes, axis=1)

    def _code(self, k: int, found: AnyArray) -> IntArray:
        marks = self._marks[k]
        if isinstance(marks[0], int):
            whole = numbers(found, 0, "mark").astype(np.int64)
            codes: IntArray = _looked_up(np.array(marks), whole)
            same = bool((np.array(marks)[codes] == whole).all())
        else:
            code_of = {mark: code for code, mark in enumerate(marks)}
            codes = np.array([code_of.get(mark, -1) for mark in found.tolist()], dtype=np.int64)
            same = bool((codes >= 0).all())
        if self.splits[k].pooled == 0:  # then no value may be among those pooled
            same = same and not bool((codes == len(marks) - 1).any())
        if not same:  # a collation that takes different texts for the same
            raise _groups_unstable(self.splits[k].name)
        return codes

    def _places(self, codes: IntArray) -> IntArray:
        return _places(self.combos, codes)


def _places(combos: IntArray, codes: IntArray) -> IntArray:
    """Find rows of codes among sorted ones."""
    key = np.zeros(len(combos) + len(codes), dtype=np.int64)
    for column in range(combos.shape[1]):
        both = np.concatenate([combos[:, column], codes[:, column]])
        key = key * (int(both.max()) + 1) + both
        if int(key.max()) >= _MANY:  # numbered anew, or there would be more than numbers go
            key = np.unique(key, return_inverse=True)[1].ravel()
    return _looked_up(key[: len(combos)], key[len(combos) :])


def _looked_up(known: IntArray, wanted: IntArray) -> IntArray:
    """Return the place of each number among known ones; any place if it is not there."""
    most = int(known.max())
    places: IntArray = np.arange(len(known))
    if most < _LOOKED_UP:
        table = np.zeros(most + 1, dtype=np.int64)
        table[known] = places
        places = table[wanted.clip(0, most)]
    else:
        order = np.argsort(known)
        places = order[np.searchsorted(known[order], wanted).clip(max=len(known) - 1)]
    return places


class _Stacked(Placed):
    """Cells of many combinations, one after another."""

    def named(self, slot: IntArray) -> tuple[IntArray, IntArray]:
        """Return the level and the cell of some slots."""
        return np.full(len(slot), self._level), slot & ((1 << self._level) - 1)


def _coding(kind: Any) -> Numbers | Texts:
    if Numbers.suit(kind):
        return Numbers()
    return Words(kind) if Words.suit(kind) else Texts(kind)


def _marked(
    rows: Table, k: int, coding: Numbers | Texts, found: list[Any], *, pooled: bool
) -> tuple[Table, Expression, list[Mark]]:
    """Return rows and how to mark them, and the marks of the values and of those pooled."""
    column = col(f"by{k}")
    if isinstance(coding, Words):
        coded = rows.coded_words(f"by{k}", coding.words(found), f"word{k}")
        if coded is not None:
            return coded, *coding.marked_by_code(column, col(f"word{k}"), found)
    return rows, *coding.marked(column, found, pooled=pooled)


def _check_kind(kind: Any, name: str) -> None:
    """Refuse columns of lists and the like, whose values are no groups."""
    words = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date, nw.Datetime)
    if not (kind.is_numeric() or any(kind == word for word in words)):
        raise refusals.labels_not_plain(f"by column {shown(name)}")


def _groups_unstable(name: str) -> InputError:
    return InputError(
        f"The engine does not tell the values of by column {shown(name)} apart the same way each "
        "time. A collation such as NOCASE does that: cast the column to text without it."
    )
