"""Rows in memory: few more are needed than are there."""

import numpy as np
import pytest

import calibrant as cb


@pytest.mark.parametrize(("function", "share"), [(cb.calibration_error, 1 / 4), (cb.audit, 3 / 2)])
@pytest.mark.parametrize("draw", ["uniform", "rare"])
def test_memory_is_a_share_of_the_input(function, share, draw):
    import tracemalloc

    rows = 2_000_000
    rng = np.random.default_rng(0)
    prob = rng.random(rows) if draw == "uniform" else rng.beta(0.02, 5, rows)
    label = rng.random(rows) < prob
    tracemalloc.start()
    function(label, prob)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (prob.nbytes + label.nbytes) * share


def test_rows_without_weight_leave_no_trace():
    # a soft label that does not count makes labels no less binary, nor a class less single
    found = cb.audit([0, 0.5, 1], [0.25, 0.5, 0.75], sample_weight=[1, 0, 1])
    assert found.data.labels_binary
    found = cb.audit([0, 0, 1], [0.25, 0.5, 0.75], sample_weight=[1, 1, 0])
    assert any("single value" in warning for warning in found.warnings)
