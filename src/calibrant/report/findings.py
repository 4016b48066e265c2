"""Findings: the numbers of a result, listed once. Every report draws these rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

from calibrant._figures import apart, figure, rounded_down, rounded_up
from calibrant._text import MOST_OF_MESSAGE, named
from calibrant.auditing.comparison import Difference, ModelFinding
from calibrant.auditing.groups import GroupFinding, finite_or_text
from calibrant.auditing.result import Audit
from calibrant.certificates.certificate import percent
from calibrant.certificates.testing import CalibrationTest, chance
from calibrant.decisions.regret import DecisionCost
from calibrant.measures.clinical import Estimate
from calibrant.measures.decomposition import ScoreParts
from calibrant.measures.family import LISTED, Measures
from calibrant.measures.interval import Interval
from calibrant.report.formats import (
    BOUND,
    COUNT,
    DIFFERENCE,
    ERROR,
    NUMBER,
    RATE,
    WEIGHT,
    Format,
    count,
    number,
)

#: What a report is called unless it has a title of its own.
TITLE = "Calibration report"
#: What the two parts of the findings of an audit are called.
FACTS, MEASURES = "Key numbers", "Other metrics"


@dataclass(frozen=True, slots=True)
class Finding:
    """One number that a report shows."""

    label: str
    value: float
    interval: tuple[float, float] | None
    format: Format
    meaning: str  # in one line
    part: bool = False  # it says more about the finding before it

    @property
    def number(self) -> str:
        """The number as it is written."""
        return self.format.value(self.value)

    def ends(self, between: str = " to ") -> str:
        """Write both ends of the interval; nothing if there is none."""
        if self.interval is None:
            return ""
        lower, upper = self.interval
        return f"{self.format.lower(lower)}{between}{self.format.upper(upper)}"


def found(
    label: str,
    value: float | Estimate | None,
    meaning: str,
    form: Format = NUMBER,
    *,
    part: bool = False,
) -> tuple[Finding, ...]:
    """Return a number, or an estimate with its interval, as a finding; nothing if it is None."""
    if value is None:
        return ()
    if isinstance(value, Estimate):
        return (Finding(label, value.value, (value.lower, value.upper), form, meaning, part),)
    return (Finding(label, value, None, form, meaning, part),)


def about(audit: Audit, model: str | None) -> list[tuple[str, str]]:
    """Say what a report is about: the model, the data and the date."""
    return about_rows(audit.data.rows, audit.provenance.file, ("Model", model))


def about_rows(
    rows: int, file: str | None, *parts: tuple[str, str | None]
) -> list[tuple[str, str]]:
    """Say what a report of so many rows is about, whatever else is known of it first."""
    known = [
        *parts,
        ("Data", None if file is None else Path(file).name),
        ("Rows", count(rows)),
        ("Date", date.today().isoformat()),
    ]
    return [(name, named(value, MOST_OF_MESSAGE)) for name, value in known if value]


def findings_of(audit: Audit) -> dict[str, tuple[Finding, ...]]:
    """List the numbers of an audit that stand for all rows, part by part."""
    return {FACTS: facts_of(audit), MEASURES: measures_of(audit.measures)}


def facts_of(audit: Audit) -> tuple[Finding, ...]:
    """List what the rows are like, the calibration error, and how sure it is."""
    data, certificate = audit.data, audit.certificate
    weight = None if data.weight == data.rows else data.weight
    most = None if audit.exact else audit.calibration_error_at_most
    sure = None if certificate is None else certificate.upper
    share = "" if certificate is None else percent(certificate.confidence)
    return (
        *found("rows", data.rows, "rows that count", COUNT),
        *found("total weight", weight, "the sum of their weights", WEIGHT),
        *found("events observed", data.observed_rate, "share of events", RATE),
        *found("events predicted", data.mean_prediction, "mean score", RATE),
        *found("calibration error", audit.calibration_error, _ERROR, ERROR),
        *found("at most", most, "what a tally leaves open", ERROR, part=True),
        *found(
            f"certified, {share}",
            sure,
            "upper bound on the true calibration error",
            BOUND,
            part=True,
        ),
        *_p_value(audit.test),
    )


_ERROR = "largest difference between observed and predicted events over all ranges of scores"
_PARTS = "what isotonic regression on these rows would take off"


def measures_of(measures: Measures) -> tuple[Finding, ...]:
    """List the measures that others report: a line for each."""
    listed = (
        _measure(label, _with_bound(measures, name), meaning)
        for name, (label, meaning) in LISTED.items()
    )
    return tuple(chain.from_iterable(listed))


def _with_bound(measures: Measures, name: str) -> float | Estimate | ScoreParts | None:
    """Return a measure; with its bounds if it is not exact."""
    found: float | Estimate | ScoreParts | None = getattr(measures, name)
    within = measures.roc_auc_within
    if name != "roc_auc" or not isinstance(found, float) or within == 0:
        return found
    return Estimate(found, max(0.0, found - within), min(1.0, found + within), 1.0)


def to_list(audit: Audit) -> list[dict[str, Any]]:
    """Return the findings as plain values: what each number is called, and how it is written."""
    return [
        {
            "part": title,
            "label": one.label,
            "value": finite_or_text(one.value),
            "interval": one.interval and [finite_or_text(end) for end in one.interval],
            "written": one.number,
            "meaning": one.meaning,
        }
        for title, findings in findings_of(audit).items()
        for one in findings
    ]


def _measure(
    label: str, value: float | Estimate | ScoreParts | None, meaning: str
) -> tuple[Finding, ...]:
    if not isinstance(value, ScoreParts):
        return found(label, value, meaning)
    miscalibrated = found("miscalibration component", value.miscalibration, _PARTS, part=True)
    return (*found(label, value.score, meaning), *miscalibrated)


def _p_value(test: CalibrationTest | None) -> tuple[Finding, ...]:
    if test is None:
        return ()
    # "at most" and "under" stand in the label, where they do not make a table wider
    words, _, figure = chance(test, digits=2).rpartition(" ")
    label = f"p-value {words}" if words else "test p-value"
    return found(
        label,
        test.p_value,
        "chance of an error this large if the scores are right",
        Format(lambda _: figure),
    )


def differences_of(pair: Difference) -> tuple[Finding, ...]:
    """List by how much the first of two models differs from the second one."""
    proved, limit = "by finite-sample intervals", "by asymptotic intervals"
    normal = "with the normal interval of differences row by row"
    return (
        *found(
            "calibration error", pair.calibration_error, f"first minus second, {proved}", DIFFERENCE
        ),
        *found(
            "the same, asymptotic",
            pair.calibration_error_asymptotic,
            f"first minus second, {limit}",
            DIFFERENCE,
        ),
        *found("Brier score", pair.brier, f"first minus second, {normal}", DIFFERENCE),
        *found("log loss", pair.log_loss, f"first minus second, {normal}", DIFFERENCE),
    )


def costs_by_rule(cost: DecisionCost, threshold: float) -> tuple[Finding, ...]:
    """List what a decision costs by each rule."""
    best = ""
    if cost.best_threshold is not None:
        never = math.isinf(cost.best_threshold)
        best = "never" if never else f"from {figure(cost.best_threshold)} on"
    return (
        *found(f"act from {figure(threshold)} on (Bayes' rule)", cost.cost, "the scores' own"),
        *found("act on every row", cost.always, "without scores"),
        *found("act on no row", cost.never, "without scores"),
        *found(f"best in hindsight: act {best}", cost.best_cost if best else None, "on these rows"),
    )


#: What a report says of an interval of scores, of a group, and of a calibrator that was tried.
INTERVAL_COLUMNS = ("scores", "rows", "predicted", "observed", "excess", "scores are")
GROUP_COLUMNS = ("group", "rows", "predicted", "observed", "error", "interval", "miscalibrated")
TRIAL_COLUMNS = ("calibrator", "calibration error", "Brier score", "saved", "standard error")
#: A smaller excess is nothing to read: it is written as 0, and a list of the worst has none.
_LEAST_EXCESS = 1e-6
#: Groups that a report lists; the JSON has all.
MOST_GROUPS = 50


def no_advice(audit: Audit) -> str:
    """Say why an audit has no advice; nothing if it has some."""
    if audit.advice is not None:
        return ""
    if audit.independent:
        return "There is no advice for soft labels, or non-integer weights."
    return "There is no advice for rows that come in clusters: audit one row of each, at random."


def scores_of(one: Interval) -> str:
    """Write which scores an interval holds, with as many digits as tell its ends apart."""
    if one.p1 is None:
        return f"up to {number(one.p2)}"
    low, high = number(one.p1), number(one.p2)
    if low == high:
        low, high = apart(one.p1, one.p2)
    return f"{low} to {high}"


#: What a report says of one of several models.
MODEL_COLUMNS = ("model", "error", "proved", "asymptotic", "Brier", "log loss")


def model_cells(one: ModelFinding) -> tuple[str, ...]:
    """Write what was found for a model, all but its name."""
    ends = (
        f"{rounded_down(part.lower)} to {rounded_up(part.upper)}"
        for part in (one.certificate, one.asymptotic)
    )
    return (number(one.calibration_error), *ends, number(one.brier), number(one.log_loss))


def worst_of(audit: Audit) -> tuple[Interval, ...]:
    """Return the worst ranges of scores that are worth a row of a table: the worst one at least."""
    first, *others = audit.worst_intervals
    return (first, *(one for one in others if abs(one.excess) >= _LEAST_EXCESS))


def interval_cells(one: Interval) -> tuple[str, ...]:
    """Write an interval of scores."""
    rates = number(one.mean_prediction), number(one.observed_rate)
    excess = DIFFERENCE.value(one.excess if abs(one.excess) >= _LEAST_EXCESS else 0.0)
    return (scores_of(one), count(one.rows), *rates, excess, one.verdict)


def group_cells(one: GroupFinding) -> tuple[str, ...]:
    """Write what was found in a group, all but its name."""
    ends = one.certificate
    proved = "" if ends is None else f"{rounded_down(ends.lower)} to {rounded_up(ends.upper)}"
    rates = number(one.mean_prediction), number(one.observed_rate)
    error, certain = number(one.calibration_error), "proved" if one.certain else "not proved"
    return (count(one.rows), *rates, error, proved, certain)
