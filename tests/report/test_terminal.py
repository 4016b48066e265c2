"""The audit in a terminal: nothing is cut, and marks suit the terminal."""

import io

from rich.console import Console

import calibrant as cb
from calibrant.report import terminal
from calibrant.simulate import overconfident

AUDIT = cb.audit(*overconfident().draw(3000, seed=1)[:2])


def printed(width):
    out = io.StringIO()
    terminal.render(AUDIT, Console(file=out, width=width))
    return out.getvalue()


def test_nothing_is_cut_at_the_least_width():
    text = printed(terminal.LEAST_WIDTH)
    assert "\u2026" not in text
    assert max(map(len, text.splitlines())) <= terminal.LEAST_WIDTH
    assert f"{AUDIT.calibration_error:.6f}" in text


def test_prose_comes_first_then_tables_then_the_chart():
    text = " ".join(printed(100).split())
    parts = (AUDIT.headline, AUDIT.where, "Key numbers", "Where it fails most", "Predicted against")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
