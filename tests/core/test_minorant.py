import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant.core.diagram import resolve
from calibrant.core.minorant import minorant, minorant_need
from reference import published
from reference.samples import shapes, small


def fitted(y_true, y_prob, weight=None):
    """The minorant's value for each distinct score, found by where its block begins."""
    data = cb.Predictions(y_true, y_prob, sample_weight=weight)
    diagram = resolve(data.source, minorant_need)
    found = minorant(diagram)
    assert (np.diff(found.value) > -1e-15).all()
    starts = diagram.cells.low[found.first]
    scores = np.unique(np.asarray(y_prob, dtype=float))
    return scores, found.value[np.searchsorted(starts, scores, side="right") - 1]


def sklearn_fit(y_true, y_prob, weight, scores):
    model = IsotonicRegression().fit(np.asarray(y_prob, float), y_true, sample_weight=weight)
    return model.predict(scores)


@settings(max_examples=400)
@given(small())
def test_equals_scikit_learn(case):
    y_true, y_prob, weight = case
    # scikit-learn pools scores that differ by less than its tolerance, and denormals
    assume(np.diff(np.unique(y_prob), prepend=-1).min() > 1e-9)
    keep = np.ones(len(y_prob), bool) if weight is None else np.array(weight) > 0
    rows = [np.array(values, float)[keep] for values in (y_true, y_prob)]
    weights = None if weight is None else np.array(weight, float)[keep]
    assume(not (np.isin(rows[1], [0, 1]).all() and ((rows[0] > 0) & (rows[0] < 1)).any()))
    scores, values = fitted(*rows, weights)
    assert values == pytest.approx(sklearn_fit(*rows, weights, scores), abs=1e-12)


@pytest.mark.usefixtures("tiny_steps")
def test_equals_scikit_learn_when_cells_are_split_step_by_step():
    test_equals_scikit_learn()


def test_equals_scikit_learn_on_every_shape():
    for name, y_true, y_prob in shapes(100_000):
        scores, values = fitted(y_true, y_prob)
        expected = sklearn_fit(y_true, y_prob, None, scores)
        # its float32 path pools in single precision
        tolerance = 1e-6 if name == "float32" else 1e-12
        assert values == pytest.approx(expected, abs=tolerance), name


@pytest.mark.parametrize(("source", "y_true", "weight", "fit"), published.PAV)
def test_published_fits(source, y_true, weight, fit):
    top = max(y_true)
    y_prob = np.linspace(0.1, 0.9, len(y_true))
    _, values = fitted(np.array(y_true) / top, y_prob, weight)
    assert values * top == pytest.approx(fit)


def test_published_fit_with_ties():
    # R's gpava, ties pooled: x = 0, 1, 1, 2, 3, 4
    _, values = fitted([0, 0, 1, 0, 0, 1], np.array([0, 1, 1, 2, 3, 4]) / 4)
    assert values == pytest.approx([0, 0.25, 0.25, 0.25, 1])


def test_few_rows_are_opened():
    for _, y_true, y_prob in shapes(200_000):
        diagram = resolve(cb.Predictions(y_true, y_prob).source, minorant_need)
        assert len(diagram.cells) < 150_000


def test_is_calibrated_on_its_own_rows():
    # Claim 5: isotonic values have no calibration error on the rows they were fitted to
    for _, y_true, y_prob in shapes(20_000):
        scores, values = fitted(y_true, y_prob)
        recalibrated = values[np.searchsorted(scores, np.asarray(y_prob, float))]
        assert cb.calibration_error(y_true, recalibrated) < 1e-12
