"""Evidence: read off the totals of a diagram, and refused where it cannot count rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.certificates.evidence import evidence_of
from calibrant.core.diagram import Diagram
from calibrant.simulate import calibrated

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")


@pytest.fixture(scope="module")
def sample():
    return calibrated().draw(10_000, seed=1)[:2]


def test_the_evidence_is_read_off_the_totals(sample):
    y_true, y_prob = sample
    data = cb.Predictions(y_true, y_prob)
    found = evidence_of(Diagram(*data.source.start()))
    assert found.n == 10_000
    assert found.v0 == pytest.approx(np.mean(y_prob * (1 - y_prob)), abs=1e-12)
    assert found.brier == pytest.approx(np.mean((y_true - y_prob) ** 2), abs=1e-12)


def test_huge_row_counts():
    many = cb.certify([1, 0], [0.5, 0.5], sample_weight=[10**15, 10**15])
    assert 0 < many.upper < 1e-7
    with pytest.raises(ValueError, match=r"past 2\*\*53, where doubles no longer count"):
        cb.certify([1, 0], [0.5, 0.5], sample_weight=[1e20, 1])
    rare_events = cb.calibration_test([1, 0], [1e-9, 1e-9], sample_weight=[20, 10**10])
    assert rare_events.p_value < 0.02  # twice as many as expected, and they are rare
    found = cb.calibration_test(
        [1, 0], [1e-10, 1e-10], sample_weight=[1000, 4 * 10**13], draws=3000, method="exact"
    )
    assert found.p_value == 1 / 3001
    assert cb.calibration_test([0, 0, 1], [1e-309] * 2 + [1.0], method="asymptotic").p_value == 1


def test_soft_labels_are_refused():
    with pytest.raises(ValueError, match="soft labels are not outcomes"):
        cb.certify([0.5, 0.1], [0.2, 0.5])
