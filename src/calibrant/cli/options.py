"""Options that several commands have.

A command declares all of its options; those that say what to read are read by `inputs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.auditing.groups import Crossed
from calibrant.certificates.specification import Estimand, Method
from calibrant.cli.gate import Compared

File = Annotated[
    str | None,  # a Path would lose a slash of s3://
    typer.Argument(
        help="A CSV, Parquet or JSON-lines file with one prediction a row, a pattern in quotes "
        "such as 'preds/*.parquet', or a folder of Parquet files.",
        show_default=False,
    ),
]
Sql = Annotated[
    str | None,
    typer.Option(
        help="A SELECT instead of a file: \"SELECT y, p FROM 'preds.csv'\". With --url it runs in "
        "the database."
    ),
]
Url = Annotated[
    str | None,
    typer.Option(
        help="A database instead of a file: postgresql+psycopg://user:password@host/database, or "
        "env:NAME if it is in the environment variable NAME."
    ),
]
TableName = Annotated[str | None, typer.Option("--table", help="With --url: the table.")]
By = Annotated[
    list[str] | None,
    typer.Option(help="Column whose values make groups; may be given several times."),
]
CrossedName = Annotated[
    Crossed, typer.Option("--crossed", help="With over ten --by: which columns are paired.")
]
Label = Annotated[str, typer.Option(help="Column of outcomes.")]
Prob = Annotated[str, typer.Option(help="Column of predicted probabilities.")]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.")]
PosLabel = Annotated[str | None, typer.Option(help="The label that is the event.")]
Soft = Annotated[bool, typer.Option("--soft", help="Labels are fractions between 0 and 1.")]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")
]
Html = Annotated[
    Path | None,
    typer.Option(help="Write a report to this HTML file, in place of one that is there."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if there is one.")]
MaxError = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Limit on the true error of all rows together: exit with 1 unless proved.",
    ),
]
MaxRelativeError = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="The same, as a share of the base rate, such as 0.1."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="The same, as a saving per decision at the costs given."),
]
Gate = Annotated[
    Compared,
    typer.Option(help="What the limit is compared with: the certified bound, or what was seen."),
]
Confidence = Annotated[float, typer.Option(help="Confidence level of bounds and intervals.")]
MethodName = Annotated[Method, typer.Option(help="How the true error is bounded.")]
Clusters = Annotated[
    str | None, typer.Option(help="Column that says which rows belong together, as of a patient.")
]
EstimandName = Annotated[
    Estimand, typer.Option(help="With --clusters: what counts once, a row or a cluster.")
]
MaxClusterSize = Annotated[
    int | None,
    typer.Option(min=1, help="With --clusters: the most rows of one, known before the data."),
]
