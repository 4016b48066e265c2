"""The tests of c = 0: against all outcomes, against each other, and their size."""

import itertools
import math
import time
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.certificates.evidence import Counts
from calibrant.certificates.null_simulation import null_ranges
from calibrant.certificates.testing import exact_test
from calibrant.simulate import atoms, calibrated, constant, rare
from reference import brute

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")


def enumerated(y_true, y_prob):
    """P(c_emp* >= c_emp) by adding up the probability of every outcome."""
    observed = brute.error(y_true, y_prob)
    total = 0.0
    for outcome in itertools.product([0, 1], repeat=len(y_prob)):
        if brute.error(outcome, y_prob) >= observed - Fraction(1, 10**9):
            chances = (f if y else 1 - f for y, f in zip(outcome, y_prob, strict=True))
            total += math.prod(chances)
    return total


@pytest.mark.parametrize(
    ("y_true", "y_prob"),
    [
        ([0, 0, 1, 1, 0], [0.2, 0.2, 0.2, 0.7, 0.9]),
        ([1, 1, 0, 0], [0.1, 0.4, 0.5, 0.95]),
        ([1, 0, 0, 0, 0], [0.01, 0.01, 0.02, 0.03, 0.99]),
    ],
)
def test_the_exact_p_value_is_the_sum_over_all_outcomes(y_true, y_prob):
    truth = enumerated(y_true, y_prob)
    for draws in (9_999, 20_000):
        found = cb.calibration_test(y_true, y_prob, draws=draws)
        assert found.method == "exact"
        assert found.p_value == pytest.approx(truth, abs=4.5 * found.p_value_error)
        p = found.p_value
        if found.draws < draws:
            assert p == 100 / found.draws
            assert found.p_value_error == pytest.approx(p * math.sqrt((1 - p) / 100))
        else:
            assert p <= 101 / (draws + 1)
            assert found.p_value_error == pytest.approx(math.sqrt(p * (1 - p) / draws))


def counts(score, rows):
    return Counts(np.asarray(score, float), np.asarray(rows), np.zeros(len(rows), dtype=int))


def test_auto_switches_by_rows_and_by_expected_variance():
    y_true, y_prob, _ = calibrated().draw(2000, seed=1)
    assert cb.calibration_test(y_true, y_prob).method == "asymptotic"
    assert cb.calibration_test(y_true[1:], y_prob[1:]).method == "exact"
    y_true, y_prob, _ = rare().draw(40_000, seed=1)
    assert cb.calibration_test(y_true, y_prob).method == "exact"


def test_the_two_tests_agree_on_many_rows():
    for seed in range(3):
        y_true, y_prob, _ = calibrated().draw(20_000, seed=seed)
        exact = cb.calibration_test(y_true, y_prob, method="exact")
        limit = cb.calibration_test(y_true, y_prob, method="asymptotic")
        assert exact.statistic == pytest.approx(limit.statistic, abs=1e-12)
        assert exact.p_value == pytest.approx(limit.p_value, abs=0.07)


def test_the_limit_reaches_far_into_the_tail():
    found = cb.calibration_test([0] * 5400, [0.5] * 5400, method="asymptotic")
    assert found.p_value == pytest.approx(0.0, abs=1e-300)
    found = cb.calibration_test([0] * 1320, [0.5] * 1320, method="asymptotic")
    assert 1e-300 < found.p_value < 1e-270
    assert cb.calibration_test([0, 1], [0.5, 0.5], method="asymptotic").p_value == 1


def test_depends_on_rows_not_on_their_order_and_on_the_seed():
    y_true, y_prob, _ = calibrated().draw(500, seed=1)
    order = np.random.default_rng(0).permutation(500)
    one, other = (
        cb.calibration_test(y_true, y_prob),
        cb.calibration_test(y_true[order], y_prob[order]),
    )
    assert one.p_value == other.p_value
    assert one.seed == 0
    assert 100 <= one.draws < 9_999
    assert one.p_value == 100 / one.draws
    again = cb.calibration_test(y_true, y_prob, seed=5)
    assert again.p_value != one.p_value
    repeated = cb.calibration_test(np.repeat(y_true, 2), np.repeat(y_prob, 2))
    weighted = cb.calibration_test(y_true, y_prob, sample_weight=np.full(500, 2))
    assert weighted.p_value == repeated.p_value


def test_a_large_p_value_takes_few_draws(monkeypatch):
    """Of the batches that a test could draw, only the first are."""
    y_true, y_prob, _ = calibrated().draw(50_000, seed=1)
    drawn = []

    def counting(counts, *rest):
        for part in null_ranges(counts, *rest):
            drawn.append(len(part))
            yield part

    monkeypatch.setitem(exact_test.__globals__, "null_ranges", counting)
    found = cb.calibration_test(y_true, y_prob, method="exact")
    assert found.p_value == 100 / found.draws > 0.1
    assert found.draws <= sum(drawn) < found.draws + 20
    other = cb.calibration_test(y_true, y_prob, method="exact", draws=123_456)
    assert other == found


