"""Complexity: exact values against all signs, bounds against all labelings, published numbers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from calibrant.certificates import classes, complexity
from calibrant.certificates.maximal_rise import Order, expected_maximal_rise, simulated_maximal_rise
from calibrant.errors import InputError


def all_signs(n):
    return np.array(list(itertools.product((-1, 1), repeat=n)))


def rademacher(functions):
    """R_D by its definition: every sign vector, every function (a row of values) of the class."""
    functions = np.asarray(functions, dtype=float)
    n = functions.shape[1]
    return (all_signs(n) @ functions.T).max(axis=1).mean() / n


def intervals(scores):
    """The labelings 1{p1 < f <= p2} of one model's rows, the empty one included."""
    scores = np.asarray(scores)
    ends = [-np.inf, *np.unique(scores)]
    pairs = itertools.combinations_with_replacement(ends, 2)
    return {tuple((low < scores) & (scores <= high)) for low, high in pairs}


def labelings(models):
    return sorted(set().union(*map(intervals, models)))


@pytest.mark.parametrize("n", range(1, 11))
def test_one_model_is_exact_with_and_without_ties(n):
    rng = np.random.default_rng(n)
    for values in (10**6, 5, 2, 1):
        scores = rng.integers(0, values, n) / values
        found = complexity.of_scores(scores)
        assert found.exact
        assert found.value == pytest.approx(rademacher(labelings([scores])), abs=1e-13)
        assert found.value <= found.ceiling


def spectral(n):
    """R of n distinct scores by the eigenvalues of the reflected walk that stops at m."""
    total = 0.0
    for m in range(1, min(n, math.ceil(math.sqrt(60 * n))) + 1):
        j = np.arange(m)
        angle = (2 * j + 1) * np.pi / (2 * m + 1)
        share = (-1.0) ** j * np.cos(angle / 2) ** 2 / np.sin(angle / 2) * 2 / (2 * m + 1)
        total += 1 - (share * np.cos(angle) ** n).sum()
    return total / n


def test_distinct_scores_stay_under_the_limit_by_one_over_n():
    for n in (1, 2, 3, 30, 400):
        found = complexity.of_scores(np.arange(n) / n)
        assert found.value == pytest.approx(spectral(n), rel=1e-10)
    gaps = [n * (math.sqrt(math.pi / (2 * n)) - spectral(n)) for n in (1, 5, 100, 10**4, 10**5)]
    assert gaps == sorted(gaps)
    assert gaps[0] == pytest.approx(0.753, abs=5e-4)
    assert 0.99 < gaps[-1] < 1


