import numpy as np
import pytest

import calibrant as cb
from reference.samples import shapes
from reference.sorted_path import sorted_error


def exact_curve(y_true, y_prob):
    f = np.asarray(y_prob, dtype=float)
    order = np.argsort(f, kind="stable")
    last = np.append(f[order][1:] != f[order][:-1], True)
    walk = np.cumsum(np.asarray(y_true)[order] - f[order])[last] / len(f)
    return dict(zip(f[order][last].tolist(), walk.tolist(), strict=True))


def test_few_rows_give_every_point():
    curve = cb.cumulative_curve([0, 0, 0, 1, 1], [0.6, 0.8, 0.2, 0.4, 0.4])
    assert curve.to_dict()["score"] == [None, 0.2, 0.4, 0.6, 0.8]
    assert curve.share.tolist() == pytest.approx([0, 0.2, 0.6, 0.8, 1])
    assert curve.difference.tolist() == pytest.approx([0, -0.04, 0.2, 0.08, -0.08])
    assert repr(curve) == "<CumulativeCurve of 5 points, from -0.08 to 0.2>"


@pytest.mark.parametrize("points", [4, 50, 500])
def test_thinning_keeps_the_extremes_and_only_exact_points(points):
    for _, y_true, y_prob in shapes(60_000):
        curve = cb.cumulative_curve(y_true, y_prob, points=points)
        error, _, _ = sorted_error(y_true, y_prob)
        assert len(curve) <= points
        assert np.ptp(curve.difference) == pytest.approx(error, abs=1e-12)
        assert (curve.share[0], curve.difference[0], curve.share[-1]) == (0, 0, 1)
        assert (np.diff(curve.share) > 0).all()
        truth = exact_curve(y_true, y_prob)
        for score, value in zip(curve.score[1:], curve.difference[1:], strict=True):
            assert value == pytest.approx(truth[score], abs=1e-12)


def test_no_step_is_larger_than_it_must_be():
    rng = np.random.default_rng(0)
    y_prob = rng.random(100_000)
    curve = cb.cumulative_curve(rng.random(100_000) < y_prob, y_prob, points=102)
    assert np.diff(curve.share).max() <= 0.0102


@pytest.mark.parametrize("points", [3, 5.0, "5"])
def test_points_must_be_enough(points):
    with pytest.raises(ValueError, match="points must be a whole number, 4 or more, but it is"):
        cb.cumulative_curve([0, 1], [0.2, 0.7], points=points)


def test_more_points_than_rows_cost_nothing():
    assert len(cb.cumulative_curve([0, 1], [0.2, 0.7], points=10**9)) == 3


def test_every_score_is_one_of_the_data_whatever_the_weights():
    y_prob = [0.101, 0.102, 0.103, 0.5, 0.9, 0.91]
    weight = [1, 1, 1, 1000, 1000, 1000]
    y_true = [0, 1, 0, 1, 0, 1]
    every = cb.cumulative_curve(y_true, y_prob, sample_weight=weight, points=10)
    assert every.score[1:].tolist() == y_prob
    thin = cb.cumulative_curve(y_true, y_prob, sample_weight=weight, points=4)
    assert set(thin.score[1:].tolist()) <= set(y_prob)


def test_the_curve_ends_at_the_last_row_however_little_it_weighs():
    curve = cb.cumulative_curve([0, 1, 1], [0.1, 0.5, 0.9], sample_weight=[1, 1, 1e-13])
    assert (curve.score[-1], curve.share[-1]) == (0.9, 1.0)
    groups = cb.audit([0, 1, 1], [0.1, 0.5, 0.9], sample_weight=[1, 1, 1e-13]).reliability
    assert sum(group.rows for group in groups) == 3
