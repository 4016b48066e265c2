"""Each function of the compiled kernel against its twin in numpy, and what it refuses to touch."""

import math
import os
import subprocess
import sys
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.core import compiled as module
from calibrant.core.compiled import (
    BLOCK,
    COUNTS,
    WEIGHTED,
    CellSplit,
    Index,
    SlotMarks,
    WantedCells,
    compiled,
    kernel_name,
)
from calibrant.core.double_double import running_sum
from calibrant.core.minorant import _first_of_blocks
from calibrant.core.tally import Cells
from calibrant.data.memory.kernel import Finer, Grid, Rows
from calibrant.data.memory.kernel import Wanted as WantedRows
from calibrant.data.memory.sums import CountSums
from calibrant.data.predictions import Predictions
from calibrant.errors import InputError
from reference.kernels import KERNEL, needs_library, using
from reference.samples import SCORES

MANY = st.lists(SCORES, min_size=1, max_size=40).map(np.array)
LABELS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
FLOATS = ["f4", "f8"]
EDGES = [0.0, -0.0, 1.0, 5e-324, 2.0**-1022, 2.0**-62, 0.5, np.nextafter(0.5, 0), 1 - 2.0**-53]
BAD_SCORES = [np.nan, np.inf, -np.inf, -5e-324, -1.0, np.nextafter(1, 2), 2.0]
BAD_LABELS = [("i1", -1), ("i2", -1), ("i4", -1), ("i8", -(2**63)), ("u1", 2), ("u2", 256)]
BAD_LABELS += [("u4", 65536), ("u8", 2**32), ("u8", 2**63), ("f4", 0.5), ("f4", np.inf)]
BAD_LABELS += [("f8", np.nan), ("f8", -1.0), ("f8", 5e-324), ("f8", 1 - 2.0**-53)]

pytestmark = needs_library


def scores(rows=3000, seed=0):
    """Scores that are spread, tied, crowded near 0, and at every edge."""
    rng = np.random.default_rng(seed)
    parts = rng.random(rows), rng.integers(0, 9, rows) / 8, np.exp2(-1074 * rng.random(rows)), EDGES
    return rng.permutation(np.concatenate(parts))


def rows_of(score, label="b1", seed=1):
    return (np.random.default_rng(seed).random(len(score)) < score).astype(label)


def closed(score, level, share=0.4, seed=0):
    """Some cells of scores."""
    cells = Predictions(np.arange(len(score)) % 2, score).tally(level).cells
    return cells.take(np.random.default_rng(seed).random(len(cells)) < share)


