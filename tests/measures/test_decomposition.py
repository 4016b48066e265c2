"""Parts of scores: they add up, as published, and soft labels are pairs of rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from reference import published
from reference.samples import acceptable, quietly, small


def doubled(y_true, y_prob, weight):
    """A soft label as two rows: an event with weight y, no event with weight 1 - y."""
    weight = np.ones(len(y_prob)) if weight is None else np.asarray(weight, float)
    y = np.asarray(y_true, float)
    hard = np.r_[np.ones(len(y)), np.zeros(len(y))]
    return hard, np.r_[y_prob, y_prob], np.r_[weight * y, weight * (1 - y)]


@settings(max_examples=300)
@given(small())
def test_parts_add_up_and_soft_labels_are_pairs_of_rows(case):
    y_true, y_prob, weight = acceptable(case)
    hard = doubled(y_true, y_prob, weight)
    for function in (cb.brier_parts, cb.log_loss_parts):
        parts = quietly(function, y_true, y_prob, sample_weight=weight)
        assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= 0
        total = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert parts.score == pytest.approx(total, abs=1e-9)
        pairs = quietly(function, *hard[:2], sample_weight=hard[2])
        assert parts.score == pytest.approx(pairs.score, abs=1e-9)
        assert parts.discrimination == pytest.approx(pairs.discrimination, abs=1e-9)


def test_published_parts():
    y_true, y_prob, expected = published.CORP
    for name, function in (("brier", cb.brier_parts), ("log_loss", cb.log_loss_parts)):
        parts = function(y_true, y_prob)
        found = (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty)
        assert found == pytest.approx(expected[name], abs=5e-8)


def test_a_wrong_zero_or_one_costs_infinitely_much():
    parts = cb.log_loss_parts([1, 0, 1], [0.0, 0.2, 0.9])
    assert parts.score == parts.miscalibration == math.inf
    assert math.isfinite(parts.discrimination)
    assert cb.audit([1, 0, 1], [0.0, 0.2, 0.9]).to_dict()["measures"]["log_loss"]["score"] == "inf"
    assert math.isfinite(cb.log_loss_parts([0, 0, 1], [0.0, 0.2, 1.0]).score)
