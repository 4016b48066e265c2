"""`calibrant decide`: from which score on to act, and what that costs."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant import errors
from calibrant._progress import busy
from calibrant.cli import inputs, options
from calibrant.cli.output import answer
from calibrant.decisions.costs import costs_of
from calibrant.decisions.price import price_of_miscalibration
from calibrant.decisions.regret import expected_cost
from calibrant.report import terminal


def command(
    context: typer.Context,
    label: options.Label,
    prob: options.Prob,
    false_positive: Annotated[float, typer.Option(help="Cost of acting where there is no event.")],
    false_negative: Annotated[float, typer.Option(help="Cost of not acting where there is one.")],
    file: options.File = None,
    sql: options.Sql = None,
    url: options.Url = None,
    table: options.TableName = None,
    volume: Annotated[
        float | None, typer.Option(help="Decisions to add the price up for, as of a year.")
    ] = None,
    currency: Annotated[str, typer.Option(help="The unit of the costs.")] = "",
    weight: options.Weight = None,
    pos_label: options.PosLabel = None,
    drop_missing: options.DropMissing = False,
    confidence: options.Confidence = 0.95,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Say from which score on to act, what that costs, and what miscalibration costs at most.

    For example: calibrant decide loans.csv --label y --prob p --false-positive 1
    --false-negative 20
    """
    costs = costs_of(false_positive, false_negative)
    errors.inner_share("confidence", confidence)
    with busy("Reading"):
        data = inputs.predictions(context)
        found = expected_cost(
            data,
            false_positive=costs.false_positive,
            false_negative=costs.false_negative,
            confidence=confidence,
        )
        price = price_of_miscalibration(
            data,
            false_positive=costs.false_positive,
            false_negative=costs.false_negative,
            volume=volume,
            currency=currency,
            confidence=confidence,
        )
    about = {"schema": "calibrant.decision", "schema_version": 1}
    answer(
        lambda: {**about, "decision": found.to_dict(), "price": price.to_dict()},
        lambda console: terminal.render_decision(found, price, console),
        json=json,
        quiet=quiet,
    )
