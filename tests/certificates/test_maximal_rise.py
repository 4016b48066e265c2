"""Draw-ups of random walks: exact for one model, simulated for several."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from calibrant.certificates import complexity
from calibrant.certificates.maximal_rise import Order, expected_maximal_rise, simulated_maximal_rise
from reference.complexity import labelings, rademacher, spectral


@pytest.mark.parametrize("n", range(1, 11))
def test_one_model_is_exact_with_and_without_ties(n):
    rng = np.random.default_rng(n)
    for values in (10**6, 5, 2, 1):
        scores = rng.integers(0, values, n) / values
        found = complexity.of_scores(scores)
        assert found.exact
        assert found.value == pytest.approx(rademacher(labelings([scores])), abs=1e-13)
        assert found.value <= found.ceiling


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
