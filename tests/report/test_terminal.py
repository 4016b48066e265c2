"""The audit in a terminal: nothing is cut, and marks suit the terminal."""

import io

from rich.console import Console

import calibrant as cb
from calibrant.report import terminal
from calibrant.report.findings import model_cells
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
    parts = (AUDIT.headline, AUDIT.where, "Key numbers", "Largest differences", "Predicted against")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_comparison_is_whole_at_the_least_width():
    y_true, y_prob, truth = overconfident().draw(3000, seed=1)
    found = cb.compare(y_true, {"a": y_prob, "b": truth})
    out = io.StringIO()
    terminal.render_comparison(found, Console(file=out, width=terminal.LEAST_WIDTH))
    assert "\u2026" not in out.getvalue()
    for one in found.models:
        for cell in model_cells(one):
            assert cell in out.getvalue()
    assert "simultaneous" in out.getvalue()
    # printed nothing is wrapped
    assert terminal.comparison_text(found).splitlines()[: len(found.summary)] == [*found.summary]
