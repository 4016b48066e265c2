"""The command line: parse, call, print, and an exit code that a pipeline can use."""

from __future__ import annotations

import io
import json as json_module
import os
import shlex
import sys
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from calibrant import __version__, errors
from calibrant._console import SafeConsole
from calibrant._extras import require
from calibrant._progress import busy, progress_bar
from calibrant._text import bounded, named, shown, visible
from calibrant._writing import (
    check_name,
    check_new,
    write_predictions,
    write_whole,
)
from calibrant.auditing.compare import comparison_of
from calibrant.auditing.groups import Crossed
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.calibrators.export_sql import Dialect
from calibrant.calibrators.fitting import Objective
from calibrant.calibrators.registry import CalibratorName
from calibrant.certificates.plan import sample_size
from calibrant.certificates.specification import Estimand, Method
from calibrant.core.diagram import TOLERANCE
from calibrant.data.engine.addresses import password_in, shown_url, without_secrets
from calibrant.data.files.reading import read_models, read_predictions, read_scores
from calibrant.decisions.costs import costs_of
from calibrant.decisions.price import price_of_miscalibration
from calibrant.decisions.regret import expected_cost
from calibrant.errors import InputError, path_shown
from calibrant.experiments.cache import Cache
from calibrant.experiments.documents import documents_example
from calibrant.experiments.run import Part, Study
from calibrant.report import terminal
from calibrant.report.html import check_ready

app = typer.Typer(
    help="Can these scores be used as probabilities, and where do they fail?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

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
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if there is one.")]
MaxError = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Exit with 1 if the true error could be over this."),
]
Gate = Annotated[
    Literal["upper", "estimate"],
    typer.Option(help="What --max-error is compared with: the certified bound, or what was seen."),
]
Confidence = Annotated[float, typer.Option(help="How often promises shall hold.")]
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

