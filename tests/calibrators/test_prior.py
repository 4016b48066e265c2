"""Prior shift: undersampling undone, exactly and both ways."""

import numpy as np
import pytest

import calibrant as cb


class TestPrior:
    def test_undoes_undersampling(self):
        rng = np.random.default_rng(0)
        truth = rng.beta(1, 30, 10**6)
        y_true = rng.random(10**6) < truth
        keep = y_true | (rng.random(10**6) < 0.1)
        # the odds of a kept row are ten times larger
        stated = 10 * truth / (10 * truth + 1 - truth)
        back = cb.adjust_prior(stated, train_rate=y_true[keep].mean(), true_rate=y_true.mean())
        assert np.abs(back - truth).max() < 0.005
        assert cb.calibration_error(y_true[keep], stated[keep]) < 0.005
        assert cb.calibration_error(y_true, back) < 0.001 < cb.calibration_error(y_true, stated)

    def test_is_exact_and_invertible(self):
        p = np.concatenate(
            [[0.0, 1.0, 0.5, 1e-300, 1 - 1e-12], np.random.default_rng(0).random(99)]
        )
        there = cb.adjust_prior(p, train_rate=0.5, true_rate=0.03)
        assert cb.adjust_prior(there, train_rate=0.03, true_rate=0.5) == pytest.approx(p, rel=1e-12)
        assert cb.adjust_prior(p, train_rate=0.2, true_rate=0.2) == pytest.approx(p, rel=1e-15)
        assert there[0] == 0
        assert there[1] == 1
        assert cb.adjust_prior([0.5], train_rate=0.5, true_rate=0.03)[0] == pytest.approx(0.03)

    def test_at_the_ends(self):
        found = cb.adjust_prior([0.0, 1.0, 0.5], train_rate=0.999, true_rate=5e-324)
        assert found.tolist() == [0, 1, 0]

    @pytest.mark.parametrize("rate", [0, 1, -0.1, 50])
    def test_refuses_rates_that_are_none(self, rate):
        with pytest.raises(ValueError, match="train_rate must be a number strictly between"):
            cb.adjust_prior([0.5], train_rate=rate, true_rate=0.5)
