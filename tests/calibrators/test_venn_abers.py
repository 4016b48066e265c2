"""Venn-Abers prediction: its definition by brute force, and what the pair guarantees."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

import calibrant as cb
from calibrant.calibrators.venn_abers import Pairs, pairs_need, pairs_of
from calibrant.core.diagram import everything, resolve
from calibrant.simulate import overconfident
from reference.samples import SCORES, shapes, small


def fitted(y_true, y_prob, weight=None):
    return cb.VennAbersCalibrator().fit(y_prob, y_true, sample_weight=weight)


def isotonic_with(y_true, y_prob, weight, score, outcome):
    """The isotonic fit's value at a score, with a row of weight 1 added there."""
    scores, place = np.unique(np.append(y_prob, score), return_inverse=True)
    weights = np.append(weight, 1.0)
    total = np.bincount(place, weights)
    rate = np.bincount(place, weights * np.append(y_true, outcome)) / np.where(total > 0, total, 1)
    counted = total > 0
    values = isotonic_regression(rate[counted], weights=total[counted]).x
    return values[np.searchsorted(scores[counted], score)]


def by_definition(y_true, y_prob, weight, scores):
    y_true, y_prob = np.array(y_true, dtype=float), np.array(y_prob, dtype=float)
    weight = np.ones(len(y_true)) if weight is None else np.array(weight, dtype=float)
    return np.array(
        [[isotonic_with(y_true, y_prob, weight, one, y) for y in (0, 1)] for one in scores]
    )


def in_and_around(y_prob):
    """All scores, their neighbours among the doubles, the middles between them, and the ends."""
    known = np.unique(np.append(y_prob, [0.0, 1.0]))
    middle = (known[1:] + known[:-1]) / 2
    near = np.concatenate([np.nextafter(known, 0), np.nextafter(known, 1)])
    return np.unique(np.concatenate([known, middle, near]).clip(0, 1))


def looks_swapped(y_true, y_prob):
    return set(y_prob) <= {0, 1} and not set(y_true) <= {0, 1}


#: Random weights may be as small as they like.
light = pytest.mark.filterwarnings("ignore:Weights are")


@light
@settings(max_examples=300)
@given(small(rows=15), st.lists(SCORES, max_size=5))
def test_equals_the_definition(sample, others):
    y_true, y_prob, weight = sample
    if looks_swapped(y_true, y_prob):
        return
    scores = np.append(in_and_around(y_prob), others)
    found = fitted(y_true, y_prob, weight)
    expected = by_definition(y_true, y_prob, weight, scores)
    assert np.abs(found.predict_pair(scores) - expected).max() <= 1e-12
    p0, p1 = expected.T
    assert found.predict(scores) == pytest.approx(p1 / (1 - p0 + p1), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_definition_where_blocks_are_long(seed):
    """Tens of rows, so that tangents pass over vertices and several points lie under them."""
    rng = np.random.default_rng(seed)
    rows, power = rng.integers(20, 120), rng.choice([0.2, 1, 5])
    y_prob = rng.integers(0, 200, rows) / 199
    y_true = (rng.random(rows) < y_prob**power).astype(float)
    weight = [None, rng.integers(0, 4, rows), 10 ** rng.normal(0, 2, rows)][seed % 3]
    if seed % 2:
        y_true = rng.random(rows).round(seed % 5)
    scores = in_and_around(y_prob)
    found = fitted(y_true, y_prob, weight).predict_pair(scores)
    assert np.abs(found - by_definition(y_true, y_prob, weight, scores)).max() <= 1e-12


@pytest.mark.parametrize(("name", "y_true", "y_prob"), list(shapes(30_000)))
def test_equals_the_definition_on_every_shape(name, y_true, y_prob):
    y_prob = y_prob.astype(float)
    rng = np.random.default_rng(1)
    ordered = np.unique(y_prob)
    ends = np.concatenate([ordered[:20], ordered[-20:], [0, 1]])
    scores = np.concatenate([rng.choice(y_prob, 30), rng.random(10), ends])
    for weight in (None, rng.integers(0, 4, len(y_true)), rng.random(len(y_true))):
        found = fitted(y_true, y_prob, weight).predict_pair(scores)
        assert np.abs(found - by_definition(y_true, y_prob, weight, scores)).max() <= 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "y_true", "y_prob"), list(shapes(30_000)))
