"""Formulas of the site, as MathML, which browsers draw without a script."""

import re
from typing import Any

from latex2mathml.converter import convert

#: What stands under sup, max and their like, which the converter puts beside them.
_LIMITS = re.compile(
    r"<msub>(<m[io][^>]*>(?:sup|inf|max|min)</m[io]>)(<mrow>.*?</mrow>|<m\w[^>]*>[^<]*</m\w>)</msub>"
)

_THIN = '<mspace width="0.17em"/>'


def display(source: str, *_: Any, **__: Any) -> str:
    """Return a formula on a line of its own, for a fence that begins with ```math."""
    made = _LIMITS.sub(r"<munder>\1\2</munder>", convert(source, display="block"))
    made = made.replace("<mi>ln</mi>", f"{_THIN}<mi>ln</mi>{_THIN}")
    return f'<div class="math">{made}</div>'