def same_cells(found, expected):
    for name in ("level", "cell", "rows", "weight", "positives"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(found.score, expected.score, equal_nan=True)
    for name in ("rise", "fall"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12, abs=1e-12)


# what each function finds


@pytest.mark.parametrize("levels", [(0, 0), (1, 1), (9, 0), (9, 9), (14, 3), (20, 20)])
def test_places_are_those_of_numpy(levels):
    score = scores()
    found = KERNEL.place(score, *levels)
    with using(None):
        expected = Grid(*levels).place(score)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


@pytest.mark.parametrize("levels", [(0, 0), (3, 0), (10, 0), (10, 7)])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("kind", FLOATS)
def test_rows_are_counted_as_numpy_counts_them(levels, label, kind):
    from calibrant.data.memory.compiled_sums import cells_of, filled

    score = scores().astype(kind)
    events = rows_of(score, label)
    grid, table = Grid(*levels), np.zeros(Grid(*levels).slots, dtype=COUNTS)
    squares = KERNEL.count_rows(score, events, levels, table)
    wide = score.astype(float)
    with using(None):
        sums = CountSums(grid.slots, len(score))
        sums.add(*grid.place(wide), Rows(wide, events == 1, None))
        expected = sums.cells(*grid.names())
    slot = filled([table])
    same_cells(cells_of([table], slot, *grid.named(slot)), expected)
    assert len(squares) == math.ceil(len(score) / BLOCK)
    assert squares.sum() == pytest.approx((wide**2).sum(), rel=1e-12)


@given(MANY, st.integers(0, 12), st.data())
def test_counts_are_exact(score, level, data):
    label = np.array(data.draw(st.lists(st.booleans(), min_size=len(score), max_size=len(score))))
    table = np.zeros(1 << level, dtype=COUNTS)
    KERNEL.count_rows(score, label, (level, 0), table)
    for event in (0, 1):
        parts = np.zeros(1 << level, dtype=object)
        for one in score[label == event].tolist():
            cell = int(min(Fraction(one) * 2**level // 1, 2**level - 1))
            parts[cell] += (Fraction(one) * 2**level - cell) * 2**62 // 1
        carried, inside = table["carried"][:, event], table["inside"][:, event]
        assert [int(c) * 2**64 + int(i) for c, i in zip(carried, inside, strict=True)] == [*parts]


@pytest.mark.parametrize("bad", BAD_SCORES)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("row", [0, 77, -1])
def test_a_score_out_of_range_is_noticed_by_every_function(bad, kind, row):
    score = scores(100)
    label, index = rows_of(score), Index.of(np.array([0.0, 0.5]), least=0)
    with np.errstate(over="ignore", under="ignore"):
        score = score.astype(kind)
        score[row] = bad
    out = np.empty(len(score))
    if not 0 <= score[row] <= 1:  # a tiny step beyond is none for a float32
        assert KERNEL.count_rows(score, label, (4, 0), np.zeros(16, dtype=COUNTS)) is None
        assert KERNEL.keys(score, label) is None
        assert (
            KERNEL.select(score, WantedCells(Index.of(np.array([0.25])), np.array([0.5]))) is None
        )
        assert not KERNEL.steps(score, index, np.array([0.1, 0.9]), out)
        assert not KERNEL.lines(score, index, np.array([0.1, 0.9]), out)
        with pytest.raises(IndexError, match="its score has changed"):
            KERNEL.place(score, 4, 0)


@pytest.mark.parametrize(("label", "bad"), BAD_LABELS)
def test_a_label_that_is_neither_0_nor_1_is_noticed(label, bad):
    score = scores(100)
    events = rows_of(score, label)
    events[50] = bad
    assert KERNEL.count_rows(score, events, (4, 0), np.zeros(16, dtype=COUNTS)) is None
    assert KERNEL.keys(score, events) is None


@pytest.mark.parametrize("bits", [1, 6, 9])
@pytest.mark.parametrize("level", [1, 4, 20])
def test_finer_places_are_those_of_numpy(bits, level):
    score = scores()
    cells = closed(score, level, share=1.0)
    which = np.searchsorted(cells.low, score, side="right") - 1
    finer = Finer(cells, bits)
    found = KERNEL.place_finer(score, which, finer.of_library)
    with using(None):
        expected = finer.place(score, which)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


def test_cells_as_fine_as_doubles_go_are_split_as_numpy_splits_them():
    tiny = np.array([1, 2, 3, 100, 101, 2**20, 2**40, 2**40 + 1]) * 5e-324
    score = np.unique(np.concatenate([tiny, scores(200)]))
    todo, finest = closed(score, 4, share=1.0), []
    for _ in range(400):  # open one cell after another, until each holds one score
        if not len(todo):
            break
        cell, todo = todo.take(np.arange(1)), todo.take(np.arange(1, len(todo)))
        here = score[(cell.low[0] <= score) & (score <= cell.high[0])]
        which, finer = np.zeros(len(here), dtype=np.int64), Finer(cell, 3)
        with using(None):
            slot, inside = finer.place(here, which)
        found = KERNEL.place_finer(here, which, finer.of_library)
        assert np.array_equal(found[0], slot)
        assert np.array_equal(found[1], inside)
        sums = CountSums(finer.slots, len(here))
        sums.add(slot, inside, Rows(here, here > 2, None))
        inner = sums.cells(*finer.names())
        finest.append(int(inner.level.max()))
        several = inner.take(np.flatnonzero(np.isnan(inner.score)))
        todo = Cells(
            *(
                np.append(one, rest)
                for one, rest in zip(columns(several), columns(todo), strict=True)
            )
        )
    assert not len(todo)
    assert max(finest) >= 1074


def columns(cells):
    return [getattr(cells, field.name) for field in fields(cells)]


def test_a_score_outside_of_its_closed_cell_is_an_error_in_words():
    split = CellSplit(np.array([8]), np.array([6]), 2, -1, -1)
    with pytest.raises(IndexError, match="row 1 of a chunk lies in no cell"):
        KERNEL.place_finer(np.array([0.13, 0.9]), np.zeros(2, dtype=np.int64), split)


@pytest.mark.parametrize("level", [3, 9, 20])
def test_wanted_rows_are_those_of_numpy(level):
    score = scores()
    cells = closed(score, level)
    with using(None):
        expected = WantedRows(cells, len(score)).rows(score)
    found = KERNEL.select(score, WantedCells(Index.of(cells.low), cells.high))
    order = np.argsort(expected[0])
    assert np.array_equal(found[0], expected[0][order])
    assert np.array_equal(found[1], expected[1][order])


@pytest.mark.parametrize("crowd", [0, 8])
@pytest.mark.parametrize("label", LABELS)
def test_keys_of_wanted_rows_hold_their_scores_and_labels(label, crowd):
    score = scores()
    events = rows_of(score, label)
    grid = Grid(9, crowd)
    cells = closed(score, 20)
    cells = cells.take(grid.place(cells.low)[0] != grid.place(np.array([0.3]))[0][0])
    wanted = WantedCells(Index.of(cells.low), cells.high)
    row, which = KERNEL.select(score, wanted)
    keys = KERNEL.keys(score, events, wanted, grid.marks(cells))
    assert np.array_equal((keys >> 1).view(float), score[row])
    assert np.array_equal(keys & 1, events[row] == 1)
    finer = Finer(cells, 3)
    table = np.zeros(finer.slots, dtype=COUNTS)
    assert KERNEL.count_finer(keys, wanted, finer.of_library, table)
    expected = np.zeros(finer.slots, dtype=COUNTS)
    place = KERNEL.place_finer(score[row], which, finer.of_library)
    KERNEL.add_counts(place, score[row], events[row] == 1, expected)
    assert table.tobytes() == expected.tobytes()


def test_a_key_in_no_wanted_cell_is_noticed():
    score = scores()
    cells = closed(score, 5)
    wanted, finer = WantedCells(Index.of(cells.low), cells.high), Finer(cells, 3)
    keys = KERNEL.keys(score, rows_of(score))
    table = np.zeros(finer.slots, dtype=COUNTS)
    assert not KERNEL.count_finer(keys, wanted, finer.of_library, table)


@given(MANY, st.data())
def test_sorted_keys_are_pooled_as_sorted_rows_are(score, data):
    label = np.array(data.draw(st.lists(st.booleans(), min_size=len(score), max_size=len(score))))
    keys = np.sort(KERNEL.keys(score, label))
    pooled, columns, totals = KERNEL.pool_keys(keys)
    distinct, rows = np.unique(score + 0.0, return_counts=True)
    events = [int(label[score == one].sum()) for one in distinct]
    step = np.array(events) - rows * distinct
    expected = [distinct, rows, events, np.maximum(step, 0), np.maximum(-step, 0)]
    assert pooled.tolist() == rows.tolist()
    assert columns.tolist() == [np.asarray(one, dtype=float).tolist() for one in expected]
    assert totals == pytest.approx([np.dot(score, score), score[label].sum()], abs=1e-12)


NUMBERS = {
    "spread": np.linspace(0, 1, 97),
    "crowded": np.exp2(-np.arange(1074.0, -1, -1)),
    "next to each other": np.unique(np.nextafter(0.3, 1) + np.arange(40) * 2.0**-54),
    "two": np.array([0.25, 0.75]),
    "the smallest": np.array([5e-324, 1e-323]),
    "the ends": np.array([0.0, 1.0]),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("kind", FLOATS)
def test_steps_and_lines_are_those_of_numpy_to_the_bit(numbers, kind):
    from calibrant.calibrators.blocks import _between

    near = np.concatenate([numbers, np.nextafter(numbers, 0), np.nextafter(numbers, 1)])
    with np.errstate(under="ignore"):
        score = np.concatenate([scores(), near.clip(0, 1)]).astype(kind)
    values = np.sort(np.random.default_rng(0).random(len(numbers)))
    wide, out = score.astype(float), np.empty(len(score))
    assert KERNEL.lines(score, Index.of(numbers, least=0), values, out)
    with np.errstate(over="ignore"):
        assert np.array_equal(out, _between(wide, numbers, values))
    edges = np.append(0.0, numbers[1:])
    assert KERNEL.steps(score, Index.of(edges, least=0), values, out)
    assert np.array_equal(out, values[np.searchsorted(edges, wide, side="right") - 1])


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=30))
@pytest.mark.parametrize("power", [-1000, -700, 0, 700, 1000])
def test_blocks_are_those_of_isotonic_regression_whatever_the_weights(power, points):
    rows = np.array([rows for rows, _ in points], dtype=float)
    events = np.minimum(rows, [events for _, events in points])
    with using(None):
        expected = _first_of_blocks(rows, events)
    found = KERNEL.pool(np.ldexp(rows, power), np.ldexp(events, power))
    assert np.array_equal(found, expected)


@given(st.lists(st.floats(-1e300, 1e300), max_size=40))
def test_running_sums_are_those_of_numpy_to_the_bit(values):
    values = np.array(values)
    high, low = KERNEL.running_sum(values)
    with using(None), np.errstate(all="ignore"):
        expected = running_sum(values)
    assert high.tobytes() == (expected.high + 0.0).tobytes()
    assert np.array_equal(low, expected.low)


@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_rows_are_added_up_in_twice_the_digits(weighted):
    rng = np.random.default_rng(0)
    score, label = rng.random(5000), rng.random(5000)
    weight = rng.random(5000) * 10.0 ** rng.integers(-9, 9, 5000) if weighted else None
    slot = rng.integers(0, 3, 5000)
    table = np.zeros(3, dtype=WEIGHTED)
    KERNEL.add_weighted(slot, score, label, weight, table)
    for one in range(3):
        here = slot == one
        each = np.ones(5000)[here] if weight is None else weight[here]
        step = label[here] - score[here]
        columns = each, each * label[here], each * step.clip(min=0), each * (-step).clip(min=0)
        expected = [math.fsum(column) for column in columns]
        assert (table["sum"] + table["rest"])[one].tolist() == expected
        assert table["rows"][one] == here.sum()
    assert np.isnan(table["one"]).all()


# what never reaches the library

SCORE, LABEL = np.linspace(0, 1, 8), np.arange(8) % 2 == 0
WANTED = WantedCells(Index.of(np.array([0.25])), np.array([0.5]))
SPLIT = CellSplit(np.array([4]), np.array([4]), 2, -1, -1)
INDEX, VALUES = Index.of(np.array([0.0, 0.5]), least=0), np.array([0.1, 0.9])
KEYS = np.zeros(3, dtype=np.int64)


def table(slots, dtype=COUNTS):
    return np.zeros(slots, dtype=dtype)


def frozen(array):
    array.flags.writeable = False
    return array


REFUSED = {
    "a table that is too small": lambda k: k.count_rows(SCORE, LABEL, (4, 0), table(15)),
    "a table for one level of two": lambda k: k.count_rows(SCORE, LABEL, (4, 2), table(16)),
    "a table of other sums": lambda k: k.count_rows(SCORE, LABEL, (4, 0), table(16, WEIGHTED)),
    "a table with gaps": lambda k: k.count_rows(SCORE, LABEL, (4, 0), table(32)[::2]),
    "labels that are too few": lambda k: k.count_rows(SCORE, LABEL[1:], (4, 0), table(16)),
    "labels in a table": lambda k: k.keys(SCORE, LABEL[:, None]),
    "scores with gaps": lambda k: k.keys(np.repeat(SCORE, 2)[::2], LABEL),
    "scores of 16 bits": lambda k: k.keys(SCORE.astype("f2"), LABEL),
    "long doubles": lambda k: k.keys(SCORE.astype("g"), LABEL),
    "swapped bytes": lambda k: k.keys(SCORE.astype(">f8"), LABEL),
    "swapped bytes of labels": lambda k: k.keys(SCORE, LABEL.astype(">i4")),
    "objects": lambda k: k.keys(SCORE, LABEL.astype(object)),
    "words": lambda k: k.keys(SCORE, LABEL.astype("S1")),
    "complex numbers": lambda k: k.keys(SCORE.astype(complex), LABEL),
    "dates": lambda k: k.keys(SCORE.astype("M8[s]"), LABEL),
    "marks that are too few": lambda k: k.keys(
        SCORE, LABEL, WANTED, SlotMarks(4, 0, table(15, "u1"))
    ),
    "marks of another kind": lambda k: k.keys(
        SCORE, LABEL, WANTED, SlotMarks(4, 0, table(16, "i8"))
    ),
    "cells without their ends": lambda k: k.select(SCORE, WantedCells(WANTED.lows, np.empty(0))),
    "ends of another kind": lambda k: k.select(
        SCORE, WantedCells(WANTED.lows, np.ones(1, dtype=int))
    ),
    "a split into more cells": lambda k: k.count_finer(KEYS, WANTED, SPLIT, table(3)),
    "a split of others": lambda k: k.count_finer(
        KEYS, WANTED, SPLIT._replace(first=np.zeros(2, dtype=int)), table(8)
    ),
    "a split without levels": lambda k: k.place_finer(
        SCORE, np.zeros(8, dtype=int), SPLIT._replace(level=np.empty(0, dtype=int))
    ),
    "keys that are doubles": lambda k: k.pool_keys(SCORE),
    "cells of too few rows": lambda k: k.place_finer(SCORE, np.zeros(7, dtype=int), SPLIT),
    "slots of too few rows": lambda k: k.add_counts(
        (np.zeros(7, dtype=int), SCORE), SCORE, LABEL, table(1)
    ),
    "slots of 32 bits": lambda k: k.add_weighted(
        np.zeros(8, dtype="i4"), SCORE, SCORE, None, table(1, WEIGHTED)
    ),
    "weights that are too few": lambda k: k.add_weighted(
        np.zeros(8, dtype=int), SCORE, SCORE, SCORE[1:], table(1, WEIGHTED)
    ),
    "sums of counts for weights": lambda k: k.add_weighted(
        np.zeros(8, dtype=int), SCORE, SCORE, None, table(1)
    ),
    "an index of another level": lambda k: k.steps(
        SCORE, INDEX._replace(level=INDEX.level + 1), VALUES, np.empty(8)
    ),
    "an index of octaves that has none": lambda k: k.steps(
        SCORE, INDEX._replace(level=-1), VALUES, np.empty(8)
    ),
    "an index of 64 bits": lambda k: k.lines(
        SCORE, INDEX._replace(start=INDEX.start.astype(int)), VALUES, np.empty(8)
    ),
    "values that are too few": lambda k: k.steps(SCORE, INDEX, VALUES[1:], np.empty(8)),
    "room that is too small": lambda k: k.lines(SCORE, INDEX, VALUES, np.empty(7)),
    "room for floats": lambda k: k.lines(SCORE, INDEX, VALUES, np.empty(8, dtype="f4")),
    "a line of one knot": lambda k: k.lines(SCORE, Index.of(np.ones(1), 0), np.ones(1), SCORE),
    "whole numbers as scores": lambda k: k.steps(np.zeros(8, dtype=int), INDEX, VALUES, SCORE),
    "positives that are too few": lambda k: k.pool(SCORE, SCORE[1:]),
    "more rows than fit": lambda k: k.keys(np.zeros(9), np.zeros(9, dtype=bool)),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_arrays_of_a_wrong_kind_or_size_never_reach_the_library(call, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 8)

    def touched(*_):
        raise AssertionError("the library was called")

    kernel = module.Kernel(module.library())
    for name in [name for name in vars(kernel) if name.startswith("_")]:
        monkeypatch.setattr(kernel, name, touched)
    with pytest.raises(TypeError, match="the kernel takes no"):
        call(kernel)


def test_a_slot_that_there_is_not_is_an_error_in_words():
    for slot in (-1, 1, 2**62, -(2**63)):
        slots = np.array([0, slot])
        with pytest.raises(IndexError, match="row 1 of a chunk lies in no cell"):
            KERNEL.add_counts((slots, np.zeros(2)), np.zeros(2), np.zeros(2), table(1))
        with pytest.raises(IndexError, match="row 1 of a chunk lies in no cell"):
            KERNEL.add_weighted(slots, np.zeros(2), np.zeros(2), None, table(1, WEIGHTED))


def test_no_rows_are_no_trouble():
    none, no_slots = np.empty(0), np.empty(0, dtype=np.int64)
    assert KERNEL.count_rows(none, none, (3, 0), table(8)).tolist() == []
    assert [len(part) for part in KERNEL.place(none, 3, 0)] == [0, 0]
    assert [len(part) for part in KERNEL.place_finer(none, no_slots, SPLIT)] == [0, 0]
    KERNEL.add_counts((no_slots, none), none, none, table(0))
    KERNEL.add_weighted(no_slots, none, none, none, table(0, WEIGHTED))
    assert [len(part) for part in KERNEL.select(none, WANTED)] == [0, 0]
    assert len(KERNEL.keys(none, none)) == 0
    rows, columns, totals = KERNEL.pool_keys(no_slots)
    assert (len(rows), columns.shape, totals.tolist()) == (0, (5, 0), [0.0, 0.0])
    assert KERNEL.steps(none, INDEX, VALUES, none)
    assert KERNEL.lines(none, INDEX, VALUES, none)
    assert len(KERNEL.pool(none, none)) == 0
    assert [part.tolist() for part in KERNEL.running_sum(none)] == [[0.0], [0.0]]


def test_arrays_that_may_not_be_written_to_are_read():
    score, label = frozen(scores(50)), frozen(rows_of(scores(50)))
    keys = KERNEL.keys(score, label)
    assert (keys >> 1).view(float).tolist() == score.tolist()


def test_what_is_given_stays_as_it_was():
    score = scores()
    label, weight = rows_of(score, "f8"), np.ones(len(score))
    before = score.copy(), label.copy(), weight.copy()
    KERNEL.pool(weight, label)
    KERNEL.running_sum(score)
    KERNEL.count_rows(score, label, (4, 0), table(16))
    for now, then in zip((score, label, weight), before, strict=True):
        assert now.tobytes() == then.tobytes()


# which kernel is chosen


CHOSEN = module._chosen.__wrapped__


@pytest.fixture
def asked(monkeypatch):
    """Ask anew for a setting, whatever was chosen before."""

    def ask(setting, found=module.library):
        monkeypatch.setenv(module.SETTING, setting)
        monkeypatch.setattr(module, "library", found)
        monkeypatch.setattr(module, "_chosen", CHOSEN)
        return compiled()

    return ask


def test_the_library_is_used_unless_numpy_is_asked_for(asked):
    for setting in ("", "auto", "compiled"):
        assert isinstance(asked(setting), module.Kernel)
        assert kernel_name() == "compiled"
        assert asked("numpy") is None
        assert kernel_name() == "numpy"


def test_without_a_library_numpy_does_the_work_unless_it_must_not(asked):
    assert asked("auto", lambda: None) is None
    assert asked("numpy", lambda: None) is None
    with pytest.raises(InputError, match=r"CALIBRANT_KERNEL is 'compiled', but there is no libr"):
        asked("compiled", lambda: None)


@pytest.mark.parametrize("setting", ["C", "Numpy", " numpy", "0"])
def test_a_setting_that_is_no_kernel_is_refused_in_words(asked, setting):
    with pytest.raises(InputError, match="CALIBRANT_KERNEL must be"):
        asked(setting)


def test_the_choice_is_made_once():
    assert compiled() is compiled()


def test_a_process_can_be_told_to_do_without():
    code = "import calibrant.core.compiled as c; print(c.kernel_name())"
    for setting, expected in (("numpy", "numpy"), ("compiled", "compiled")):
        environment = {**os.environ, module.SETTING: setting}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
