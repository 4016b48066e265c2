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
from calibrant.learners.losses import LOSSES, calibrated_loss, push, row_loss

MODELS = [
    cb.IsotronClassifier(),
    cb.IsotronClassifier("lipschitz", max_iter=1000),  # by short steps
    *(cb.CalibratedLinearClassifier(loss) for loss in LOSSES),
]
CALIBRATED = [model for model in MODELS if getattr(model, "link", "") != "lipschitz"]
NAMES = ["isotron", "lipschitz", *LOSSES]
TRUTH = np.array([1.0, -1.0, 0.5, 2.0, 0.0])


@parametrize_with_checks(
    [
        cb.IsotronClassifier(),
        cb.IsotronClassifier("lipschitz", max_iter=20),
        cb.CalibratedLinearClassifier("logistic"),
    ]
)
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "No feature varies")
        check(estimator)


def law(index):
    """A link that is not logistic: it is never sure."""
    return 0.1 + 0.8 / (1 + np.exp(-2 * index))


def draw(rows, seed):
    """Rows whose features are not elliptical, so that least squares finds another direction."""
    rng = np.random.default_rng(seed)
    X = np.exp(0.8 * rng.normal(size=(rows, 5)))
    index = X @ TRUTH - 2.5 * np.exp(0.32)
    return X, rng.random(rows) < law(index), index


def angle(model):
    w = model.coef_[0]
    return np.degrees(np.arccos(w @ TRUTH / np.linalg.norm(w) / np.linalg.norm(TRUTH)))


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


def test_the_lipschitz_link_is_not_calibrated_and_rises_no_faster_than_its_index():
    X, y, _ = draw(2000, 0)
    model = cb.IsotronClassifier("lipschitz", max_iter=1000).fit(X, y)
    prob = model.predict_proba(X)[:, 1]
    assert cb.calibration_error(y, prob) > 1e-4
    index = X @ model._coefficients
    order = np.argsort(index)
    rise, run = np.diff(prob[order]), np.diff(index[order])
    assert (rise >= -1e-12).all()
    assert (rise <= run * (1 + 1e-6) + 1e-9).all()
    assert rise.max() > 1e-3


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


@pytest.mark.validity
def test_the_error_of_the_direction_falls_with_the_rows_but_not_under_the_hinge():
    def typical(loss, rows):
        found = []
        for seed in range(5):
            X, y, _ = draw(rows, 100 + seed)
            found.append(angle(cb.CalibratedLinearClassifier(loss).fit(X, y)))
        return np.median(found)

    for loss in ("squared", "logistic"):
        assert typical(loss, 32_000) < 0.5 * typical(loss, 2000)
    assert typical("hinge", 32_000) > 3 * typical("squared", 32_000)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_falls_from_step_to_step(loss):
    X, y, _ = draw(3000, 2)
    model = cb.CalibratedLinearClassifier(loss).fit(X, y)
    curve = np.array(model.loss_curve_)
    assert len(curve) > 3
    assert (np.diff(curve) < 0).all()
    # and is the loss of the labels, because nothing is miscalibrated
    prob = model.predict_proba(X)[:, 1]
    assert row_loss(loss, prob, y).mean() == pytest.approx(curve[-1], abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_on_calibrated_scores_the_hinge_is_four_times_the_squared_loss(rows):
    group, label = (np.array(column) for column in zip(*rows, strict=True))
    prob = np.array([label[group == g].mean() for g in group])
    for loss in LOSSES:
        expected = row_loss(loss, prob, label).mean()
        assert calibrated_loss(loss, prob).mean() == pytest.approx(expected, abs=1e-12)
    hinge, squared = (row_loss(loss, prob, label).mean() for loss in ("hinge", "squared"))
    assert hinge == pytest.approx(4 * squared, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=2, max_size=30),
    st.lists(st.integers(1, 19), min_size=9, max_size=9),
)
def test_projection_lowers_proper_losses(rows, values):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    if label.all() or not label.any():
        return
    link = np.sort(values) / 20
    before = link[score]
    after = cb.IsotonicCalibrator().fit(score / 8, label).predict(score / 8)
    for loss in ("squared", "logistic"):
        assert row_loss(loss, after, label).mean() <= row_loss(loss, before, label).mean() + 1e-12


def test_projection_raises_the_hinge():
    """Of three rows one is an event. The hinge likes 0 best; the projection says 1/3."""
    label, before, after = np.array([True, False, False]), np.zeros(3), np.full(3, 1 / 3)
    assert row_loss("hinge", before, label).mean() == pytest.approx(2 / 3)
    assert row_loss("hinge", after, label).mean() == pytest.approx(8 / 9)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_push_is_minus_the_derivative(loss):
    prob, label = np.array([0.2, 0.5, 0.9, 0.3]), np.array([True, False, True, False])
    step = 1e-6
    rise = row_loss(loss, prob + step, label) - row_loss(loss, prob - step, label)
    half = {"squared": 2, "hinge": 2, "logistic": 1}[loss]
    np.testing.assert_allclose(push(loss, prob, label), -rise / (2 * step) / half, rtol=1e-6)


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