def test_few_atoms_have_less():
    n = 2000
    for atoms, published in ((1, 0.40), (10, 0.91), (100, 1.14)):
        scores = np.repeat(np.arange(atoms) / atoms, n // atoms)
        found = complexity.of_scores(scores).value * math.sqrt(n)
        assert found == pytest.approx(published, abs=5e-3)


def test_many_rows_take_the_bound():
    found = complexity.of_scores(np.arange(2001) / 2001)
    assert found.value == pytest.approx(math.sqrt(math.pi / 4002))
    assert not found.exact
    assert not found.varies
    # distinct scores are the worst case, so that it holds with ties too
    assert spectral(2001) < found.value


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_splitting_an_atom_never_takes_away(atoms):
    whole = expected_maximal_rise(np.array(atoms))
    split = expected_maximal_rise(np.array([1] * atoms[0] + atoms[1:]))
    assert whole <= split + 1e-12
    assert whole / sum(atoms) <= 0.5 + 1e-12


def test_the_draw_up_of_given_signs():
    model = Order(np.array([0.3, 0.1, 0.3, 0.2]))
    assert model.atoms.tolist() == [1, 1, 2]
    signs = np.array([[1, 1, 1, 1], [-1, -1, -1, -1], [-1, 1, 1, 1], [1, -1, 1, -1]], np.int8)
    assert model.maximal_rise(signs).tolist() == [4, 0, 2, 2]


@pytest.mark.parametrize("n", [1, 4, 9])
@pytest.mark.parametrize("models", [1, 3, 6])
def test_models_are_simulated_right_and_bounded(n, models):
    rng = np.random.default_rng(10 * n + models)
    scores = rng.integers(0, 4, (models, n)) / 4
    truth = rademacher(labelings(scores))
    draws = 20_000
    mean = simulated_maximal_rise([Order(one) for one in scores], n, draws, seed=1) / n
    assert mean == pytest.approx(truth, abs=math.sqrt(2 * math.log(1e6) / (n * draws)))
    found = complexity.of_models(scores.T, draws=draws)
    assert truth <= found.value + 1e-12
    assert truth <= found.ceiling + 1e-12
    assert found.value <= mean + 0.05


def test_a_simulated_bound_is_too_small_no_oftener_than_it_says():
    scores = np.random.default_rng(1).random((10, 3))
    truth = rademacher(labelings(scores.T))
    seeds = range(300)
    for error in (0.5, 0.05):
        missed = sum(
            complexity.of_models(scores, draws=5, error=error, seed=seed).value < truth
            for seed in seeds
        )
        assert binom.sf(missed - 1, len(seeds), error) > 1e-6
    bare = [
        simulated_maximal_rise([Order(f) for f in scores.T], 10, 5, seed) / 10 for seed in seeds
    ]
    assert 0.2 < np.mean(np.array(bare) < truth) < 0.8


def test_the_parts_of_the_bound_for_models():
    n, draws = 400, 50
    scores = np.random.default_rng(3).random((n, 30))
    mean = simulated_maximal_rise([Order(f) for f in scores.T], n, draws, seed=0) / n
    for error in (0.1, 1e-6):
        found = complexity.of_models(scores, draws=draws, error=error)
        assert found.value - mean == pytest.approx(math.sqrt(2 * math.log(1 / error) / n / draws))
    # thirty models have more than one has, and less than the ceiling
    assert math.sqrt(math.pi / (2 * n)) < mean < found.ceiling
    # the best of two is sqrt(pi / 2) + sqrt(2 ln 2) at most; of many, counting is better
    assert complexity._many(10**6, 2) * 1000 == pytest.approx(1.2533 + 1.1774, abs=1e-4)
    counting = math.sqrt(math.log(1 + 1000 * 10**4 * (10**4 + 1) / 2) / 2)
    assert complexity._many(10**4, 1000) * 100 == pytest.approx(counting)


def test_models_of_few_outputs_are_bounded_by_counting():
    scores = np.repeat([[0.2], [0.7]], 50, axis=0)
    found = complexity.of_models(scores, draws=1)
    assert found.value == pytest.approx(math.sqrt(math.log(4) / 200))
    assert found.theorem.startswith("Massart")


def test_models_by_name_are_the_columns():
    scores = np.random.default_rng(2).random((50, 2))
    named = complexity.of_models({"a": scores[:, 0], "b": scores[:, 1]})
    assert named == complexity.of_models(scores)
    assert named.about == "2 models fixed before these rows"


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


@pytest.mark.parametrize("seed", range(20))
def test_the_lemma_of_theorem_2(seed):
    """R(H1) <= R(H) and R(H2) <= R(H), and 3/2 R(H) for the differences themselves."""
    rng = np.random.default_rng(seed)
    n = 7
    scores = rng.random((rng.integers(1, 5), n)) ** rng.choice([0.2, 1, 5])
    scores = np.round(scores, rng.integers(1, 3))
    outcome = rng.random(n) < 0.5
    parts = [(f, np.array(part)) for f in scores for part in intervals(f)]
    whole = rademacher([part for _, part in parts])
    assert rademacher([part & outcome for _, part in parts]) <= whole + 1e-12
    assert rademacher([part * f for f, part in parts]) <= whole + 1e-12
    assert rademacher([part * (outcome - f) for f, part in parts]) <= 1.5 * whole + 1e-12


def test_the_constant_three_halves_is_needed():
    """With scores of 0 and of 1 that are wrong, 1 R(H) would not do."""
    scores = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]], dtype=float)
    worst = 0.0
    for outcome in itertools.product((0, 1), repeat=4):
        parts = [(f, np.array(part)) for f in scores for part in intervals(f)]
        differences = rademacher([part * (np.array(outcome) - f) for f, part in parts])
        worst = max(worst, differences / rademacher([part for _, part in parts]))
    assert 1 < worst <= 1.5


def test_widths_are_their_formulas():
    found = classes.of_linear(10_000, 2)
    for confidence in (0.5, 0.95, 0.999):
        delta = 1 - confidence
        far = math.sqrt(2 * math.log(8 / delta) / 10_000)
        sharp = 3 * found.value + math.sqrt(2 * math.log(2 / delta) / 10_000)
        assert found.width(confidence) == pytest.approx(sharp)
        assert found.width(confidence, "proved") == pytest.approx(2 * (2 * found.value + far))
        assert found.width(confidence, "printed") == pytest.approx(2 * (found.value + far))


