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


def test_points_must_be_enough():
    with pytest.raises(ValueError, match="points must be 4 or more, but it is 3"):
        cb.cumulative_curve([0, 1], [0.2, 0.7], points=3)
