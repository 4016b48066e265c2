"""ROC AUC: where there is one, how near an audit's is, and on any scale of weights."""

import math

import pytest
from sklearn.metrics import roc_auc_score

import calibrant as cb
from reference.samples import quietly, sample, shapes


def test_ranking_of_one_class_is_not_a_number():
    assert math.isnan(quietly(cb.roc_auc, [1, 1], [0.2, 0.7]))
    assert cb.audit([1, 1], [0.2, 0.7]).measures.roc_auc is None


def test_the_area_of_an_audit_is_within_its_bound():
    for rows, most in ((50_000, 0), (200_000, 1e-3)):
        for _, y_true, y_prob in shapes(rows):
            measures = cb.audit(y_true, y_prob).measures
            area = roc_auc_score(y_true, y_prob)
            assert abs(measures.roc_auc - area) <= measures.roc_auc_within + 1e-12
            assert measures.roc_auc_within <= most


@pytest.mark.parametrize("scale", [1e-280, 1e160, 1e280])
def test_the_scale_of_weights_changes_nothing(scale):
    y_true, y_prob, weight = sample(rows=200)
    one = cb.roc_auc(y_true, y_prob, sample_weight=weight)
    assert cb.roc_auc(y_true, y_prob, sample_weight=weight * scale) == pytest.approx(one, rel=1e-12)
