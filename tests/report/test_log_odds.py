"""Log-odds axes: the same numbers, further apart where events are rare."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.auditing.curves import Histogram
from calibrant.report.displays.reliability import reliability_picture
from calibrant.report.log_odds import crowded, on_log_odds
from calibrant.report.pictures import Bars, Line

RARE = cb.audit(*cb.simulate.rare(0.005).draw(20_000, seed=1)[:2])
COMMON = cb.audit(*cb.simulate.overconfident().draw(2000, seed=1)[:2])


def histogram(share):
    edges = np.linspace(0, 1, 41)
    return Histogram(edges[:-1], edges[1:], np.asarray(share))


def test_scores_crowd_if_nine_in_ten_are_under_a_tenth():
    assert not crowded(None)
    for under, expected in ((0.9, True), (0.89, False)):
        share = np.zeros(40)
        share[3], share[30] = under, 1 - under
        assert crowded(histogram(share)) is expected
    share = np.zeros(40)
    share[4] = 1.0  # from 0.1 on
    assert not crowded(histogram(share))


def test_points_lie_where_their_log_odds_are_and_say_their_own_numbers():
    picture = reliability_picture(COMMON)
    moved = on_log_odds(picture)
    [before] = [one for one in picture.layers if one.role == "curve"]
    [after] = [one for one in moved.layers if one.role == "curve"]
    inside = (before.x > 0.01) & (before.x < 0.99)
    odds = np.log(before.x[inside] / (1 - before.x[inside]))
    assert after.x[inside] == pytest.approx(odds)
    k = int(np.flatnonzero(inside)[0])
    said = after.says(float(after.x[k]), float(after.y[k]))
    assert said == before.says(float(before.x[k]), float(before.y[k]))


def test_axes_are_marked_with_probabilities_and_hold_everything():
    moved = on_log_odds(reliability_picture(RARE))
    for axis in (moved.x, moved.y):
        assert "log-odds" in axis.name
        marks = np.array([float(word) for word in axis.words])
        assert np.log(marks / (1 - marks)) == pytest.approx(np.array(axis.ticks), abs=1e-6)
    for layer in moved.layers:
        assert not isinstance(layer, Bars)
        if isinstance(layer, Line):
            assert moved.x.low <= np.nanmin(layer.x) <= np.nanmax(layer.x) <= moved.x.high


@pytest.mark.parametrize(
    ("audit", "axis", "there"),
    [
        (RARE, "auto", True),
        (RARE, "linear", False),
        (COMMON, "auto", False),
        (COMMON, "logit", True),
    ],
)
def test_a_report_takes_the_axis_that_is_asked_for_or_helps(audit, axis, there):
    assert ("log-odds axis" in audit.to_html(axis=axis)) is there


def test_scores_of_0_and_1_alone_have_no_log_odds():
    picture = reliability_picture(cb.audit([0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0]))
    assert on_log_odds(picture) is picture


def test_another_axis_is_refused():
    with pytest.raises(cb.InputError, match="axis must be"):
        RARE.to_html(axis="log")
