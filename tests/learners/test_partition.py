"""Regions and their rates: calibrated on their own rows, less so on fresh ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb
from calibrant.errors import InputError
from reference.checks import mistaken


@parametrize_with_checks(
    [cb.PartitionClassifier(), cb.PartitionClassifier("kmeans", regions=4)],
    expected_failed_checks=mistaken,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def data(rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, rng.random(rows) < 1 / (1 + np.exp(-1.5 * X[:, 0] + X[:, 1] ** 2 - 1))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    regions=st.integers(2, 40),
    kind=st.sampled_from(["tree", "kmeans"]),
    weighted=st.booleans(),
)
def test_it_is_calibrated_on_its_own_rows(seed, regions, kind, weighted):
    X, y = data(60, seed)
    weight = np.random.default_rng(seed).integers(0, 4, 60) if weighted else None
    if weighted and weight[y].sum() * weight[~y].sum() == 0:
        return
    model = cb.PartitionClassifier(kind, regions=regions, random_state=0)
    model.fit(X, y, sample_weight=weight)
    kept = np.ones(60, dtype=bool) if weight is None else weight > 0
    repeated = np.repeat(np.arange(60), 1 if weight is None else weight)
    scores = model.predict_proba(X)[:, 1]
    assert cb.calibration_error(y[repeated], scores[repeated]) < 1e-12
    for region in np.unique(model.apply(X[kept])):
        inside = repeated[model.apply(X)[repeated] == region]
        np.testing.assert_allclose(scores[inside], y[inside].mean(), atol=1e-12)


def test_a_function_of_ones_own_splits_the_space():
    X, y = data(500, 1)
    model = cb.PartitionClassifier(lambda rows: (rows[:, 0] > 0).astype(int)).fit(X, y)
    assert model.regions_.tolist() == [0, 1]
    for region, side in ((0, X[:, 0] <= 0), (1, X[:, 0] > 0)):
        assert model.rates_[region] == pytest.approx(y[side].mean())
        assert model.weights_[region] == side.sum()
    words = cb.PartitionClassifier(lambda rows: np.where(rows[:, 0] > 0, "right", "left"))
    np.testing.assert_allclose(words.fit(X, y).predict_proba(X), model.predict_proba(X))


def test_a_region_never_seen_gets_the_rate_of_all_rows():
    X, y = data(300, 2)
    model = cb.PartitionClassifier(lambda rows: np.floor(rows[:, 0]).astype(int)).fit(X, y)
    far = np.array([[99.0, 0, 0], [-99.0, 0, 0]])
    np.testing.assert_allclose(model.predict_proba(far)[:, 1], y.mean())


def test_trees_and_clusterers_of_ones_own():
    X, y = data(800, 3)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = cb.PartitionClassifier(tree).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), tree.fit(X, y).predict_proba(X))
    assert not hasattr(DecisionTreeClassifier(), "tree_")
    clusters = cb.PartitionClassifier(KMeans(5, n_init=2, random_state=0)).fit(X, y)
    assert len(clusters.regions_) == 5


@pytest.mark.parametrize(
    "partition", ["forest", 3, None, RandomForestClassifier(3), DBSCAN(), KMeans]
)
def test_what_is_no_partition_is_refused(partition):
    X, y = data(100, 4)
    with pytest.raises(InputError, match="partition must"):
        cb.PartitionClassifier(partition).fit(X, y)


@pytest.mark.parametrize("seed", ["a" * 10**6, -1, 0.5], ids=["long", "negative", "share"])
@pytest.mark.parametrize("kind", ["tree", "kmeans"])
def test_what_is_no_seed_is_refused(kind, seed):
    X, y = data(100, 4)
    with pytest.raises(InputError, match="random_state must be a whole number"):
        cb.PartitionClassifier(kind, random_state=seed).fit(X, y)


def test_a_function_must_give_a_region_for_each_row():
    X, y = data(100, 4)
    for wrong in (lambda rows: rows[:, 0], lambda rows: np.zeros(3, int), lambda rows: rows > 0):
        with pytest.raises(InputError, match="one whole number or word for each row"):
            cb.PartitionClassifier(wrong).fit(X, y)
    with pytest.raises(InputError, match="regions must be a whole number, 2 or more"):
        cb.PartitionClassifier(regions=1).fit(X, y)


def test_held_out_errors_grow_with_the_number_of_regions():
    """Section 2.3: on its own rows the error is 0; on fresh ones it grows with the regions."""
    X, y = data(4000, 5)
    fresh, outcome = data(20_000, 6)
    errors = []
    for regions in (4, 64, 1024):
        model = cb.PartitionClassifier(regions=regions, random_state=0).fit(X, y)
        assert cb.calibration_error(y, model.predict_proba(X)[:, 1]) < 1e-12
        errors.append(cb.calibration_error(outcome, model.predict_proba(fresh)[:, 1]))
    assert errors[0] < 0.02 < errors[1] < errors[2]
    assert errors[2] > 0.1


def test_words_of_any_kind_and_heavy_weights():
    X, y = data(400, 12)
    plain = cb.PartitionClassifier(lambda rows: np.where(rows[:, 0] > 0, "a", "bcd")).fit(X, y)
    objects = cb.PartitionClassifier(
        lambda rows: np.array(["a" if one > 0 else "bcd" for one in rows[:, 0]], dtype=object)
    )
    heavy = objects.fit(X, y, sample_weight=np.full(400, 1e307))
    np.testing.assert_allclose(heavy.predict_proba(X), plain.predict_proba(X))
    one_tree = cb.PartitionClassifier(RandomForestClassifier(1, max_depth=2, random_state=0))
    assert 2 <= len(one_tree.fit(X, y).regions_) <= 4
