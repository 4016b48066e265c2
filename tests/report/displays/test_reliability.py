"""The reliability diagram: what is drawn is what the audit says."""

import numpy as np
from matplotlib.figure import Figure

import calibrant as cb
from calibrant.report.overlay import look_of
from calibrant.simulate import overconfident

AUDIT = cb.audit(*overconfident().draw(2000, seed=1)[:2])


def drawn(kind):
    return kind.from_audit(AUDIT).plot(Figure(figsize=(6, 5)).subplots())


def test_what_is_drawn_is_what_the_frame_says():
    lines = {line.get_label(): line for line in drawn(cb.ReliabilityDisplay).ax_.lines}
    assert lines["observed"].get_ydata().tolist() == AUDIT.curves.reliability.observed.tolist()


def test_the_confidence_band_holds_between_its_points():
    [band] = [
        one
        for one in drawn(cb.ReliabilityDisplay).ax_.collections
        if one.get_label().startswith("holds the whole true curve")
    ]
    curve = AUDIT.curves.reliability
    middle = (curve.score[:-1] + curve.score[1:]) / 2
    [path] = band.get_paths()
    for score, low, high in zip(middle, curve.lower[:-1], curve.upper[1:], strict=True):
        assert path.contains_point((score, low + 1e-9))
        assert path.contains_point((score, high - 1e-9))


def test_both_bands_are_named_and_told_apart_without_colour():
    bands = {one.get_label(): one for one in drawn(cb.ReliabilityDisplay).ax_.collections}
    filled = bands["for right scores (95% at each)"]
    hatched = bands["holds the whole true curve (95%)"]
    assert filled.get_hatch() is None
    assert hatched.get_hatch()


def test_a_lone_score_of_each_model_has_a_mark_in_its_colour():
    ax = Figure(figsize=(6, 5)).subplots()
    scores = np.linspace(0, 0.3, 50)
    y_true = np.arange(51) % 5 == 0
    for name, far in (("first", 0.8), ("second", 0.9)):
        y_prob = np.append(scores, far)
        cb.ReliabilityDisplay.from_predictions(y_true, y_prob, name=name, ax=ax)
    marks = [one for one in ax.lines if one.get_marker() == "o"]
    assert [one.get_xdata().tolist() for one in marks] == [[0.8], [0.9]]
    assert [one.get_color() for one in marks] == [look_of(0).colour, look_of(1).colour]
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said.count("a score far from all others") == 1
