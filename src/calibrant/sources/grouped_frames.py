"""Grouped frames: rows of a lazy table, split by the values of columns, in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.sources.columns import is_missing, numbers
from calibrant.sources.engine import Fetched, Run, keep_in
from calibrant.sources.frames import FrameSource, Placed, cell_of, decoded, points, pooled, summed
from calibrant.sources.groups import LEAST_ROWS, MOST_NAMED, Split, View, order_of
from calibrant.tally import Cells, Totals

#: What stands in the text of a group for a missing value, and for values that are pooled.
_MISSING, _POOLED = "\x02", "\x01"
#: What comes between the parts of a key.
_BETWEEN = "\x1f"


class GroupedFrames:
    """Rows of a FrameSource, and the group columns next to them.

    A value is known in the engine by its text, which every engine can compare, join and look up.
    """

    def __init__(self, source: FrameSource, names: Sequence[str]) -> None:
        self._source, self._run = source, source.run
        by = {f"by{k}": name for k, name in enumerate(names)}
        rows = source.read(by).with_columns(
            **{f"t{k}": _text(nw.col(f"by{k}")) for k in range(len(names))}
        )
        self.splits: list[Split] = []
        codes: dict[str, nw.Expr] = {}
        self._texts: list[list[str]] = []
        for k, name in enumerate(names):
            values, texts, pooled_values = _named(rows, k, self._run)
            self.splits.append(Split(name, values, pooled_values))
            self._texts.append([*texts, _POOLED])
            column = nw.col(f"t{k}")
            known = nw.when(column.is_in(texts)).then(column).otherwise(nw.lit(_POOLED))
            codes[f"c{k}"] = known if pooled_values else column
        self._columns = tuple(codes)
        kept = ["f", "y", *(["w"] if source.weighted else [])]
        self._rows = rows.with_columns(**codes).select(*kept, *self._columns)
        found = self._run(self._rows.group_by(*self._columns).agg(nw.len().alias("n")))
        codes_found = self._codes(found, range(len(names)))
        order = np.lexsort(codes_found.T[::-1])
        self.combos = codes_found[order]
        self.rows: IntArray = numbers(found["n"], 0, "n").astype(np.int64)[order]

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
        found.rows = np.full(len(values), len(source))
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
        group = nw.concat_str(*(nw.col(name) for name in columns), separator=_BETWEEN)
        rows = self._rows.with_columns(cell=cell_of(level), group=group)
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
        return self._by_group(view, whole, wanted)

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
        columns = [nw.col(f"c{k}") for k in view.columns]
        texts = [self._joined(view, codes) for codes in view.members[group].tolist()]
        inside = nw.concat_str(*columns, separator=_BETWEEN).is_in(texts)
        return self._source.part(self._rows.filter(inside), int(view.rows[group]))

    def _joined(self, view: View, codes: list[int]) -> str:
        texts = (self._texts[k][code] for k, code in zip(view.columns, codes, strict=True))
        return _BETWEEN.join(texts)

    def _codes(self, answer: Fetched, columns: Sequence[int]) -> IntArray:
        """Turn the texts of some columns into codes, a row each."""
        codes = []
        for k in columns:
            code_of = {text: code for code, text in enumerate(self._texts[k])}
            codes.append([code_of[text] for text in answer[f"c{k}"].tolist()])
        return np.array(codes, dtype=np.int64).reshape(len(columns), -1).T

    def _places(self, codes: IntArray) -> IntArray:
        return _places(self.combos, codes)


def _places(combos: IntArray, codes: IntArray) -> IntArray:
    """Find rows of codes among sorted ones."""
    sizes = combos.max(axis=0) + 1
    known = np.ravel_multi_index(tuple(combos.T), tuple(sizes.tolist()))
    wanted = np.ravel_multi_index(tuple(codes.T), tuple(sizes.tolist()))
    places: IntArray = np.searchsorted(known, wanted)
    return places


class _Stacked(Placed):
    """Cells of many combinations, one after another."""

    def named(self, slot: IntArray) -> tuple[IntArray, IntArray]:
        """Return the level and the cell of some slots."""
        return np.full(len(slot), self._level), slot & ((1 << self._level) - 1)


def _text(column: nw.Expr) -> nw.Expr:
    missing = column.is_null()
    return nw.when(missing).then(nw.lit(_MISSING)).otherwise(column.cast(nw.String))


def _named(rows: nw.LazyFrame[Any], k: int, run: Run) -> tuple[list[Any], list[str], int]:
    """Return the values of a column that stand for themselves, their texts, and how many do not."""
    each = rows.group_by(f"by{k}", f"t{k}").agg(nw.len().alias("n"))
    distinct = int(numbers(run(each.select(nw.len().alias("n")))["n"], 0, "n")[0])
    enough = each.filter(nw.col("n") >= LEAST_ROWS)
    found = run(enough.sort("n", f"t{k}", descending=[True, False]).head(MOST_NAMED))
    values: AnyArray = found[f"by{k}"].astype(object)
    texts = found[f"t{k}"].tolist()
    values[is_missing(values)] = None
    if rows.collect_schema()[f"by{k}"].is_integer():  # next to missing ones they come as doubles
        values = np.array([None if t == _MISSING else int(t) for t in texts], dtype=object)
    both = sorted(zip(values.tolist(), texts, strict=True), key=lambda pair: order_of(pair[0]))
    return [value for value, _ in both], [text for _, text in both], distinct - len(both)
