"""Example 1 of the paper, on documents."""

import numpy as np
import pytest

from calibrant.experiments.documents import documents_example


def test_the_example_tells_the_papers_story():
    heard = []
    found = documents_example(documents=5000, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 10_000
    assert found.l1_error > 2 * found.audit.calibration_error
    other = documents_example(documents=500, seed=1)
    assert not np.array_equal(other.y_prob, documents_example(documents=500, seed=2).y_prob)
    assert found.trivial_l1 == pytest.approx(0.2023, abs=0.01)
    assert f"{found.l1_error:.3f}" in found.story
    assert found.audit.measures.undetectable_l1 > found.audit.calibration_error
