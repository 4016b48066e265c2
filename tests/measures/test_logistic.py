"""The logistic model behind slope and intercept: found wherever there is one."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb


def sample(rows=3000, seed=0):
    """Labels, scores and row counts; the logistic form is wrong."""
    rng = np.random.default_rng(seed)
    y_prob = rng.beta(0.7, 1.5, rows)
    return rng.random(rows) < y_prob**1.2, y_prob, rng.integers(1, 5, rows)


def test_estimates_solve_their_likelihood_equations_to_the_digit():
    y_true, y_prob, _ = sample()
    log_odds = np.log(y_prob / (1 - y_prob))
    intercept = cb.calibration_intercept(y_true, y_prob).value
    expected = 1 / (1 + np.exp(-intercept - log_odds))
    assert expected.sum() == pytest.approx(y_true.sum(), rel=1e-10)


@pytest.mark.parametrize("factor", [0.2, 0.6, 3.0, 6.0])
@pytest.mark.parametrize("rows", [300, 20_000])
def test_slopes_far_from_one_are_found(factor, rows):
    y_true, y_prob, _ = cb.simulate.overconfident(factor).draw(rows, seed=5)
    slope = cb.calibration_slope(y_true, y_prob)
    deviation = (slope.upper - slope.lower) / 2 / 1.96
    assert abs(slope.value - 1 / factor) < 5 * deviation
    turned = cb.calibration_slope(~y_true, y_prob)
    assert turned.value == pytest.approx(-slope.value, rel=1e-6)


def test_slopes_of_scores_that_lie_close_together_are_found():
    y_true, y_prob = [0, 1, 0, 1, 1, 0], np.array([0.50, 0.501, 0.502, 0.503, 0.504, 0.505])
    log_odds = np.log(y_prob / (1 - y_prob))
    model = LogisticRegression(C=np.inf, tol=1e-14, max_iter=20_000, solver="newton-cholesky")
    model.fit((log_odds - log_odds.mean())[:, None] * 100, y_true)
    found = cb.calibration_slope(y_true, y_prob).value
    assert found == pytest.approx(model.coef_[0, 0] * 100, rel=1e-6)


def test_a_slope_exists_unless_the_classes_are_separated():
    kept = refused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y_prob = rng.beta(0.5, 0.5, 12).round(1).clip(0.05, 0.95)
        y_true = rng.random(12) < y_prob
        if y_true.all() or not y_true.any():
            continue
        ones, zeros = y_prob[y_true], y_prob[~y_true]
        separated = ones.min() >= zeros.max() or ones.max() <= zeros.min()
        if separated:
            refused += 1
            with pytest.raises(ValueError, match=r"separate the classes|all scores are equal"):
                cb.calibration_slope(y_true, y_prob)
        else:
            kept += 1
            assert np.isfinite(cb.calibration_slope(y_true, y_prob).value)
        assert np.isfinite(cb.calibration_intercept(y_true, y_prob).value)
    assert min(kept, refused) > 10


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-7])
def test_scores_that_lie_close_together_have_a_slope(spread):
    """Cells of the diagram cannot tell them apart, and do not say how far they spread."""
    rng = np.random.default_rng(1)
    score = 0.7 + spread * rng.normal(size=300)
    y_true = (rng.random(300) < 0.5).astype(int)
    found = cb.calibration_slope(y_true, score)
    odds = np.log(score) - np.log1p(-score)
    x = (odds - odds.mean()) / odds.std()
    mean = 1 / (1 + np.exp(-(found.value * odds.std() * x + _level(y_true, x, found, odds))))
    assert (y_true - mean) @ x == pytest.approx(0, abs=1e-4)


def _level(y_true, x, found, odds):
    """Solve for the intercept, given a slope."""
    level = 0.0
    for _ in range(50):
        mean = 1 / (1 + np.exp(-(found.value * odds.std() * x + level)))
        level += (y_true - mean).sum() / (mean * (1 - mean)).sum()
    return level


def test_two_scores_of_very_different_weight_have_the_slope_between_them():
    """A step that is too long must not be made again and again."""
    found = cb.calibration_slope([0, 1, 0, 1], [0.3, 0.3, 0.7, 0.7], sample_weight=[1000, 1, 1, 1])
    expected = np.log(1000) / (2 * np.log(0.7 / 0.3))
    assert found.value == pytest.approx(expected, rel=1e-9)