def test_one_model_as_in_the_paper():
    for n, printed, proved in ((10**4, 0.0888, 0.1139), (10**5, 0.0281, 0.0360)):
        found = complexity.of_scores(np.arange(n) / n)
        assert found.width(reading="printed") == pytest.approx(printed, abs=5e-5)
        assert found.width(reading="proved") == pytest.approx(proved, abs=5e-5)


def test_what_varies_from_sample_to_sample_costs_a_little():
    one = complexity.of_scores(np.repeat([0.2, 0.7], 500))
    plain = complexity.Complexity(one.value, True, 1000, "", "")
    dearer = complexity.Complexity(one.value, True, 1000, "", "", varies=True, error=0.01)
    assert plain.width() < one.width() < dearer.width() < 1.4 * plain.width()
    distinct = complexity.of_scores(np.arange(1000) / 1000)
    assert distinct.ceiling == distinct.value < math.sqrt(math.pi / 2000)
    sharp = 3 * distinct.value + math.sqrt(2 * math.log(2 / 0.0475) / 1000)
    assert distinct.width() == pytest.approx(sharp)


@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_the_mean_over_samples_is_bounded_as_often_as_said(rate):
    """Two scores, of chances rate and 1 - rate: a sum over all samples, nothing is simulated."""
    n = 30
    k = np.arange(n + 1)
    atoms = [np.array([i for i in (low, n - low) if i]) for low in k]
    values = np.array([expected_maximal_rise(one) / n for one in atoms])
    chance = binom.pmf(k, n, rate)
    mean = chance @ values
    for delta in (0.3, 0.05):
        ends = [complexity.Complexity(v, True, n, "", "", True)._mean(delta) for v in values]
        assert chance @ (np.array(ends) < mean) <= delta
    # the value itself would not do
    assert chance @ (values < mean - 1e-9) > 0.2


@given(n=st.integers(1, 10**9), d=st.integers(1, 10**4), k=st.integers(1, 10**6))
def test_no_bound_is_over_a_half_and_more_rows_never_hurt(n, d, k):
    for bound in (
        lambda rows: classes.of_linear(rows, d),
        lambda rows: classes.of_tree(rows, k, d),
        lambda rows: classes.of_finite_outputs(rows, k, d),
        lambda rows: classes.of_finite_outputs(rows, k, d, printed=True),
        classes.of_independent_rows,
    ):
        one, more = bound(n), bound(4 * n)
        assert 0 < more.value <= one.value <= 0.5
        assert 0 < one.width() <= 1
        assert one.width(reading="printed") <= one.width(reading="proved")
        assert one.about
        assert one.theorem


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: complexity.of_scores([0.2, 1.7]), "y_prob must lie between 0 and 1"),
        (lambda: complexity.of_scores([]), "y_prob is empty"),
        (lambda: complexity.of_scores([0.2, None]), "y_prob has missing values"),
        (lambda: complexity.of_models([0.2, 0.3]), "scores must be two-dimensional, one column"),
        (lambda: complexity.of_models({}), "scores names no model"),
        (lambda: complexity.of_models({"a": [0.5], "b": [0.1, 2]}), r"scores\['b'\] must lie"),
        (lambda: complexity.of_models({"a": [0.5], "b": [0.1, 0.2]}), "same number of rows"),
        (lambda: complexity.of_models([[0.5]], draws=0), "draws must be a whole number, 1 or"),
        (lambda: complexity.of_models([[0.5]], error=0), "error must be a number strictly"),
        (lambda: complexity.of_models([[0.5]], seed=-1), "seed must be a whole number, 0 or"),
        (lambda: classes.of_linear(0, 1), "rows must be a whole number, 1 or more, but it is 0"),
        (lambda: classes.of_linear(10, 1.5), "features must be a whole number"),
        (lambda: classes.of_tree(10, 0, 1), "leaves must be a whole number"),
        (lambda: classes.of_finite_outputs(10, 0, 1), "outputs must be a whole number"),
        (lambda: classes.of_finite_outputs(10, 1, -1), "vc_dimension must be a whole number"),
        (lambda: classes.of_independent_rows("9"), "rows must be a whole number"),
        (lambda: classes.of_linear(10, 1).width(95), "confidence must be .* For 95% write 0.95"),
        (lambda: classes.of_linear(10, 1).width(0.9, "prooved"), "Did you mean 'proved'"),
        (
            lambda: complexity.of_models([[0.5]], error=0.04).width(0.96),
            "confidence must be below 0.957895, because the complexity was simulated",
        ),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
