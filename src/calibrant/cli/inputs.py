"""Predictions, read as the options of a command say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import typer

from calibrant.data.files.reading import Request, read_models, read_predictions
from calibrant.data.models import Models
from calibrant.data.predictions import Predictions


def predictions(context: typer.Context) -> Predictions:
    """Read the predictions of one model."""
    return read_predictions(**_given(context))


def models(context: typer.Context) -> Models:
    """Read the predictions of several models: one for each --prob."""
    given = _given(context)
    return read_models(probs=given.pop("prob"), **given)


def _given(context: typer.Context) -> dict[str, Any]:
    """Return the options that say what to read, by the names that reading has for them."""
    known = {"prob", *(field.name for field in fields(Request))}
    return {
        name: value for name, value in context.params.items() if name in known and value is not None
    }