def test_a_sparse_row_whose_features_come_in_another_order_is_the_same_row():
    X, y, _ = draw(300, 3)
    model = cb.IsotronClassifier().fit(csr_matrix(X), y)
    turned = csr_matrix((X[0][::-1], np.arange(5)[::-1], [0, 5]), shape=(1, 5))
    twice = csr_matrix((np.append(X[0], 0), [0, 1, 2, 3, 4, 4], [0, 6]), shape=(1, 5))
    expected = model.predict_proba(csr_matrix(X))[:1].tolist()
    for row in (turned, twice):
        kept = row.copy()
        assert model.predict_proba(row).tolist() == expected
        assert row.indices.tolist() == kept.indices.tolist()  # ours to read, not to change


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


def test_early_stopping_judges_by_rows_held_back():
    """Many useless features: all rows are fitted ever better, those held back ever worse."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 200))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    fresh = rng.normal(size=(4000, 200))
    truth = 1 / (1 + np.exp(-2 * fresh[:, 0]))
    far = []
    for early in (False, True):
        model = cb.IsotronClassifier(early_stopping=early, random_state=0, n_iter_no_change=20)
        far.append(np.mean((model.fit(X, y).predict_proba(fresh)[:, 1] - truth) ** 2))
    assert far[1] < far[0]
    assert model.loss_curve_.index(min(model.loss_curve_)) < len(model.loss_curve_) - 1


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


def test_the_link_is_a_calibrator_that_travels():
    X, y, _ = draw(500, 9)
    model = cb.CalibratedLinearClassifier().fit(X, y)
    score = (X @ model.coef_[0] + model.intercept_[0]).clip(0, 1)  # to some digits the same
    assert score.min() == pytest.approx(0, abs=1e-9)
    assert score.max() == pytest.approx(1, abs=1e-9)
    link = cb.Calibrator.from_json(model.link_.to_json())
    assert link.predict(score).tolist() == model.predict_proba(X)[:, 1].tolist()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(LOSSES),
    features=st.integers(1, 3),
    repeated=st.booleans(),
    weighted=st.booleans(),
)
def test_the_curve_ends_at_the_loss_of_the_model(seed, loss, features, repeated, weighted):
    """Also where there is but one direction, and steps could only follow rounding errors."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, features))
    X = np.column_stack([X, 2 * X[:, 0] + 1]) if repeated else X
    y = rng.random(80) < 1 / (1 + np.exp(-X[:, 0]))
    weight = rng.random(80) + 0.5 if weighted else np.ones(80)
    model = cb.CalibratedLinearClassifier(loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=weight)
    loss_of_rows = row_loss(loss, model.predict_proba(X)[:, 1], y)
    expected = np.average(loss_of_rows, weights=weight)
    assert model.loss_curve_[-1] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    if features == 1:
        assert len(model.loss_curve_) == 1


def test_a_warm_start_that_leads_nowhere_is_not_gone_on_from():
    X, y, _ = draw(1000, 0)
    for kind in (cb.IsotronClassifier, cb.CalibratedLinearClassifier):
        model = kind(warm_start=True).fit(X, y).fit(X, ~y)
        cold = kind().fit(X, ~y)
        assert min(model.loss_curve_) < 1.05 * min(cold.loss_curve_)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_one_outlier_hides_nothing_from_a_proper_loss(loss):
    """Least squares is led astray by it, and with it the start, but not the descent."""
    model = cb.CalibratedLinearClassifier(loss)
    rng = np.random.default_rng(1)
    X = np.exp(0.8 * rng.normal(size=(20_000, 5)))
    X[0] = 1e3 * TRUTH
    index = X @ TRUTH - 2.5 * np.exp(0.32)
    y = rng.random(20_000) < law(index.clip(-50, 50))
    plain, found = (model.fit(X[some:], y[some:]).loss_curve_ for some in (1, 0))
    assert min(found) < 1.02 * min(plain)


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


def test_separable_rows_are_learned_without_a_warning():
    X = np.linspace(-1, 1, 40)[:, None]
    model = cb.IsotronClassifier(max_iter=5).fit(X, X[:, 0] > 0.1)
    assert model.loss_curve_ == [0.0]


def test_rows_held_back_must_have_both_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.arange(100) < 2
    for share in (0.1, 0.9):
        model = cb.IsotronClassifier(early_stopping=True, validation_fraction=share)
        with pytest.raises(InputError, match="the rarer class has 2"):
            model.fit(X, y)


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
