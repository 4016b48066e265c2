"""IsotronClassifier: its links, its stopping, and rows it can tell apart."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import calibrant as cb
from calibrant.errors import InputError
from reference.single_index import draw


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
