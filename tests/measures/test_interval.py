import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings

import calibrant as cb
from reference import brute
from reference.samples import small


@settings(max_examples=1000)
@given(small(rows=9))
def test_the_next_worst_ones_are_greedy_and_disjoint(case):
    y_true, y_prob, weight = case
    assume(not (all(f in (0, 1) for f in y_prob) and any(0 < y < 1 for y in y_true)))
    expected = brute.unambiguous_intervals(*case, k=4)
    assume(expected is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = cb.worst_interval(y_true, y_prob, sample_weight=weight, k=4)
    assert [(one.p1, one.p2) for one in found] == [(p1, p2) for p1, p2, _ in expected]
    for one, (_, _, excess) in zip(found, expected, strict=True):
        assert one.excess == pytest.approx(float(excess), abs=1e-12)


def test_stretches_that_tie_are_taken_from_the_lowest():
    # (None, 0.1] and (0.5, 0.9] are off by 0.1 each, but for rounding
    y_prob = [0.25, 0.9999999999999999, 0.0, 0.0, 0.0, 0.0, 0.5, 0.1, 0.9]
    found = cb.worst_interval([1, 1, 0, 0, 0, 0, 0, 0, 1], y_prob, k=3)
    assert (found[2].p1, found[2].p2) == (None, 0.1)


def test_fields_agree_with_the_rows():
    rng = np.random.default_rng(0)
    y_prob = rng.random(5000).round(3)
    y_true = (rng.random(5000) < y_prob**1.3).astype(int)
    weight = rng.integers(1, 5, 5000)
    for one in cb.worst_interval(y_true, y_prob, sample_weight=weight, k=3):
        inside = (y_prob > (-1 if one.p1 is None else one.p1)) & (y_prob <= one.p2)
        w = weight[inside]
        assert one.rows == inside.sum()
        assert one.weight == w.sum()
        assert one.mean_prediction == pytest.approx(np.average(y_prob[inside], weights=w))
        assert one.observed_rate == pytest.approx(np.average(y_true[inside], weights=w))
        excess = (w * (y_true - y_prob)[inside]).sum() / weight.sum()
        assert one.excess == pytest.approx(excess, abs=1e-12)
        assert one.verdict == ("too high" if excess < 0 else "too low")
        assert one.p2 in y_prob
        assert one.p1 is None or one.p1 in y_prob


def test_reads_like_a_sentence_and_travels_as_a_dict():
    worst = cb.worst_interval([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    assert repr(worst) == (
        "scores above 0.4 up to 0.8 (2 rows): predicted 0.7 on average, observed 0: too high"
    )
    assert worst.to_dict() == {
        "p1": 0.4,
        "p2": 0.8,
        "rows": 2,
        "weight": 2.0,
        "mean_prediction": pytest.approx(0.7),
        "observed_rate": 0.0,
        "excess": pytest.approx(-0.35),
        "verdict": "too high",
    }


def test_exact_predictions_have_an_exact_interval():
    worst = cb.worst_interval([0, 1], [0.0, 1.0], k=3)
    assert [one.verdict for one in worst] == ["exact"]
    assert (worst[0].p1, worst[0].p2) == (None, 0.0)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True, float("nan")])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(ValueError, match="k must be a whole number, 1 or more, but it is"):
        cb.worst_interval([0, 1], [0.2, 0.7], k=k)


def test_words_tell_neighbouring_scores_apart():
    worst = cb.worst_interval([0] * 5 + [1] * 5, [0.3] * 5 + [0.3 + 1e-9] * 5, k=2)
    assert worst[0].where == "scores above 0.3 up to 0.300000001"


def test_bounds_of_a_tally_name_edges_that_cover_its_rows():
    rng = np.random.default_rng(1)
    y_prob = rng.random(2000)
    y_true = rng.random(2000) < y_prob**1.5
    worst = cb.worst_interval(cb.Predictions(y_true, y_prob).tally(5))
    inside = (y_prob > (-1 if worst.p1 is None else worst.p1)) & (y_prob <= worst.p2)
    assert worst.rows == inside.sum()
    assert worst.excess == pytest.approx((y_true - y_prob)[inside].sum() / 2000)
