"""Cross-fitting: every row is predicted once, by a fit without it."""

import numpy as np

import calibrant as cb
from calibrant.calibrators.crossfit import cross_fit
from calibrant.simulate import overconfident


def test_every_row_is_out_of_its_fold_once():
    y_true, y_prob, _ = overconfident().draw(300, seed=2)
    weight = np.arange(300) % 3 + 1
    data = cb.Predictions(y_true, y_prob, sample_weight=weight)
    found = cross_fit(data, cb.IsotonicCalibrator())
    assert found.weight.sum() == weight.sum()
    again = np.bincount(np.searchsorted(np.unique(y_prob), found.before), found.weight)
    assert sorted(again) == sorted(weight)
    own = cb.IsotonicCalibrator().fit(y_prob, y_true, sample_weight=weight)
    assert (found.after != own.predict(found.before)).mean() > 0.5
