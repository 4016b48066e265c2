"""Groups of rows in memory: each combination is tallied as its rows alone are."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.data.groups import views_of
from calibrant.data.memory.groups import GroupedArrays
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
ROWS = 3000
PROB = RNG.random(ROWS)
COLUMNS = {"g": np.arange(ROWS) % 3, "h": np.where(np.arange(ROWS) % 2, "b", "a")}
FIELDS = ("cell", "rows", "weight", "positives", "rise", "fall", "score")


@pytest.mark.parametrize("kind", ["plain", "weighted", "soft"])
def test_every_combination_is_tallied_as_its_rows_alone(kind):
    soft = RNG.random(ROWS)
    label = soft if kind == "soft" else (soft < PROB).astype(int)
    weight = RNG.integers(1, 4, ROWS) if kind == "weighted" else np.ones(ROWS, dtype=int)
    source = cb.Predictions(label, PROB, sample_weight=weight).source
    grouped = GroupedArrays(source, COLUMNS)
    assert grouped.rows.sum() == ROWS
    assert grouped.sizes.sum() == weight.sum()
    combo, cells, totals = grouped.tally(5)
    for number, (g, h) in enumerate(grouped.combos.tolist()):
        values = grouped.splits[0].values[g], grouped.splits[1].values[h]
        mine = (COLUMNS["g"] == values[0]) & (COLUMNS["h"] == values[1])
        expected = cb.Predictions(label[mine], PROB[mine], sample_weight=weight[mine]).tally(5)
        found = cells.take(combo == number)
        for name in FIELDS:
            one, other = (getattr(part, name) for part in (found, expected.cells))
            np.testing.assert_allclose(one, other, atol=1e-12, err_msg=name)
        sums = totals[number], expected.totals
        for name in ("ff", "fy", "yy"):
            one, other = (getattr(part, name) for part in sums)
            assert one == pytest.approx(other, rel=1e-12)


def test_a_group_alone_is_a_source_of_its_rows():
    label = RNG.random(ROWS) < PROB
    source = cb.Predictions(label, PROB).source
    grouped = GroupedArrays(source, COLUMNS)
    view = next(views_of(grouped, []))
    for group, members in enumerate(view.members):
        value = grouped.splits[0].values[int(members[0, 0])]
        mine = COLUMNS["g"] == value
        rows = grouped.alone(view, group).rows()
        assert sorted(rows.score) == sorted(PROB[mine])
        assert rows.label.sum() == label[mine].sum()


def test_values_with_few_rows_share_a_code():
    group = np.where(np.arange(ROWS) < 20, np.arange(ROWS), 99)
    source = cb.Predictions(RNG.random(ROWS) < PROB, PROB).source
    [split] = GroupedArrays(source, {"g": group}).splits
    assert (split.values, split.pooled, split.codes) == ([99], 20, 2)


def test_a_column_of_another_length_is_refused():
    source = cb.Predictions([0, 1], [0.2, 0.6]).source
    with pytest.raises(InputError, match="y_true has 2, by column 'g' has 3"):
        GroupedArrays(source, {"g": [1, 2, 3]})
