"""Platt, beta and temperature calibrators: what they do to scores that are given."""

import numpy as np
import pytest
from scipy.special import expit, logit

import calibrant as cb
from calibrant.simulate import overconfident
from reference.links import KINDS, theta_of


@pytest.fixture(scope="module")
def sample():
    y_true, y_prob, _ = overconfident().draw(1500, seed=3)
    return y_true, y_prob**1.3


def test_platt_uses_platts_targets(sample):
    y_true, y_prob = sample
    link = cb.PlattCalibrator().fit(y_prob, y_true).function_
    events = y_true.sum()
    target = np.where(y_true, (events + 1) / (events + 2), 1 / (len(y_true) - events + 2))
    residual = target - expit(link.a * logit(y_prob) + link.c)
    assert link.a == link.b
    assert residual.sum() == pytest.approx(0, abs=1e-6)
    assert residual @ logit(y_prob) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("objective", ["log_loss", "squared", "calibration_error"])
def test_order_weights_and_zero_weights(sample, family, objective):
    y_true, y_prob = sample[0][:300], sample[1][:300].round(2)
    fit = KINDS[family](objective).fit
    link = theta_of(fit(y_prob, y_true).function_)
    order = np.random.default_rng(0).permutation(300)
    assert theta_of(fit(y_prob[order], y_true[order]).function_) == pytest.approx(link, abs=1e-6)
    weight = np.random.default_rng(1).integers(0, 4, 300)
    weighted = theta_of(fit(y_prob, y_true, sample_weight=weight).function_)
    repeated = theta_of(fit(np.repeat(y_prob, weight), np.repeat(y_true, weight)).function_)
    assert weighted == pytest.approx(repeated, abs=1e-6)


def test_recovers_what_was_done_to_the_scores():
    y_true, y_prob, _ = overconfident(2.5).draw(200_000, seed=1)
    for kind in KINDS.values():
        link = kind().fit(y_prob, y_true).function_
        assert theta_of(link) == pytest.approx([0.4, 0.4, 0.0], abs=0.02)


def test_platt_on_narrow_scores_and_any_weight_scale():
    rng = np.random.default_rng(0)
    z = rng.normal(size=4000)
    y_true = rng.random(4000) < expit(2 * z)
    losses = []
    for width in (1e-1, 1e-3, 1e-6):
        found = cb.PlattCalibrator().fit(0.5 + width * z / 5, y_true).predict(0.5 + width * z / 5)
        losses.append(-np.mean(np.log(np.where(y_true, found, 1 - found))))
    assert losses == pytest.approx([losses[0]] * 3, abs=2e-3)
    weight = rng.random(4000)
    slopes = [
        cb.PlattCalibrator().fit(expit(z), y_true, sample_weight=weight * scale).function_.a
        for scale in (1e-9, 1.0, 1e6)
    ]
    assert slopes == pytest.approx([slopes[0]] * 3)


def test_extreme_scores_keep_their_ranking():
    rng = np.random.default_rng(0)
    z = rng.normal(-60, 20, 4000)
    y_true = rng.random(4000) < expit(z / 20 + 2)
    after = cb.PlattCalibrator().fit(expit(z), y_true).predict(expit(z))
    assert cb.roc_auc(y_true, after) == pytest.approx(cb.roc_auc(y_true, expit(z)), abs=1e-9)
