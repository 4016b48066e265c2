"""Classifiers u(w . x): calibrated on their rows, and near the truth where there is one."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb
from calibrant.errors import InputError
from reference.checks import mistaken
from reference.single_index import CALIBRATED, MODELS, NAMES, angle, draw, law


@parametrize_with_checks(
    [
        cb.IsotronClassifier(),
        cb.IsotronClassifier("lipschitz", max_iter=20),
        cb.CalibratedLinearClassifier("logistic"),
    ],
    expected_failed_checks=mistaken,
)
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "No feature varies")
        check(estimator)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(4, 60),
    which=st.integers(0, len(CALIBRATED) - 1),
    weighted=st.booleans(),
    sparse=st.booleans(),
    coarse=st.booleans(),
)
def test_no_calibration_error_on_the_fitting_rows(seed, rows, which, weighted, sparse, coarse):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rows, 3)).astype(float) if coarse else rng.normal(size=(rows, 3))
    y, weight = rng.random(rows) < 0.5, rng.integers(0, 3, rows) if weighted else np.ones(rows)
    if not 0 < weight[y].sum() < weight.sum():
        return
    table = csr_matrix(X) if sparse else X
    model = CALIBRATED[which]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table, y, sample_weight=weight)
    prob = model.predict_proba(table)[:, 1]
    again = np.repeat(np.arange(rows), weight.astype(int))
    assert cb.calibration_error(y[again], prob[again]) < 1e-12
    # the link is isotonic in the score, and each row alone gets what it got among the others
    score = X @ model.coef_[0]
    assert (np.diff(prob[np.argsort(score)]) >= -1e-12).all() or coarse
    row = int(rng.integers(rows))
    assert model.predict_proba(table[[row]])[0, 1] == prob[row]


@pytest.mark.parametrize("model", CALIBRATED)
def test_early_stopping_ends_without_calibration_error_too(model):
    X, y, _ = draw(2000, 0)
    model = type(model)(**{**model.get_params(), "early_stopping": True, "random_state": 1})
    prob = model.fit(X, y).predict_proba(X)[:, 1]
    assert cb.calibration_error(y, prob) < 1e-12
    assert angle(model) < 12


#: Degrees at 20,000 rows; least squares, from where all of them start, is off by more than 6.
ANGLES = dict(zip(NAMES, [2.5, 2.5, 2.0, 2.0, 6.0], strict=True))
#: How far the link may be from the law, on the middle 95% of the scores.
DISTANCE = 0.1


@pytest.mark.parametrize(("name", "model"), list(zip(NAMES, MODELS, strict=True)))
def test_a_single_index_law_is_recovered(name, model):
    X, y, index = draw(20_000, 0)
    start = cb.CalibratedLinearClassifier(max_iter=1, tol=0.9).fit(X, y)  # takes no step
    assert angle(start) > 6
    model.fit(X, y)
    assert angle(model) < ANGLES[name]
    score = X @ model.coef_[0] + model.intercept_[0]
    slope, offset = np.polyfit(score, index, 1)
    places = np.quantile(score, np.linspace(0.025, 0.975, 400))
    found = model.link_.predict(places.clip(0, 1))
    assert np.abs(found - law(offset + slope * places)).max() < DISTANCE


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_sparse_and_dense_and_explicit_zeros_agree(model):
    X, y, _ = draw(600, 3)
    X = np.where(X < 0.7, 0.0, X)
    dense = model.fit(X, y).predict_proba(X)[:, 1]
    row, column = np.nonzero(np.ones_like(X))
    explicit = coo_matrix((X.ravel(), (row, column)), shape=X.shape).tocsr()
    assert explicit.nnz == X.size  # zeros are stored
    for table in (csr_matrix(X), explicit, csr_matrix(X).tocsc(), csr_matrix(X).tocoo()):
        found = model.fit(table, y).predict_proba(table)[:, 1]
        np.testing.assert_allclose(found, dense, atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_units_shifts_and_weights_as_repetition_change_nothing(model):
    X, y, _ = draw(500, 4)
    weight = np.random.default_rng(0).integers(0, 3, 500)
    again = np.repeat(np.arange(500), weight)
    by_weight = model.fit(X, y, sample_weight=weight).predict_proba(X)[:, 1]
    repeated = model.fit(X[again], y[again]).predict_proba(X)[:, 1]
    np.testing.assert_allclose(repeated, by_weight, atol=1e-6)
    plain = model.fit(X, y).predict_proba(X)[:, 1]
    moved = X * [1, 1000, 0.001, 7, 1] + [0, 5, 0, -3, 100]
    np.testing.assert_allclose(model.fit(moved, y).predict_proba(moved)[:, 1], plain, atol=1e-6)
    order = np.random.default_rng(1).permutation(500)
    shuffled = model.fit(X[order], y[order]).predict_proba(X)[:, 1]
    np.testing.assert_allclose(shuffled, plain, atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_warm_start_goes_on_from_the_last_direction(model):
    X, y, _ = draw(3000, 5)
    kind, params = type(model), model.get_params()
    few = kind(**{**params, "max_iter": 2, "tol": 0.0, "warm_start": True})
    with pytest.warns(ConvergenceWarning):
        few.fit(X, y)
    least = min(few.loss_curve_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        few.fit(X, y)
    assert few.loss_curve_[0] == pytest.approx(least, rel=1e-6)
    assert min(few.loss_curve_) <= least * (1 + 1e-9)
    other = np.column_stack([X, X[:, 0] ** 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert few.fit(other, y).coef_.shape == (1, 6)  # another table: from the start


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_one_class_is_refused(model):
    X = np.random.default_rng(0).normal(size=(5, 2))
    with pytest.raises(InputError, match="one class only: 3"):
        model.fit(X, np.full(5, 3))
    with pytest.raises(InputError, match="one class only: 'no'"):
        model.fit(X[:1], ["no"])
    with pytest.raises(InputError, match="one class only: 1"):
        model.fit(X, [0, 0, 1, 1, 1], sample_weight=[0, 0, 1, 1, 1])
    with pytest.raises(InputError, match="multiclass"):
        model.fit(X, [0, 1, 2, 0, 1])


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_constant_features_give_the_rate_and_a_warning(model):
    X, y = np.full((6, 2), 3.3), [0, 0, 1, 0, 1, 0]
    with pytest.warns(UserWarning, match="No feature varies.*0.3333") as caught:
        model.fit(X, y)
    assert not any(issubclass(one.category, ConvergenceWarning) for one in caught)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / 3)
    np.testing.assert_allclose(model.predict_proba(X + 1)[:, 1], 1 / 3)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_two_rows_that_differ_are_told_apart(model):
    model.fit([[0.0], [1.0]], ["no", "yes"])
    assert model.predict([[0.0], [1.0]]).tolist() == ["no", "yes"]


def test_no_convergence_says_what_to_change():
    X, y, _ = draw(2000, 0)
    for model in (
        cb.IsotronClassifier(max_iter=3),
        cb.CalibratedLinearClassifier(max_iter=1, tol=0),
    ):
        with pytest.warns(ConvergenceWarning, match=r"after \d steps, before .* Raise max_iter"):
            model.fit(X, y)
        assert cb.calibration_error(y, model.predict_proba(X)[:, 1]) < 1e-12


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_iter": 0}, "max_iter must be a whole number, 1 or more"),
        ({"tol": -1}, "tol must be a number between 0 and 1"),
        ({"tol": float("nan")}, "tol must be"),
        ({"n_iter_no_change": 0.5}, "n_iter_no_change must be"),
        ({"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction must be"),
        (
            {"early_stopping": True, "validation_fraction": 0.01},
            "early_stopping needs both classes",
        ),
    ],
)
@pytest.mark.parametrize("kind", [cb.IsotronClassifier, cb.CalibratedLinearClassifier])
def test_parameters_are_checked(kind, params, words):
    X, y, _ = draw(50, 0)
    with pytest.raises(InputError, match=words):
        kind(**params).fit(X, y)


def test_unknown_links_and_losses_are_refused_by_name():
    X, y, _ = draw(50, 0)
    with pytest.raises(InputError, match=r"link must be one of .*Did you mean 'monotone'"):
        cb.IsotronClassifier("monoton").fit(X, y)
    with pytest.raises(InputError, match=r"loss must be one of .*Did you mean 'logistic'"):
        cb.CalibratedLinearClassifier("logistik").fit(X, y)


def test_a_warm_start_that_leads_nowhere_is_not_gone_on_from():
    X, y, _ = draw(1000, 0)
    for kind in (cb.IsotronClassifier, cb.CalibratedLinearClassifier):
        model = kind(warm_start=True).fit(X, y).fit(X, ~y)
        cold = kind().fit(X, ~y)
        assert min(model.loss_curve_) < 1.05 * min(cold.loss_curve_)


def test_where_no_direction_helps_there_is_a_warning():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]] * 20)
    y = X[:, 0] != X[:, 1]
    for model in MODELS:
        with pytest.warns(UserWarning, match="No direction was found .* 0.5"):
            model.fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_weights_too_small_to_count_next_to_others_count_as_none():
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 1, 0]
    weight = [1e300] * 4 + [1e-300] * 2
    for model in MODELS:
        found = model.fit(X, y, sample_weight=weight).predict_proba(X[:4])
        expected = model.fit(X[:4], y[:4]).predict_proba(X[:4])
        np.testing.assert_allclose(found, expected, atol=1e-12)
        with pytest.raises(InputError, match="one class only: 1"):
            model.fit(X, y, sample_weight=[1e-300, 1e-300, 1e300, 1e300, 1e300, 1e-300])


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_wide_tables_go_by_variances(model):
    """A thousand words, most of them seldom, and a column that is constant."""
    rng = np.random.default_rng(2)
    X = rng.poisson(0.05, (800, 1000)).astype(float)
    X[:, 0], X[:, 1] = rng.poisson(2, 800), 3.0
    y = rng.random(800) < 1 / (1 + np.exp(2 - X[:, 0]))
    kind = type(model)(**{**model.get_params(), "early_stopping": True, "random_state": 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        dense = kind.fit(X, y).predict_proba(X)[:, 1]
        found = kind.fit(csr_matrix(X), y).predict_proba(csr_matrix(X))[:, 1]
    np.testing.assert_allclose(found, dense, atol=1e-6)
    assert np.argmax(np.abs(kind.coef_[0]) * X.std(axis=0)) == 0
