"""Sums that the compiled kernel adds up: those of numpy, and the same bits in any order."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.core.compiled import COUNTS
from calibrant.data.memory import compiled_sums
from calibrant.data.memory.compiled_sums import CompiledCounts, CompiledWeighted, cells_of, filled
from calibrant.data.memory.kernel import Rows, place_in_cell
from calibrant.data.memory.sums import CountSums, WeightedSums
from reference.kernels import KERNEL, needs_library
from reference.samples import SCORES

pytestmark = needs_library
ROWS = st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=40)
LEVEL = 5


def drawn(rows=2000, seed=0):
    """Rows of which some cells hold one score, some several, and some none."""
    rng = np.random.default_rng(seed)
    spread = rng.random(rows) * 0.7
    score = np.where(rng.random(rows) < 0.4, rng.integers(0, 40, rows) / 37, spread).clip(0, 1)
    return Rows(score, rng.random(rows) < score, None)


def added(sums, rows, parts=3, level=LEVEL):
    for part in np.array_split(np.arange(len(rows.score)), parts):
        chunk = rows.take(part)
        sums.add(*place_in_cell(chunk.score, level), chunk)
    slots = 1 << level
    return sums.cells(np.full(slots, level), np.arange(slots))


def bits(cells):
    return [getattr(cells, field.name).tobytes() for field in fields(cells)]


def same(found, expected):
    for field in fields(found):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        assert one.dtype == other.dtype, field.name
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12, nan_ok=True), field.name


@pytest.mark.parametrize("parts", [1, 3, 50])
def test_counts_are_those_of_numpy(parts):
    rows = drawn()
    slots = 1 << LEVEL
    expected = added(CountSums(slots, len(rows.score)), rows)
    same(added(CompiledCounts(KERNEL, slots), rows, parts), expected)


@pytest.mark.parametrize("kind", ["i1", "u2", "f4", "f8"])
def test_labels_of_any_kind_are_counted(kind):
    rows = drawn()
    expected = added(CompiledCounts(KERNEL, 1 << LEVEL), rows)
    found = added(CompiledCounts(KERNEL, 1 << LEVEL), rows._replace(label=rows.label.astype(kind)))
    assert bits(found) == bits(expected)


@given(ROWS, st.integers(0, 10), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(rows, level, random):
    slots, found = 1 << level, []
    for _ in range(3):
        score, label = (np.array(column) for column in zip(*rows, strict=True))
        found.append(bits(added(CompiledCounts(KERNEL, slots), Rows(score, label, None), 2, level)))
        random.shuffle(rows)
    assert found[0] == found[1] == found[2]


@given(ROWS, st.integers(0, 6))
def test_sums_are_exact_to_the_last_digits(rows, level):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    found = added(CompiledCounts(KERNEL, 1 << level), Rows(score, label, None), 1, level)
    for cell, rise, fall in zip(found.cell.tolist(), found.rise, found.fall, strict=True):
        here = [
            (Fraction(one), bool(event))
            for one, event in rows
            if min(Fraction(one) * 2**level // 1, 2**level - 1) == cell
        ]
        assert rise == pytest.approx(float(sum(1 - one for one, event in here if event)), abs=1e-14)
        assert fall == pytest.approx(float(sum(one for one, event in here if not event)), rel=1e-14)


@pytest.mark.parametrize("most", [7, 100, 999])
def test_tables_that_are_full_are_followed_by_others_and_add_up_to_the_same(most, monkeypatch):
    rows, slots = drawn(), 1 << LEVEL
    expected = added(CompiledCounts(KERNEL, slots), rows, 400)
    monkeypatch.setattr(compiled_sums, "MOST_ROWS", most)
    sums = CompiledCounts(KERNEL, slots)
    assert bits(added(sums, rows, 400)) == bits(expected)
    assert len(sums._tables) >= len(rows.score) // most
    assert np.array_equal(sums.filled(), np.unique(place_in_cell(rows.score, LEVEL)[0]))


def test_scores_of_several_tables_are_one_only_if_they_agree():
    one = np.array([0.25, 0.25, 0.25, np.nan, 0.25])
    other = np.array([0.25, 0.26, np.nan, 0.25, 0.0])
    tables = [np.zeros(5, dtype=COUNTS) for _ in "ab"]
    for table, score in zip(tables, (one, other), strict=True):
        table["rows"][:, 1], table["one"] = 1, score
    tables[1]["rows"][4] = 0  # none in the second
    slot = filled(tables)
    cells = cells_of(tables, slot, np.zeros(5, dtype=int), np.zeros(5, dtype=int))
    assert cells.score == pytest.approx([0.25, np.nan, np.nan, np.nan, 0.25], nan_ok=True)
    assert cells.rows.tolist() == [2, 2, 2, 2, 1]


def test_sums_past_64_bits_are_carried_within_a_table_and_between_tables():
    score = np.tile(np.nextafter([0.25, 0.5], 0), 300)  # places next to 1, four to 64 bits
    rows = Rows(score, np.arange(600) % 3 == 0, None)
    slot, inside = np.zeros(600, dtype=np.int64), np.nextafter(np.ones(600), 0)
    tables = [np.zeros(1, dtype=COUNTS) for _ in range(3)]
    for part, table in zip(np.array_split(np.arange(600), 3), tables, strict=True):
        few = rows.take(part)
        KERNEL.add_counts((slot[part], inside[part]), few.score, few.label, table)
    cells = cells_of(tables, np.zeros(1, dtype=int), np.ones(1, dtype=int), np.zeros(1, dtype=int))
    assert cells.fall == pytest.approx([200.0], rel=1e-15)  # 400 negatives at half of a cell's end
    assert cells.rise == pytest.approx([100.0], rel=1e-15)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_sums_are_those_of_numpy(soft, weighted):
    rng = np.random.default_rng(0)
    rows, slots = drawn(), 1 << LEVEL
    label = rng.random(len(rows.score)) if soft else rows.label
    weight = rng.integers(1, 5, len(rows.score)) / 4 if weighted else None
    rows = Rows(rows.score, label, weight)
    found = added(CompiledWeighted(KERNEL, slots), rows)
    same(found, added(WeightedSums(slots), rows))
    assert found.rows.base is None  # the table is not kept alive by its columns


def test_a_million_equal_weights_round_in_no_direction():
    rows = Rows(np.full(100_000, 0.1), np.zeros(100_000), np.full(100_000, 0.1))
    cells = added(CompiledWeighted(KERNEL, 2), rows, level=1)
    assert cells.weight[0] == float(100_000 * Fraction(0.1))
    assert cells.fall[0] == pytest.approx(float(100_000 * Fraction(0.1) ** 2), rel=1e-15)


@pytest.mark.parametrize("sums", [CompiledCounts, CompiledWeighted])
def test_without_rows_there_are_no_cells(sums):
    cells = sums(KERNEL, 4).cells(np.full(4, 2), np.arange(4))
    assert len(cells) == 0
