"""Complexity of classes: labelings counted, and never more than the bound says."""

import itertools
import math

import numpy as np
import pytest

from calibrant.certificates import classes, complexity
from reference.complexity import all_signs, intervals, labelings, rademacher, spectral


def test_models_of_few_outputs_are_bounded_by_counting():
    scores = np.repeat([[0.2], [0.7]], 50, axis=0)
    found = complexity.of_models(scores, draws=1)
    assert found.value == pytest.approx(math.sqrt(math.log(4) / 200))
    assert found.theorem.startswith("Massart")


def slabs(points):
    """All labelings of points of the plane by slabs: one direction between any two orders."""
    first, second = np.triu_indices(len(points), 1)
    across = points[first] - points[second]
    turns = np.sort((np.arctan2(across[:, 1], across[:, 0]) + np.pi / 2) % np.pi)
    angles = (turns + np.append(turns[1:], turns[0] + np.pi)) / 2
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    return labelings(directions @ points.T)


def slab_count(n, d):
    return sum(math.comb(2 * n - 1, k) for k in range(d + 2)) / 2 + 1


@pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
def test_slabs_make_no_more_labelings_than_counted(n):
    rng = np.random.default_rng(n)
    on_line = len(intervals(rng.random(n)))
    assert on_line <= slab_count(n, 1) < 2.1 * on_line
    in_plane = max(len(slabs(rng.normal(size=(n, 2)))) for _ in range(5))
    assert in_plane <= slab_count(n, 2) < 4 * in_plane
    for d in (1, 2):
        if d < n:
            assert classes._log_slabs(n, d) == pytest.approx(math.log(slab_count(n, d)))


def test_slabs_of_twelve_points_are_not_beyond_their_bound():
    points = np.random.default_rng(0).normal(size=(12, 2))
    truth = rademacher(slabs(points))
    assert truth <= classes.of_linear(12, 2).value
    # 40 rows on a line, where the bound says something
    assert spectral(40) <= classes.of_linear(40, 1).value < 0.35


def test_linear_classes_as_published_and_without_overflow():
    found = classes.of_linear(100_000, 10)
    assert found.value == pytest.approx(0.024, abs=5e-4)
    assert found.width() == pytest.approx(0.081, abs=5e-4)
    assert classes.of_linear(10**12, 1000).value < 2e-4
    assert classes.of_linear(100, 10**9).value == 0.5


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100, 10_000])
@pytest.mark.parametrize("n", [6, 7, 20, 1000, 10**5, 10**9])
def test_the_constant_of_the_papers_remark_on_linear_classes_is_1(n, d):
    """It says O(sqrt(d log n / n))."""
    assert classes.of_linear(n, d).value <= min(0.5, math.sqrt(d * math.log(n) / n))


def vc_dimension(functions):
    """The largest set of columns on which a set of labelings is everything."""
    functions = np.array(sorted(functions))
    size = 0
    for columns in itertools.chain.from_iterable(
        itertools.combinations(range(functions.shape[1]), k) for k in range(1, 5)
    ):
        if len(np.unique(functions[:, columns], axis=0)) == 2 ** len(columns):
            size = len(columns)
    return size


def at_fixed_thresholds(scores, outputs):
    """The labelings of a class for each p1 < p2, where p1 and p2 are outputs or -inf."""
    for low, high in itertools.combinations([-1, *range(outputs)], 2):
        yield {tuple((low < f) & (f <= high)) for f in scores}


@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("models", [1, 3, 12])
def test_finite_outputs_make_no_more_labelings_than_counted(outputs, models):
    for seed in range(10):
        scores = np.random.default_rng(seed).integers(0, outputs, (models, 9))
        d = max(map(vc_dimension, at_fixed_thresholds(scores, outputs)))
        made = labelings(scores)
        assert math.log(len(made)) <= classes._log_outputs(9, outputs, d) + 1e-12
        assert rademacher(made) <= classes.of_finite_outputs(9, outputs, d).value
    if models == 1:  # and there the bound says something
        assert classes.of_finite_outputs(9, outputs, 0).value < 0.33


def test_finite_outputs_as_published():
    assert classes.of_finite_outputs(1000, 10, 3).value == pytest.approx(0.1106, abs=5e-5)
    printed = classes.of_finite_outputs(1000, 10, 3, printed=True)
    assert printed.value == pytest.approx(0.2246, abs=5e-5)
    assert printed.theorem.endswith("as printed")
    assert classes.of_finite_outputs(5, 10, 5).value == 0.5


def test_thresholds_that_are_fixed_say_little_about_those_that_are_not():
    """Example 2 of the paper: every labeling is there, but at fixed thresholds hardly any."""
    n = 4
    subsets = np.array(list(itertools.product((0, 1), repeat=n)))
    scores = np.arange(1, 2**n + 1)[:, None] / 2**n - subsets / 2 ** (n + 1)
    assert rademacher(labelings(scores)) == 0.5
    values = np.unique(scores)
    for low, high in itertools.combinations([-1, *values], 2):
        assert vc_dimension({tuple((low < f) & (f <= high)) for f in scores}) <= 2


def tree_labelings(points, leaves):
    """All labelings by trees with at most so many leaves, each leaf 0 or 1: by cutting in two."""
    made = {(False,) * len(points), (True,) * len(points)}
    if leaves == 1:
        return made
    for feature in range(points.shape[1]):
        for cut in np.unique(points[:, feature])[:-1]:
            left = points[:, feature] <= cut
            for part in range(1, leaves):
                for a in tree_labelings(points, part):
                    for b in tree_labelings(points, leaves - part):
                        made.add(tuple(np.where(left, a, b).tolist()))
    return made


@pytest.mark.parametrize("features", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_trees_make_no_more_labelings_than_counted(n, features):
    points = np.random.default_rng(n).random((n, features))
    for leaves in (1, 2, 3):
        made = tree_labelings(points, leaves)
        assert math.log(len(made)) <= classes._log_trees(n, leaves, features) + 1e-12
    assert len(tree_labelings(points[:, :1], 2)) == 2 * n


def test_trees_are_not_beyond_their_bound():
    points = np.random.default_rng(0).random((12, 2))
    for leaves, features in ((1, 1), (1, 2), (2, 1), (2, 2)):
        truth = rademacher(list(tree_labelings(points[:, :features], leaves)))
        bound = classes.of_tree(12, leaves, features).value
        assert truth <= bound
        assert leaves == 2 or bound < 0.2
    # with the counted number of labelings, written out: 2 shapes, 20 splits each, 8 choices
    assert classes._log_trees(11, 3, 2) == pytest.approx(math.log(2 * 20**2 * 8))
    assert classes.of_tree(100, 1, 1).about == "trees with at most 1 leaf on 1 numeric feature"


def test_independent_rows_certify_nothing():
    """Claim 2: with n = d independent rows a linear score takes any signs at all."""
    rows = np.random.default_rng(0).normal(size=(6, 6))
    scores = [rows @ np.linalg.solve(rows, signs) for signs in all_signs(6)]
    made = {tuple(np.asarray(f) > 0) for f in scores}
    assert rademacher(list(made)) == 0.5
    found = classes.of_independent_rows(6)
    assert (found.value, found.exact, found.width()) == (0.5, True, 1.0)
