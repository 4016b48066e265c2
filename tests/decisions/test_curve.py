"""Cost curves against brute force over every threshold, and net benefit by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from calibrant.simulate import overconfident
from reference.decisions import best_by_search, cost_at
from reference.samples import shapes, small


@settings(max_examples=150)
@given(small(rows=12, soft=False))
def test_the_curve_is_what_every_threshold_costs(sample):
    y_true, y_prob, weight = sample
    data = cb.Predictions(y_true, y_prob, sample_weight=weight)
    data.warnings = ()
    at = np.unique(np.concatenate([[0, 0.5, 1], np.asarray(y_prob) + 0.0]))
    curve = cb.cost_curve(data, at=at)
    assert curve.p.tolist() == at.tolist()
    for i, p in enumerate(at):
        assert curve.cost[i] == pytest.approx(cost_at(y_true, y_prob, p, p, weight), abs=1e-12)
        least, costs, thresholds = best_by_search(y_true, y_prob, p, weight)
        assert curve.best[i] == pytest.approx(least, abs=1e-12)
        assert curve.best_threshold[i] in thresholds
        chosen = costs[thresholds.index(curve.best_threshold[i])]
        assert chosen == pytest.approx(least, abs=1e-12)
        assert curve.always[i] == pytest.approx(cost_at(y_true, y_prob, 0, p, weight), abs=1e-12)
        assert curve.never[i] == pytest.approx(costs[-1], abs=1e-12)


@pytest.mark.parametrize(("name", "y_true", "y_prob"), list(shapes(20_000)))
def test_every_shape_and_the_bound_between_points(name, y_true, y_prob):
    y_prob = y_prob.astype(float)
    curve = cb.cost_curve(y_true, y_prob)
    assert len(curve) == 513
    rng = np.random.default_rng(0)
    for i in rng.integers(0, 512, 12):
        assert curve.cost[i] == pytest.approx(cost_at(y_true, y_prob, curve.p[i], curve.p[i]))
        p = rng.uniform(curve.p[i], curve.p[i + 1])
        share = (p - curve.p[i]) / (curve.p[i + 1] - curve.p[i])
        line = (1 - share) * curve.cost[i] + share * curve.cost[i + 1]
        assert abs(cost_at(y_true, y_prob, p, p) - line) <= curve.between[i] + 1e-12
    assert (curve.best <= np.minimum(curve.always, curve.never) + 1e-12).all()
    assert (curve.best <= curve.cost + 1e-12).all()
    # the price: for every p the regret is at most the calibration error
    assert curve.regret.max() <= cb.calibration_error(y_true, y_prob) + 1e-12


def test_a_stored_tally_gives_the_whole_curve_where_its_cells_allow():
    y_true, y_prob, _ = overconfident().draw(3000, seed=1)
    tally = cb.Predictions(y_true, y_prob).tally(14)
    with pytest.raises(ValueError, match="A tally holds no rows"):
        cb.cost_curve(tally)
    rounded = (y_prob * 1024).astype(int) / 1024
    exact = cb.cost_curve(cb.Predictions(y_true, rounded).tally(14))
    assert exact.cost.tolist() == cb.cost_curve(y_true, rounded).cost.tolist()
    benefit = cb.net_benefit(tally, at=np.arange(1, 64) / 64)
    assert benefit.model == pytest.approx(
        cb.net_benefit(y_true, y_prob, at=benefit.threshold).model
    )


def test_net_benefit_by_hand():
    """Ten patients, four events; treated from 0.25 on: three of them, and two without."""
    y_true = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    y_prob = np.array([0.9, 0.6, 0.25, 0.1, 0.7, 0.3, 0.2, 0.2, 0.1, 0.0])
    found = cb.net_benefit(y_true, y_prob, at=[0.25, 0.5])
    assert found.model == pytest.approx([3 / 10 - 2 / 10 / 3, 2 / 10 - 1 / 10])
    assert found.treat_all == pytest.approx([0.4 - 0.6 / 3, 0.4 - 0.6])
    assert found.treat_none.tolist() == [0, 0]
    assert len(cb.net_benefit(y_true, y_prob)) == 99
    assert repr(found) == (
        "<NetBenefit of the model (of treating all): at 0.25 0.2333 (0.2), at 0.5 0.1 (-0.2); the "
        "model is the best choice at 2 of 2 thresholds>"
    )
    grid = repr(cb.net_benefit(y_true, y_prob))
    for threshold in ("at 0.01 ", "at 0.25 0.2333 (0.2)", "at 0.5 0.1 (-0.2)", "at 0.99 "):
        assert threshold in grid
    with pytest.raises(ValueError, match="under 1"):
        cb.net_benefit(y_true, y_prob, at=1.0)


@pytest.mark.parametrize("at", [-0.1, 1.2, [], [[0.1]], "half", [0.1, math.nan]])
def test_bad_grids(at):
    with pytest.raises(ValueError, match="at must be a number or a grid between 0 and 1"):
        cb.cost_curve([0, 1], [0.2, 0.4], at=at)
