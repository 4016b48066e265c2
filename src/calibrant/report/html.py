"""The audit as one HTML file: it opens with the verdict, and needs nothing but itself."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from calibrant._extras import require
from calibrant._text import MOST_OF_MESSAGE, named, visible
from calibrant._types import FloatArray
from calibrant.auditing.curves import DifferenceCurve, Histogram, ReliabilityCurve
from calibrant.auditing.result import Audit
from calibrant.certificates.certificate import rounded_down, rounded_up
from calibrant.decisions.curve import CostCurve
from calibrant.measures.interval import Interval
from calibrant.report.policy import with_policy
from calibrant.report.svg import Picture

#: Groups that the report lists.
_MOST_GROUPS = 200
#: Up to this many points each of them shows.
_FEW_POINTS = 15


def html_of(audit: Audit, *, false_positive: float = 1.0, false_negative: float = 1.0) -> str:
    """Return the report as HTML text; costs say where its slider starts."""
    source = files("calibrant.report").joinpath("report.html.jinja").read_text(encoding="utf-8")
    environment = escaping_environment()
    environment.filters |= {"number": number, "percent": percent, "count": count}
    environment.filters |= {"up": rounded_up, "down": rounded_down, "named": named}
    share = false_positive / (false_positive + false_negative)
    page = environment.from_string(source).render(
        audit=audit,
        verdict=_verdict(audit),
        pictures=_pictures(audit),
        groups=audit.groups[:_MOST_GROUPS],
        more_groups=max(0, len(audit.groups) - _MOST_GROUPS),
        measures=_measures(audit),
        costs=_costs(audit, share),
        error=_error(audit),
        provenance=_provenance(audit),
    )
    return with_policy(str(page))


def escaping_environment() -> Any:
    """Return what fills in a page: names from data are escaped, and what is missing is an error."""
    jinja2: Any = require("jinja2", "report")
    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_in_sight,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _in_sight(value: object) -> object:
    """Show controls in a text by their codes: browsers obey those that turn the direction."""
    return visible(value, keep="\n") if type(value) is str else value


def check_ready() -> None:
    """Refuse, before any work is done, if what the report needs is not installed."""
    require("jinja2", "report")


def number(value: float | None) -> str:
    """Show four digits, or an exponent where they would say nothing."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return "infinite"
    return f"{value:.2e}" if 0 < abs(value) < 0.001 else f"{value:.4f}"


def percent(value: float) -> str:
    """Show a share as a percentage."""
    return f"{100 * value:.2f}%"


def count(value: float) -> str:
    """Show a number of rows."""
    return f"{value:,.0f}"


def _error(audit: Audit) -> str:
    """Show the calibration error, or both of its bounds where a tally hides it."""
    if audit.exact:
        return number(audit.calibration_error)
    most = rounded_up(audit.calibration_error_at_most)
    return f"between {rounded_down(audit.calibration_error)} and {most}"


def _verdict(audit: Audit) -> dict[str, str]:
    """Say in a word, with a mark that needs no colour, what was found."""
    if audit.test is None:
        return {"mark": "?", "kind": "open", "word": "Measured"}
    if audit.test.p_value <= 1 - audit.confidence:
        return {"mark": "✖", "kind": "off", "word": "Miscalibrated"}
    failing = sum(one.certain for one in audit.groups)
    if failing:
        some = "a group" if failing == 1 else f"{failing:,} groups"
        return {"mark": "✖", "kind": "off", "word": f"Right on the whole, wrong in {some}"}
    return {"mark": "✔", "kind": "fine", "word": "No sign of miscalibration"}


def _pictures(audit: Audit) -> list[dict[str, Any]]:
    curves, worst = audit.curves, audit.worst_intervals[0]
    drawn = []
    if curves.reliability is not None:
        drawn.append(_reliability(curves.reliability, curves.scores, worst))
    drawn.append(_difference(curves.difference, worst, _error(audit)))
    if curves.cost is not None:
        drawn.append(_cost(curves.cost))
    return drawn


def _shown(picture: Picture, columns: Mapping[str, Sequence[float]], name: str) -> dict[str, Any]:
    """Put a picture, its legend and the table behind it together."""
    rows = list(zip(*columns.values(), strict=True))
    return {
        "name": name,
        "title": picture.title,
        "text": picture.text,
        "svg": picture.text_of(),
        "legend": picture.legend,
        "columns": [column.replace("_", " ") for column in columns],
        "bars": [],
        "rows": [[_point(value) for value in row] for row in rows],
    }


