"""Cells of many groups at once, against the same groups one by one."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.core.tally import Cells
from calibrant.data.engine.aggregate import points
from calibrant.data.grouped_cells import Stack, order_by_score, order_in_groups
from calibrant.data.memory.kernel import Rows
from calibrant.data.memory.source import pooled_rows
from calibrant.errors import InputError

LEVEL = 2


def rows_of(cells):
    return np.stack([getattr(cells, field.name) for field in fields(Cells)])


def closed_cells(score, label):
    """Cells of one group at the level, by hand, all with several scores as far as they know."""
    number = np.minimum((score * 2**LEVEL).astype(int), 2**LEVEL - 1)
    names = np.unique(number)
    step = label - score
    sums = [
        [float(values[number == name].sum()) for name in names]
        for values in (label, np.maximum(step, 0), np.maximum(-step, 0))
    ]
    count = np.array([(number == name).sum() for name in names])
    level, nan = np.full(len(names), LEVEL), np.full(len(names), np.nan)
    return Cells(level, names, count, count.astype(float), *map(np.array, sums), nan)


row = st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0]), st.booleans())


@given(st.lists(row, min_size=1, max_size=40), st.integers(0, 2**16 - 1))
def test_opened_cells_take_the_place_of_closed_ones_in_every_group(rows, chosen):
    group, score, label = (np.array(values, dtype=float) for values in zip(*rows, strict=True))
    parts = [closed_cells(score[group == k], label[group == k]) for k in range(4)]
    cells = Cells(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Cells)))
    starts = np.cumsum([0, *(len(part) for part in parts)])
    stack = Stack(cells, starts)
    marks = (chosen >> np.arange(len(cells))) & 1 == 1
    if not marks.any():
        return
    key = {(g, c) for g, c in zip(stack.group[marks], cells.cell[marks], strict=True)}
    number = np.minimum((score * 2**LEVEL).astype(int), 2**LEVEL - 1)
    inside = np.array([pair in key for pair in zip(group, number, strict=True)])
    kept = Rows(score[inside], label[inside], None)
    opened = pooled_rows(kept, *order_in_groups(group[inside].astype(int), kept.score, 4))
    found = stack.replace(marks, opened)
    for k, part in enumerate(parts):
        mark = marks[starts[k] : starts[k + 1]]
        alone = inside & (group == k)
        own = Rows(score[alone], label[alone], None)
        expected = part
        if mark.any():
            expected = part.replace(mark, pooled_rows(own, *order_by_score(own.score)))
        np.testing.assert_array_equal(rows_of(found.of(k)), rows_of(expected))


def test_rows_that_changed_between_two_readings_are_refused():
    score, label = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 1.0])
    cells = closed_cells(score, label)
    stack = Stack(cells, np.array([0, len(cells)]))
    fewer, none = score[:2], score[:0]
    moved = np.array([0.1, 0.3, 0.3])  # as many, but in other cells
    more = np.append(score, 0.9)
    for others, words in [
        (fewer, "2 rows where there were 3"),
        (none, "0 rows where there were 2"),
        (moved, "3 rows where there were 2"),
        (more, "4 rows where there were 3"),
    ]:
        one = np.ones(len(others))
        order, begin = order_by_score(others)
        opened = points({"f": others, "n": one, "positives": one}, order, begin)
        with pytest.raises(InputError, match=words):
            stack.replace(np.ones(len(cells), dtype=bool), opened)
