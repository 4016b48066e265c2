"""Example 2: the class with fixed thresholds stays small, the one with free ones does not."""

import json
from itertools import combinations, product

import numpy as np
import pytest

from calibrant.experiments.thresholds import (
    all_patterns,
    example2,
    rademacher,
    scores,
    vc_dimension,
)


def intervals(points):
    ends = product(range(points + 1), repeat=2)
    return [[low <= x < high for x in range(points)] for low, high in ends]


@pytest.mark.parametrize(
    ("patterns", "dimension"),
    [
        (intervals(6), 2),
        (intervals(1), 1),
        (all_patterns(5), 5),
        (np.eye(6, dtype=bool), 1),
        (1 - np.eye(6, dtype=int), 1),
        (np.tri(6, 5, -1), 1),  # thresholds on a line
        ([row for row in all_patterns(6) if row.sum() <= 3], 3),
        ([[0, 1, 1]], 0),
        ([[0, 1, 1], [0, 1, 1]], 0),
        (all_patterns(4)[1:], 3),  # one labelling of all four points is missing
    ],
    ids=str,
)
def test_vc_dimensions_that_are_known(patterns, dimension):
    assert vc_dimension(np.array(patterns)) == dimension


def test_rademacher_complexities_that_are_known():
    assert rademacher(all_patterns(6)) == 0.5
    assert rademacher([[1, 0, 1]]) == 0
    # all or nothing: E max(0, sum of 4 signs) / 4 = (4 + 4 * 2) / 16 / 4
    assert rademacher([[0] * 4, [1] * 4]) == 12 / 64
    table = np.random.default_rng(1).random((5, 4)) < 0.5
    best = [max(np.dot(signs, row) for row in table) for signs in product((-1, 1), repeat=4)]
    assert rademacher(table) == pytest.approx(np.mean(best) / 4)


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_the_classifiers_are_those_of_the_paper(seed):
    n, found = 3, scores(3, seed)
    assert found.shape == (8, 3)
    # f_i is i / 2^n off A_i and half a step lower on it
    sets = [tuple(bool(value < i / 2**n) for value in row) for i, row in enumerate(found, start=1)]
    assert len(set(sets)) == 8
    for i, row in enumerate(found, start=1):
        assert set(row.tolist()) <= {i / 8, i / 8 - 1 / 16}


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_fixed_thresholds_have_dimension_two_and_free_ones_n(n, seed):
    found = example2(n, seed)
    json.dumps(found)
    assert found["fixed"]["vc_dimension"] <= 2
    assert found["free"] == {"vc_dimension": n, "rademacher": 0.5}
    assert found["classifiers"] == 2**n
    if n >= 3:
        assert found["fixed"]["vc_dimension"] == 2
        assert found["fixed"]["rademacher"] < 0.5


def test_the_pairs_named_attain_what_is_said_and_none_has_more():
    found, f = example2(3), scores(3)
    values = [-1.0, *np.unique(f), 2.0]
    classes = {pair: (pair[0] < f) & (f <= pair[1]) for pair in combinations(values, 2)}
    assert max(map(vc_dimension, classes.values())) == found["fixed"]["vc_dimension"]
    assert max(map(rademacher, classes.values())) == found["fixed"]["rademacher"]
    for what, measure in (("vc_dimension", vc_dimension), ("rademacher", rademacher)):
        low, high = found["fixed"][f"{what}_at"]
        assert measure((low < f) & (f <= high)) == found["fixed"][what]


def test_the_gap_grows():
    gaps = [0.5 - example2(n)["fixed"]["rademacher"] for n in range(1, 6)]
    assert gaps == sorted(gaps)
    assert gaps[0] == 0
    assert gaps[-1] == 0.25


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: example2(0), "n must be a whole number, between 1 and 7, but it is 0"),
        (lambda: example2(8), "n must be a whole number, between 1 and 7, but it is 8"),
        (lambda: scores(2, seed=-1), "seed must be a whole number, 0 or more, but it is -1"),
        (lambda: all_patterns(0), "points must be a whole number, between 1 and 20"),
        (lambda: vc_dimension([0, 1]), r"row for each classifier.* its shape is \(2,\)"),
        (lambda: vc_dimension(np.zeros((0, 3))), r"one or more of both.* \(0, 3\)"),
        (lambda: rademacher([[0, 2]]), "patterns must be a table of 0 and 1"),
    ],
)
def test_bad_arguments_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
