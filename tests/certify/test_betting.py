"""Betting against the definition: every interval, both signs, one factor after another."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.certify.betting import betting
from calibrant.certify.evidence import Counts
from calibrant.simulate import calibrated, rare

SCORES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.77, 1.0])


def counted(rows):
    score = sorted({f for f, _ in rows})
    each = np.array([sum(f == s for f, _ in rows) for s in score])
    events = np.array([sum(y for f, y in rows if f == s) for s in score])
    return Counts(np.array(score), each, events)


def brute(rows, delta, seed):
    """The largest m that some interval and sign have not ruled out, by looking at all of them."""
    rows = sorted(rows)
    n, goal = len(rows), math.log(1 / delta)
    order = np.random.default_rng(seed).permutation(n)
    bet, seen = [0.0] * n, 0.25
    for i, row in enumerate(order):
        # sized for a confidence of 90% at least
        bet[row] = min(math.sqrt(2 * max(goal, math.log(10)) / (n * seen / (i + 1))), 0.9)
        seen += (rows[row][1] - rows[row][0]) ** 2
    scores = sorted({f for f, _ in rows})
    intervals = [(a, b) for i, a in enumerate(scores) for b in scores[i:]] + [(2.0, 2.0)]

    def alive(m):
        return any(
            sum(
                math.log1p(-lam * ((sign * (y - f) if a <= f <= b else 0.0) - m))
                for (f, y), lam in zip(rows, bet, strict=True)
            )
            < goal
            for a, b in intervals
            for sign in (1, -1)
        )

    low, high = 0.0, 1.0
    if alive(1.0):
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if alive(middle) else (low, middle)
    return high


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(SCORES, st.integers(0, 1)), min_size=1, max_size=14),
    delta=st.sampled_from([0.05, 0.3]),
    seed=st.integers(0, 3),
)
def test_equals_brute_force(rows, delta, seed):
    y_true, y_prob = [y for _, y in rows], [f for f, _ in rows]
    error = cb.audit(y_true, y_prob).calibration_error
    found = betting(counted(rows), error, delta, seed=seed)
    assert found.upper == pytest.approx(max(error, brute(rows, delta, seed)), abs=1e-10)


def test_equals_brute_force_on_a_longer_sample():
    y_true, y_prob, _ = calibrated().draw(60, seed=4)
    rows = list(zip(y_prob.round(1).tolist(), y_true.astype(int).tolist(), strict=True))
    error = cb.calibration_error([y for _, y in rows], [f for f, _ in rows])
    found = betting(counted(rows), error, 0.05, seed=7).upper
    assert found == pytest.approx(brute(rows, 0.05, 7), abs=1e-10)
    assert found < 1


@pytest.mark.filterwarnings("ignore:.*single value")
def test_is_tighter_than_certified_where_it_is_the_default():
    """Mean bounds on calibrated scores: betting needs a third to a half less room."""
    for law, rows, bet, formula in (
        (calibrated(), 200, 0.111, 0.156),
        (calibrated(), 500, 0.068, 0.083),
        (rare(), 1000, 0.0063, 0.0126),
    ):
        samples = [law.draw(rows, seed=seed)[:2] for seed in range(100)]
        for method, mean in (("betting", bet), ("certified", formula)):
            found = [cb.certify(*sample, method=method).upper for sample in samples]
            assert np.mean(found) == pytest.approx(mean, rel=0.08)


def test_too_many_rows_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r'method="certified"'):
        cb.certify([0, 1], [0.2, 0.7], sample_weight=[10**9, 1], method="betting")
