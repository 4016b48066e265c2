"""The registry: each name leads to the class that goes by it."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.links import Link
from calibrant.calibrators.registry import KINDS, calibrator_class, family_of


@pytest.mark.parametrize("method", KINDS)
def test_a_name_is_that_of_its_class_and_of_its_json(method):
    kind = calibrator_class(method)
    assert kind is getattr(cb, KINDS[method].name)
    assert kind.method == method
    fitted = kind().fit([0.1, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    assert type(cb.Calibrator.from_json(fitted.to_json())) is kind
    assert isinstance(fitted.function_, Link) == (KINDS[method].family is not None)


@pytest.mark.parametrize("method", [name for name, kind in KINDS.items() if kind.family])
def test_a_fitted_link_lies_in_its_family(method):
    rng = np.random.default_rng(0)
    score = rng.random(300)
    link = calibrator_class(method)().fit(score, rng.random(300) < score**2).function_
    basis = family_of(method).basis
    theta = np.array([link.a, link.b, link.c])
    free = np.linalg.lstsq(basis, theta, rcond=None)[0]
    assert basis @ free == pytest.approx(theta, abs=1e-9)


def test_other_calibrators_have_no_family():
    with pytest.raises(TypeError, match="isotonic is no link"):
        family_of("isotonic")
