"""Lookups of one score: to the bit what the calibrator makes of arrays."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.lookup import lookup_of, pieces_in
from calibrant.simulate import overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(2000, seed=1)
KINDS = {
    "step": cb.IsotonicCalibrator(),
    "linear": cb.IsotonicCalibrator("linear"),
    "strict": cb.IsotonicCalibrator("strict"),
    "histogram": cb.HistogramCalibrator(n_bins=20),
    "venn_abers": cb.VennAbersCalibrator(),
}


@pytest.mark.parametrize("name", KINDS)
def test_one_score_gives_what_an_array_gives_to_the_bit(name):
    fitted = KINDS[name].fit(Y_PROB, Y_TRUE)
    lookup = lookup_of(fitted.function_)
    scores = np.concatenate([Y_PROB, [0.0, 1.0, 5e-324], np.linspace(0, 1, 999)])
    scores = np.concatenate([scores, np.nextafter(scores, 0), np.nextafter(scores, 1)]).clip(0, 1)
    found = [lookup(score) for score in scores.tolist()]
    assert found == fitted.predict(scores).tolist()
    assert all(type(value) is float for value in found)


def test_pieces_are_counted_where_the_function_changes():
    y_prob, y_true = np.repeat([0.1, 0.4, 0.8], 10), np.repeat([0, 1, 0, 1, 1], [10, 5, 5, 9, 1])
    step = cb.IsotonicCalibrator().fit(y_prob, y_true).function_
    assert pieces_in(step) == 3
    grid = np.linspace(0, 1, 10_001)
    assert len(np.unique(step(grid))) == 3
