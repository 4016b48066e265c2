"""An audit: what the functions give, and notes where something looks wrong."""

import re

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import overconfident


def test_collects_what_the_functions_give():
    y_true, y_prob, _ = overconfident().draw(5000)
    found = cb.audit(y_true, y_prob)
    error = cb.calibration_error(y_true, y_prob)
    assert found.calibration_error == pytest.approx(error, abs=1e-12)
    for one, other in zip(
        found.worst_intervals, cb.worst_interval(y_true, y_prob, k=3), strict=True
    ):
        assert (one.p1, one.p2, one.rows) == (other.p1, other.p2, other.rows)
        assert one.excess == pytest.approx(other.excess, abs=1e-12)
    assert found.data.rows == found.data.weight == found.provenance.rows == 5000
    assert found.data.observed_rate == pytest.approx(y_true.mean())
    assert found.data.mean_prediction == pytest.approx(y_prob.mean())
    assert found.warnings == ()
    again = cb.audit(cb.Predictions(y_true, y_prob))  # other cells, the same answers
    assert again.to_metrics() == pytest.approx(found.to_metrics(), abs=1e-12)
    for one, other in zip(found.reliability, again.reliability, strict=True):
        assert (one.p1, one.p2, one.rows) == (other.p1, other.p2, other.rows)


def test_clip_gives_forests_a_slope_and_changes_nothing_else():
    y_true, y_prob, _ = overconfident().draw(2000, seed=1)
    y_prob = y_prob.round(1)
    plain, clipped = cb.audit(y_true, y_prob), cb.audit(y_true, y_prob, clip=0.01)
    assert "clip=" in plain.missing["slope"]
    assert "clip=0.001" in plain.missing["slope"]
    assert clipped.missing == {}
    for name in ("slope", "intercept"):
        function = getattr(cb, f"calibration_{name}")
        alone = function(y_true, y_prob, clip=0.01)
        assert getattr(clipped.measures, name).to_dict() == pytest.approx(alone.to_dict(), abs=1e-9)
    same = set(plain.to_metrics()) - {"slope", "intercept"}
    assert all(plain.to_metrics()[key] == clipped.to_metrics()[key] for key in same)
    assert clipped.measures.clip == 0.01
    assert clipped.to_dict()["measures"]["clip"] == 0.01
    assert plain.measures.clip is None


def test_clip_is_said_wherever_slope_and_intercept_are_shown():
    y_true, y_prob, _ = overconfident().draw(500, seed=1)
    found = cb.audit(y_true, y_prob.round(1), clip=0.01)
    words = "Calibration slope and intercept are those of scores moved into"
    assert sum(words in note for note in found.notes) == 1
    assert "[0.01, 0.99]" in found.notes[0]
    page = re.sub("<[^>]*>", "", found.to_html())  # terms are links
    for text in (page, found.to_markdown(), found.to_json()):
        assert words in text
    one = cb.audit([0, 1, 0], [0.01, 0.02, 0.03], clip=0.1)
    assert "all scores are equal after clip=0.1" in one.missing["slope"]


def test_soft_labels_are_said_to_be_soft():
    assert not cb.audit([0.2, 0.9], [0.3, 0.8]).data.labels_binary
    assert cb.audit([0, 1], [0.3, 0.8]).data.labels_binary


def test_an_event_that_may_be_the_wrong_label_is_noticed():
    y_true, y_prob, _ = overconfident().draw(2000, seed=1)
    turned = cb.audit(~y_true, y_prob)
    assert [note for note in turned.warnings if "is it the right one of the two labels?" in note]
    assert "ROC AUC 0.20" in " ".join(turned.warnings)
    assert not [note for note in cb.audit(y_true, y_prob).warnings if "two labels" in note]
    # chance alone does not raise it: 0.5 is the true area for every sample
    rng = np.random.default_rng(0)
    samples = [cb.audit(rng.random(60) < 0.5, rng.random(60)) for _ in range(100)]
    assert not [one for one in samples if any("two labels" in note for note in one.warnings)]