#: Methods that `plan` lists, the recommended one first.
_PLANNED: tuple[Method, ...] = (
    "certified",
    "asymptotic",
    "fixed_design",
    "band",
    "isotonic",
    "gao2017",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"calibrant {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tell whether scores can be used as probabilities, and where they fail."""


@app.command("audit")
def audit_command(
    label: Label,
    prob: Prob,
    file: File = None,
    sql: Sql = None,
    url: Url = None,
    table: TableName = None,
    by: By = None,
    crossed: CrossedName = "first",
    weight: Weight = None,
    pos_label: PosLabel = None,
    soft: Soft = False,
    drop_missing: DropMissing = False,
    confidence: Confidence = 0.95,
    method: MethodName = "auto",
    clusters: Clusters = None,
    estimand: EstimandName = "row",
    max_cluster_size: MaxClusterSize = None,
    clip: Annotated[
        float | None,
        typer.Option(
            help="For the calibration slope and intercept alone, move scores below this up to it, "
            "and those above 1 minus it down, such as 0.001 if there are scores of 0 and 1."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a report to this HTML file, in place of one that is there."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(help="Write the findings to this Markdown file, in place of one there is."),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Show the HTML report in the browser.")
    ] = False,
    false_positive: Annotated[
        float, typer.Option(help="With --html: cost of a false positive.")
    ] = 1.0,
    false_negative: Annotated[
        float, typer.Option(help="With --html: cost of a false negative.")
    ] = 1.0,
    quiet: Quiet = False,
    json: Json = False,
    max_error: MaxError = None,
    gate: Gate = "upper",
) -> None:
    """Audit the predictions in a file.

    For example: calibrant audit predictions.csv --label y --prob p --html report.html --open

    In a pipeline: calibrant audit predictions.csv --label y --prob p --max-error 0.02 --quiet

    Exit code 0; 1 if the true calibration error is not proved to be at most --max-error; 2 on
    bad input.
    """
    errors.inner_share("confidence", confidence)
    errors.clip_or_none(clip)
    if open_ and html is None:
        raise _open_without_html()
    for path, ending in ((html, ".html"), (markdown, ".md")):
        if path is not None:
            check_name(path, ending)
    if html is not None:
        check_ready()
    costs_of(false_positive, false_negative)
    with busy("Reading"):
        data = read_predictions(
            file,
            sql=sql,
            url=url,
            table=table,
            label=label,
            prob=prob,
            by=by or (),
            weight=weight,
            clusters=clusters,
            pos_label=pos_label,
            soft=soft,
            drop_missing=drop_missing,
        )
        found = audit(
            data,
            confidence=confidence,
            method=method,
            estimand=estimand,
            max_cluster_size=max_cluster_size,
            by=by or None,
            crossed=crossed,
            clip=clip,
        )
    command = _command()
    found = replace(found, provenance=replace(found.provenance, command=command))
    if max_error is not None and gate == "upper" and found.certificate is None:
        raise _no_bound(found)
    if html is not None:
        found.to_html(html, false_positive=false_positive, false_negative=false_negative)
    if markdown is not None:
        write_whole(markdown, found.to_markdown())
    _show(found, json, max_error, gate, quiet=quiet, opened=html if open_ else None)


@app.command("compare")
def compare_command(
    label: Label,
    prob: Annotated[
        list[str], typer.Option(help="Column of a model's probabilities; give two or more.")
    ],
    file: File = None,
    sql: Sql = None,
    url: Url = None,
    table: TableName = None,
    weight: Weight = None,
    pos_label: PosLabel = None,
    drop_missing: DropMissing = False,
    confidence: Confidence = 0.95,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare several models on the same rows, and say which differences are certain.

    For example: calibrant compare predictions.parquet --label y --prob old --prob new
    """
    errors.inner_share("confidence", confidence)
    with busy("Reading"):
        models = read_models(
            file,
            sql=sql,
            url=url,
            table=table,
            label=label,
            probs=prob,
            weight=weight,
            pos_label=pos_label,
            drop_missing=drop_missing,
        )
        found = comparison_of(models, confidence)
    with _output() as console:
        if json:
            print(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
        elif not quiet:
            terminal.render_comparison(found, console)


@app.command()
def demo(
    save: Annotated[
        Path | None,
        typer.Option(help="Write the predictions to this CSV file, in place of one there is."),
    ] = None,
) -> None:
    """Train a model on simulated documents, audit it, and tell what the paper found."""
    if save is not None:
        check_name(save, ".csv")
    documents = 20_000
    with progress_bar("Drawing documents", 2 * documents) as progress:
        found = documents_example(documents=documents, progress=progress)
    if save is not None:
        write_predictions(save, y=found.y_true, p=found.y_prob, true_prob=found.true_prob)
    with _output() as console:
        console.print(
            f"Logistic regression, trained on {documents:,} simulated documents and audited on as "
            "many fresh ones.\n"
        )
        terminal.render(found.audit, console)
        console.print(f"\n{found.story}")
        file = "predictions.csv" if save is None else str(save)
        next_step = "Now your own" if save is None else f"Written to {named(file, 240)}. Go on with"
        command = shlex.join(["calibrant", "audit", file, "--label", "y", "--prob", "p"])
        console.print(f"\n{next_step}: {named(command, 1000)}", markup=False, soft_wrap=True)


@app.command()
def plan(
    epsilon: Annotated[float, typer.Option(help="The calibration error to certify.")],
    confidence: Confidence = 0.95,
    scores: Annotated[
        str | None, typer.Option(help="A file of the model's scores; they need no labels.")
    ] = None,
    prob: Annotated[str | None, typer.Option(help="Column of scores in that file.")] = None,
    assurance: Annotated[
        float | None,
        typer.Option(
            help="Share of samples of that size that shall do, such as 0.9; without it the mean "
            "bound reaches the error, so that about half of them do."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say how many labelled rows it takes to certify a calibration error.

    For example: calibrant plan --epsilon 0.01
    """
    if scores is not None and prob is None:
        raise _scores_need_column()
    if prob is not None and scores is None:
        raise _column_needs_scores()
    known = None if scores is None or prob is None else read_scores(scores, prob=prob)
    sizes: dict[str, int] = {
        method: sample_size(
            epsilon, confidence=confidence, method=method, scores=known, assurance=assurance
        )
        for method in _PLANNED
    }
    with _output() as console:
        if json:
            about = {"epsilon": epsilon, "confidence": confidence, "assurance": assurance}
            named = {"schema": "calibrant.plan", "schema_version": 1, **about, "rows": sizes}
            print(json_module.dumps(named))
        else:
            terminal.render_plan(
                epsilon, confidence, sizes, console, assurance=assurance, sharp=known is not None
            )


@app.command()
def calibrate(
    label: Label,
    prob: Prob,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the calibrator to this JSON file.")
    ],
    file: File = None,
    sql: Sql = None,
    url: Url = None,
    table: TableName = None,
    method: Annotated[CalibratorName, typer.Option(help="The kind of calibrator.")] = "isotonic",
    objective: Annotated[
        Objective, typer.Option(help="What platt, beta and temperature minimise.")
    ] = "log_loss",
    weight: Weight = None,
    pos_label: PosLabel = None,
    soft: Soft = False,
    drop_missing: DropMissing = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit a calibrator, show what it does to held-out rows, and keep it as JSON.

    For example: calibrant calibrate valid.csv --label y --prob p -o calibrator.json

    Use rows that the model was not trained on. Before and after are measured by cross-fitting:
    every row is calibrated by a calibrator that was fitted on other rows.
    """
    check_new(output, ".json", overwrite=overwrite)
    from calibrant.calibrators import evaluation as study

    with busy("Calibrating"):
        data = read_predictions(
            file,
            sql=sql,
            url=url,
            table=table,
            label=label,
            prob=prob,
            weight=weight,
            pos_label=pos_label,
            soft=soft,
            drop_missing=drop_missing,
        )
        found = study.study_calibrator(data, study.calibrator_named(method, objective))
        write_whole(output, found.calibrator.to_json() + "\n", overwrite=overwrite)
    with _output() as console:
        if json:
            print(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
        elif not quiet:
            terminal.render_study(found, console)
            console.print(f"\nWritten to {named(output, 240)}.", markup=False, soft_wrap=True)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A calibrator, as `calibrant calibrate` wrote it.")],
    to: Annotated[Literal["sql", "onnx"], typer.Option(help="What to turn it into.")],
    column: Annotated[
        str | None, typer.Option(help="With --to sql: the column of scores; p if not given.")
    ] = None,
    dialect: Annotated[
        Dialect | None, typer.Option(help="With --to sql: the engine; duckdb if not given.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this .sql or .onnx file."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Turn a calibrator into a SQL expression, or an ONNX model, that others run without calibrant.

    For example: calibrant export calibrator.json --to sql --column p --dialect postgres

    Or: calibrant export calibrator.json --to onnx -o calibrator.onnx

    Scores that are missing or outside [0, 1] become NULL in SQL, and NaN in ONNX.
    """
    _check_export(to, column, dialect, output, overwrite)
    from calibrant.calibrators.estimators.calibrator import Calibrator

    calibrator = Calibrator.load(file)
    content: str | bytes
    if to == "sql":
        content = calibrator.to_sql("p" if column is None else column, dialect or "duckdb") + "\n"
    else:
        content = calibrator.to_onnx()
    with _output() as console:
        if output is not None:
            write_whole(output, content, overwrite=overwrite)
            console.print(f"Written to {named(output, 240)}.", markup=False, soft_wrap=True)
        elif isinstance(content, str):
            _print_whole(content)


@app.command("apply")
def apply_command(
    calibrator: Annotated[
        Path, typer.Argument(help="A calibrator, as `calibrant calibrate` wrote it.")
    ],
    file: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet or JSON-lines file, a pattern in quotes such as "
            "'preds/*.parquet', or a folder of Parquet files."
        ),
    ],
    prob: Prob,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write to this .csv or .parquet file.")
    ],
    name: Annotated[
        str, typer.Option(help="The new column, of calibrated probabilities.")
    ] = "calibrated",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a file again with one more column: its scores, calibrated.

    For example: calibrant apply calibrator.json new.parquet --prob p -o out.parquet

    Rows keep their order and other columns what they hold; a row without a score gets no calibrated
    one. The output appears when all of it is written, and larger than memory is fine.
    """
    from calibrant.calibrators.applying import apply_calibrator
    from calibrant.calibrators.estimators.calibrator import Calibrator

    with busy("Applying"):
        found = apply_calibrator(
            Calibrator.load(calibrator), file, output, prob=prob, name=name, overwrite=overwrite
        )
    with _output() as console:
        if not quiet:
            console.print(bounded(repr(found)), markup=False, soft_wrap=True)


def _print_whole(text: str) -> None:
    """Print text of which no letter may be replaced by one that the output can show."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        raise _not_shown(encoding) from None
    if visible(text, keep="\n") != text:
        raise _not_visible()
    print(text, end="")


