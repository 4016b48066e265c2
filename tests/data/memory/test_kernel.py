"""Where rows fall and what they add up to, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.core.tally import Cells
from calibrant.data.memory.kernel import (
    CountSums,
    Finer,
    Grid,
    Rows,
    Squares,
    Wanted,
    WeightedSums,
    place_in_cell,
    start_level,
)
from reference.samples import SCORES

MANY = st.lists(SCORES, min_size=1, max_size=40).map(np.array)
ROWS = st.lists(st.tuples(SCORES, st.booleans(), st.integers(1, 4)), min_size=1, max_size=40)


@given(MANY, st.integers(0, 40))
def test_a_cell_is_the_floor_of_the_score_times_a_power_of_two(score, level):
    cell, inside = place_in_cell(score, level)
    for one, number, rest in zip(score.tolist(), cell.tolist(), inside.tolist(), strict=True):
        exact = Fraction(one) * 2**level
        assert number == min(exact // 1, 2**level - 1)
        assert rest == pytest.approx(float(exact - number), abs=1e-12)


@given(MANY, st.integers(1, 12), st.integers(0, 20))
def test_a_grid_of_two_levels_names_the_cell_that_a_score_lies_in(score, level, crowd):
    grid = Grid(level, crowd)
    slot, _ = grid.place(score)
    levels, cells = grid.named(slot)
    assert slot.max() < grid.slots
    for one, width, cell in zip(score.tolist(), levels.tolist(), cells.tolist(), strict=True):
        low, high = (Fraction(edge, 2**width) for edge in (cell, cell + 1))
        assert low <= Fraction(one) < high or (one == 1 and high == 1)
    order = np.argsort(score, kind="stable")
    assert (np.diff(slot[order]) >= 0).all()  # slots come in order of score


def exact_cells(rows, level):
    """Return for each cell its rows, weight, positives, rise and fall."""
    found = {}
    for score, label, weight in rows:
        cell = int(min(Fraction(score) * 2**level // 1, 2**level - 1))
        step = Fraction(label) - Fraction(score)
        sums = 1, weight, weight * label, weight * max(step, 0), weight * max(-step, 0)
        found[cell] = [old + new for old, new in zip(found.get(cell, [0] * 5), sums, strict=True)]
    return found


@settings(max_examples=200)
@given(ROWS, st.integers(0, 6), st.booleans())
def test_cells_add_up_their_rows(rows, level, weighted):
    rows = rows if weighted else [(score, label, 1) for score, label, _ in rows]
    score, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    given_rows = Rows(score, label, weight.astype(float) if weighted else None)
    slots = 2**level
    sums = WeightedSums(slots) if weighted else CountSums(slots, len(rows))
    for part in np.array_split(np.arange(len(rows)), 3):  # chunk by chunk
        if len(part):
            chunk = given_rows.take(part)
            sums.add(*place_in_cell(chunk.score, level), chunk)
    found = sums.cells(np.full(slots, level), np.arange(slots))
    expected = exact_cells(rows, level)
    assert found.cell.tolist() == sorted(expected)
    columns = zip(found.rows, found.weight, found.positives, found.rise, found.fall, strict=True)
    for cell, values in zip(found.cell.tolist(), columns, strict=True):
        assert values == pytest.approx([float(one) for one in expected[cell]], abs=1e-12)
        scores = set((score[place_in_cell(score, level)[0] == cell] + 0.0).tolist())
        [single] = found.score[found.cell == cell]
        assert (single in scores) if len(scores) == 1 else np.isnan(single)


@given(ROWS, st.booleans())
def test_products_are_added_up_whatever_the_labels(rows, binary):
    score, label, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    label = label if binary else (label + score) / 2
    squares, sums = Squares(labels_binary=binary), WeightedSums(4)
    rows = Rows(score, label, weight)
    squares.add(rows)
    sums.add(*place_in_cell(score, 2), rows)
    found = squares.totals(sums.cells(np.full(4, 2), np.arange(4)))
    expected = [(weight * a * b).sum() for a, b in ((score, score), (score, label), (label, label))]
    assert [found.ff, found.fy, found.yy] == pytest.approx(expected, abs=1e-12)
    assert found.weights_integer


def cells_of(score, level):
    return cb.Predictions(np.arange(len(score)) % 2, score).tally(level).cells


@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("level", [3, 9, 20])
def test_wanted_rows_are_those_inside_of_wanted_cells(crowded, level):
    rng = np.random.default_rng(level)
    score = rng.random(3000) ** (9 if crowded else 1)
    cells = cells_of(score, level)
    wanted = cells.take(rng.random(len(cells)) < 0.3)
    row, which = Wanted(wanted, len(score)).rows(score)
    inside = [(wanted.low <= one) & (one <= wanted.high) for one in score]
    expected = {k: int(np.argmax(one)) for k, one in enumerate(inside) if one.any()}
    assert dict(zip(row.tolist(), which.tolist(), strict=True)) == expected


@pytest.mark.parametrize("bits", [1, 6])
def test_finer_cells_hold_their_scores_and_lie_in_the_cell_that_was_split(bits):
    rng = np.random.default_rng(bits)
    score = np.concatenate([rng.random(500), rng.random(500) ** 40, [0.0, 1.0, 5e-324]])
    cells = cells_of(score, 4)
    which = np.searchsorted(cells.low, score, side="right") - 1
    finer = Finer(cells, bits)
    slot, _ = finer.place(score, which)
    levels, numbers = finer.names()
    assert len(levels) == finer.slots
    empty = np.zeros(len(slot))
    split = Cells(levels[slot], numbers[slot], *[empty] * 5, np.full(len(slot), np.nan))
    assert ((split.low <= score) & (score <= split.high)).all()
    assert ((cells.low[which] <= split.low) & (split.high <= cells.high[which])).all()


def test_more_rows_start_in_finer_cells():
    levels = [start_level(rows, fine=False) for rows in (1, 100, 10**4, 10**7, None)]
    assert levels == sorted(levels)
    assert levels[-1] == 14
    assert start_level(1000, fine=True) > start_level(1000, fine=False)
