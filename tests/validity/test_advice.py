"""Advice on scores that are right: whatever they look like, it leaves them alone."""

import numpy as np
import pytest

import calibrant as cb
from validity.simulation import too_many


def atoms(*scores):
    return lambda rng, n: rng.choice(scores, n)


def beta(a, b):
    return lambda rng, n: rng.beta(a, b, n)


#: Scores that are right, how they are drawn, and how many of them.
LAWS = {
    "uniform, few": (beta(1, 1), 60),
    "uniform": (beta(1, 1), 500),
    "uniform, many": (beta(1, 1), 5000),
    "no surprise, 0.005": (atoms(0.005, 0.995), 200),
    "no surprise, 0.001": (atoms(0.001, 0.999), 600),
    "no surprise, 0.02": (atoms(0.02, 0.98), 60),
    "a surprise, 0.01": (atoms(0.01, 0.99), 300),
    "surprises, 0.05": (atoms(0.05, 0.95), 200),
    "one sure side": (atoms(0.001, 0.6), 200),
    "both ends": (beta(0.05, 0.05), 300),
    "both ends, many": (beta(0.1, 0.1), 3000),
    "near a half": (lambda rng, n: rng.uniform(0.45, 0.55, n), 400),
    "one score": (atoms(0.3), 400),
    "rare": (beta(1, 99), 2500),
    "rare atoms": (atoms(0.001, 0.01, 0.05), 2000),
    "common": (beta(30, 1), 500),
    "deciles": (atoms(*np.linspace(0.05, 0.95, 10)), 400),
    "zeros and ones too": (atoms(0.0, 0.0, 0.3, 1.0), 300),
    "skewed": (lambda rng, n: rng.random(n) ** 4, 800),
    "two clusters": (
        lambda rng, n: np.clip(rng.choice([0.1, 0.8], n) + rng.normal(0, 0.03, n), 0, 1),
        500,
    ),
}


def false_recommendations(law, times):
    draw, n = LAWS[law]
    count = 0
    for seed in range(times):
        rng = np.random.default_rng([seed, n])
        y_prob = draw(rng, n)
        y_true = rng.random(n) < y_prob
        data = cb.Predictions(y_true, y_prob)
        data.warnings = ()  # a single class, now and then
        count += cb.advise(data, seed=seed).recommended is not None
    return count


@pytest.mark.parametrize("law", ["no surprise, 0.005", "no surprise, 0.02", "uniform, few"])
def test_scores_that_are_right_are_left_alone(law):
    assert not too_many(false_recommendations(law, 25), 25)


@pytest.mark.validity
@pytest.mark.parametrize("law", LAWS)
def test_scores_that_are_right_are_left_alone_in_long_runs(law):
    assert not too_many(false_recommendations(law, 150), 150)
