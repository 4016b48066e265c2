"""Renderers: who shows a result. They stand above audits, so the package enters them here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from typing import Any

from calibrant.errors import InputError

#: For each format the module and the function that make it of a result, loaded when asked for.
RENDERERS: dict[str, tuple[str, str]] = {}


def rendered(format_: str, result: object, **options: Any) -> Any:
    """Return a result in a format."""
    module, function = RENDERERS[format_]
    return getattr(import_module(module), function)(result, **options)


def in_frame(title: str, page: Callable[[], str], sentences: Sequence[str]) -> str:
    """Return a page for a notebook, in a frame of its own; without the extra there is the prose."""
    try:
        document = escape(page())
    except InputError:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    style = "width:100%;height:40rem;border:1px solid #d0d7de"
    return f'<iframe title="{escape(title)}" style="{style}" srcdoc="{document}"></iframe>'
