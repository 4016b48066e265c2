"""Log-odds axes: the same numbers, further apart where events are rare."""

from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant.auditing.curves import Histogram
from calibrant.report.displays.reliability import reliability_picture
from calibrant.report.drawing import drawn_on
from calibrant.report.log_odds import crowded, on_log_odds
from calibrant.report.pictures import Bars, Line
from calibrant.report.svg import svg_of

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
    assert ("probability), log-odds axis" in audit.to_html(axis=axis)) is there


def test_scores_of_0_and_1_alone_have_no_log_odds():
    picture = reliability_picture(cb.audit([0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0]))
    assert on_log_odds(picture) is picture


def lone():
    """Return a picture of rare events: one score far from all others, whose rate is 1."""
    rng = np.random.default_rng(0)
    prob = np.append(rng.beta(2, 200, 5000), 0.31)
    return reliability_picture(cb.audit(np.append(rng.random(5000) < prob[:-1], True), prob))


def test_what_lies_beyond_the_axis_is_never_drawn_as_a_number_on_it():
    picture = lone()
    [before] = [one for one in picture.layers if one.role == "curve"]
    assert before.y[-1] == 1
    assert before.y[0] == 0
    moved = on_log_odds(picture)
    [curve] = [one for one in moved.layers if one.role == "curve"]
    assert np.isnan(curve.y[[0, -1]]).all()
    assert not any(one.role == "lone" for one in moved.layers)
    first, last = moved.y.ticks[0], moved.y.ticks[-1]
    assert first <= np.nanmin(curve.y) <= np.nanmax(curve.y) <= last
    marks = {one.role: one for one in moved.layers if one.role in ("above", "below")}
    assert (marks["above"].y > last).all()
    assert (marks["below"].y < first).all()
    end = marks["above"]
    assert end.says(float(end.x[-1]), float(end.y[-1])) == before.says(float(before.x[-1]), 1.0)
    assert "beyond the axis (observed 0 or 1" in end.words
    [dashes] = [one for one in moved.layers if one.role == "beyond"]
    drawn = ~np.isnan(dashes.y)
    assert drawn[[0, -1, -2]].all()
    assert not drawn.all()


def test_what_lies_beyond_is_told_in_svg_and_matplotlib():
    moved = on_log_odds(lone())
    text = svg_of(moved)
    assert 'class="above"' in text
    assert 'class="beyond"' in text
    assert "nan" not in text
    words = [one.get_text() for one in drawn_on(None, moved, (5, 5)).get_legend().get_texts()]
    assert sum("beyond the axis" in one for one in words) == 1


def test_nothing_is_beyond_an_axis_that_holds_everything():
    rng = np.random.default_rng(0)
    prob = rng.random(2000) * 0.6 + 0.2
    moved = on_log_odds(reliability_picture(cb.audit(rng.random(2000) < prob, prob)))
    curve = Line("curve", "", "", np.array([0.2, 0.4]), np.array([0.3, 0.5]))
    moved = on_log_odds(replace(moved, layers=[curve]))
    assert [one.role for one in moved.layers] == ["curve"]


def test_another_axis_is_refused():
    with pytest.raises(cb.InputError, match="axis must be"):
        RARE.to_html(axis="log")
