"""Groups side by side: which are shown to be miscalibrated, and what their names are."""

import io

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

import calibrant as cb
from calibrant.simulate import overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(2000, seed=1)
NAMES = ["<script>", "$5 to $10", "a_b^c"]
BY = {"$fee$": np.resize(NAMES, 2000)}
AUDIT = cb.audit(Y_TRUE, Y_PROB, by=BY)


def axes():
    return Figure(figsize=(6, 5)).subplots()


def texts(display):
    ticks = [*display.ax_.get_yticklabels(), *display.ax_.get_xticklabels()]
    return [text.get_text() for text in [*display.ax_.findobj(Text), *ticks]]


def test_the_frame_of_groups_is_the_json_of_the_audit():
    frame = cb.GroupsDisplay.from_audit(AUDIT).frame()
    found = AUDIT.to_dict()["groups"]
    for column in ("name", "rows", "calibration_error", "certain"):
        assert frame[column] == [one[column] for one in found]
    for column in ("lower", "upper"):
        assert frame[column] == [one["certificate"][column] for one in found]
    drawn = cb.GroupsDisplay.from_predictions(Y_TRUE, Y_PROB, by=BY, ax=axes())
    assert drawn.frame() == frame


def test_certain_groups_have_a_mark_of_their_own():
    by = {"half": np.repeat(["right", "wrong"], 4000)}
    rng = np.random.default_rng(0)
    y_prob = rng.random(8000)
    truth = np.where(by["half"] == "right", y_prob, 0.2)
    y_true = (rng.random(8000) < truth).astype(int)
    display = cb.GroupsDisplay.from_predictions(y_true, y_prob, by=by, ax=axes())
    assert display.frame()["certain"] == [True, False]
    assert display.finding == "1 of 2 groups is miscalibrated"
    marks = {line.get_label(): line.get_marker() for line in display.ax_.lines}
    assert (
        marks["miscalibrated at the 95% level (simultaneous)"]
        != marks["not shown to be miscalibrated"]
    )


def test_only_twenty_groups_are_shown_but_the_frame_has_all():
    groups = {"many": np.repeat(np.arange(25), 200)}
    y_true, y_prob, _ = overconfident().draw(5000)
    display = cb.GroupsDisplay.from_predictions(y_true, y_prob, by=groups, ax=axes())
    assert len(display.frame()["name"]) == 25
    assert len(display.ax_.get_yticks()) == 20
    assert "20 shown" in display.ax_.get_title()


def test_names_are_shown_as_they_are():
    display = cb.GroupsDisplay.from_audit(AUDIT).plot(axes())
    display.figure_.savefig(io.BytesIO(), format="png")
    shown = " ".join(texts(display))
    for name in NAMES:
        assert f"$fee$ = {name}" in shown
    assert not any(text.get_parse_math() for text in display.ax_.get_yticklabels())
    written = io.StringIO()
    display.figure_.savefig(written, format="svg")
    assert "<script>" not in written.getvalue().replace("<!--", "")
