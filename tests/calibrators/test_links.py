"""Links: the minimum that each objective claims, and what is documented at the corners."""

import json

import numpy as np
import pytest
from scipy.special import expit

import calibrant as cb
from calibrant.calibrators.links import Link


def test_a_link_is_the_formula():
    link = Link(0.7, 1.3, -0.2, 0.001, 0.999)
    p = np.array([0.1, 0.5, 0.99])
    assert link(p) == pytest.approx(expit(0.7 * np.log(p) - 1.3 * np.log(1 - p) - 0.2))


def test_parameters_past_a_double_are_refused_when_read():
    fitted = json.loads(cb.BetaCalibrator().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1]).to_json())
    fitted["parameters"] = {**fitted["parameters"], "a": 1e308}
    with pytest.raises(ValueError, match=r"past 1e\+300"):
        cb.Calibrator.from_json(json.dumps(fitted))