#: law, rows: calibrated ones, rare events and single atoms included.
NULL = [
    (calibrated(), 30),
    (calibrated(0.3, 0.3), 300),
    (rare(), 100),
    (rare(), 5000),
    (atoms(5, 0.0), 200),
    (constant(0.3, 0.3), 40),
    (constant(0.01, 0.01), 50),
    (constant(0.0, 0.0), 20),
]


@pytest.mark.validity
@pytest.mark.parametrize(("law", "rows"), NULL, ids=str)
def test_the_size_of_the_exact_test_is_at_most_its_level(law, rows):
    assert law.calibration_error < 1e-12
    times = 600
    rejected = dict.fromkeys((0.01, 0.05, 0.2, 0.7), 0)
    for seed in range(times):
        y_true, y_prob, _ = law.draw(rows, seed=seed)
        p_value = cb.calibration_test(y_true, y_prob, method="exact", seed=seed).p_value
        for level in rejected:
            rejected[level] += p_value <= level + 1e-12
    for level, count in rejected.items():
        assert binom.sf(count - 1, times, level) > 1e-5


def test_the_size_would_not_hold_without_the_tolerance():
    """On one atom c_emp takes few values, and rounding would break ties between equal ones."""
    level, times, rows = 0.05, 900, 20
    rejected = 0
    for seed in range(times):
        y_true = constant(0.3, 0.3).draw(rows, seed=seed).y_true
        these = Counts(np.array([0.3]), np.array([rows]), np.array([int(y_true.sum())]))
        observed = abs(y_true.sum() - rows * 0.3) * (1 + 1e-9)  # another way to add up
        ranges = np.concatenate(list(null_ranges(these, 99, seed)))
        rejected += (1 + np.sum(ranges >= observed)) / 100 <= level
    assert binom.sf(rejected - 1, times, level) < 1e-5


@pytest.mark.parametrize(("law", "rows"), [(calibrated(), 2000), (atoms(5, 0.0), 3000)])
def test_the_size_of_the_limit_where_it_is_the_default(law, rows):
    times, rejected = 1000, 0
    for seed in range(times):
        found = cb.calibration_test(*law.draw(rows, seed=seed)[:2])
        assert found.method == "asymptotic"
        rejected += found.p_value <= 0.05
    assert binom.sf(rejected - 1, times, 0.05) > 1e-4


def test_reads_like_a_sentence_and_is_plain():
    found = cb.calibration_test([1] * 40, [0.2] * 40)
    assert repr(found) == (
        "There is evidence against calibration: if the scores were right, a calibration error of "
        "0.8 or more on 40 rows would have probability under 0.0001 (exact test over the draws "
        "and the data: 9,999 draws, standard error 0.0001)."
    )
    assert found.to_dict()["method"] == "exact"
    assert found.to_dict()["p_value_is_bound"] is False
    few = cb.calibration_test([1] * 40, [0.2] * 40, draws=3000)
    assert "probability under 0.000334 (" in repr(few)  # rounded up
    assert "(exact test over the draws and the data: 1 draw, " in repr(
        cb.calibration_test([0], [0.2], draws=1)
    )
    large = cb.calibration_test([0, 1] * 20, [0.5] * 40)
    assert "probability 1 (exact test over the draws and the data: 100 draws, " in repr(large)
    none = cb.calibration_test([1] * 40_000, [0.2] * 40_000)
    assert none.p_value == 0  # too small for a double
    assert "would have probability under 1e-300 (asymptotic test)" in repr(none)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"method": "exakt"},
            "method must be one of auto, exact.*Did you mean 'exact'",
        ),
        ({"method": "brownian"}, "one of auto, exact, asymptotic, but it is 'brownian'"),
        ({"draws": 0}, "draws must be a whole number, 1 or more"),
        ({"seed": -1}, "seed must be a whole number, 0 or more"),
        ({"sample_weight": [0.5, 1, 1]}, "Weights must be whole numbers"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        cb.calibration_test([0, 1, 1], [0.2, 0.5, 0.7], **options)


def test_soft_labels_clusters_and_tallies_are_refused():
    with pytest.raises(ValueError, match="soft labels are not outcomes"):
        cb.calibration_test([0.5, 1], [0.2, 0.5])
    clustered = cb.Predictions([0, 1], [0.2, 0.5], clusters=[1, 1])
    with pytest.raises(ValueError, match="does not carry over to rows that come in clusters"):
        cb.calibration_test(clustered)
    y_true, y_prob, _ = calibrated().draw(5000, seed=1)
    tally = cb.Predictions(y_true, y_prob).tally(4)
    assert cb.calibration_test(tally).p_value >= cb.calibration_test(y_true, y_prob).p_value
    with pytest.raises(ValueError, match="A tally holds no rows"):
        cb.calibration_test(tally, method="exact")


def test_a_long_test_can_be_stopped(monkeypatch):
    """What has not begun when the user gives up never does."""

    @contextmanager
    def bar(_, total):
        def stop(done):
            assert done < total
            raise KeyboardInterrupt

        yield stop

    monkeypatch.setitem(exact_test.__globals__, "_LONG", 0.0)
    monkeypatch.setitem(exact_test.__globals__, "progress_bar", bar)
    these = counts(np.linspace(0.01, 0.99, 200_000), np.full(200_000, 1))
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        exact_test(these)
    assert time.perf_counter() - start < 5