def test_cells_that_stay_closed_hold_nothing(name, y_true, y_prob, weighted):
    weight = np.random.default_rng(2).integers(0, 4, len(y_true)) if weighted else None
    source = cb.Predictions(y_true, y_prob, sample_weight=weight).source
    some, every = resolve(source, pairs_need), resolve(source, everything)
    assert pairs_of(some).to_dict() == pairs_of(every).to_dict()
    if name in {"miscalibrated", "calibrated", "crowded near zero", "float32"}:
        assert len(some.cells) < 0.75 * len(every.cells)


def test_scores_that_separate_the_classes():
    """Cells without a negative at the top, or a positive at the bottom, still have a last score."""
    y_prob = np.random.default_rng(0).random(30_000)
    found = fitted(y_prob > 0.5, y_prob)
    pairs = found.function_
    assert (pairs.p0_from[0], pairs.p0[0]) == (y_prob.min(), 0)
    assert (pairs.p1_up_to[-1], pairs.p1[-1]) == (y_prob.max(), 1)
    scores = np.linspace(0, 1, 21)
    expected = by_definition(y_prob > 0.5, y_prob, None, scores)
    assert np.abs(found.predict_pair(scores) - expected).max() <= 1e-12
    again = cb.Calibrator.from_json(found.to_json())
    assert again.predict_pair(scores).tolist() == found.predict_pair(scores).tolist()


@light
@settings(max_examples=200)
@given(small(rows=15))
def test_order_of_the_pair_and_of_scores(sample):
    y_true, y_prob, weight = sample
    if looks_swapped(y_true, y_prob):
        return
    found = fitted(y_true, y_prob, weight)
    scores = in_and_around(y_prob)
    (p0, p1), merged = found.predict_pair(scores).T, found.predict(scores)
    assert ((p0 >= 0) & (p0 <= merged) & (merged <= p1) & (p1 <= 1)).all()
    for values in (p0, p1, merged):
        assert (np.diff(values) >= 0).all()


@settings(max_examples=150)
@given(small(rows=12, soft=False, weighted=False), st.randoms(use_true_random=False))
def test_order_of_rows_and_weights_as_repetition(sample, random):
    y_true, y_prob, _ = (np.array(column) for column in sample)
    weight = np.array([random.randint(0, 3) for _ in y_true])
    order = random.sample(range(len(y_true)), len(y_true))
    scores = in_and_around(y_prob)
    whole = fitted(y_true, y_prob).predict_pair(scores)
    moved = fitted(y_true[order], y_prob[order]).predict_pair(scores)
    assert moved.tolist() == whole.tolist()
    if weight.any():
        weighted = fitted(y_true, y_prob, weight).predict_pair(scores)
        repeated = fitted(np.repeat(y_true, weight), np.repeat(y_prob, weight))
        assert weighted.tolist() == repeated.predict_pair(scores).tolist()


def test_by_hand():
    """One row, one class, and a new row that weighs as much as all others."""
    assert fitted([1], [0.5]).predict_pair([0.4, 0.5, 0.6]).tolist() == [[0, 1], [0.5, 1], [0.5, 1]]
    assert fitted([0], [0.5]).predict_pair([0.4, 0.5, 0.6]).tolist() == [[0, 0.5], [0, 0.5], [0, 1]]
    none = fitted([0] * 9, np.linspace(0, 1, 9))
    assert none.predict_pair([0.0]).tolist() == [[0, 0.1]]
    assert none.predict([0.0])[0] == pytest.approx(0.1 / 1.1)
    assert none.predict_pair([1.0]).tolist() == [[0, 0.5]]
    every = fitted([1] * 9, np.linspace(0, 1, 9))
    assert every.predict_pair([0.0, 1.0]).tolist() == [[0.5, 1], [0.9, 1]]
    heavy = fitted([0, 1], [0.2, 0.8], [3, 7])
    assert heavy.predict_pair([0.2, 0.5, 0.8]).tolist() == [[0, 0.25], [0, 1], [0.875, 1]]


@pytest.mark.parametrize("rows", [300, 30_000])
def test_weights_so_large_that_the_new_row_hardly_counts(rows):
    y_true, y_prob, _ = overconfident().draw(rows, seed=1)
    isotonic = cb.IsotonicCalibrator().fit(y_prob, y_true)
    found = fitted(y_true, y_prob, np.full(rows, 1e10))
    p0, p1 = found.predict_pair(y_prob).T
    assert (p0 <= p1).all()
    assert p0 == pytest.approx(isotonic.predict(y_prob), abs=1e-9)
    assert p1 == pytest.approx(isotonic.predict(y_prob), abs=1e-9)
    assert cb.Calibrator.from_json(found.to_json()).predict_pair(y_prob).T.tolist() == [
        p0.tolist(),
        p1.tolist(),
    ]


