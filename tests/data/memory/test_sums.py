"""What rows add up to, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.data.memory.kernel import Rows, place_in_cell
from calibrant.data.memory.sums import CountSums, Squares, WeightedSums
from reference.samples import SCORES

ROWS = st.lists(st.tuples(SCORES, st.booleans(), st.integers(1, 4)), min_size=1, max_size=40)


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
