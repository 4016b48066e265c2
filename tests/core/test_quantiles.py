"""Quantiles of the walk against rows that are repeated and counted one by one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from calibrant.core.diagram import everything, resolve
from calibrant.core.quantiles import quantile_points, quantiles_need
from reference.samples import quietly, small

SHARES = np.array([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0])


def counted(scores, shares):
    """Of rows in order of score: how many distinct scores the first share of them has."""
    scores = np.sort(scores)
    firsts = [math.ceil(share * len(scores) - 1e-9) for share in shares]
    return [len(np.unique(scores[:first])) for first in firsts]


@settings(max_examples=200)
@given(small(soft=False, weighted=False, rows=25))
def test_a_point_has_its_share_of_the_rows_before_it_and_splits_no_tie(case):
    y_true, y_prob, _ = case
    diagram = resolve(quietly(cb.Predictions, y_true, y_prob).source, everything)
    expected = counted(np.asarray(y_prob) + 0.0, SHARES)
    assert quantile_points(diagram, SHARES).tolist() == expected


def test_whole_weights_are_rows():
    rng = np.random.default_rng(0)
    score, weight = rng.random(50).round(1), rng.integers(1, 5, 50)
    label = rng.integers(0, 2, 50)
    diagram = resolve(cb.Predictions(label, score, sample_weight=weight).source, everything)
    expected = counted(np.repeat(score, weight), SHARES)
    assert quantile_points(diagram, SHARES).tolist() == expected


@pytest.mark.parametrize("crowded", [False, True])
def test_opening_what_is_needed_gives_the_points_of_the_open_diagram(crowded):
    rng = np.random.default_rng(1)
    score = rng.random(20_000) ** (6 if crowded else 1)
    source = cb.Predictions(rng.random(20_000) < score, score).source
    few = resolve(source, lambda diagram: quantiles_need(diagram, SHARES))
    every = resolve(source, everything)
    assert len(few.cells) < len(every.cells) / 2
    for one in (few, every):
        point = quantile_points(one, SHARES)
        assert one.weight_before[point].tolist() == [math.ceil(q * 20_000 - 1e-9) for q in SHARES]


def test_the_whole_is_all_of_it_however_little_the_last_rows_weigh():
    data = cb.Predictions([0, 1, 1], [0.2, 0.5, 0.9], sample_weight=[1.0, 1.0, 1e-14])
    diagram = resolve(data.source, everything)
    assert quantile_points(diagram, np.array([1.0])).tolist() == [3]