def test_rounding_never_leaves_the_unit_interval_nor_the_pair():
    rng = np.random.default_rng(0)
    y_prob = np.sort(rng.random(20_000))
    y_true = rng.random(20_000) < y_prob
    y_true[-50:] = True
    found = fitted(y_true, y_prob, rng.random(20_000))
    assert found.predict_pair(y_prob).max() == 1
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y_prob, weight = rng.random(100), 1e13 * rng.random(100)
        found = fitted(rng.random(100), y_prob, weight)
        (p0, p1), merged = found.predict_pair(y_prob).T, found.predict(y_prob)
        assert ((p0 <= merged) & (merged <= p1)).all()


def test_rounding_never_changes_the_ranking():
    """Steps of p1 as small as they can be, and p0 above p1 by as little."""
    p1 = 0.3 + np.spacing(0.3) * np.arange(100)
    up_to = np.linspace(0.5, 1, 100)
    pairs = Pairs(np.array([0.1]), np.array([0.25]), up_to, p1)
    pairs.verify()
    assert (np.diff(pairs(up_to)) >= 0).all()
    turned = Pairs(np.array([0.1]), p1[1:2], np.array([0.9]), p1[:1])
    turned.verify()
    p0, p1 = turned.both(np.array([0.5]))
    assert p0 <= turned(np.array([0.5])) <= p1


def test_steps_are_few_and_the_last_digit_is_right():
    """A hundred thousand rows of odd weights: sums of them must not lose the new row's."""
    rng = np.random.default_rng(3)
    y_prob = rng.random(100_000)
    y_true, weight = rng.random(100_000) < y_prob, rng.random(100_000) + 0.1
    found = fitted(y_true, y_prob, weight)
    assert len(found.function_.p0) < 5000
    assert len(found.function_.p1) < 5000
    scores = rng.random(25)
    expected = by_definition(y_true, y_prob, weight, scores)
    assert np.abs(found.predict_pair(scores) - expected).max() <= 1e-12


class TestValidity:
    """p_Y, the member of the pair that fits the outcome, is calibrated."""

    def test_exactly_over_the_choice_of_the_new_row(self):
        """Of any bag of rows, each the new one in turn: the event's share is p_Y, for each p_Y."""
        rng = np.random.default_rng(0)
        for _ in range(30):
            y_prob = rng.integers(0, 15, 25) / 14
            y_true = (rng.random(25) < 1 - y_prob).astype(int)  # as wrong as scores can be
            p = np.array(
                [
                    fitted(np.delete(y_true, new), np.delete(y_prob, new)).predict_pair(
                        y_prob[[new]]
                    )[0, y_true[new]]
                    for new in range(25)
                ]
            )
            for value in np.unique(p.round(9)):
                alike = p.round(9) == value
                assert y_true[alike].mean() == pytest.approx(value, abs=1e-9)

    @pytest.mark.parametrize("rows", [1, 3, 20, 100])
    def test_for_independent_draws(self, rows):
        """E[(Y - p_Y) g(p_Y)] = 0 for every g, even with a single fitting row."""
        rng = np.random.default_rng(rows)
        sets, new = 1500, 20
        tests = [
            np.ones_like,
            lambda p: p,
            lambda p: p < 0.3,
            lambda p: (p >= 0.3) & (p < 0.6),
            lambda p: p >= 0.6,
            lambda p: np.sin(9 * p),
        ]
        sums, wrong = np.zeros((sets, len(tests))), np.zeros((sets, len(tests)))
        for i in range(sets):
            y_prob = rng.random(rows + new).round(1)
            y_true = (rng.random(rows + new) < 0.2 + 0.5 * y_prob**3).astype(int)
            pair = fitted(y_true[:rows], y_prob[:rows]).predict_pair(y_prob[rows:])
            label = y_true[rows:]
            for p, kept in ((pair[np.arange(new), label], sums), (pair.mean(axis=1), wrong)):
                kept[i] = [np.sum((label - p) * test(p)) for test in tests]
        # new rows of one fit depend on each other, so each fit counts as one
        z = sums.sum(axis=0) / np.sqrt(np.square(sums).sum(axis=0) + 1e-9)
        assert np.abs(z).max() < 3.5
        if rows == 3:  # a number in between has no such guarantee, and the test can tell
            z = wrong.sum(axis=0) / np.sqrt(np.square(wrong).sum(axis=0) + 1e-9)
            assert np.abs(z).max() > 6


