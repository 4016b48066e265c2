"""Grouped frames: rows of a lazy table, split by the values of columns, in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np

from calibrant import _checks
from calibrant._types import FloatArray, IntArray
from calibrant.sources.columns import numbers
from calibrant.sources.engine import Fetched, keep_in
from calibrant.sources.frames import (
    FrameSource,
    Placed,
    cell_of,
    check_same,
    decoded,
    points,
    pooled,
    summed,
)
from calibrant.sources.groups import (
    LEAST_ROWS,
    Split,
    View,
    name_values,
    order_of,
    plain_value,
)
from calibrant.tally import Cells, Totals

#: The text of a group: a value has a mark before it, so that none can be taken for these.
_VALUE, _MISSING, _POOLED = "=", "?", "+"
#: What comes before the number of a cell.
_BETWEEN = "\x1f"


class GroupedFrames:
    """Rows of a FrameSource, and the group columns next to them.

    A value is known in the engine by its text, which every engine can compare, join and look up.
    """

    def __init__(self, source: FrameSource, names: Sequence[str]) -> None:
        self._source, self._run = source, source.run
        by = {f"by{k}": name for k, name in enumerate(names)}
        rows = source.read(by)
        kinds = rows.collect_schema()
        for k, name in enumerate(names):
            _check_kind(kinds[f"by{k}"], name)
        texts = {f"t{k}": _text(nw.col(f"by{k}"), kinds[f"by{k}"]) for k in range(len(names))}
        rows = rows.with_columns(**texts)
        self.splits: list[Split] = []
        codes: dict[str, nw.Expr] = {}
        self._texts: list[list[str]] = []
        for k, name in enumerate(names):
            values, named, others = self._named(rows, k, kinds[f"by{k}"])
            self.splits.append(Split(name, values, others))
            self._texts.append([*named, _POOLED])
            column = nw.col(f"t{k}")
            known = nw.when(column.is_in(named)).then(column).otherwise(nw.lit(_POOLED))
            codes[f"c{k}"] = known if others else column
        self._columns = tuple(codes)
        kept = ["f", "y", *(["w"] if source.weighted else [])]
        self._rows = rows.with_columns(**codes).select(*kept, *self._columns)
        found = self._run(self._rows.group_by(*self._columns).agg(*self._counts()))
        codes_found = self._codes(found, range(len(names)))
        order = np.lexsort(codes_found.T[::-1])
        self.combos = codes_found[order]
        self.rows: IntArray = numbers(found["n"], 0, "n").astype(np.int64)[order]
        self.sizes: IntArray = numbers(found["size"], 0, "size").astype(np.int64)[order]
        check_same(self.rows, source.facts.counted)

    def _counts(self) -> tuple[nw.Expr, nw.Expr]:
        """Count rows, and what they stand for if weights are whole numbers."""
        source = self._source
        whole = source.weighted and source.facts.whole_weights
        return nw.len().alias("n"), (nw.col("w").sum() if whole else nw.len()).alias("size")

    def _named(
        self, rows: nw.LazyFrame[Any], k: int, kind: Any
    ) -> tuple[list[Any], list[str], int]:
        """Return the values that stand for themselves, their texts, and how many do not."""
        each = rows.group_by(f"t{k}").agg(*self._counts())
        distinct = int(numbers(self._run(each.select(nw.len().alias("n")))["n"], 0, "n")[0])
        found = self._run(each.filter(nw.col("size") >= LEAST_ROWS).select(f"t{k}", "size"))
        texts = found[f"t{k}"].tolist()
        values = [_value(text, kind) for text in texts]
        order = sorted(range(len(texts)), key=lambda place: order_of(values[place]))
        sizes = numbers(found["size"], 0, "size").astype(np.int64)[order]
        named, _ = name_values(sizes)
        kept = [order[place] for place in named]
        return [values[p] for p in kept], [texts[p] for p in kept], distinct - len(kept)

    @classmethod
    def stacked(
        cls,
        source: FrameSource,
        rows: nw.LazyFrame[Any],
        name: str,
        values: list[str],
        texts: list[str],
    ) -> GroupedFrames:
        """Return rows that stand once for each of some values, whose texts are in column c0."""
        found = cls.__new__(cls)
        found._source, found._run, found._rows = source, source.run, rows
        found.splits, found._texts = [Split(name, list(values), 0)], [[*texts, _POOLED]]
        found._columns = ("c0",)
        found.combos = np.arange(len(values))[:, None]
        found.rows = np.full(len(values), source.facts.counted)
        found.sizes = found.rows
        return found

    def tally(self, level: int) -> tuple[IntArray, Cells, list[Totals]]:
        """Tally all rows in one pass."""
        plain, weighted = self._source.plain, self._source.weighted
        placed = _Stacked(level)
        query = summed(self._rows, placed, plain=plain, weighted=weighted, by=self._columns)
        answer = self._run(query)
        combo = self._places(self._codes(answer, range(len(self._columns))))
        found = {
            name: numbers(values, 0, name)
            for name, values in answer.items()
            if name not in self._columns
        }
        bits = level + int(plain)
        key = found["key"].astype(np.int64) + (combo << bits)
        cells = decoded(key, found, placed, plain=plain)
        check_same(cells.rows, self.rows)
        totals = self._totals(combo, found)
        return np.unique(key >> int(plain)) >> level, cells, totals

    def _totals(self, combo: IntArray, found: dict[str, FloatArray]) -> list[Totals]:
        facts, combos = self._source.facts, len(self.rows)
        ff = np.bincount(combo, found["ff"], combos)
        if self._source.plain:
            label = found["key"].astype(np.int64) & 1
            yy = np.bincount(combo, found["n"] * label, combos)
            fy = np.bincount(combo, found["fy"] * label, combos)
        else:
            fy, yy = (np.bincount(combo, found[name], combos) for name in ("fy", "yy"))
        return [
            Totals(float(a), float(b), float(c), facts.binary, facts.whole_weights)
            for a, b, c in zip(ff, fy, yy, strict=True)
        ]

    def opened(self, view: View, level: int, wanted: dict[int, Cells]) -> dict[int, Cells]:
        """Pool by score the rows in some cells of some groups of a view."""
        columns = tuple(f"c{k}" for k in view.columns)
        rows = self._rows.with_columns(cell=cell_of(level), group=_joined_text(columns))
        cell = nw.col("cell").cast(nw.String)
        rows = rows.with_columns(key=nw.concat_str(nw.col("group"), cell, separator=_BETWEEN))
        keys: list[str] = []
        wholes: list[nw.LazyFrame[Any]] = []
        for number, cells in wanted.items():
            texts = [self._joined(view, codes) for codes in view.members[number].tolist()]
            if len(texts) == 1:
                keys += [f"{texts[0]}{_BETWEEN}{cell}" for cell in cells.cell.tolist()]
            else:  # small groups that are pooled, too many to be joined with every cell
                wholes.append(keep_in(keep_in(rows, "group", texts), "cell", cells.cell.tolist()))
        parts = [*wholes, *([keep_in(rows, "key", keys)] if keys else [])]
        queries = [pooled(part, weighted=self._source.weighted, by=columns) for part in parts]
        answers = [self._run(query) for query in queries]
        whole = {name: np.concatenate([one[name] for one in answers]) for name in answers[0]}
        opened = self._by_group(view, whole, wanted)
        for number, cells in wanted.items():
            check_same(opened[number].rows, cells.rows)
        return opened

    def _by_group(self, view: View, answer: Fetched, wanted: dict[int, Cells]) -> dict[int, Cells]:
        combos = np.unique(self.combos[:, view.columns], axis=0)
        group_of = np.empty(len(combos), dtype=np.int64)
        for number, members in enumerate(view.members):
            group_of[_places(combos, members)] = number
        group = group_of[_places(combos, self._codes(answer, view.columns))]
        names = [name for name in ("f", "n", "positives", "weight") if name in answer]
        found = {name: numbers(answer[name], 0, name) for name in names}
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(len(view) + 1)).tolist()

        def inside(number: int) -> Cells:
            rows = order[ends[number] : ends[number + 1]]
            return points({name: values[rows] for name, values in found.items()})

        return {number: inside(number) for number in wanted}

    def alone(self, view: View, group: int) -> FrameSource:
        """Return the rows of one group as a source of its own."""
        texts = [self._joined(view, codes) for codes in view.members[group].tolist()]
        joined = _joined_text(tuple(f"c{k}" for k in view.columns))
        rows = keep_in(self._rows.with_columns(group=joined), "group", texts)
        return self._source.part(rows, int(view.rows[group]))

    def _joined(self, view: View, codes: list[int]) -> str:
        first, *second = (self._texts[k][code] for k, code in zip(view.columns, codes, strict=True))
        return f"{len(first)}{_BETWEEN}{first}{second[0]}" if second else first

    def _codes(self, answer: Fetched, columns: Sequence[int]) -> IntArray:
        """Turn the texts of some columns into codes, a row each."""
        codes = []
        for k in columns:
            code_of = {text: code for code, text in enumerate(self._texts[k])}
            found = [code_of.get(text, -1) for text in answer[f"c{k}"].tolist()]
            if -1 in found:  # a collation that takes different texts for the same
                raise _checks.groups_unstable(self.splits[k].name)
            codes.append(found)
        return np.array(codes, dtype=np.int64).reshape(len(columns), -1).T

    def _places(self, codes: IntArray) -> IntArray:
        return _places(self.combos, codes)


def _places(combos: IntArray, codes: IntArray) -> IntArray:
    """Find rows of codes among sorted ones."""
    both = np.concatenate([combos, codes])
    key = np.zeros(len(both), dtype=np.int64)
    for column in both.T:
        # numbered anew each time: many columns have more combinations than there are numbers
        key = np.unique(key * (int(both.max()) + 1) + column, return_inverse=True)[1].ravel()
    places: IntArray = np.searchsorted(key[: len(combos)], key[len(combos) :])
    return places


class _Stacked(Placed):
    """Cells of many combinations, one after another."""

    def named(self, slot: IntArray) -> tuple[IntArray, IntArray]:
        """Return the level and the cell of some slots."""
        return np.full(len(slot), self._level), slot & ((1 << self._level) - 1)


def _joined_text(columns: tuple[str, ...]) -> nw.Expr:
    """Return the text of a group: of one column, or of two with the length of the first before."""
    if len(columns) == 1:
        return nw.col(columns[0])
    first, second = (nw.col(name) for name in columns)
    length = first.str.len_chars().cast(nw.String)
    return nw.concat_str(length, nw.concat_str(first, second), separator=_BETWEEN)


def _check_kind(kind: Any, name: str) -> None:
    """Refuse columns of lists and the like, whose values are no groups."""
    words = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date, nw.Datetime)
    if not (kind.is_numeric() or any(kind == word for word in words)):
        raise _checks.labels_not_plain(f"by column {name!r}")


def _text(column: nw.Expr, kind: Any) -> nw.Expr:
    missing = column.is_null()
    if kind.is_float():
        missing = missing | column.is_nan()
        column = nw.when(column == 0).then(nw.lit(0.0)).otherwise(column)  # -0.0 is 0
    word = nw.concat_str(nw.lit(_VALUE), column.cast(nw.String))
    return nw.when(missing).then(nw.lit(_MISSING)).otherwise(word)


def _value(text: str, kind: Any) -> Any:
    """Read a value from its text."""
    if text == _MISSING:
        return None
    word = text[1:]
    if kind.is_integer():
        return int(word)
    if kind == nw.Boolean:
        return word.lower() in {"true", "1"}
    if kind.is_numeric():
        return float(word)
    if kind == nw.Datetime:
        return plain_value(datetime.fromisoformat(word))
    return word
