"""Study: means of runs, and what is kept of them."""

import numpy as np
import pytest
from scipy import stats

from calibrant.experiments.run import Mean


def test_means_are_students():
    values = [0.1, 0.2, 0.4]
    found = Mean.of(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.interval() == pytest.approx((expected.low, expected.high))
    wider = Mean.of(values, overlap=0.5)
    half = (found.interval()[1] - found.mean) * np.sqrt((1 / 3 + 0.5) / (1 / 3))
    assert wider.interval() == pytest.approx((found.mean - half, found.mean + half))
    assert Mean.of([0.3]).to_dict() == {"mean": 0.3, "sd": 0.0, "n": 1, "interval": None}
