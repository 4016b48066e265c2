"""The bound in the far tail: against exact probabilities, and in cells that are not opened."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import calibrant as cb
from calibrant.certificates.brownian import range_quantile, range_tail
from calibrant.certificates.evidence import evidence_of
from calibrant.certificates.far_tail import GRID, _Tail, far_tail
from calibrant.certificates.testing import asymptotic_test
from calibrant.core.diagram import Diagram, resolve
from calibrant.core.extremes import extremes_need
from calibrant.core.tally import Cells, Totals
from calibrant.data.predictions import data_of
from calibrant.simulate import overconfident, rare

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")


def points(score, rows):
    rows = np.asarray(rows)
    return Cells.points(np.asarray(score, float), rows, rows.astype(float), np.zeros(len(rows)))


def scores(y_prob):
    return points(*np.unique(y_prob, return_counts=True))


def null_law(y_prob):
    """n c_emp of every outcome of sorted scores, ties pooled, and its probability."""
    outcomes = np.array(list(itertools.product([0, 1], repeat=len(y_prob))), dtype=float)
    chances = np.where(outcomes == 1, y_prob, 1 - y_prob).prod(axis=1)
    last = np.append(np.diff(y_prob) > 0, True)
    walk = np.cumsum(outcomes - y_prob, axis=1)[:, last]
    return np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0), chances


def assert_bounds_the_law(y_prob):
    y_prob = np.sort(y_prob)
    value, chances = null_law(y_prob)
    for x in np.unique(value.round(9)):
        truth = chances[value >= x - 1e-8].sum()
        assert far_tail(scores(y_prob), x) >= truth * (1 - 1e-9)


@pytest.mark.parametrize(
    "y_prob",
    [
        np.full(12, 0.5),
        np.linspace(0.4, 0.6, 12),
        np.full(12, 0.01),
        np.linspace(0.001, 0.02, 12),
        np.linspace(0.98, 0.999, 12),
        np.repeat([0.01, 0.99], 6),
        np.array([0.0, 0.0, 1e-300, 0.3, 0.3, 0.3, 1.0, 1.0]),
        np.array([0.9]),
    ],
    ids=lambda y_prob: f"{y_prob[0]:g} to {y_prob[-1]:g}",
)
def test_no_outcome_is_likelier_than_the_bound(y_prob):
    assert_bounds_the_law(y_prob)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.5, 0.97]), min_size=1, max_size=9))
def test_no_outcome_is_likelier_than_the_bound_for_any_scores(y_prob):
    assert_bounds_the_law(np.array(y_prob))


@pytest.mark.parametrize(
    ("n", "f"), [(10**6, 51e-6), (10**4, 0.02), (5000, 0.5), (300, 0.9), (40, 0.2), (7, 1e-9)]
)
def test_binomial_tails_of_one_score(n, f):
    for events in np.unique(np.linspace(math.floor(n * f) + 1, min(n, 4 * n * f + 9), 40).round()):
        x = events - n * f
        truth = binom.sf(events - 1, n, f) + binom.cdf(math.floor(n * f - x + 1e-9), n, f)
        bound = far_tail(points([f], [n]), x)
        assert truth * (1 - 1e-9) <= bound
        # Chernoff's bound is loose by sqrt(n), and there are two directions and a reflection
        assert bound <= min(1.0, 4 * truth * 4 * math.sqrt(2 * math.pi * n))


def test_the_tail_is_not_the_normal_one_where_events_are_rare():
    """51 events expected, 150 observed: the limit has a third of the digits of the truth."""
    truth = binom.sf(149, 10**6, 51e-6)
    assert truth == pytest.approx(2.5e-29, rel=0.02)
    assert far_tail(points([51e-6], [10**6]), 99.0) == pytest.approx(2.1e-27, rel=0.02)
    assert range_tail(99 / math.sqrt(51)) < 1e-42


def test_what_cannot_happen_and_what_always_does():
    assert far_tail(points([0.0, 1.0], [5, 5]), 1.0) == 0
    assert far_tail(points([0.3], [5]), 0.0) == 1
    assert far_tail(points([0.3], [5]), -1.0) == 1
    assert far_tail(points([0.3], [5]), 0.1) == 1
    # all rows are surprises: f^n, in each direction, after a reflection
    assert far_tail(points([0.2], [40]), 32.0) == pytest.approx(4 * 0.2**40, rel=1e-3)
    assert far_tail(points([0.2], [40]), 33.0) < 1e-300
    assert far_tail(points([0.2], [10**15]), 10**14) == 0  # too small for a double
    # the rarest scores that there are: no more than a lambda of 700 can show, and no overflow
    for least in (1e-300, 1e-309, 5e-324):
        bound = far_tail(points([least, 1.0], [3, 3]), 1 - 1e-9)
        assert max(3 * least, 1e-305) <= bound < 1e-298
    with np.errstate(all="raise", under="ignore"):
        assert 0 < far_tail(points([1e-17], [10]), 1 - 1e-9) < 1.1e-15


def test_the_bound_never_rises_with_the_deviation():
    for cells in (points([51e-6], [10**6]), scores(np.random.default_rng(0).random(500) ** 8)):
        bounds = [far_tail(cells, x) for x in np.linspace(0, 120, 1500)]
        assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(bounds))
        assert bounds[0] == 1 > bounds[-1]


def test_the_best_lambda_is_found():
    cells = scores(np.random.default_rng(0).random(500) ** 8)
    tail = _Tail(cells)
    for x in (0.5, 20.0, 60.0, 300.0):
        grid = np.linspace(1e-3, 30, 20_000)
        least = min(tail.exponent(lam) - lam * x for lam in grid)
        assert far_tail(cells, x) <= min(1.0, 4 * math.exp(least)) * (1 + 1e-9)


def test_h_is_largest_for_the_rarer_side():
    """The supermartingale divides by the larger of two mean exponentials: h at min(f, 1 - f)."""
    f = np.linspace(0, 1, 201)
    for lam in (1e-3, 0.3, 1.0, 5.0, 20.0):
        up = np.log1p(f * math.expm1(lam)) - lam * f  # ln E exp(lambda (Y - f))
        down = np.log1p(f * math.expm1(-lam)) + lam * f  # ln E exp(-lambda (Y - f))
        g = np.minimum(f, 1 - f)
        h = np.log1p(g * math.expm1(lam)) - lam * g
        assert np.maximum(up, down) == pytest.approx(h, rel=1e-6, abs=1e-12)


def tallied(y_prob, level):
    data = cb.Predictions(np.zeros(len(y_prob)), y_prob)
    return data.tally(level).cells


DESIGNS = [
    np.random.default_rng(0).random(400),
    np.random.default_rng(1).random(400) ** 9,
    np.repeat([0.0, 1.0], 200),
    np.repeat([0.001, 0.002, 0.999], [300, 60, 40]),
    np.append(np.zeros(398), [1e-17, 2e-17]),
    1 - np.random.default_rng(2).random(400) ** 5,
]


@pytest.mark.parametrize("y_prob", DESIGNS, ids=range(len(DESIGNS)))
@pytest.mark.parametrize("level", [0, 1, 3, 8, 14])
def test_closed_cells_only_raise_the_bound(y_prob, level):
    closed, opened = tallied(y_prob, level), scores(y_prob)
    for x in (1e-6, 0.5, 1 - 1e-9, 5.0, 40.0, 150.0):
        assert far_tail(closed, x) >= far_tail(opened, x) * (1 - 1e-9)


@pytest.mark.parametrize("y_prob", DESIGNS, ids=range(len(DESIGNS)))
def test_the_bound_does_not_depend_on_what_was_opened(y_prob):
    for x in (0.5, 5.0, 40.0, 150.0):
        opened = far_tail(scores(y_prob), x)
        for level in (GRID, 14, 20):
            assert far_tail(tallied(y_prob, level), x) == pytest.approx(opened, rel=1e-9)


def test_pooling_neighbours_costs_next_to_nothing():
    """Against the sum over every row by itself."""
    for y_prob, x, most in ((DESIGNS[0], 60.0, 1.001), (DESIGNS[1], 40.0, 1.001)):
        g = np.minimum(y_prob, 1 - y_prob)
        least = min(
            np.sum(np.log1p(g * math.expm1(lam)) - lam * g) - lam * x
            for lam in np.linspace(0.01, 5, 2000)
        )
        assert 4 * math.exp(least) * (1 - 1e-4) <= far_tail(scores(y_prob), x)
        assert far_tail(scores(y_prob), x) <= 4 * math.exp(least) * most


@pytest.mark.parametrize("law", [overconfident(), rare(0.02)], ids=str)
def test_an_audit_and_another_order_of_rows_have_the_same_p_value(law):
    """What is opened depends on the source, on the order of rows, and on what else is asked."""
    y_prob = law.draw(6000, seed=1).y_prob
    rng = np.random.default_rng(1)
    y_true = rng.random(6000) < np.minimum(1, 1.9 * y_prob)
    one = cb.calibration_test(y_true, y_prob, method="asymptotic")
    assert one.p_value_is_bound
    assert cb.audit(y_true, y_prob).test.p_value == pytest.approx(one.p_value, rel=1e-9)
    order = np.argsort(y_prob)
    for these in (order, order[::-1], rng.permutation(6000)):
        other = cb.calibration_test(y_true[these], y_prob[these], method="asymptotic")
        assert other.p_value == pytest.approx(one.p_value, rel=1e-9)


def test_a_cell_over_one_half_is_taken_at_its_worst():
    """Half of the scores 0, half 1, and all scores 1/2 have one mean: level 0 cannot tell them."""
    cell = tallied(np.repeat([0.01, 0.99], 50), 0)
    assert len(cell) == 1
    worst = max(far_tail(points([g, 1 - g], [50, 50]), 30.0) for g in np.linspace(0.01, 0.49, 97))
    assert far_tail(cell, 30.0) >= worst * (1 - 1e-9)
    # where large deviations come from the rarest scores h falls again before 1/2
    lam = 3.0
    assert 1 / lam - 1 / math.expm1(lam) < 0.3
    assert _Tail(cell).exponent(lam) > _Tail(points([0.5], [100])).exponent(lam)


def test_order_and_pooling_change_nothing():
    rng = np.random.default_rng(0)
    y_prob = rng.random(3000).round(2) ** 2
    y_true = rng.random(3000) < np.minimum(1, 1.5 * y_prob)
    order = rng.permutation(3000)
    one = cb.calibration_test(y_true, y_prob)
    assert one.p_value_is_bound
    assert cb.calibration_test(y_true[order], y_prob[order]) == one
    score, index = np.unique(y_prob, return_inverse=True)
    events = np.bincount(index, weights=y_true)
    rest = np.bincount(index) - events
    weight = np.concatenate([events, rest])
    some = weight > 0
    pooled = cb.calibration_test(
        np.repeat([1, 0], len(score))[some],
        np.tile(score, 2)[some],
        sample_weight=weight[some],
    )
    assert pooled.p_value == pytest.approx(one.p_value, rel=1e-9)
    for level in (0, 2, 14):
        tally = cb.Predictions(y_true, y_prob).tally(level)
        assert cb.calibration_test(tally).p_value >= one.p_value * (1 - 1e-9)


def found(expected, events, n=10**6):
    """Test one score, where so many events are expected and observed."""
    cells = Cells.points(
        np.array([expected / n]), np.array([n]), np.array([float(n)]), np.array([float(events)])
    )
    f = expected / n
    diagram = Diagram(cells, Totals(n * f * f, events * f, float(events), True, True))
    return asymptotic_test(diagram, evidence_of(diagram))


@pytest.mark.parametrize("expected", [51, 300, 20_000, 500_000])
def test_the_p_value_never_jumps_up_as_the_deviation_grows(expected):
    deviation = math.sqrt(expected * (1 - expected / 10**6))
    events = np.unique(np.linspace(expected, expected + 14 * deviation, 700).round())
    tests = [found(expected, one) for one in events]
    p_values = np.array([test.p_value for test in tests])
    assert (np.diff(p_values) <= 1e-9 * p_values[:-1]).all()
    limits = np.array([range_tail((one - expected) / deviation) for one in events])
    near = limits >= 1e-3
    assert (p_values[near] == pytest.approx(limits[near], rel=1e-6)) & near.any()
    assert not any(test.p_value_is_bound for test in tests if test.p_value > 1e-3)
    for test, one, limit in zip(tests, events, limits, strict=True):
        if test.p_value_is_bound:
            assert test.p_value >= max(limit * (1 - 1e-6), binom.sf(one - 1, 10**6, expected / 1e6))
        elif limit < 1e-3:
            assert test.p_value == 1e-3


def test_51_expected_and_150_observed():
    test = found(51, 150)
    assert test.p_value_is_bound
    assert test.p_value == pytest.approx(2.1e-27, rel=0.02)
    assert "would have probability at most 2.08e-27 (asymptotic test)" in repr(test)


def range_law(m, n, k):
    """P(n c_emp >= k / m) for n distinct scores that are all as good as 1 / m, exactly.

    The walk moves by units of 1 / m. A range of r fits w - r + 1 windows of w units and w - r
    windows of w - 1, one less, if r <= w: so P(range <= w) is the difference of the expected
    numbers of windows that the walk stays in, each found for all windows at once.
    """

    def windows(w):
        mass = np.ones(w + 1)
        for _ in range(n):
            moved = np.zeros(w + 1)
            moved[:-1] += mass[1:] * (1 - 1 / m)
            moved[m - 1 :] += mass[: w + 2 - m] / m
            mass = moved
        return mass.sum()

    return 1 - (windows(k - 1) - windows(k - 2))


def test_the_law_of_the_range_is_the_sum_over_all_outcomes():
    value, chances = null_law(np.linspace(0.2, 0.2 + 1e-12, 11))
    for k in (9, 13, 17, 26, 40):
        assert range_law(5, 11, k) == pytest.approx(chances[value >= k / 5 - 1e-6].sum(), abs=1e-10)


def test_one_in_a_thousand_is_no_bound_where_nothing_proves_it():
    """The limit falls below 1e-3 before the truth does: there 1e-3 is an approximation."""
    m, n = 40, 2052
    y_prob = np.linspace(1 / m, 1 / m + 1e-9, n)
    deviation = math.sqrt(n / m * (1 - 1 / m))
    assert deviation**2 > 50  # so that the asymptotic test is the one by default
    k = math.floor(range_quantile(1e-3) * deviation * m) + 1
    assert range_tail(k / m / deviation) < 1e-3 < range_law(m, n, k)
    assert far_tail(scores(y_prob), k / m) > 1e-3
    for more in range(k, 2 * k, 50):
        assert far_tail(scores(y_prob), more / m) >= range_law(m, n, more)
    number = math.ceil((n + k) / m)  # of events, at even distances: the walk only rises
    events = np.isin(np.arange(n), np.linspace(0, n - 1, number).round())
    test = cb.calibration_test(events, y_prob)
    assert test.statistic * n >= k / m
    assert (test.p_value, test.p_value_is_bound) == (1e-3, False)
    assert "would have probability 0.001 (asymptotic test)" in repr(test)


def test_a_bound_over_the_level_does_not_reject():
    """The lower end of a two-sided asymptotic interval rests on this p-value."""
    y_true = np.arange(10**5) < 85
    y_prob = np.full(10**5, 51e-5)
    test = cb.calibration_test(y_true, y_prob)
    level = 1e-4
    limit = range_tail(34 / math.sqrt(51 * (1 - 51e-5)))
    assert limit < level / 5 < level < test.p_value <= 1e-3
    few = cb.certify(y_true, y_prob, method="asymptotic", sided="both", confidence=1 - 2 * level)
    assert few.lower == 0
    assert cb.certify(y_true, y_prob, method="asymptotic", sided="both").lower > 0


@pytest.mark.validity
def test_the_size_far_in_the_tail():
    """Rare events: p-values under 1e-3 come as often as they say, or less."""
    times, least = 20_000, []
    rng = np.random.default_rng(1)
    y_prob = rare(0.005).draw(12_000, seed=1).y_prob
    for _ in range(times):
        data = data_of(rng.random(len(y_prob)) < y_prob, y_prob, None, None)
        diagram = resolve(data.source, extremes_need)
        test = asymptotic_test(diagram, evidence_of(diagram))
        if test.p_value_is_bound:
            least.append(test.p_value)
    for level in (1e-3, 1e-4):
        count = sum(p_value <= level for p_value in least)
        assert binom.sf(count - 1, times, level) > 1e-4
