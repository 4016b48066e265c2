import warnings
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import calibrant as cb
from reference import brute, published
from reference.samples import shapes, small
from reference.sorted_path import sorted_error


def quiet_error(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cb.calibration_error(*args, **kwargs)


def swapped_looking(y_true, y_prob):
    return all(f in (0, 1) for f in y_prob) and any(0 < y < 1 for y in y_true)


def check_small(case):
    y_true, y_prob, weight = case
    assume(not swapped_looking(y_true, y_prob))
    found = quiet_error(y_true, y_prob, sample_weight=weight)
    assert isinstance(found, float)
    assert found == pytest.approx(float(brute.error(*case)), abs=1e-12)
    expected = brute.unambiguous_intervals(*case)
    if expected is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            worst = cb.worst_interval(y_true, y_prob, sample_weight=weight)
        p1, p2, excess = expected[0]
        assert (worst.p1, worst.p2) == (p1, p2)
        assert worst.excess == pytest.approx(float(excess), abs=1e-12)


@settings(max_examples=2000)
@given(small())
def test_equals_a_search_over_all_intervals(case):
    check_small(case)


@pytest.mark.usefixtures("tiny_steps")
def test_equals_a_search_over_all_intervals_when_cells_are_split_step_by_step():
    settings(max_examples=1000)(given(small())(check_small))()


@pytest.mark.parametrize(
    ("name", "y_true", "y_prob"),
    list(shapes(300_000)),
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("kind", ["plain", "weighted", "soft"])
def test_equals_the_sorted_answer_on_every_shape(name, y_true, y_prob, kind):
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y_prob)) if kind == "weighted" else None
    if kind == "soft":
        y_true = np.clip(y_prob.astype(float) + rng.normal(0, 0.1, len(y_prob)), 0, 1)
    found = cb.worst_interval(y_true, y_prob, sample_weight=weight) if weight is None else None
    if found is None:
        with pytest.warns(UserWarning, match="zero sample_weight"):
            found = cb.worst_interval(y_true, y_prob, sample_weight=weight)
    error, p1, p2 = sorted_error(y_true, y_prob, weight)
    assert abs(found.excess) == pytest.approx(error, abs=1e-12)
    assert (found.p1, found.p2) == (p1, p2)
    assert quiet_error(y_true, y_prob, sample_weight=weight) == pytest.approx(error, abs=1e-12)


def test_equals_the_sorted_answer_when_all_scores_are_tiny():
    # below 2**-62 no cell can be split, so the rows themselves must be looked at
    rng = np.random.default_rng(2)
    y_prob = np.exp(-rng.uniform(50, 700, 100_000))
    y_true = rng.random(100_000) < 0.3
    error, p1, p2 = sorted_error(y_true, y_prob)
    worst = cb.worst_interval(y_true, y_prob)
    assert cb.calibration_error(y_true, y_prob) == pytest.approx(error, abs=1e-12)
    assert (worst.p1, worst.p2) == (p1, p2)


@pytest.mark.parametrize("rows", [16, 128, 1000, 5000, 30_000])
@pytest.mark.parametrize("scale", [1e-3, 1e-5, 1e-9, 1e-80, 1e-310])
def test_equals_the_sorted_answer_when_most_scores_crowd_at_zero(rows, scale):
    rng = np.random.default_rng(rows)
    crowded = rng.random(rows) < 0.98
    y_prob = np.where(crowded, scale * (1 + rng.random(rows)), rng.random(rows) / 50)
    y_true = rng.random(rows) < np.where(crowded, 0.01, y_prob)
    for order in (np.arange(rows), np.argsort(y_prob), np.argsort(-y_prob)):
        labels, scores = y_true[order], y_prob[order]
        error, p1, p2 = sorted_error(labels, scores)
        found = cb.audit(labels, scores)
        worst = found.worst_intervals[0]
        assert found.calibration_error == pytest.approx(error, abs=1e-12)
        assert (worst.p1, worst.p2) == (p1, p2)
        assert sum(group.rows for group in found.reliability) == rows
        assert max(group.rows for group in found.reliability) <= rows / 10 + 1


def test_a_flat_top_has_one_first_point_whatever_the_cells():
    # scores near 1 add almost nothing, so thousands of points lie within the tolerance
    rng = np.random.default_rng(0)
    y_prob = rng.beta(0.1, 0.1, 300_000)
    y_true = rng.random(300_000) < np.clip(0.8 * y_prob + 0.25, 0, 1)
    order = rng.permutation(300_000)
    found = [
        cb.worst_interval(y_true, y_prob),
        cb.audit(y_true, y_prob).worst_intervals[0],
        cb.audit(y_true[order], y_prob[order]).worst_intervals[0],
    ]
    assert len({(one.p1, one.p2, one.rows) for one in found}) == 1


