"""The audit as one HTML file: it opens with the verdict, and needs nothing but itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from calibrant._extras import require
from calibrant._figures import figure, percentage, rounded_up
from calibrant._text import MOST_OF_MESSAGE, named, visible
from calibrant.auditing.result import Audit
from calibrant.errors import one_of
from calibrant.report.displays.cost import cost_picture
from calibrant.report.displays.cumulative import cumulative_picture
from calibrant.report.displays.reliability import reliability_picture
from calibrant.report.findings import (
    GROUP_COLUMNS,
    INTERVAL_COLUMNS,
    MOST_GROUPS,
    TITLE,
    TRIAL_COLUMNS,
    about,
    findings_of,
    group_cells,
    interval_cells,
    no_advice,
    worst_of,
)
from calibrant.report.formats import count, number
from calibrant.report.glossary import Links, anchor, explained, term_of
from calibrant.report.log_odds import SCALES, Scale, crowded, on_log_odds
from calibrant.report.pictures import Bars, Picture
from calibrant.report.policy import with_policy
from calibrant.report.svg import key_of, svg_of


def html_of(
    audit: Audit,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    title: str | None = None,
    model: str | None = None,
    axis: Scale = "auto",
) -> str:
    """Return the report as HTML text; costs say where its slider starts."""
    one_of("axis", axis, SCALES)
    environment = escaping_environment()
    environment.filters["capital"] = lambda text: text[:1].upper() + text[1:]
    environment.filters |= {"term": _linked, "number": number, "count": count, "named": named}
    environment.filters["figure"] = figure
    environment.filters |= {"interval_cells": interval_cells, "group_cells": group_cells}
    share = false_positive / (false_positive + false_negative)
    page = environment.get_template("report.html.jinja").render(
        audit=audit,
        title=title or TITLE,
        about=about(audit, model),
        terms=explained(),
        verdict=_verdict(audit),
        pictures=figures_of(
            (_reliability(audit, axis), cumulative_picture(audit), cost_picture(audit))
        ),
        worst=worst_of(audit),
        groups=audit.groups[:MOST_GROUPS],
        more_groups=max(0, len(audit.groups) - MOST_GROUPS),
        interval_columns=INTERVAL_COLUMNS,
        trial_columns=TRIAL_COLUMNS,
        group_columns=GROUP_COLUMNS,
        findings=findings_of(audit),
        no_advice=no_advice(audit),
        costs=_costs(audit, share),
        provenance=_provenance(audit),
    )
    return with_policy(str(page))


def escaping_environment(names: Sequence[str] = ()) -> Any:
    """Return what fills in a page: names from data are escaped, and what is missing is an error.

    It is for one page: `prose` and `heads` link a term where it is first read, in sentences and in
    what heads tables and pictures. Names, as of models, are never terms.
    """
    jinja2: Any = require("jinja2", "report")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_in_sight,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_template),
    )
    environment.filters |= {name: _in_order(jinja2, Links(names)) for name in ("prose", "heads")}
    return environment


def _in_order(jinja2: Any, links: Links) -> Any:
    """Return a filter that is called as the page is filled in, never before: the first counts."""
    return jinja2.pass_context(lambda _context, text: links(text))


def _template(name: str) -> str:
    return files("calibrant.report").joinpath(name).read_text(encoding="utf-8")


def _in_sight(value: object) -> object:
    """Show controls in a text by their codes: browsers obey those that turn the direction."""
    return visible(value, keep="\n") if type(value) is str else value


def check_ready() -> None:
    """Refuse, before any work is done, if what the report needs is not installed."""
    require("jinja2", "report")


#: The mark of a verdict, which needs no colour, and its class.
_MARKS = {
    "within": ("✔", "fine"),
    "no_evidence": ("✔", "fine"),
    "over": ("✖", "off"),
    "miscalibrated": ("✖", "off"),
}


def _verdict(audit: Audit) -> dict[str, str]:
    """Return the verdict with a mark; where groups fail there is no tick, whatever holds of all."""
    mark, kind = _MARKS.get(audit.verdict.kind, ("?", "open"))
    if any(one.certain for one in audit.groups):
        mark, kind = _MARKS["miscalibrated"]
    return {"mark": mark, "kind": kind, "word": audit.verdict.title}


def _reliability(audit: Audit, axis: Scale) -> Picture | None:
    """Describe observed rates against scores, on log-odds axes where that is asked or helps."""
    picture = reliability_picture(audit)
    chosen = axis == "logit" or (axis == "auto" and crowded(audit.curves.scores))
    return on_log_odds(picture) if picture is not None and chosen else picture


def _linked(label: str) -> str | None:
    """Return the anchor of the term that a label is about."""
    term = term_of(label)
    return None if term is None else anchor(term)


def figures_of(pictures: Iterable[Picture | None]) -> list[dict[str, Any]]:
    """Return every picture that there is with its legend and the tables behind it."""
    return [
        {
            "picture": one,
            "svg": svg_of(one),
            "legend": [(key_of(layer), layer.words) for layer in one.layers if layer.words],
            "rows": [
                [_point(value) for value in row] for row in zip(*one.columns.values(), strict=True)
            ],
            "bars": [
                bar for layer in one.layers if isinstance(layer, Bars) for bar in _bars(layer)
            ],
        }
        for one in pictures
        if one is not None
    ]


def _point(value: float | str) -> str:
    """Show a name, or a number of a picture; what only rounding keeps from 0 is 0."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return ""
    return number(0.0 if abs(value) < 1e-11 else value)


def _bars(layer: Bars) -> list[tuple[str, str]]:
    """Return the bars of a histogram as a table: range, and share of the rows."""
    bars = zip(*layer.scores.frame().values(), strict=True)
    return [
        (f"{figure(left)} to {figure(right)}", percentage(share)) for left, right, share in bars
    ]


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
