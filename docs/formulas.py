"""Formulas of the site, as MathML, which browsers draw without a script."""

from typing import Any

from latex2mathml.converter import convert


def display(source: str, *_: Any, **__: Any) -> str:
    """Return a formula on a line of its own, for a fence that begins with ```math."""
    return f'<div class="math">{convert(source, display="block")}</div>'