@pytest.mark.parametrize("low", [0.3, 0.5, 0.9, 1e-5, 3e-20, 1e-300, 5e-324, 0.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_on_neighbouring_floats(low, weighted):
    # only at a level past 50 are they apart
    rng = np.random.default_rng(0)
    scores = np.array([low, np.nextafter(low, 1), np.nextafter(np.nextafter(low, 1), 1)])
    which = rng.integers(0, 3, 60_000)
    y_true = rng.random(60_000) < np.array([0.2, 0.7, 0.1])[which]
    weight = rng.integers(1, 4, 60_000) if weighted else None
    error, p1, p2 = sorted_error(y_true, scores[which], weight)
    worst = cb.worst_interval(y_true, scores[which], sample_weight=weight)
    assert abs(worst.excess) == pytest.approx(error, abs=1e-12)
    assert (worst.p1, worst.p2) == (p1, p2)


@pytest.mark.parametrize("score", [0.91, 0.995372359120611, 1 / 3])
@pytest.mark.parametrize("weight", [None, 0.1])
def test_a_million_equal_scores_do_not_add_up_their_rounding(score, weight):
    rows = 2_000_000
    y_true = np.arange(rows) < round(score * rows)
    weights = None if weight is None else np.full(rows, weight)
    truth = abs(round(score * rows) - score * rows) / rows
    found = cb.calibration_error(y_true, np.full(rows, score), sample_weight=weights)
    assert found == pytest.approx(truth, abs=1e-13)


@pytest.mark.parametrize(("source", "y_prob", "y_true", "weight", "value"), published.C_EMP)
def test_published_values(source, y_prob, y_true, weight, value):
    assert quiet_error(y_true, y_prob, sample_weight=weight) == pytest.approx(value, abs=1e-12)


@settings(max_examples=300)
@given(small(soft=False, weighted=False), st.randoms(use_true_random=False))
def test_permuting_rows_changes_nothing(case, random):
    y_true, y_prob, _ = case
    assume(brute.unambiguous_intervals(*case) is not None)
    order = list(range(len(y_prob)))
    random.shuffle(order)
    one = cb.audit(y_true, y_prob)
    other = cb.audit([y_true[i] for i in order], [y_prob[i] for i in order])
    assert one.calibration_error == pytest.approx(other.calibration_error, abs=1e-12)
    first, second = one.worst_intervals[0], other.worst_intervals[0]
    assert (first.p1, first.p2) == (second.p1, second.p2)


def test_permuting_many_rows_changes_no_witness():
    for _, y_true, y_prob in shapes(50_000):
        order = np.random.default_rng(3).permutation(len(y_prob))
        one, other = cb.audit(y_true, y_prob), cb.audit(y_true[order], y_prob[order])
        assert one.calibration_error == pytest.approx(other.calibration_error, abs=1e-12)
        for a, b in zip(
            one.worst_intervals + one.reliability,
            other.worst_intervals + other.reliability,
            strict=True,
        ):
            assert (a.p1, a.p2, a.rows) == (b.p1, b.p2, b.rows)


@settings(max_examples=300)
@given(small(weighted=False), st.data())
def test_whole_weights_are_repetition_and_zero_is_removal(case, data):
    y_true, y_prob, _ = case
    times = data.draw(
        st.lists(st.integers(0, 3), min_size=len(y_prob), max_size=len(y_prob)).filter(any)
    )
    repeated = [np.repeat(values, times) for values in (y_true, y_prob)]
    assume(not swapped_looking(y_true, y_prob))
    assume(not swapped_looking(*repeated))
    weighted = quiet_error(y_true, y_prob, sample_weight=times)
    assert weighted == pytest.approx(quiet_error(*repeated), abs=1e-12)


def test_soft_labels_with_probabilities_as_weights_give_the_population():
    # an atom at 0.5 of mass 0.6 where the event has probability 0.7: c(f) = 0.6 * 0.2
    found = cb.calibration_error([0.1, 0.7], [0.1, 0.5], sample_weight=[0.4, 0.6])
    assert found == pytest.approx(0.12, abs=1e-15)


def test_the_start_counts():
    # all scores 0, all events: the interval that starts below 0 has everything in it
    assert quiet_error([1, 1], [0.0, 0.0]) == 1.0


def test_ties_are_pooled():
    assert cb.calibration_error([0, 1], [0.5, 0.5]) == 0.0


@pytest.mark.parametrize("scale", [1e-280, 1e-3, 1e3, 1e280])
def test_only_proportions_of_weights_matter(scale):
    rng = np.random.default_rng(4)
    y_prob = rng.random(1000)
    y_true, weight = rng.random(1000) < y_prob, rng.random(1000)
    one = cb.calibration_error(y_true, y_prob, sample_weight=weight)
    other = cb.calibration_error(y_true, y_prob, sample_weight=weight * scale)
    assert one == pytest.approx(other, rel=1e-12)


def test_assert_calibrated_passes_and_fails_in_words():
    y_true, y_prob = [0, 1, 0, 0], [0.6, 0.8, 0.2, 0.4]
    cb.assert_calibrated(y_true, y_prob, max_error=0.3000001)
    with pytest.raises(AssertionError, match=r"is 0\.3, over the 0\.29 allowed\. Worst: scores"):
        cb.assert_calibrated(y_true, y_prob, max_error=0.29)
    cb.assert_calibrated(y_true, y_prob, max_error=0.3)  # equal, but for rounding
    for wrong in (2, -0.1, "0.1", None, float("nan")):
        with pytest.raises(ValueError, match="max_error must be a number between 0 and 1"):
            cb.assert_calibrated(y_true, y_prob, max_error=wrong)
    rng = np.random.default_rng(0)
    score = rng.random(500)
    tally = cb.Predictions(rng.random(500) < score, score).tally(2)
    with pytest.raises(AssertionError, match=r"is up to 0\.\d+, over the 0\.01 allowed"):
        cb.assert_calibrated(tally, max_error=0.01)


def test_a_single_label_warns():
    with pytest.warns(UserWarning, match="single value"):
        assert cb.calibration_error([1, 1], [0.5, 0.75]) == 0.375


def distinct(seed):
    """Labels and scores that all differ, in order, and their cumulative differences C_0 ... C_n."""
    rng = np.random.default_rng(seed)
    y_prob = np.sort(rng.random(rng.integers(1, 30)))
    y_true = (rng.random(len(y_prob)) < y_prob**2).astype(int)
    return y_true, y_prob, np.append(0, np.cumsum(y_true - y_prob)) / len(y_prob)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_ecce_r_and_at_most_twice_ecce_mad(seed):
    """Arrieta-Ibarra et al. (2022): max C_k - min C_k, over k from 0 to n; and max |C_k|."""
    y_true, y_prob, curve = distinct(seed)
    found = quiet_error(y_true, y_prob)
    assert found == pytest.approx(curve.max() - curve.min(), abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one_end = cb.kolmogorov_error(y_true, y_prob)
    assert one_end == pytest.approx(np.abs(curve).max(), abs=1e-12)
    assert one_end - 1e-12 <= found <= 2 * one_end + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_it_is_kuipers_statistic_of_the_cumulative_differences(seed):
    """Kuiper adds the largest difference upwards and the largest downwards, each at least 0."""
    y_true, y_prob, curve = distinct(seed)
    up, down = max(0.0, curve.max()), max(0.0, -curve.min())
    assert quiet_error(y_true, y_prob) == pytest.approx(up + down, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_divided_by_sigma_it_is_the_statistic_of_the_asymptotic_test(seed):
    """n sigma is the root of the sum of f (1 - f); Feller (1951) has the law of the range."""
    y_true, y_prob, _ = cb.simulate.calibrated().draw(5000, seed=seed)
    sigma = np.sqrt(np.sum(y_prob * (1 - y_prob))) / len(y_prob)
    ratio = cb.calibration_error(y_true, y_prob) / sigma
    k = np.arange(1, 200)
    expected = 8 * np.sum((-1.0) ** (k - 1) * k * norm.sf(k * ratio))
    found = cb.calibration_test(y_true, y_prob, method="asymptotic")
    assert found.p_value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_cutoff_calibration_error_over_intervals_of_any_kind(seed):
    """Rossellini et al. (2025): sup over intervals I of |E (Y - f) 1{f in I}|, on a population."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 9, 12) / 8
    rates, mass = rng.random(12), rng.dirichlet(np.ones(12))
    largest = 0.0
    for low, high in combinations_with_replacement(np.linspace(-0.125, 1.125, 21), 2):
        for left, right in product((np.less, np.less_equal), repeat=2):
            inside = left(low, scores) & right(scores, high)
            largest = max(largest, abs(np.sum(mass * (rates - scores) * inside)))
    found = cb.calibration_error(rates, scores, sample_weight=mass)
    assert found == pytest.approx(largest, abs=1e-12)


def test_it_is_not_a_binned_error():
    rates, scores = [0.58, 0.52], [0.52, 0.58]
    assert cb.expected_calibration_error(rates, scores, n_bins=10) == pytest.approx(0, abs=1e-12)
    assert cb.calibration_error(rates, scores) == pytest.approx(0.03, abs=1e-12)
