"""The range of Brownian motion against published quantiles."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from calibrant.certificates.brownian import MEAN_RANGE, range_quantile, range_tail
from reference import published


def test_the_range_of_brownian_motion():
    assert range_tail(0.0) == 1
    for r, below in published.RANGE_CDF:
        assert 1 - range_tail(r) == pytest.approx(below, abs=5e-7)
    for r, above in published.RANGE_TAIL:
        assert range_tail(r) == pytest.approx(above, rel=0.02)
    assert range_quantile(0.05) == pytest.approx(2.498, abs=5e-4)
    assert range_quantile(0.025) == pytest.approx(2.734, abs=5e-4)
    # the two series meet
    assert range_tail(1.5 - 1e-9) == pytest.approx(range_tail(1.5), abs=1e-8)
    r = np.linspace(0.01, 6, 2000)
    tails = np.array([range_tail(x) for x in r])
    assert (np.diff(tails) <= 1e-15).all()
    assert tails[0] == 1
    # the mean is the integral of the tail
    assert trapezoid(tails, r) + 0.01 == pytest.approx(MEAN_RANGE, abs=1e-6)
    # far out the first term is all: 8 times the normal tail, to its last digits
    assert range_tail(36.0) == pytest.approx(8 * 4.182624065797386e-284, rel=1e-6)
    assert 0 < range_tail(37.0) < 1e-298