def _check_export(
    to: str, column: str | None, dialect: str | None, output: Path | None, overwrite: bool
) -> None:
    """Refuse, before any work is done, options that do not go together."""
    if to == "onnx":
        for name, value in (("--column", column), ("--dialect", dialect)):
            if value is not None:
                raise _option_of_sql(name)
        if output is None:
            raise _output_missing(to)
    if output is not None:
        check_new(output, f".{to}", overwrite=overwrite)
    elif overwrite:
        raise _overwrite_without_output()


@app.command("decide")
def decide_command(
    label: Label,
    prob: Prob,
    false_positive: Annotated[float, typer.Option(help="Cost of acting where there is no event.")],
    false_negative: Annotated[float, typer.Option(help="Cost of not acting where there is one.")],
    file: File = None,
    sql: Sql = None,
    url: Url = None,
    table: TableName = None,
    volume: Annotated[
        float | None, typer.Option(help="Decisions to add the price up for, as of a year.")
    ] = None,
    currency: Annotated[str, typer.Option(help="The unit of the costs.")] = "",
    weight: Weight = None,
    pos_label: PosLabel = None,
    drop_missing: DropMissing = False,
    confidence: Confidence = 0.95,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say from which score on to act, what that costs, and what miscalibration costs at most.

    For example: calibrant decide loans.csv --label y --prob p --false-positive 1
    --false-negative 20
    """
    costs = costs_of(false_positive, false_negative)
    errors.inner_share("confidence", confidence)
    with busy("Reading"):
        data = read_predictions(
            file,
            sql=sql,
            url=url,
            table=table,
            label=label,
            prob=prob,
            weight=weight,
            pos_label=pos_label,
            drop_missing=drop_missing,
        )
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
    with _output() as console:
        if json:
            about = {"schema": "calibrant.decision", "schema_version": 1}
            document = {**about, "decision": found.to_dict(), "price": price.to_dict()}
            print(json_module.dumps(document, indent=2, allow_nan=False))
        elif not quiet:
            terminal.render_decision(found, price, console)


@app.command("reproduce")
def reproduce_command(
    part: Annotated[Part, typer.Argument(help="Which experiment of the paper to run.")],
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the UCI files; CALIBRANT_DATA, or a download otherwise."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    runs: Annotated[int, typer.Option(help="How often each experiment is repeated.")] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small simulated data only: a look within a minute.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results, in place of earlier ones.")
    ] = Path("reproduction"),
    quiet: Quiet = False,
) -> None:
    """Run the experiments of the paper, and say which of its statements hold.

    An interrupted run goes on where it was: what is done is kept in the folder.

    For example: calibrant reproduce figure2 --data-dir uci -o results
    """
    # not above: scikit-learn takes a second to import
    from calibrant.experiments.page import headline
    from calibrant.experiments.reproduce import reproduce, write_results

    seed = errors.whole_number("seed", seed, least=0)
    runs = errors.whole_number("runs", runs, least=1)
    check_ready()
    require("matplotlib", "plot")
    if data_dir is not None and not data_dir.is_dir():
        raise _data_folder_missing(str(data_dir))
    if output.exists() and not output.is_dir():
        raise _not_a_folder(str(output))
    output.mkdir(parents=True, exist_ok=True)
    study = Study(
        seed=seed, runs=runs, quick=quick, data_dir=data_dir, cache=Cache(output / "cache")
    )
    try:
        results = reproduce(study, part, _command())
    except KeyboardInterrupt:
        _note("Stopped. The same command goes on where it was.")
        raise
    with busy("Drawing"):
        written = write_results(results, output)
    with _output() as console:
        if not quiet:
            terminal.render_claims(headline(results), results["claims"], written, console)


def _no_bound(found: Audit) -> errors.InputError:
    why = found.missing["certified_upper"]
    return _gate_without_bound(why, fitted_here=found.question is not None)


def _show(
    found: Audit,
    json: bool,
    max_error: float | None,
    gate: str,
    *,
    quiet: bool = False,
    opened: Path | None = None,
) -> None:
    value = found.calibration_error_at_most
    if max_error is not None and gate == "upper":
        if found.certificate is None:
            raise _no_bound(found)
        value = found.certificate.upper
    passed = max_error is None or value <= max_error + TOLERANCE
    with _output() as console:
        if json:
            about = {"max_error": max_error, "gate": gate, "value": value, "passed": passed}
            document = {**found.to_dict(), "gate": None if max_error is None else about}
            print(json_module.dumps(document, indent=2, allow_nan=False))
        elif not quiet:
            terminal.render(found, console)
        if max_error is not None and not (json or quiet):
            what = "the certified upper bound" if gate == "upper" else "the measured error"
            verdict = f"Passed: {what} is not over" if passed else f"Failed: {what} is over"
            console.print(f"\n{verdict} the {max_error:g} allowed.", style="bold")
    if opened is not None:  # last, because a browser may print what it likes
        webbrowser.open(opened.absolute().as_uri())
    if not passed:
        raise typer.Exit(1)


@contextmanager
def _output() -> Iterator[Console]:
    """Print to a reader who may stop reading, as `head` does: that changes no exit code."""
    console = SafeConsole()
    # a narrower terminal wraps the lines, which loses less than cutting off numbers
    console.width = max(console.width, terminal.LEAST_WIDTH)
    try:
        yield console
        sys.stdout.flush()
    except InputError:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise _not_printed(error.strerror or str(error)) from None


def _command() -> str:
    """Return the command as it was given, but for secrets, in letters that every file can hold."""
    words = sys.argv[1:]
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option == "--url" and equals:
            words[place] = f"--url={shown_url(value)}"
        elif word == "--url" and place + 1 < len(words):
            words[place + 1] = shown_url(words[place + 1])
        elif words[place - 1] != "--url" or place == 0:
            words[place] = without_secrets(word)
    return shlex.join(["calibrant", *words]).encode("utf-8", "backslashreplace").decode()


def _check_secrets() -> None:
    """Refuse an address with a password where none belongs: an error there would show it."""
    words = sys.argv[1:]
    for before, word in zip(["", *words], words, strict=False):
        belongs = before in {"--url", "--sql"} or word.startswith(("--url=", "--sql="))
        if not belongs and without_secrets(word) != word:
            raise _secret_out_of_place()
    urls = [word for before, word in zip(["", *words], words, strict=False) if before == "--url"]
    urls += [word for word in words if word.startswith("--url=")]
    # a password with a space that was not quoted: what follows it is an argument of its own
    for url in urls:
        rest = " ".join(words[words.index(url) :])
        if "@" not in url and without_secrets(rest) != rest and password_in(rest) is not None:
            raise _secret_out_of_place()


def _note(message: Warning | str, *_details: Any, **_more: Any) -> None:
    """Say a warning to a reader who knows no Python."""
    _say(f"Note: {message}")


def _say(words: str) -> None:
    """Print a message to those who read errors."""
    console = SafeConsole(stderr=True, soft_wrap=True)
    with suppress(OSError):  # an error that cannot be read changes no exit code
        console.print(bounded(without_secrets(words)), markup=False)


def _exit_code() -> int:
    """Run a command; a wrong option becomes one message, like any other bad input."""
    try:
        return int(app(standalone_mode=False) or 0)
    except SystemExit:  # help that nobody reads to its end: our own codes are returned
        return 0
    except Exception as error:
        words: Any = getattr(error, "format_message", None)
        if words is None:
            raise
        where = getattr(getattr(error, "ctx", None), "command_path", "calibrant")
        if type(error).__name__ != "NoArgsIsHelpError":  # which has shown the help already
            said = words()
            _say(f"Error: {said}{'' if said.endswith(('.', '?')) else '.'} See: {where} --help")
        return 2


def main() -> None:
    """Run the command line; bad input becomes one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a mark that cannot be shown is no failure
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("once", UserWarning)  # whatever -W says: here they are notes
            warnings.showwarning = _note
            _check_secrets()
            sys.exit(_exit_code())
    except (InputError, UnicodeError) as error:
        _say(f"Error: {error}")
        sys.exit(2)
    except OSError as error:
        place = "" if error.filename is None else f"{shown(str(error.filename))}: "
        _say(f"Error: {place}{error.strerror or error}.")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()


def _gate_without_bound(why: str, *, fitted_here: bool) -> InputError:
    # an error of 0 on rows that may have been fitted to must not pass as an estimate
    way_out = (
        "" if fitted_here else " Add --gate estimate to compare the error measured on these rows."
    )
    return InputError(
        f"--max-error compares the certified upper bound, and there is none. {why}{way_out}"
    )


def _scores_need_column() -> InputError:
    return InputError("--scores needs --prob, the name of the column that holds them.")


def _column_needs_scores() -> InputError:
    return InputError("--prob names a column of --scores FILE, but there is no file.")


def _data_folder_missing(folder: str) -> InputError:
    return InputError(
        f"There is no folder {path_shown(folder)}. Name the one that has the UCI files with "
        "--data-dir or CALIBRANT_DATA, or neither, and they are downloaded."
    )


def _not_a_folder(path: str) -> InputError:
    return InputError(
        f"{path_shown(path)} is a file, not a folder. Name a folder, which is made if need be."
    )


def _secret_out_of_place() -> InputError:
    return InputError(
        "A word of this command looks like the address of a database with its password. Give it as "
        "--url, and what to read there by --table or --sql."
    )


def _not_printed(why: str) -> InputError:
    return InputError(f"The answer could not be printed ({named(why, 200)}). Print it elsewhere.")


def _output_missing(kind: str) -> InputError:
    return InputError(
        f"--to {kind} writes a file that is not text: say where, as -o calibrator.{kind}."
    )


def _option_of_sql(name: str) -> InputError:
    return InputError(f"{name} is for --to sql; an ONNX model has no columns. Leave it out.")


def _not_shown(encoding: str) -> InputError:
    return InputError(
        f"The output is {encoding}, which lacks letters of the column's name. Write the SQL to a "
        "file: -o calibrator.sql."
    )


def _not_visible() -> InputError:
    return InputError(
        "The column's name has control characters, which would reach the terminal. Write the SQL "
        "to a file: -o calibrator.sql."
    )


def _overwrite_without_output() -> InputError:
    return InputError("--overwrite replaces a file: name it, as -o calibrator.sql.")


def _open_without_html() -> InputError:
    return InputError("--open shows the HTML report: say where to write it, as --html report.html.")
