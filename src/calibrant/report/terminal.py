"""The audit in a terminal: a sentence first, then where, then the numbers and a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from calibrant._console import SafeConsole
from calibrant._figures import figure
from calibrant._text import named
from calibrant.auditing.comparison import Comparison
from calibrant.auditing.result import Audit
from calibrant.certificates.certificate import percent
from calibrant.decisions.price import Price
from calibrant.decisions.regret import DecisionCost
from calibrant.report.findings import (
    FACTS,
    MODEL_COLUMNS,
    costs_by_rule,
    differences_of,
    findings_of,
    model_cells,
    no_advice,
    worst_of,
)
from calibrant.report.formats import number
from calibrant.report.terminal_tables import (
    MARKS,
    PLAIN_MARKS,
    findings_table,
    groups_table,
    reliability_chart,
    table_of,
    worst_table,
)

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from calibrant.calibrators.evaluation import Evaluation

#: What the widest table takes.
LEAST_WIDTH = 78
#: Nothing is wrapped in text for other programs.
_WIDE = 10_000


def render(audit: Audit, console: Console) -> None:
    """Print an audit."""
    marks = MARKS if "utf" in console.encoding.lower() else PLAIN_MARKS
    tables = [
        findings_table(title, rows, "numbers" if title == FACTS else "scores")
        for title, rows in findings_of(audit).items()
    ]
    verdict, headline, *rest = audit.summary
    console.print(
        Group(
            Text(verdict, style="bold"),
            Text(headline),
            Text(f"What to do: {audit.advice.summary[0]}" if audit.advice else no_advice(audit)),
            *(Text(sentence) for sentence in rest),
            *(Text(f"Note: {warning}", style="yellow") for warning in audit.notes),
            Text(),
            Columns(tables, padding=(0, 4)),
            Text(),
            worst_table(worst_of(audit)),
            Text(),
            reliability_chart(audit.reliability, marks),
            *groups_table(audit.groups),
        )
    )


def render_evaluation(study: Evaluation, console: Console) -> None:
    """Print what a calibrator does to held-out rows."""
    table = table_of("On held-out rows", "scores", "before", "after")
    table.columns[0].header = ""
    for name, measure in (
        ("calibration error", "calibration_error"),
        ("Brier score", "brier_score"),
        ("log loss", "log_loss"),
        ("ranking (ROC AUC)", "roc_auc"),
    ):
        values = [getattr(quality, measure) for quality in (study.before, study.after)]
        table.add_row(name, *("-" if value is None else number(value) for value in values))
    notes = []
    if study.dropped:
        words = f"Note: {study.dropped:,} rows with a missing value were dropped."
        notes.append(Text(words, style="yellow"))
    if study.note is not None:
        notes.append(Text(f"Note: {study.note}", style="yellow"))
    if math.isinf(study.after.log_loss):
        notes.append(
            Text(
                "An event with a probability of 0, or a row without one with a probability of 1, "
                "makes the log loss infinite. Platt scaling, beta calibration and temperature "
                "scaling never give 0 or 1.",
                style="yellow",
            )
        )
    console.print(Group(Text(study.headline, style="bold"), *notes, Text(), table))


def render_comparison(found: Comparison, console: Console) -> None:
    """Print a comparison of models."""
    pairs = table_of("Differences: below 0 the first is better", "models", "of", "value", "between")
    for pair in found.differences:
        both = f"{named(pair.first)} - {named(pair.second)}"
        for finding in differences_of(pair):
            pairs.add_row(Text(both), finding.label, finding.number, finding.ends(" and "))
            both = ""
    console.print(
        Group(
            Text(found.summary[0], style="bold"),
            *(Text(sentence) for sentence in found.summary[1:]),
            *(Text(f"Note: {warning}", style="yellow") for warning in found.warnings),
            Text(),
            _models_table(found),
            Text(),
            pairs,
        )
    )


def comparison_text(found: Comparison) -> str:
    """Return a comparison in sentences and a table of the models, as plain text."""
    table = StringIO()
    SafeConsole(file=table, width=_WIDE, color_system=None).print(_models_table(found))
    notes = (f"Note: {warning}" for warning in found.warnings)
    rows = (line.rstrip() for line in table.getvalue().splitlines())
    return "\n".join([*found.summary, *notes, "", *rows])


def _models_table(found: Comparison) -> Table:
    """Show the models, the intervals of all at one level."""
    sure = percent(found.confidence)
    table = table_of(f"Models, with {sure} simultaneous intervals for the error", *MODEL_COLUMNS)
    for one in found.models:
        table.add_row(Text(named(one.name)), *model_cells(one))
    return table


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
    table = table_of(f"Mean cost of a decision{', in' + unit if unit else ''}", "scores", "cost")
    table.columns[0].header = "rule"
    for one in costs_by_rule(found, threshold):
        table.add_row(one.label, one.number)
    counts = table_of("Rows", "scores", "event", "no event")
    counts.columns[0].header = ""
    for name, event, none in (
        ("acted on", found.true_positives, found.false_positives),
        ("not acted on", found.false_negatives, found.true_negatives),
    ):
        counts.add_row(name, f"{event:,.10g}", f"{none:,.10g}")
    console.print(
        Group(
            Text(
                f"Act when the score is at least {figure(threshold)}. On these rows that costs "
                f"{figure(found.cost)}{unit} a decision.",
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
