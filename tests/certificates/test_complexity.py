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
from reference.complexity import intervals, labelings, rademacher, spectral


def test_many_rows_take_the_bound():
    found = complexity.of_scores(np.arange(2001) / 2001)
    assert found.value == pytest.approx(math.sqrt(math.pi / 4002))
    assert not found.exact
    assert not found.varies
    # distinct scores are the worst case, so that it holds with ties too
    assert spectral(2001) < found.value


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


def test_models_by_name_are_the_columns():
    scores = np.random.default_rng(2).random((50, 2))
    named = complexity.of_models({"a": scores[:, 0], "b": scores[:, 1]})
    assert named == complexity.of_models(scores)
    assert named.about == "2 models fixed before these rows"


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
