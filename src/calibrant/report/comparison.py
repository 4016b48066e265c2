"""Several models in one HTML file: a table, pictures of all of them, and how sure it is."""

from __future__ import annotations

from calibrant._text import named
from calibrant._version import __version__
from calibrant.auditing.comparison import Comparison
from calibrant.certificates.certificate import percent
from calibrant.report.displays.cumulative import cumulative_overlay
from calibrant.report.displays.reliability import reliability_overlay
from calibrant.report.findings import MODEL_COLUMNS, about_rows, differences_of, model_cells
from calibrant.report.glossary import explained
from calibrant.report.html import escaping_environment, figures_of
from calibrant.report.log_odds import crowded, on_log_odds
from calibrant.report.overlay import Model, names_of
from calibrant.report.pictures import Picture
from calibrant.report.policy import with_policy
from calibrant.report.svg import css_of_models


def html_of(comparison: Comparison, *, title: str | None = None, data: str | None = None) -> str:
    """Return the comparison as HTML text."""
    environment = escaping_environment(_names(comparison))
    environment.filters |= {"named": named, "cells": model_cells, "findings": differences_of}
    page = environment.get_template("comparison.html.jinja").render(
        comparison=comparison,
        title=title or f"Comparison of {len(comparison.models)} models",
        about=about_rows(comparison.rows, data),
        columns=MODEL_COLUMNS,
        level=percent(comparison.confidence),
        rest=percent(comparison.confidence, rest=True),
        terms=explained(),
        css=css_of_models(len(comparison.models)),
        pictures=figures_of(_pictures(comparison)),
        version=__version__,
    )
    return with_policy(str(page))


def _names(comparison: Comparison) -> list[str]:
    return names_of(one.name for one in comparison.models)


def _pictures(comparison: Comparison) -> list[Picture]:
    names = _names(comparison)
    errors = (one.calibration_error for one in comparison.models)
    models = list(map(Model, names, errors))
    rates = [one.reliability for one in comparison.curves if one.reliability is not None]
    drawn = [reliability_overlay(models, rates)] if len(rates) == len(models) else []
    if all(crowded(one.scores) for one in comparison.curves):
        drawn = list(map(on_log_odds, drawn))
    return [
        *drawn,
        cumulative_overlay(models, [one.difference for one in comparison.curves]),
    ]
