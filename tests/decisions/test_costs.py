"""Costs: what errors cost in every way it can be said, and Bayes' rule that follows."""

import itertools
import math

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError


def test_claim_1_bayes_rule_is_best_where_the_truth_is_known():
    """On a finite law acting by Bayes' rule on the true probability beats every rule."""
    score = np.array([0.1, 0.35, 0.6, 0.9])
    for p in (0.05, 0.35, 0.5, 0.8):
        act = cb.decide(score, false_positive=p, false_negative=1 - p)
        mine = np.where(act, p * (1 - score), (1 - p) * score).sum()
        for rule in itertools.product([False, True], repeat=4):
            assert mine <= np.where(rule, p * (1 - score), (1 - p) * score).sum() + 1e-12


#: How costs are given: (arguments, threshold or words of the refusal).
COSTS = [
    ({"false_positive": 1, "false_negative": 20}, 1 / 21),
    ({"false_positive": 0, "false_negative": 2}, 0.0),
    ({"false_positive": 2, "false_negative": 0}, 1.0),
    ({"matrix": [[0, 20], [1, 0]]}, 1 / 21),
    ({"matrix": [[-5, 15], [-4, -5]]}, 1 / 21),
    ({"false_positive": 0, "false_negative": 0}, "both 0, so every decision costs the same"),
    ({"false_positive": -1, "false_negative": 2}, "false_positive must not be negative"),
    ({"false_positive": 1, "false_negative": math.inf}, "false_negative must be a finite number"),
    ({"false_positive": math.nan, "false_negative": 1}, "false_positive must be a finite number"),
    ({"false_positive": "much", "false_negative": 1}, "false_positive must be a finite number"),
    ({"false_positive": 1}, "Say what errors cost"),
    ({}, "Say what errors cost"),
    ({"false_positive": 1, "false_negative": 1, "matrix": np.eye(2)}, "but not both"),
    ({"matrix": [[0, 1, 2]]}, "matrix must be 2 x 2 finite numbers"),
    ({"matrix": [[0, math.inf], [1, 0]]}, "matrix must be 2 x 2 finite numbers"),
    ({"matrix": "costs"}, "matrix must be 2 x 2 finite numbers"),
    ({"matrix": [[1, 2], [1, 2]]}, "both actions cost the same"),
    ({"matrix": [[5, 9], [1, 2]]}, "so always act"),
    ({"matrix": [[0, 1], [4, 5]]}, "so never act"),
    ({"matrix": [[5, 0], [0, 5]]}, "swap its rows, or the labels"),
]


@pytest.mark.parametrize(("arguments", "expected"), COSTS)
def test_costs_of_every_kind(arguments, expected):
    if isinstance(expected, float):
        assert cb.bayes_threshold(**arguments) == pytest.approx(expected)
        scores = np.array([0.0, expected, 1.0])
        assert cb.decide(scores, **arguments)[1:].all()
        return
    for function in (cb.bayes_threshold, lambda **a: cb.decide([0.5], **a)):
        with pytest.raises(ValueError, match=expected):
            function(**arguments)


@pytest.mark.parametrize(
    ("false_positive", "false_negative", "words"),
    [
        ([1, 2], [1, 2, 3], "same number of rows"),
        (
            [1, -2, 3],
            1,
            "false_positive must be a number between 0 and .* in every row.*row 1",
        ),
        (1, [1, math.inf, 3], "row 1 .*inf"),
        ([0, 1, 1], [0, 1, 1], "Both costs are 0 in row 0"),
        ([[1, 2, 3]], 1, "same number of rows"),
        (["a", "b", "c"], 1, "one number for each row"),
        ([1, 1, 1], None, "Say what errors cost"),
    ],
)
def test_bad_costs_of_rows(false_positive, false_negative, words):
    with pytest.raises(ValueError, match=words):
        cb.decide([0.1, 0.2, 0.3], false_positive=false_positive, false_negative=false_negative)


@pytest.mark.parametrize("cost", [1e308, 1e101, 10**400])
def test_costs_whose_sums_are_past_doubles_are_refused(cost):
    y_true, y_prob = [0, 1, 1], [0.2, 0.4, 0.9]
    both = {"false_positive": cost, "false_negative": cost}
    for refuses in (
        lambda: cb.bayes_threshold(**both),
        lambda: cb.decide(y_prob, **both),
        lambda: cb.decide(y_prob, false_positive=[cost] * 3, false_negative=1),
        lambda: cb.expected_cost(y_true, y_prob, **both),
        lambda: cb.bayes_threshold(matrix=[[0, cost], [1, 0]]),
        lambda: cb.price_of_miscalibration(
            y_true, y_prob, false_positive=1, false_negative=1, volume=cost
        ),
    ):
        with pytest.raises(InputError, match=r"1e\+100|finite number|positive number|one number"):
            refuses()
