"""The audit in a terminal: a sentence first, then where, then the numbers and a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.columns import Columns
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calibrant._text import named
from calibrant.auditing.compare import Comparison
from calibrant.auditing.groups import GroupFinding
from calibrant.auditing.result import Audit
from calibrant.certificates.certificate import rounded_down, rounded_up
from calibrant.certificates.testing import chance
from calibrant.decisions.price import Price
from calibrant.decisions.regret import DecisionCost
from calibrant.measures.family import Measures
from calibrant.measures.interval import Interval

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from calibrant.calibrators.evaluation import Study


class _Marks(NamedTuple):
    predicted: str
    observed: str
    both: str
    line: str


_MARKS = _Marks("○", "●", "◉", "─")
_PLAIN_MARKS = _Marks("o", "x", "*", "-")
_PICTURE_WIDTH = 30
#: Columns that hold words.
_LEFT = {"scores", "group", "model", "models", "of"}
#: Groups that are shown.
_MOST_GROUPS = 20
#: What the widest table takes.
LEAST_WIDTH = 78


def render(audit: Audit, console: Console) -> None:
    """Print an audit."""
    marks = _MARKS if "utf" in console.encoding.lower() else _PLAIN_MARKS
    console.print(
        Group(
            Text(audit.headline, style="bold"),
            *(Text(sentence) for sentence in audit.summary[1:]),
            *(Text(f"Note: {warning}", style="yellow") for warning in audit.notes),
            Text(),
            Columns([_facts(audit), _measures(audit.measures)], padding=(0, 4)),
            Text(),
            _worst(audit.worst_intervals),
            Text(),
            _reliability(audit.reliability, marks),
            *_groups(audit.groups),
            *([Text(), Text(f"What to do: {audit.advice.summary[0]}")] if audit.advice else []),
        )
    )


def render_study(study: Study, console: Console) -> None:
    """Print what a calibrator does to held-out rows."""
    table = _table("On held-out rows", "scores", "before", "after")
    table.columns[0].header = ""
    for name, measure in (
        ("calibration error", "calibration_error"),
        ("Brier score", "brier_score"),
        ("log loss", "log_loss"),
        ("ranking (ROC AUC)", "roc_auc"),
    ):
        values = [getattr(quality, measure) for quality in (study.before, study.after)]
        table.add_row(name, *("-" if value is None else _number(value) for value in values))
    notes = []
    if study.dropped:
        words = f"Note: {study.dropped:,} rows with a missing value were dropped."
        notes.append(Text(words, style="yellow"))
    if study.note is not None:
        notes.append(Text(f"Note: {study.note}", style="yellow"))
    if math.isinf(study.after.log_loss):
        notes.append(
            Text(
                "An event that was given probability 0, or its absence 0, makes the log loss "
                "infinite. A link (platt, beta, temperature) never says 0 or 1.",
                style="yellow",
            )
        )
    console.print(Group(Text(study.headline, style="bold"), *notes, Text(), table))


def render_comparison(found: Comparison, console: Console) -> None:
    """Print a comparison of models."""
    models = _table("Models", "model", "calibration error", "true one between", "Brier", "log loss")
    for one in found.models:
        ends = one.certificate
        models.add_row(
            Text(named(one.name)),
            _number(one.calibration_error),
            f"{rounded_down(ends.lower)} and {rounded_up(ends.upper)}",
            _number(one.brier),
            _number(one.log_loss),
        )
    pairs = _table("Differences: below 0 the first is better", "models", "of", "value", "between")
    for pair in found.differences:
        measures = {
            "calibration error": pair.calibration_error,
            "Brier score": pair.brier,
            "log loss": pair.log_loss,
        }
        for name, value in measures.items():
            if value is not None:
                pairs.add_row(
                    Text(
                        f"{named(pair.first)} - {named(pair.second)}"
                        if name == "calibration error"
                        else ""
                    ),
                    name,
                    _number(value.value, sign="+"),
                    f"{_signed(rounded_down(value.lower))} and {_signed(rounded_up(value.upper))}",
                )
    console.print(
        Group(
            Text(found.summary[0], style="bold"),
            *(Text(sentence) for sentence in found.summary[1:]),
            *(Text(f"Note: {warning}", style="yellow") for warning in found.warnings),
            Text(),
            models,
            Text(),
            pairs,
        )
    )


def _signed(figure: str) -> str:
    """Put a + before a figure that has no sign."""
    return figure if figure.startswith("-") else f"+{figure}"


def render_claims(
    headline: str, claims: Sequence[Mapping[str, str]], written: Sequence[Path], console: Console
) -> None:
    """Print how many statements hold, each with its verdict, and where to read on."""
    console.print(headline, markup=False)
    for claim in claims:
        console.print(f"\n[{claim['verdict']}] {claim['where']}: {claim['paper']}", markup=False)
        console.print(f"  {claim['measured']}", markup=False)
    page = next(path for path in written if path.suffix == ".html")
    console.print(
        f"\nThe page is {page}; {len(written) - 1} more files with numbers and pictures are next "
        "to it.",
        markup=False,
        soft_wrap=True,
    )


def render_decision(found: DecisionCost, price: Price, console: Console) -> None:
    """Print what to do, what it costs, and what miscalibration costs at most."""
    threshold = 0.0 if found.threshold is None else found.threshold
    unit = f" {named(price.currency)}" if price.currency else ""
    table = _table(f"Mean cost of a decision{', in' + unit if unit else ''}", "scores", "cost")
    table.columns[0].header = "rule"
    for rule, cost in (
        (f"act from {threshold:.4g} on (Bayes' rule)", found.cost),
        ("act on every row", found.always),
        ("act on no row", found.never),
    ):
        table.add_row(rule, _number(cost))
    if found.best_cost is not None and found.best_threshold is not None:
        best = (
            "never" if math.isinf(found.best_threshold) else f"from {found.best_threshold:.4g} on"
        )
        table.add_row(f"best in hindsight: act {best}", _number(found.best_cost))
    counts = _table("Rows", "scores", "event", "no event")
    counts.columns[0].header = ""
    for name, event, none in (
        ("acted on", found.true_positives, found.false_positives),
        ("not acted on", found.false_negatives, found.true_negatives),
    ):
        counts.add_row(name, f"{event:,.10g}", f"{none:,.10g}")
    console.print(
        Group(
            Text(
                f"Act when the score is at least {threshold:.4g}. On these rows that costs "
                f"{found.cost:.4g}{unit} a decision.",
                style="bold",
            ),
            *_dearer(found),
            Text(price.sentence),
            Text(),
            table,
            Text(),
            counts,
        )
    )


def _dearer(found: DecisionCost) -> list[Text]:
    """Say so if the scores, used as probabilities, do worse than no scores."""
    if found.cost <= min(found.always, found.never):
        return []
    rule = "every" if found.always < found.never else "no"
    words = f"To act on {rule} row would have cost less: recalibrate these scores first."
    return [Text(words, style="yellow")]


def _table(title: str, *columns: str) -> Table:
    heading = Text(title, style="bold")  # a text, because a currency in it is no markup
    table = Table(title=heading, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        left = column in _LEFT or column.startswith("0")
        table.add_column(column, justify="left" if left else "right", header_style="dim")
    return table


def _facts(audit: Audit) -> Table:
    data = audit.data
    table = _table("In numbers", "scores", "")
    table.show_header = False
    table.add_row("rows", f"{data.rows:,}")
    if data.weight != data.rows:
        table.add_row("total weight", f"{data.weight:,.6g}")
    table.add_row("events observed", f"{data.observed_rate:.4%}")
    table.add_row("events predicted", f"{data.mean_prediction:.4%}")
    table.add_row("calibration error", f"{audit.calibration_error:.6f}")
    if not audit.exact:
        table.add_row("  at most", f"{audit.calibration_error_at_most:.6f}")
    if audit.certificate is not None:
        share = f"{100 * audit.certificate.confidence:.4g}%"
        table.add_row(f"  certified, {share}", _upper(audit.certificate.upper))
    if audit.test is not None:
        # "at most" and "under" stand on the left, where they do not make the table wider
        words, _, p_value = chance(audit.test, digits=2).rpartition(" ")
        table.add_row(f"p-value {words}" if words else "test p-value", p_value)
    return table


def _upper(value: float) -> str:
    """Six decimals, rounded up: a bound may grow but not shrink."""
    return f"{math.ceil(value * 1e6 - 1e-6) / 1e6:.6f}"


def _measures(measures: Measures) -> Table:
    table = _table("Next to it", "scores", "scores")
    table.show_header = False
    if measures.roc_auc is not None:
        table.add_row("ranking (ROC AUC)", f"{measures.roc_auc:.4f}")
    for name, parts in (("Brier score", measures.brier), ("log loss", measures.log_loss)):
        if parts is not None:
            table.add_row(name, _number(parts.score))
            table.add_row("  of it miscalibration", _number(parts.miscalibration))
    for name, estimate in (
        ("calibration slope", measures.slope),
        ("calibration intercept", measures.intercept),
        ("observed / expected", measures.observed_expected),
    ):
        if estimate is not None:
            interval = f"{_number(estimate.lower)} to {_number(estimate.upper)}"
            table.add_row(name, f"{_number(estimate.value)} ({interval})")
    if measures.expected_calibration_error is not None:
        table.add_row("ECE, 15 bins", _number(measures.expected_calibration_error))
    if measures.unverifiable_l1 is not None:
        table.add_row("l1 error no test excludes", _number(measures.unverifiable_l1))
    return table


def _worst(intervals: Iterable[Interval]) -> Table:
    table = _table(
        "Where it fails most", "scores", "rows", "predicted", "observed", "excess", "so they are"
    )
    for interval in intervals:
        table.add_row(
            _range(interval),
            f"{interval.rows:,}",
            _number(interval.mean_prediction),
            _number(interval.observed_rate),
            _number(interval.excess, sign="+"),
            interval.verdict,
        )
    return table


def _groups(groups: Sequence[GroupFinding]) -> list[Text | Table]:
    """Show the groups with the most evidence against calibration."""
    if not groups:
        return []
    title = "Groups, the clearest failures first; the proved bounds of all of them hold at once"
    names = ("rows", "predicted", "observed", "error", "proved", "")
    table = _table(title, "group", *names)
    for one in groups[:_MOST_GROUPS]:
        ends = one.certificate
        table.add_row(
            Text(named(one.name)),
            f"{one.rows:,}",
            _number(one.mean_prediction),
            _number(one.observed_rate),
            _number(one.calibration_error),
            "" if ends is None else f"{rounded_down(ends.lower)}-{rounded_up(ends.upper)}",
            "certain" if one.certain else "",
        )
    left = len(groups) - _MOST_GROUPS
    more = f"... and {left:,} more; the JSON has all" if left > 0 else ""
    return [Text(), table, *([Text(more, style="dim")] if more else [])]


def _reliability(groups: Iterable[Interval], marks: _Marks) -> Group:
    groups = list(groups)
    highest = max(max(group.mean_prediction, group.observed_rate) for group in groups)
    scale = next(top for top in (0.001, 0.01, 0.1, 0.2, 0.5, 1.0) if highest <= top)
    axis = "0" + f"{scale:g}".rjust(_PICTURE_WIDTH - 1)
    table = _table(
        "Predicted against observed, in groups of equal size",
        "scores",
        "rows",
        "predicted",
        "observed",
        axis,
    )
    for group in groups:
        table.add_row(
            _range(group),
            f"{group.rows:,}",
            _number(group.mean_prediction),
            _number(group.observed_rate),
            _picture(group, scale, marks),
        )
    legend = f"{marks.predicted} predicted  {marks.observed} observed  {marks.both} both"
    return Group(table, Padding(Text(legend, style="dim"), 0))


def _range(interval: Interval) -> str:
    if interval.p1 is None:
        return f"up to {_number(interval.p2)}"
    return f"{_number(interval.p1)} to {_number(interval.p2)}"


def _number(value: float, sign: str = "") -> str:
    """Four decimals, or two digits and an exponent where four decimals would say nothing."""
    return f"{value:{sign}.1e}" if 0 < abs(value) < 0.001 else f"{value:{sign}.4f}"


def _picture(group: Interval, scale: float, marks: _Marks) -> str:
    """Draw the group as two marks on a line from 0 to `scale`."""
    last = _PICTURE_WIDTH - 1
    places = [round(last * value / scale) for value in (group.mean_prediction, group.observed_rate)]
    first, second = places
    cells = [" "] * _PICTURE_WIDTH
    for place in range(min(places), max(places)):
        cells[place] = marks.line
    cells[first], cells[second] = marks.predicted, marks.observed
    if first == second:
        cells[first] = marks.both
    return "".join(cells)
