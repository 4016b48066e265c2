"""Pictures as SVG: whatever a description holds is drawn where it belongs."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from calibrant.auditing.curves import Histogram
from calibrant.report.pictures import Area, Axis, Bars, Line, Picture, Points, Span
from calibrant.report.svg import key_of, svg_of, ticks

X = np.array([0.0, 0.5, 1.0])
EVERY = (
    Span("worst", "worst", "the <worst>", 0.2, 0.4),
    Area("consistency", "band", "a band", X, X - 9, X + 9),
    Bars("scores", "bars", "bars", Histogram(X[:2], X[1:], np.array([0.25, 0.75])), 0, 0.5),
    Line("curve", "line", "a line", X, np.array([0.0, np.nan, 1.0])),
    Line("curve", "said", "said", X, X, says=lambda x, y: f"{x:g} is {y:g}", marks=True),
    Points("ends", "points", "points", X, X),
)


def drawn(*layers, y=(0, 1)):
    found = svg_of(Picture("a", "A & b", "c", "d", Axis("x", 0, 1), Axis("y", *y), layers, {}))
    return ElementTree.fromstring(found)


def of(root, role):
    return [one for one in root.iter() if one.get("class") == role]


def test_every_layer_is_drawn_with_the_class_of_its_role():
    root = drawn(*EVERY)
    counts = {role: len(of(root, role)) for role in ("worst", "consistency", "scores", "curve")}
    assert counts == {"worst": 1, "consistency": 1, "scores": 2, "curve": 2}
    assert (len(of(root, "few")), len(of(root, "ends"))) == (3, 3)
    assert [one[0].text for one in of(root, "few")] == ["0 is 0", "0.5 is 0.5", "1 is 1"]
    assert of(root, "worst")[0][0].text == "the <worst>"
    assert [one[0].text for one in of(root, "scores")] == [
        "25.0% of rows: 0 to 0.5",
        "75.0% of rows: 0.5 to 1",
    ]


def test_a_line_is_broken_where_it_has_no_number():
    assert of(drawn(EVERY[3]), "curve")[0].get("d").count("M") == 2


def test_what_leaves_the_axes_is_drawn_at_their_end():
    path = of(drawn(EVERY[1]), "consistency")[0].get("d")
    heights = {float(one) for one in re.findall(r" ([-\d.]+)", path)}
    assert heights == {16.0, 312.0}


def test_an_axis_may_run_backwards_and_have_words():
    picture = Picture(
        *("a", "b", "c", "d"),
        x=Axis("x", 0, 1),
        y=Axis("", 1.5, -0.5, range(2), ["<first>", "second"]),
        layers=[Points("ends", "", "", np.zeros(2), np.arange(2.0))],
        columns={},
    )
    root = ElementTree.fromstring(svg_of(picture))
    first, second = (float(one.get("cy")) for one in of(root, "ends"))
    assert first < second
    assert {"<first>", "second"} < {one.text for one in root.iter("text")}


def test_the_key_of_a_layer_looks_like_it():
    tags = [ElementTree.fromstring(key_of(layer)).tag for layer in EVERY]
    assert tags == ["path"] * 5 + ["circle"]
    assert {ElementTree.fromstring(key_of(one)).get("class") for one in EVERY} == {
        one.role for one in EVERY
    }


@pytest.mark.parametrize(
    "ends", [(0, 1), (-0.03, 0.05), (0, 0.0001), (0.2, 0.9), (5, 5), (-7, 3e4)]
)
def test_ticks_are_few_and_round(ends):
    found = ticks(*ends)
    assert 1 <= len(found) <= 7
    assert all(ends[0] - 1e-9 <= value <= ends[1] + 1e-9 for value in found)
    assert found == sorted(found)
