"""Tables and the chart that the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calibrant._figures import figure
from calibrant._text import named
from calibrant.auditing.groups import GroupFinding
from calibrant.measures.interval import Interval
from calibrant.report.findings import (
    GROUP_COLUMNS,
    INTERVAL_COLUMNS,
    MOST_GROUPS,
    Finding,
    group_cells,
    interval_cells,
)


class Marks(NamedTuple):
    """What the chart is drawn with."""

    predicted: str
    observed: str
    both: str
    line: str


MARKS = Marks("○", "●", "◉", "─")
PLAIN_MARKS = Marks("o", "x", "*", "-")
_CHART_WIDTH = 30
#: Columns that hold words.
_LEFT = {"scores", "group", "model", "models", "of"}


def table_of(title: str, *columns: str) -> Table:
    """Return a table without rows; columns of words stand on the left."""
    heading = Text(title, style="bold")  # a text, because a currency in it is no markup
    table = Table(title=heading, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        left = column in _LEFT or column.startswith("0")
        table.add_column(column, justify="left" if left else "right", header_style="dim")
    return table


def findings_table(title: str, findings: Iterable[Finding], numbers: str = "scores") -> Table:
    """Show findings, each with its interval; the column of numbers is named, and hidden."""
    table = table_of(title, "scores", numbers)
    table.show_header = False
    for one in findings:
        ends = f" ({one.ends()})" if one.interval else ""
        table.add_row(f"{'  ' if one.part else ''}{one.label}", f"{one.number}{ends}")
    return table


def worst_table(intervals: Iterable[Interval]) -> Table:
    """Show where the scores fail most."""
    table = table_of("Largest differences", *INTERVAL_COLUMNS)
    for one in intervals:
        table.add_row(*interval_cells(one))
    return table


def groups_table(groups: Sequence[GroupFinding]) -> list[Text | Table]:
    """Show the groups with the most evidence against calibration."""
    if not groups:
        return []
    title = "Groups, the strongest evidence first; intervals for the error are simultaneous"
    table = table_of(title, *GROUP_COLUMNS)
    for one in groups[:MOST_GROUPS]:
        table.add_row(Text(named(one.name)), *group_cells(one))
    left = len(groups) - MOST_GROUPS
    more = f"... and {left:,} more; the JSON has all" if left > 0 else ""
    return [Text(), table, *([Text(more, style="dim")] if more else [])]


def reliability_chart(groups: Iterable[Interval], marks: Marks) -> Group:
    """Draw predicted against observed, group by group."""
    groups = list(groups)
    highest = max(max(group.mean_prediction, group.observed_rate) for group in groups)
    scale = next(top for top in (0.001, 0.01, 0.1, 0.2, 0.5, 1.0) if highest <= top)
    axis = "0" + figure(scale).rjust(_CHART_WIDTH - 1)
    title = "Predicted against observed, in groups of equal size"
    table = table_of(title, *INTERVAL_COLUMNS[:4], axis)
    for group in groups:
        table.add_row(*interval_cells(group)[:4], _drawn(group, scale, marks))
    legend = f"{marks.predicted} predicted  {marks.observed} observed  {marks.both} both"
    return Group(table, Padding(Text(legend, style="dim"), 0))


def _drawn(group: Interval, scale: float, marks: Marks) -> str:
    """Draw the group as two marks on a line from 0 to `scale`."""
    last = _CHART_WIDTH - 1
    places = [round(last * value / scale) for value in (group.mean_prediction, group.observed_rate)]
    first, second = places
    cells = [" "] * _CHART_WIDTH
    for place in range(min(places), max(places)):
        cells[place] = marks.line
    cells[first], cells[second] = marks.predicted, marks.observed
    if first == second:
        cells[first] = marks.both
    return "".join(cells)
