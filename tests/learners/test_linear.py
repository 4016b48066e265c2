"""CalibratedLinearClassifier: the loss falls, and is the loss of the model."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.learners.losses import LOSSES, row_loss
from reference.single_index import TRUTH, angle, draw, law


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
