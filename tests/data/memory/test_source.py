"""Rows in memory: few more are needed than are there."""

import copy
import pickle

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
    function(label[:1000], prob[:1000])  # so that nothing is imported any more
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


@pytest.mark.parametrize("rows", [300, 9000])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_predictions_can_be_copied_and_pickled(rows, copied):
    rng = np.random.default_rng(0)
    score = rng.random(rows)
    data = cb.Predictions(rng.random(rows) < score, score)
    expected = cb.calibration_error(data)  # so that rows were looked at before
    again = copied(data)
    assert cb.calibration_error(again) == pytest.approx(expected, abs=1e-12)
    assert repr(cb.brier_parts(again)) == repr(cb.brier_parts(data))
    assert repr(cb.worst_interval(again)) == repr(cb.worst_interval(data))
