"""Loss ratios: the cost after over the cost before, and intervals that cover."""

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.simulate import overconfident
from reference.decisions import cost_at


class TestLossRatio:
    def test_is_the_ratio_of_the_costs(self):
        y_true, y_prob, truth = overconfident(3.0).draw(4000, seed=1)
        grid = [0.05, 0.3, 0.9]
        found = cb.loss_ratio(y_true, y_prob, truth, grid)
        for i, p in enumerate(grid):
            before, after = (cost_at(y_true, s, p, p) for s in (y_prob, truth))
            assert found.before[i] == pytest.approx(before)
            assert found.after[i] == pytest.approx(after)
            assert found.ratio[i] == pytest.approx(after / before)
            assert found.lower[i] < found.ratio[i] < found.upper[i]
        same = cb.loss_ratio(y_true, y_prob, y_prob, 0.3)
        assert (same.ratio[0], same.lower[0], same.upper[0]) == (1, 1, 1)
        assert "At p = 0.3" in repr(same)
        assert "<LossRatio at 3 p" in repr(found)

    def test_intervals_cover_the_truth(self):
        p, times, missed = 0.2, 150, 0
        big = overconfident(3.0).draw(10**6, seed=99)
        truth = cost_at(big.y_true, big.true_prob, p, p) / cost_at(big.y_true, big.y_prob, p, p)
        for seed in range(times):
            y_true, y_prob, true_prob = overconfident(3.0).draw(600, seed=seed)
            found = cb.loss_ratio(y_true, y_prob, true_prob, p, draws=400, seed=seed)
            missed += not found.lower[0] <= truth <= found.upper[0]
        assert binom.sf(missed - 1, times, 0.06) > 1e-4

    def test_order_and_weights_change_nothing(self):
        y_true, y_prob, truth = overconfident().draw(500, seed=1)
        order = np.random.default_rng(0).permutation(500)
        found = cb.loss_ratio(y_true, y_prob, truth, 0.3)
        moved = cb.loss_ratio(y_true[order], y_prob[order], truth[order], 0.3)
        assert moved.to_dict() == found.to_dict()
        weight = np.arange(500) % 3 + 1
        weighted = cb.loss_ratio(y_true, y_prob, truth, 0.3, sample_weight=weight)
        again = (np.repeat(one, weight) for one in (y_true, y_prob, truth))
        assert weighted.to_dict() == cb.loss_ratio(*again, 0.3).to_dict()

    def test_nothing_before_has_no_ratio(self):
        found = cb.loss_ratio([0, 1], [0.0, 1.0], [0.6, 0.4], 0.5)
        assert np.isnan(found.ratio[0])
        assert found.to_dict()["ratio"] == [None]
        with pytest.raises(ValueError, match="before has 2, after has 1"):
            cb.loss_ratio([0, 1], [0.0, 1.0], [0.6], 0.5)
        with pytest.raises(ValueError, match="Weights must be whole numbers"):
            cb.loss_ratio([0, 1], [0.1, 1.0], [0.6, 0.1], 0.5, sample_weight=[0.5, 1])
        with pytest.raises(ValueError, match="soft labels are not outcomes"):
            cb.loss_ratio([0.3, 1], [0.1, 0.9], [0.6, 0.1], 0.5)
