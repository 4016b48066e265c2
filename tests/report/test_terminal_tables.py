"""Tables of the terminal: what they show, where marks lie, and how much is left out."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console, Group

import calibrant as cb
from calibrant.report.findings import findings_of
from calibrant.report.terminal_tables import (
    MARKS,
    PLAIN_MARKS,
    findings_table,
    groups_table,
    reliability_chart,
    worst_table,
)
from calibrant.simulate import overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(3000, seed=1)
AUDIT = cb.audit(Y_TRUE, Y_PROB)


def printed(*parts):
    out = io.StringIO()
    Console(file=out, width=120).print(Group(*parts))
    return out.getvalue()


def test_every_finding_is_shown_with_its_interval():
    findings = [one for part in findings_of(AUDIT).values() for one in part]
    title, *lines = printed(findings_table("Key numbers", findings)).splitlines()
    assert title.strip() == "Key numbers"
    for one, line in zip(findings, lines, strict=True):
        assert line.strip().startswith(one.label)
        ends = f" ({one.ends()})" if one.interval else ""
        assert line.rstrip().endswith(f" {one.number}{ends}")


def test_the_worst_intervals_are_shown_in_their_order():
    lines = printed(worst_table(AUDIT.worst_intervals)).splitlines()
    rows = [f"{one.rows:,}" for one in AUDIT.worst_intervals]
    shown = [next(k for k, line in enumerate(lines) if f" {count} " in line) for count in rows]
    assert shown == sorted(shown)


@pytest.mark.parametrize("marks", [MARKS, PLAIN_MARKS])
def test_marks_lie_where_their_rates_are(marks):
    def group(predicted, observed):
        one = AUDIT.worst_intervals[0].to_dict() | {"p1": None, "p2": 0.5}
        return SimpleNamespace(
            **{**one, "mean_prediction": predicted, "observed_rate": observed, "gap": 0.0}
        )

    pairs = [(0.0, 0.5), (0.5, 0.0), (0.25, 0.25)]
    lines = printed(reliability_chart([group(*pair) for pair in pairs], marks)).splitlines()
    first, second, third = (line.replace("up to", "") for line in lines if "up to" in line)
    assert (first.count(marks.predicted), first.count(marks.observed)) == (1, 1)
    assert first.index(marks.predicted) == second.index(marks.observed)
    assert first.index(marks.observed) == second.index(marks.predicted)
    assert first.index(marks.predicted) < third.index(marks.both) < first.index(marks.observed)
    assert lines[1].rstrip().endswith("0.5")  # the axis ends where the highest rate does


def test_groups_past_the_first_fifty_are_counted():
    by = {"g": np.arange(6000) % 55}
    groups = cb.audit(np.tile(Y_TRUE, 2), np.tile(Y_PROB, 2), by=by).groups
    text = printed(*groups_table(groups))
    assert text.count("g = ") == 50
    assert "... and 5 more; the JSON has all" in text
    assert "more" not in printed(*groups_table(groups[:50]))
    assert groups_table([]) == []
