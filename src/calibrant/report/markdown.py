"""The audit as Markdown, for a pull request or a model card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from calibrant._text import visible
from calibrant.auditing.result import Audit
from calibrant.report.findings import (
    GROUP_COLUMNS,
    INTERVAL_COLUMNS,
    MOST_GROUPS,
    TITLE,
    about,
    findings_of,
    group_cells,
    interval_cells,
    no_advice,
    worst_of,
)
from calibrant.report.formats import count

#: Marks that would mean something; they have a backslash before them. Some readers of Markdown know
#: no backslash before a <, and would take what follows for HTML.
_MARKS = re.compile(r"[\\|>&*_`\[\]#$~]")
#: Where an address would become a link, or somebody be mentioned: GitHub looks for both in the
#: finished text, where a comment comes between.
_LINKS = re.compile(r"@|:(?=//)|(?<=www)\.", re.IGNORECASE)


#: Columns of words, which start at the left.
_WORDS = {"what it is"}


def markdown_of(audit: Audit, *, title: str | None = None, model: str | None = None) -> str:
    """Return the audit as Markdown text."""
    lines = [f"# {plain(title or TITLE)}", ""]
    lines.append(" · ".join(f"{name}: {plain(value)}" for name, value in about(audit, model)))
    return "\n".join([*lines, "", *_lines(audit)]) + "\n"


def _lines(audit: Audit) -> Iterator[str]:
    verdict, headline, *rest = map(plain, audit.summary)
    yield f"**{verdict}**"
    yield ""
    yield headline
    first, *more = audit.advice.summary if audit.advice else (no_advice(audit),)
    yield ""
    yield f"**What to do:** {plain(first)}"
    for sentence in (*map(plain, more), *rest):
        yield ""
        yield sentence
    for warning in audit.notes:
        yield ""
        yield f"Note: {plain(warning)}"
    yield ""
    yield "## Largest differences"
    yield ""
    yield from _table(INTERVAL_COLUMNS, map(interval_cells, worst_of(audit)))
    yield ""
    yield "## Predicted against observed, in groups of equal size"
    yield ""
    yield from _table(INTERVAL_COLUMNS, map(interval_cells, audit.reliability))
    yield from _groups(audit)
    for title, findings in findings_of(audit).items():
        yield ""
        yield f"## {title}"
        yield ""
        yield from _table(
            ("", "value", "interval", "what it is"),
            ((one.label, one.number, one.ends(), one.meaning) for one in findings),
        )
    yield ""
    made = audit.provenance
    yield f"Made by calibrant {made.calibrant} from {count(made.rows)} rows."


def _groups(audit: Audit) -> Iterator[str]:
    if not audit.groups:
        return
    yield ""
    yield "## Groups"
    yield ""
    yield "The strongest evidence first; intervals for the error are simultaneous over all groups."
    yield ""
    groups = ((one.name, *group_cells(one)) for one in audit.groups[:MOST_GROUPS])
    yield from _table(GROUP_COLUMNS, groups)
    left = len(audit.groups) - MOST_GROUPS
    if left > 0:
        yield ""
        yield f"And {left:,} more groups."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| :-- |{''.join(' :-- |' if one in _WORDS else ' --: |' for one in head[1:])}"
    for row in rows:
        yield f"| {' | '.join(plain(cell) for cell in row)} |"


def plain(text: str) -> str:
    """Show text as it is: names from data become neither markup, nor HTML, nor links."""
    line = visible(text.replace("\n", " "))
    shown = _MARKS.sub(r"\\\g<0>", line).replace("<", "&lt;")
    return _LINKS.sub(r"\g<0><!---->", shown)
