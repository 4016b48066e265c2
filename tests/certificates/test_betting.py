"""Betting against the definition: every interval, both signs, one factor after another."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.certificates.betting import Game, betting, mixture
from calibrant.certificates.evidence import Counts
from calibrant.simulate import calibrated, rare

SCORES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.77, 1.0])


def counted(rows):
    score = sorted({f for f, _ in rows})
    each = np.array([sum(f == s for f, _ in rows) for s in score])
    events = np.array([sum(y for f, y in rows if f == s) for s in score])
    return Counts(np.array(score), each, events)


def brute(rows, delta):
    """The largest m that is not ruled out, from the definition: a product of factors for each."""
    n = len(rows)
    # sized for a confidence of 90% at least
    lowest = min(0.9, math.sqrt(8 * max(math.log(1 / delta), math.log(10)) / n))
    shares = [lowest * (0.9 / lowest) ** (j / 7) for j in range(8)]
    weights = [0.4] + [0.6 / 7] * 7
    scores = sorted({f for f, _ in rows})
    intervals = [(a, b) for i, a in enumerate(scores) for b in scores[i:]] + [(2.0, 2.0)]

    def product(theta, m, sign, a, b):
        inside = (sign * (y - f) if a <= f <= b else 0.0 for f, y in rows)
        return math.prod(1 + theta * (m - x) / (1 - m) for x in inside)

    def capital(m, sign):
        return sum(
            weight * min(product(theta, m, sign, a, b) for a, b in intervals)
            for theta, weight in zip(shares, weights, strict=True)
        )

    low, high = 0.0, 1.0
    for _ in range(45):
        middle = (low + high) / 2
        alive = min(capital(middle, sign) for sign in (1, -1)) < 1 / delta
        low, high = (middle, high) if alive else (low, middle)
    return high


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(SCORES, st.integers(0, 1)), min_size=1, max_size=14),
    delta=st.sampled_from([0.05, 0.3, 1e-4]),
)
def test_equals_brute_force(rows, delta):
    y_true, y_prob = [y for _, y in rows], [f for f, _ in rows]
    error = cb.audit(y_true, y_prob).calibration_error
    found = betting(counted(rows), error, delta)
    expected = error if error >= 1 else max(error, brute(rows, delta))
    assert found.upper == pytest.approx(expected, abs=1e-10)


def test_equals_brute_force_on_a_longer_sample():
    y_true, y_prob, _ = calibrated().draw(60, seed=4)
    rows = list(zip(y_prob.round(1).tolist(), y_true.astype(int).tolist(), strict=True))
    error = cb.calibration_error([y for _, y in rows], [f for f, _ in rows])
    found = betting(counted(rows), error, 0.05).upper
    assert found == pytest.approx(brute(rows, 0.05), abs=1e-10)
    assert found < 1


def test_published_limits_without_an_event():
    for n, upper in ((5, 0.477), (10, 0.280), (20, 0.152)):
        found = betting(Counts(np.zeros(1), np.array([n]), np.array([0])), 0.0, 0.05)
        assert found.upper == pytest.approx(upper, abs=5e-4)


def test_the_mixture_depends_on_rows_and_level_alone():
    share, weight = mixture(1000, 0.05)
    assert share[0] == pytest.approx(math.sqrt(8 * math.log(20) / 1000))
    assert np.diff(np.log(share)) == pytest.approx(np.full(7, math.log(0.9 / share[0]) / 7))
    assert weight == pytest.approx([0.4] + [0.6 / 7] * 7)
    for n in (1, 29):
        share, weight = mixture(n, 0.05)
        assert (share.tolist(), weight.tolist()) == ([0.9], [1.0])
    assert (mixture(100, 1.0)[0] == mixture(100, 0.1)[0]).all()


def test_the_bound_has_no_seed_and_no_order():
    y_true, y_prob, _ = calibrated().draw(200, seed=1)
    found = cb.certify(y_true, y_prob)
    assert (found.method, found.seed) == ("betting", None)
    assert {cb.certify(y_true, y_prob, seed=seed).upper for seed in range(5)} == {found.upper}
    order = np.random.default_rng(0).permutation(200)
    moved = cb.certify(y_true[order], y_prob[order])
    assert moved.upper == pytest.approx(found.upper, abs=1e-12)


@pytest.mark.parametrize("rows", [3, 5, 50, 400])
def test_less_confidence_never_has_a_larger_bound(rows):
    levels = [1e-300, 1e-17, 1e-9, 0.01, 0.1, 0.3, 0.5, 0.7, 0.84, 0.85, 0.9, 0.91, 0.95, 0.99]
    for seed in range(5):
        y_true, y_prob, _ = calibrated().draw(rows, seed=seed)
        data = cb.Predictions(y_true, y_prob)
        data.warnings = ()
        uppers = [cb.certify(data, confidence=level).upper for level in levels]
        assert (np.diff(uppers) >= -1e-12).all()


def test_runs_of_one_direction_change_nothing():
    """A score whose residuals are 0 goes with either direction, but never joins the two."""
    rows = [(0.0, 1), (0.0, 1), (0.2, 1), (0.5, 0), (1.0, 1), (1.0, 1), (1.0, 0), (1.0, 0)]
    zeros = [(0.0, 0)] * 3 + [(0.3, 1), (1.0, 1), (1.0, 1)]
    for sample in (rows, zeros, [(0.1, 1), (0.0, 0), (0.2, 0), (1.0, 1), (0.9, 0)]):
        error = cb.audit([y for _, y in sample], [f for f, _ in sample]).calibration_error
        found = betting(counted(sample), error, 0.05).upper
        assert found == pytest.approx(max(error, brute(sample, 0.05)), abs=1e-10)
    z = np.array([0.5, 0.0, -0.2, -0.1, 0.3, 0.4])
    game = Game.of(z, np.ones(6), 1.0, np.arange(6), mixture(6, 0.05))
    assert game.runs.tolist() == [0, 2, 4]


@pytest.mark.parametrize("score", [1.0, 1 - 2.0**-53, 1 - 1e-13, 1 - 1e-9])
def test_scores_next_to_one_that_are_wrong(score):
    for events in (0, 1, 2):
        counts = Counts(np.array([score]), np.array([2]), np.array([events]))
        found = betting(counts, abs(events / 2 - score), 0.05).upper
        assert abs(events / 2 - score) <= found <= 1


def test_many_shares_at_once_or_one_by_one(monkeypatch):
    y_true, y_prob, _ = calibrated().draw(500, seed=3)
    found = cb.certify(y_true, y_prob).upper
    monkeypatch.setattr(sys.modules["calibrant.certificates.betting"], "_BATCH", 1)
    assert cb.certify(y_true, y_prob).upper == pytest.approx(found, abs=1e-13)


@pytest.mark.filterwarnings("ignore:.*single value")
def test_is_tighter_than_certified_where_it_is_the_default():
    """Mean bounds on calibrated scores: betting needs up to a half less room."""
    for law, rows, bet, formula in (
        (calibrated(), 200, 0.113, 0.156),
        (calibrated(), 500, 0.071, 0.083),
        (rare(), 1000, 0.0075, 0.0126),
    ):
        samples = [law.draw(rows, seed=seed)[:2] for seed in range(100)]
        for method, mean in (("betting", bet), ("certified", formula)):
            found = [cb.certify(*sample, method=method).upper for sample in samples]
            assert np.mean(found) == pytest.approx(mean, rel=0.08)


def test_too_many_rows_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r'method="certified"'):
        cb.certify([0, 1], [0.2, 0.7], sample_weight=[10**9, 1], method="betting")
