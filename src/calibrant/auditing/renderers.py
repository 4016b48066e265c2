"""Renderers: who shows a result. They stand above audits, so the package enters them here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: For each format the module and the function that make it of a result, loaded when asked for.
RENDERERS: dict[str, tuple[str, str]] = {}


def rendered(format_: str, result: object, **options: Any) -> Any:
    """Return a result in a format."""
    module, function = RENDERERS[format_]
    return getattr(import_module(module), function)(result, **options)