def test_the_number_in_between_loses_the_same_to_either():
    y_true, y_prob, _ = overconfident().draw(500, seed=1)
    found = fitted(y_true, y_prob)
    inside = np.linspace(0.05, 0.95, 50)
    (p0, p1), p = found.predict_pair(inside).T, found.predict(inside)
    assert np.log((1 - p0) / (1 - p)) == pytest.approx(np.log(p1 / p), abs=1e-12)


def test_approaches_the_truth():
    law = overconfident()
    y_true, y_prob, _ = law.draw(50_000, seed=1)
    new = law.draw(50_000, seed=2)
    found = fitted(y_true, y_prob)
    p0, p1 = found.predict_pair(new.y_prob).T
    assert 0 < np.mean(p1 - p0) < 0.01
    after = cb.calibration_error(new.y_true, found.predict(new.y_prob))
    assert after < cb.calibration_error(new.y_true, new.y_prob) / 10


def test_from_a_table_and_in_small_steps(tiny_steps):
    y_true, y_prob, _ = overconfident().draw(200, seed=2)
    y_prob = y_prob.round(2)
    data = cb.Predictions(y_true, y_prob)
    found = cb.VennAbersCalibrator().fit(data).predict_pair(y_prob)
    assert np.abs(found - by_definition(y_true, y_prob, None, y_prob)).max() <= 1e-12


def rate(block):
    return block[2] / block[1]


def exact_pair(y_prob, y_true, weight, new):
    """The definition in fractions: two isotonic fits by hand, with the new row in them."""
    found = []
    for outcome in (0, 1):
        sums = {}
        rows = [*zip(y_prob, y_true, weight, strict=True), (new, outcome, 1)]
        for score, label, heavy in rows:
            total = sums.setdefault(score, [Fraction(0), Fraction(0)])
            total[0] += Fraction(heavy)
            total[1] += Fraction(heavy) * Fraction(label)
        blocks = []
        for score in sorted(sums):
            blocks.append([[score], *sums[score]])
            while (
                len(blocks) > 1 and blocks[-2][2] / blocks[-2][1] >= blocks[-1][2] / blocks[-1][1]
            ):
                last = blocks.pop()
                blocks[-1] = [own + more for own, more in zip(blocks[-1], last, strict=True)]
        [value] = [events / total for scores, total, events in blocks if new in scores]
        found.append(float(value))
    return found


@pytest.mark.parametrize("big", [1e3, 1e7, 1e12, 2e15])
def test_next_to_large_weights_a_new_row_still_counts(big):
    y_prob, y_true = [0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 1, 1]
    weight = [big / 3, 0.1, 0.2, 0.3, 0.7]
    model = cb.VennAbersCalibrator().fit(y_prob, y_true, weight)
    for new in (0.1, 0.2, 0.25, 0.4, 0.5, 0.6):
        expected = exact_pair(y_prob, y_true, weight, new)
        np.testing.assert_allclose(model.predict_pair([new])[0], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_a_few_large_weights_cost_the_others_no_digits(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(5, 40))
    y_prob = rng.integers(0, 60, rows) / 59
    y_true = (rng.random(rows) < y_prob).astype(float) if seed % 2 else rng.random(rows)
    weight = rng.random(rows) + 0.1
    heavy = rng.integers(0, rows, 1 + rows // 6)
    weight[heavy] = 10.0 ** rng.uniform(5, 14, len(heavy))
    model = fitted(y_true, y_prob, weight)
    for new in rng.choice(np.append(y_prob, rng.random(5)), 6).tolist():
        expected = exact_pair(y_prob.tolist(), y_true.tolist(), weight.tolist(), new)
        np.testing.assert_allclose(model.predict_pair([new])[0], expected, rtol=0, atol=1e-15)


def test_steps_are_those_of_predict_and_no_two_alike():
    rng = np.random.default_rng(3)
    model = cb.VennAbersCalibrator().fit(rng.random(200).round(2), rng.random(200) < 0.4)
    begin, value = model.function_.steps()
    assert begin[0] == 0
    assert (np.diff(value) > 0).all()
    scores = np.concatenate([begin, np.nextafter(begin, 0), rng.random(500)])
    found = value[np.searchsorted(begin, scores, side="right") - 1]
    assert found.tolist() == model.predict(scores).tolist()
