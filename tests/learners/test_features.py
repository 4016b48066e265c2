"""The metric of the features, and sums that do not depend on the neighbours of a row."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from calibrant.errors import InputError
from calibrant.learners import features as module
from calibrant.learners.features import Features, row_sums

RNG = np.random.default_rng(3)
TABLE = RNG.normal(size=(400, 6)) @ RNG.normal(size=(6, 6)) + 5


def test_a_row_has_the_same_sum_wherever_it_stands():
    rng = np.random.default_rng(4)
    for rows, features in ((1000, 54), (30, 8193), (20, 20_000)):
        table, direction = rng.normal(size=(rows, features)), rng.normal(size=features)
        whole = row_sums(table, direction)
        np.testing.assert_allclose(whole, table @ direction, atol=1e-9)
        for some in (slice(1, None), slice(7, 8), slice(None, None, 3)):
            part = np.ascontiguousarray(table[some])
            assert row_sums(part, direction).tolist() == whole[some].tolist()


def test_the_first_pull_is_least_squares():
    push = np.random.default_rng(4).normal(size=400)
    centred = TABLE - TABLE.mean(axis=0)
    expected = np.linalg.lstsq(centred, push, rcond=None)[0]
    found = Features(TABLE, None)
    np.testing.assert_allclose(found.coefficients(found.pull(push)), expected, rtol=1e-9)


@pytest.mark.parametrize("most", [512, 2])
def test_sparse_rows_and_repeated_ones_pull_alike(monkeypatch, most):
    monkeypatch.setattr(module, "_MOST_FEATURES", most)  # 2: by variances only
    monkeypatch.setattr(module, "_CHUNK", 64)
    rng = np.random.default_rng(4)
    push, weight = rng.normal(size=400), rng.integers(1, 4, 400)
    table = np.where(np.abs(TABLE - 5) < 1, 0, TABLE - 5)
    table[:, 5] = 0
    dense = Features(table, weight.astype(float))
    sparse = Features(csr_matrix(table), weight.astype(float))
    again = np.repeat(np.arange(400), weight)
    repeated = Features(table[again], None)
    np.testing.assert_allclose(sparse.pull(push), dense.pull(push), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(repeated.pull(push[again]), dense.pull(push), rtol=1e-9, atol=1e-12)
    direction = rng.normal(size=6)
    np.testing.assert_allclose(sparse.index(direction), dense.index(direction), atol=1e-12)


def test_variances_and_how_much_correlations_add(monkeypatch):
    monkeypatch.setattr(module, "_MOST_FEATURES", 2)
    push = np.random.default_rng(4).normal(size=400)
    centred = TABLE - TABLE.mean(axis=0)
    found = Features(TABLE, None)
    np.testing.assert_allclose(
        found.coefficients(found.pull(push)), centred.T @ push / 400 / TABLE.var(axis=0), rtol=1e-9
    )
    largest = np.linalg.eigvalsh(np.corrcoef(TABLE.T))[-1]
    assert largest <= found.stretch() <= 1.01 * largest


def test_constant_and_repeated_features_leave_the_others_alone():
    push = np.random.default_rng(4).normal(size=400)
    more = np.column_stack([TABLE, np.full(400, 1e6 / 3), TABLE[:, 0] - TABLE[:, 1]])
    plain, found = Features(TABLE, None), Features(more, None)
    expected = plain.index(plain.pull(push))
    np.testing.assert_allclose(found.index(found.pull(push)), expected, atol=1e-9)
    assert found.pull(push)[6] == 0
    assert not Features(np.full((50, 3), 7.1), None).varies


def test_units_do_not_matter():
    push, unit = np.random.default_rng(4).normal(size=400), 10.0 ** np.array([-9, -3, 0, 2, 5, 9])
    plain, found = Features(TABLE, None), Features(TABLE * unit, None)
    expected = plain.index(plain.pull(push))
    np.testing.assert_allclose(found.index(found.pull(push)), expected, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-300, 1e-157, 1e200])
@pytest.mark.parametrize("most", [512, 2])
def test_numbers_may_be_so_large_or_small_that_their_squares_are_none(monkeypatch, unit, most):
    monkeypatch.setattr(module, "_MOST_FEATURES", most)
    push = np.random.default_rng(4).normal(size=400)
    plain = Features(TABLE, None)
    expected = plain.index(plain.pull(push))
    for kind in (np.asarray, csr_matrix):
        found = Features(kind(TABLE * unit), None)
        np.testing.assert_allclose(found.index(found.pull(push)), expected, atol=1e-9)
        back = found.direction(found.coefficients(found.pull(push)))
        np.testing.assert_allclose(back, found.pull(push), rtol=1e-12)


def test_sparse_numbers_far_from_0_are_as_good_as_dense_ones(monkeypatch):
    monkeypatch.setattr(module, "_MOST_FEATURES", 2)
    push = np.random.default_rng(4).normal(size=400)
    table = TABLE + np.array([1e8, 0, 0, 0, 0, 0])
    table[:, 1] = 0.1
    dense, sparse = Features(table, None), Features(csr_matrix(table), None)
    np.testing.assert_allclose(sparse.pull(push), dense.pull(push), rtol=1e-6)
    assert sparse.pull(push)[1] == 0
    constant = Features(csr_matrix(np.full((50, 100), 0.1)), None)
    assert not constant.varies
    assert constant.stretch() == 1


def test_numbers_too_large_to_be_added_up_are_refused():
    with pytest.raises(InputError, match="StandardScaler"):
        Features(np.full((60, 3), 1e308), None)
