"""Each measure against an independent implementation, with weights, ties and soft labels."""

import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import calibrant as cb
from reference.samples import quietly, sample


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_and_ranking_equal_scikit_learn(ties, weighted):
    y_true, y_prob, weight = sample(ties=ties)
    y_prob = y_prob.clip(0.001, 0.999)
    weights = weight if weighted else None
    brier = cb.brier_parts(y_true, y_prob, sample_weight=weights)
    expected = brier_score_loss(y_true, y_prob, sample_weight=weights)
    assert brier.score == pytest.approx(expected, abs=1e-12)
    loss = cb.log_loss_parts(y_true, y_prob, sample_weight=weights)
    expected = log_loss(y_true, y_prob, sample_weight=weights)
    assert loss.score == pytest.approx(expected, abs=1e-12)
    area = cb.roc_auc(y_true, y_prob, sample_weight=weights)
    expected = roc_auc_score(y_true, y_prob, sample_weight=weights)
    assert area == pytest.approx(expected, abs=1e-12)


def test_an_audit_keeps_the_intercept_when_there_is_no_slope():
    found = cb.audit(np.arange(100) < 30, np.full(100, 0.4))
    assert found.measures.slope is None
    truth = math.log(0.3 / 0.7) - math.log(0.4 / 0.6)
    assert found.measures.intercept.value == pytest.approx(truth, abs=1e-9)
    assert any("all scores are equal" in note for note in found.warnings)


def test_a_tally_gives_what_it_can_and_says_what_it_cannot():
    y_true, y_prob, _ = sample()
    data = cb.Predictions(y_true, y_prob)
    tally = data.tally(4)
    exact, found = cb.audit(data).measures, cb.audit(tally)
    assert found.measures.brier is None
    assert found.measures.slope is None
    assert found.measures.undetectable_l1 == pytest.approx(exact.undetectable_l1, abs=1e-12)
    assert found.measures.observed_expected.value == pytest.approx(exact.observed_expected.value)
    assert any("parts of the Brier score" in note for note in found.warnings)
    assert cb.audit(data.tally(0)).measures.undetectable_l1 is None
    nearest = cb.audit(data.tally(1)).measures.undetectable_l1
    assert nearest == pytest.approx(exact.undetectable_l1, abs=1e-12)
    for function in (cb.brier_parts, cb.log_loss_parts, cb.roc_auc, cb.kolmogorov_error):
        with pytest.raises(ValueError, match="A tally holds no rows"):
            function(tally)
    ties = cb.Predictions([0, 1, 1, 0, 1], [0.25, 0.25, 0.5, 0.5, 0.75]).tally()
    assert cb.brier_parts(ties) == cb.audit(ties).measures.brier


def test_measures_join_the_audit():
    y_true, y_prob, _ = sample()
    found = cb.audit(y_true, y_prob)
    measures = found.measures
    assert measures.brier.score == pytest.approx(cb.brier_parts(y_true, y_prob).score, abs=1e-12)
    assert measures.log_loss.miscalibration == pytest.approx(
        cb.log_loss_parts(y_true, y_prob).miscalibration, abs=1e-12
    )
    ece = cb.expected_calibration_error(y_true, y_prob)
    assert measures.expected_calibration_error == pytest.approx(ece, abs=1e-12)
    assert measures.kolmogorov_error == pytest.approx(
        cb.kolmogorov_error(y_true, y_prob), abs=1e-12
    )
    assert measures.slope.value == pytest.approx(cb.calibration_slope(y_true, y_prob).value)
    flat = found.to_metrics()
    assert flat["brier_miscalibration"] == measures.brier.miscalibration
    assert flat["slope"] == measures.slope.value


@pytest.mark.parametrize(
    "function",
    [
        cb.brier_parts,
        cb.log_loss_parts,
        cb.expected_calibration_error,
        cb.kolmogorov_error,
        cb.roc_auc,
    ],
)
def test_permuting_repeating_and_removing_rows(function):
    y_true, y_prob, weight = sample(ties=True)
    y_prob = y_prob.clip(0.01, 0.99)

    def numbers(*args, **kwargs):
        found = function(*args, **kwargs)
        return [found] if isinstance(found, float) else list(found.to_dict().values())

    plain = numbers(y_true, y_prob, sample_weight=weight)
    order = np.random.default_rng(1).permutation(len(y_prob))
    mixed = numbers(y_true[order], y_prob[order], sample_weight=weight[order])
    repeated = numbers(np.repeat(y_true, weight), np.repeat(y_prob, weight))
    more = [np.r_[y_true, True], np.r_[y_prob, 0.123]]
    removed = quietly(numbers, *more, sample_weight=np.r_[weight, 0])
    for other in (mixed, repeated, removed):
        assert other == pytest.approx(plain, abs=1e-12)
