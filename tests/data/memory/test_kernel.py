"""Where rows fall, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibrant as cb
from calibrant.core.tally import Cells
from calibrant.data.memory.kernel import (
    Finer,
    Grid,
    Wanted,
    place_in_cell,
    start_level,
)
from reference.samples import SCORES

MANY = st.lists(SCORES, min_size=1, max_size=40).map(np.array)


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