def _point(value: float) -> str:
    """Show a number of a picture; what only rounding keeps from 0 is 0."""
    if math.isnan(value):
        return ""
    return number(0.0 if abs(value) < 1e-11 else value)


def _pairs(x: FloatArray, y: FloatArray) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _reliability(
    curve: ReliabilityCurve, scores: Histogram | None, worst: Interval
) -> dict[str, Any]:
    picture = Picture(
        title="Observed against predicted",
        text="Where the line lies above the diagonal, scores are too low. " + _worst_words(worst),
        x=(0.0, 1.0),
        y=(0.0, 1.0),
        x_name="score",
        y_name="observed rate",
    )
    if worst.verdict != "exact":
        left = 0.0 if worst.p1 is None else worst.p1
        picture.shade("worst", left, worst.p2, f"worst interval: {worst.where}")
    if curve.upper is not None and curve.lower is not None:
        # between two scores only stairs are proved: the lower end lasts, the upper one comes before
        score = np.repeat(curve.score, 2)
        lower = _pairs(score[1:], np.repeat(curve.lower, 2)[:-1])
        upper = _pairs(score[:-1], np.repeat(curve.upper, 2)[1:])
        picture.area("confidence", lower, upper, "holds the true curve, if it does not decrease")
    if curve.consistent_upper is not None and curve.consistent_lower is not None:
        ends = (
            _pairs(curve.score, curve.consistent_lower),
            _pairs(curve.score, curve.consistent_upper),
        )
        picture.area(
            "consistency",
            *ends,
            "where it would lie, at each score by itself, if the scores were right",
        )
    if scores is not None:
        tallest = float(scores.share.max())
        bars = zip(scores.left, scores.right, scores.share, strict=True)
        picture.bars(
            "scores",
            [(a, b, s / tallest, f"{100 * s:.1f}% of rows: {a:g} to {b:g}") for a, b, s in bars],
        )
        picture.legend.append(("scores", "where the scores are"))
    picture.line("diagonal", [(0, 0), (1, 1)], "the scores are right")
    points = _pairs(curve.score, curve.observed)
    picture.line("curve", points, "observed, by isotonic regression")
    every = points[:: max(1, len(points) // 20)]
    kind = "few" if len(points) <= _FEW_POINTS else "hover"
    picture.dots(kind, every, [f"score {x:.3f}: observed {y:.3f}" for x, y in every])
    return {**_shown(picture, curve.frame(), "reliability"), "bars": _bars(scores)}


def _bars(scores: Histogram | None) -> list[tuple[str, str]]:
    """Return the bars of the histogram as a table: range, and share of the rows."""
    if scores is None:
        return []
    bars = zip(scores.left, scores.right, scores.share, strict=True)
    return [(f"{left:g} to {right:g}", percent(share)) for left, right, share in bars]


def _worst_words(worst: Interval) -> str:
    """Say where scores fail most, if they do."""
    return "" if worst.verdict == "exact" else f"They fail most for {worst.where}."


def _difference(curve: DifferenceCurve, worst: Interval, error: str) -> dict[str, Any]:
    values = [curve.difference]
    if curve.consistent_lower is not None and curve.consistent_upper is not None:
        values += [curve.consistent_lower, curve.consistent_upper]
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    margin = 0.05 * (high - low) or 0.01
    picture = Picture(
        title="Observed minus predicted, added up",
        text=f"Its range is the calibration error, {error}. Where it falls, scores are too high; "
        "where it rises, too low.",
        x=(0.0, 1.0),
        y=(low - margin, high + margin),
        x_name="share of rows, in order of score",
        y_name="events, as a share of all rows",
    )
    before = [(s, w) for s, w in _pairs(curve.score, curve.share) if not math.isnan(s)]
    left = max([w for s, w in before if worst.p1 is not None and s <= worst.p1], default=0.0)
    right = min([w for s, w in before if s >= worst.p2], default=1.0)
    if worst.verdict != "exact":
        picture.shade("worst", left, right, f"worst interval: {worst.where}")
    if curve.consistent_lower is not None and curve.consistent_upper is not None:
        ends = (
            _pairs(curve.share, curve.consistent_lower),
            _pairs(curve.share, curve.consistent_upper),
        )
        picture.area(
            "consistency",
            *ends,
            "where it would lie, at each score by itself, if the scores were right",
        )
    picture.line("diagonal", [(0, 0), (1, 0)], "no difference")
    points = _pairs(curve.share, curve.difference)
    picture.line("curve", points, "observed minus predicted so far")
    every = points[:: max(1, len(points) // 20)]
    picture.dots("hover", every, [f"{100 * x:.0f}% of rows: {y:+.4f}" for x, y in every])
    return _shown(picture, curve.frame(), "difference")


def _cost(curve: CostCurve) -> dict[str, Any]:
    top = float(np.max(np.minimum(curve.always, curve.never))) or 0.01
    picture = Picture(
        title="What decisions cost",
        text="Acting by Bayes' rule on the scores, against the best threshold in hindsight, for "
        "every ratio of the two costs.",
        x=(0.0, 1.0),
        y=(0.0, 1.15 * max(top, float(curve.cost.max()))),
        x_name="cost of a false positive, as a share of the two costs together",
        y_name="cost of a decision",
    )
    ceiling = picture.y[1]
    for kind, values, name in (
        ("always", curve.always, "act on every row"),
        ("never", curve.never, "act on no row"),
    ):
        inside = [(x, y) for x, y in _pairs(curve.p, values) if y <= ceiling]
        picture.line(kind, inside, name)
    picture.line("after", _pairs(curve.p, curve.best), "after the best nondecreasing recalibration")
    points = _pairs(curve.p, curve.cost)
    picture.line("curve", points, "with the scores as they are")
    every = points[:: max(1, len(points) // 20)]
    picture.dots("hover", every, [f"p = {x:.2f}: cost {y:.4f}" for x, y in every])
    names = ("p", "cost", "best", "always", "never")
    columns = {name: getattr(curve, name).tolist() for name in names}
    return _shown(picture, columns, "cost")


def _costs(audit: Audit, share: float) -> dict[str, Any] | None:
    """Return what the slider needs: costs for each ratio, and where it starts."""
    curve = audit.curves.cost
    if curve is None:
        return None
    trivial = np.minimum(curve.always, curve.never)
    columns = {"now": curve.cost, "after": curve.best, "trivial": trivial}
    shown: dict[str, Any] = {name: [number(v) for v in part] for name, part in columns.items()}
    bound = (
        "nothing is proved" if audit.certificate is None else rounded_up(audit.certificate.upper)
    )
    inner = np.clip(curve.p, 1e-9, 1 - 1e-9)
    odds = np.log(inner) - np.log1p(-inner)
    near = min(max(share, 1e-9), 1 - 1e-9)  # a cost of nothing starts at the end of the slider
    start = int(np.argmin(np.abs(odds - math.log(near / (1 - near)))))
    start = min(len(curve.p) - 2, max(1, start))
    # a script ends at the first </, whatever it stands in, so no < is left in it
    data = json.dumps({**shown, "p": curve.p.tolist(), "bound": bound}).replace("<", "\\u003c")
    exact = bool(abs(float(curve.p[start]) - share) < 1e-9)
    return {"data": data, "start": start, "last": len(curve.p) - 2, "exact": exact}


def _measures(audit: Audit) -> list[tuple[str, str]]:
    found = audit.measures
    parts: list[tuple[str, Any]] = [
        ("Brier score", None if found.brier is None else found.brier.score),
        ("of it miscalibration", None if found.brier is None else found.brier.miscalibration),
        ("log loss", None if found.log_loss is None else found.log_loss.score),
        ("of it miscalibration", None if found.log_loss is None else found.log_loss.miscalibration),
        ("ranking (ROC AUC)", found.roc_auc),
        ("expected calibration error, 15 bins", found.expected_calibration_error),
        ("Kolmogorov-Smirnov error", found.kolmogorov_error),
        ("calibration slope", None if found.slope is None else found.slope.value),
        ("calibration intercept", None if found.intercept is None else found.intercept.value),
        (
            "observed over expected",
            None if found.observed_expected is None else found.observed_expected.value,
        ),
    ]
    return [(name, number(value)) for name, value in parts if value is not None]


def _provenance(audit: Audit) -> list[tuple[str, str]]:
    found = audit.provenance
    parts = [
        ("file", None if found.file is None else named(found.file, MOST_OF_MESSAGE)),
        ("SHA-256 of the file", found.file_sha256),
        ("rows read", count(found.rows)),
        ("command", None if found.command is None else named(found.command, MOST_OF_MESSAGE)),
        ("calibrant", found.calibrant),
        ("numpy", found.numpy),
        ("seed", None if found.seed is None else str(found.seed)),
    ]
    return [(name, value) for name, value in parts if value is not None]
