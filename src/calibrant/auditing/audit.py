"""Audit: everything the library can say about one set of predictions, computed once."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._version import __version__
from calibrant._writing import written
from calibrant.auditing.advice import Advice, advice_need, advice_of, no_advice
from calibrant.auditing.curves import CURVES_NEED, Curves, curves_of
from calibrant.auditing.groups import CROSSED, Crossed, GroupFinding, groups_of
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.certify import (
    certificate_of,
    certificate_of_clusters,
    has_weights,
    refuse_without_clusters,
    rows_need,
)
from calibrant.certificates.evidence import WERE_THESE, check_rows, evidence_of, too_good
from calibrant.certificates.specification import Estimand, Method, Terms
from calibrant.certificates.testing import DRAWS, CalibrationTest, needs_exact, suited_test
from calibrant.core.diagram import TOLERANCE, Diagram, Source, resolve
from calibrant.data.predictions import Predictions, TallyData, data_of
from calibrant.decisions.costs import costs_of
from calibrant.measures.error import error_of
from calibrant.measures.family import Family, Gap, Measures
from calibrant.measures.interval import Interval, intervals_need, worst_intervals_of
from calibrant.measures.reliability import reliability_need, reliability_of

SCHEMA_VERSION = 1
#: Worst intervals that an audit names.
_WORST = 3
#: Up to this many rows an audit runs an exact test where the limit is not to be trusted.
_EXACT_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What the predictions are like, before any judgement.

    Attributes
    ----------
    rows : int
        Rows that count (of positive weight).
    weight : float
        Their total weight; equal to `rows` without weights.
    observed_rate : float
        Share of the weight where the event happened.
    mean_prediction : float
        Mean score.
    labels_binary : bool
        Labels are two values, not fractions.
    weights_integer : bool
        Weights are whole numbers, or there are none.
    dropped : int
        Rows left out because a value was missing.
    """

    rows: int
    weight: float
    observed_rate: float
    mean_prediction: float
    labels_binary: bool
    weights_integer: bool
    dropped: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a reviewer needs to repeat the audit.

    Attributes
    ----------
    calibrant, numpy : str
        Versions.
    rows : int
        Rows read, those without weight and those dropped included.
    file, file_sha256 : str or None
        The file the predictions came from, and its hash.
    seed : int or None
        The seed of what was drawn, if anything was.
    command : str or None
        The command line that made the audit.
    event, score : str or None
        Which column and label the event is, and which column has the scores; None for arrays.
    """

    calibrant: str
    numpy: str
    rows: int
    file: str | None = None
    file_sha256: str | None = None
    seed: int | None = None
    command: str | None = None
    event: str | None = None
    score: str | None = None


@dataclass(frozen=True)
class Audit:
    """What can be said about a set of predictions; `audit` makes one.

    Attributes
    ----------
    data : DataFacts
        Rows, weight, rates.
    calibration_error : float
        c_emp, exact for rows. For a tally: its value at the edges of cells, a lower bound.
    calibration_error_at_most : float
        The same for rows. For a tally: the upper bound.
    worst_intervals : tuple of Interval
        Where predictions and outcomes differ most, worst first, disjoint.
    reliability : tuple of Interval
        Up to ten groups of about equal weight, in order of score.
    warnings : tuple of str
        What is allowed but should be known.
    missing : dict of str to str
        Why there is no number, for every name that is NaN in `to_metrics`.
    provenance : Provenance
        Versions, file and command.
    measures : Measures
        The measures that others report, next to the calibration error.
    certificate : Certificate or None
        What is promised about the true calibration error; None, and `missing` says why, if labels
        are soft or weights are no row counts, or if there is no error at all: see `question`.
    test : CalibrationTest or None
        Whether the scores can be right at all; None, and `missing` says why, if there is no test.
    groups : tuple of GroupFinding
        With `by`: what was found in each group, the most evidence against calibration first.
    confidence : float
        Of the certificate and of every interval and band.
    seed : int
        The seed of whatever was drawn.
    independent : bool
        Rows are independent of each other: they do not come in clusters.
    diagram : Diagram
        The cumulative diagram that all of it was read off.
    source : Source
        Where the rows are, for `curves` and `advice`, which are computed when first asked for: do
        not change the data before.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> report = cb.audit(y_true, y_prob)
    >>> print(report.headline)
    In the worst range of scores predictions and outcomes differ by 4.42 events per 100 rows
    of these data (calibration error 0.04417, 20,000 rows).
    >>> print(report.where)
    It fails most for scores above 0.0005979 up to 0.5162 (12,845 rows): 17.24% predicted on
    average, 24.12% observed, so these scores are too low.
    >>> round(report.calibration_error, 4), round(report.certificate.upper, 4)
    (0.0442, 0.0494)
    >>> round(report.measures.roc_auc, 3)
    0.814
    >>> sorted(report.to_metrics())[:3]
    ['brier_discrimination', 'brier_miscalibration', 'brier_score']
    """

    data: DataFacts
    calibration_error: float
    calibration_error_at_most: float
    worst_intervals: tuple[Interval, ...]
    reliability: tuple[Interval, ...]
    warnings: tuple[str, ...]
    missing: dict[str, str] = field(hash=False)
    provenance: Provenance
    measures: Measures
    certificate: Certificate | None
    test: CalibrationTest | None
    groups: tuple[GroupFinding, ...]
    confidence: float
    seed: int
    independent: bool
    diagram: Diagram = field(repr=False, compare=False)
    source: Source = field(repr=False, compare=False)

    @cached_property
    def _opened(self) -> Diagram:
        """The diagram, opened as far as curves and advice need, which takes as long as the rest."""
        opened = resolve(self.source, *CURVES_NEED, advice_need, start=self.diagram)
        self.source.release()
        return opened

    @cached_property
    def curves(self) -> Curves:
        """What pictures show: reliability, difference, cost, and where the scores are."""
        return curves_of(self._opened, self.confidence, self.seed, independent=self.independent)

    @cached_property
    def advice(self) -> Advice | None:
        """Whether to recalibrate, and how; None if labels are soft, or rows are no counts."""
        if not self.independent:
            return None
        if self.question is not None:
            return no_advice(self._opened)
        failing = sum(one.certain for one in self.groups)
        return advice_of(
            self._opened,
            self.certificate,
            self.test,
            self.confidence,
            self.seed,
            failing=failing,
        )

    @property
    def exact(self) -> bool:
        """Whether the calibration error is exact, not bounded."""
        return self.calibration_error_at_most - self.calibration_error <= TOLERANCE

    @property
    def headline(self) -> str:
        """The finding in one sentence."""
        unit = "rows" if self.data.weights_integer else "units of weight"
        if self.calibration_error_at_most <= TOLERANCE:
            agree = "Predictions and outcomes agree in every range of scores"
            return f"{agree} (calibration error 0, {self.data.rows:,} rows)."
        found, most = f"{self.calibration_error:.4g}", ""
        if not self.exact:
            most = "at most "
            found += f" or up to {self.calibration_error_at_most - self.calibration_error:.2g} more"
        return (
            f"In the worst range of scores predictions and outcomes differ by {most}"
            f"{_events(self.calibration_error_at_most, bound=not self.exact)} {unit} of these data "
            f"(calibration error {found}, {self.data.rows:,} rows)."
        )

    @property
    def where(self) -> str:
        """Where it fails most, in one sentence."""
        worst = self.worst_intervals[0]
        if worst.verdict == "exact":
            return "Predictions and outcomes agree in every range of scores."
        return (
            f"It fails most for {worst.where} ({worst.rows:,} rows): "
            f"{100 * worst.mean_prediction:.2f}% predicted on average, "
            f"{100 * worst.observed_rate:.2f}% observed, so these scores are {worst.verdict}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known: rows that were left out, and warnings that `summary` has not."""
        dropped = self.data.dropped
        left_out = (f"{dropped:,} rows with a missing value were dropped.",) if dropped else ()
        return (*left_out, *(text for text in self.warnings if text != self.question))

    @property
    def question(self) -> str | None:
        """What is asked in place of a promise where there is no calibration error at all.

        Rows that a calibrator was fitted to look perfect, whatever it is worth.
        """
        return self.missing.get("certified_upper") if too_good(self.diagram) else None

    @property
    def summary(self) -> tuple[str, ...]:
        """The findings in sentences: how large, what is promised, where."""
        promised = self.question if self.certificate is None else self.certificate.sentence
        promise = () if promised is None else (promised,)
        return (self.headline, *promise, self.where, *self._group_sentence())

    def _group_sentence(self) -> tuple[str, ...]:
        """Say how many groups are miscalibrated for certain, and which one most."""
        if not self.groups:
            return ()
        certain = [one for one in self.groups if one.certain]
        if not certain:
            return (f"None of {len(self.groups):,} groups is miscalibrated for certain.",)
        worst = certain[0]
        verb = "is" if len(certain) == 1 else "are"
        return (
            f"{len(certain):,} of {len(self.groups):,} groups {verb} miscalibrated for certain, "
            f"the clearest being {worst.name} (calibration error {worst.calibration_error:.4g} on "
            f"{worst.rows:,} rows).",
        )

    def __repr__(self) -> str:
        return " ".join(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "schema": "calibrant.audit",
            "schema_version": SCHEMA_VERSION,
            "summary": list(self.summary),
            "confidence": self.confidence,
            "seed": self.seed,
            "independent": self.independent,
            "data": asdict(self.data),
            "calibration_error": self.calibration_error,
            "calibration_error_at_most": self.calibration_error_at_most,
            "worst_intervals": [interval.to_dict() for interval in self.worst_intervals],
            "reliability": [interval.to_dict() for interval in self.reliability],
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "test": None if self.test is None else self.test.to_dict(),
            "measures": _plain(asdict(self.measures)),
            "groups": [one.to_dict() for one in self.groups],
            "advice": None if self.advice is None else self.advice.to_dict(),
            "curves": self.curves.to_dict(),
            "warnings": list(self.warnings),
            "missing": dict(self.missing),
            "provenance": asdict(self.provenance),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return everything as JSON text, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it: whole or not at all.
        """
        return written(json.dumps(self.to_dict(), indent=2, allow_nan=False), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the findings as Markdown, for a pull request or a model card.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as well: whole or not at all.
        """
        return written(str(_renderer("markdown").markdown_of(self)), path)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> str:
        """Return the report as one HTML text, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it: whole or not at all.
        false_positive : float, default 1
            Where the slider for the cost of a false positive starts.
        false_negative : float, default 1
            The same for a false negative.
        """
        costs = costs_of(false_positive, false_negative)
        text = str(
            _renderer("html").html_of(
                self,
                false_positive=costs.false_positive,
                false_negative=costs.false_negative,
            )
        )
        return written(text, path)

    def _repr_html_(self) -> str:
        """Show the report in a notebook, in a frame of its own."""
        try:
            page = escape(self.to_html())
        except errors.InputError:  # without the extra there is the prose
            return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.summary)
        style = "width:100%;height:40rem;border:1px solid #d0d7de"
        return f'<iframe title="Calibration report" style="{style}" srcdoc="{page}"></iframe>'

    def to_metrics(self) -> dict[str, float]:
        """Return the main numbers as a flat dict of floats, for experiment trackers.

        Every audit has the same keys. Where there is no number it is NaN, and `missing` says why.
        """
        worst = self.worst_intervals[0]
        return {
            "rows": float(self.data.rows),
            "weight": self.data.weight,
            "observed_rate": self.data.observed_rate,
            "mean_prediction": self.data.mean_prediction,
            "calibration_error": self.calibration_error,
            "calibration_error_at_most": self.calibration_error_at_most,
            "worst_interval_rows": float(worst.rows),
            "worst_interval_mean_prediction": worst.mean_prediction,
            "worst_interval_observed_rate": worst.observed_rate,
            "worst_interval_excess": worst.excess,
            "certified_upper": math.nan if self.certificate is None else self.certificate.upper,
            "test_p_value": math.nan if self.test is None else self.test.p_value,
            **self.measures.to_metrics(),
        }


def _renderer(name: str) -> Any:
    """Load a renderer when it is asked for: they stand above this room and read what is here."""
    return import_module(f"calibrant.report.{name}")


def audit(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    method: Method = "auto",
    sample_weight: Any = None,
    pos_label: object = None,
    clusters: Any = None,
    estimand: Estimand = "row",
    max_cluster_size: int | None = None,
    seed: int = 0,
    label: str | None = None,
    prob: str | None = None,
    weight: str | None = None,
    by: Any = None,
    crossed: Crossed = "first",
    clip: float | None = None,
) -> Audit:
    """Say what can be said about a classifier's probabilities, in words and numbers.

    Parameters
    ----------
    y_true : array_like, Predictions, Tally or a table
        Outcomes, as for `calibration_error`; or a table that holds them, with `label` and `prob`.
        What a Tally hides inside its cells shows as bounds.
    y_prob : array_like
        Predicted probabilities.
    confidence : float, default 0.95
        Of the certificate and of every interval.
    method : str, default "auto"
        How the true error is bounded, as for `certify`.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.
    clusters : array_like or str, optional
        Which rows belong together, as for `certify`; with a table the name of the column.
    estimand : str, default "row"
        With clusters: what counts once, "row" or "cluster".
    max_cluster_size : int, optional
        With clusters: the most rows of one, known before the data.
    seed : int, default 0
        The seed of whatever is drawn.
    label : str, optional
        With a table: its column of outcomes.
    prob : str, optional
        With a table: its column of scores.
    weight : str, optional
        With a table: its column of weights.
    by : str, list of str, or mapping of name to array_like, optional
        Columns whose values, and pairs of values, make groups; next to arrays, the columns
        themselves by name. Groups of fewer than 100 rows are pooled. The certificates of all groups
        hold at once.
    crossed : {"first", "all"}
        With more than ten columns: which of them are paired, the first ten or all. The number of
        pairs grows with the square of that of columns, and so does the time.
    clip : float, optional
        Move every score into [clip, 1 - clip] for the calibration slope and intercept alone, which
        scores of exactly 0 or 1 have none of otherwise; as for `calibration_slope`.

    Returns
    -------
    Audit
        Its repr is a sentence; `to_dict` and `to_metrics` give the numbers.

    Examples
    --------
    >>> import calibrant as cb
    >>> found = cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    >>> found.calibration_error
    0.35
    >>> print(found.where)
    It fails most for scores above 0.4 up to 0.8 (2 rows): 70.00% predicted on average, ...
    """
    terms = Terms(
        confidence, method, seed=seed, estimand=estimand, max_cluster_size=max_cluster_size
    )
    clip = errors.clip_or_none(clip)
    errors.one_of("crossed", crossed, CROSSED)
    named = {"label": label, "prob": prob, "weight": weight}
    data = data_of(y_true, y_prob, sample_weight, pos_label, clusters, fine=True, **named)
    family = Family(terms.confidence, clip)
    diagram = resolve(
        data.source,
        partial(intervals_need, k=_WORST),
        reliability_need,
        *family.needs,
        rows_need(terms, most_exact=_EXACT_ROWS),
    )
    error, at_most = error_of(diagram)
    measures, gaps = family.measures_of(data.source, diagram)
    certificate, test, unsure = _sure(data, diagram, terms)
    notes = _reasons(gaps) + _clip_note(measures) + _reversed_note(diagram, measures)
    groups, pooled = groups_of(data, by, terms, crossed) if by is not None else ((), ())
    data.source.release()  # the audit may be kept for long
    return Audit(
        data=_facts(diagram, data.origin.dropped),
        calibration_error=error,
        calibration_error_at_most=at_most,
        worst_intervals=worst_intervals_of(diagram, _WORST),
        reliability=reliability_of(diagram),
        warnings=data.warnings + notes + _reasons(unsure) + pooled,
        missing={name: gap.reason for gap in gaps + unsure for name in gap.names},
        measures=measures,
        certificate=certificate,
        test=test,
        groups=groups,
        confidence=confidence,
        seed=terms.seed,
        independent=data.clusters is None,
        diagram=diagram,
        source=data.source,
        provenance=_provenance(data, certificate, test),
    )


def advise(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
    seed: int = 0,
) -> Advice:
    """Say whether to recalibrate, how, and what it is worth.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    confidence : float, default 0.95
        Of the test and of the certificate.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.
    seed : int, default 0
        Seed of the folds.

    Returns
    -------
    Advice
        Its repr is prose. Calibrators are compared by the Brier score on held-out folds, scores
        standing at the mean of about a thousand groups; the simplest one within two standard
        errors of the best wins. None does if the best gains less than two standard errors, or if
        the test does not reject the scores at the confidence asked for.

    Notes
    -----
    A low calibration error means that there is little to gain: no nondecreasing recalibration saves
    more than the true one (Gao, Parameswaran and Peng, 2017, Section 4, suspect as much).

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000, seed=1)
    >>> cb.advise(y_true, y_prob).recommended
    'temperature'
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(5000, seed=1)
    >>> cb.advise(y_true, y_prob).recommended is None
    True
    """
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "seed": seed}
    found = audit(y_true, y_prob, confidence=confidence, **options)
    check_rows(found.diagram, "advice")
    if found.advice is None:
        raise errors.needs_binary("advice")
    return found.advice


def _sure(
    data: Predictions | TallyData, diagram: Diagram, terms: Terms
) -> tuple[Certificate | None, CalibrationTest | None, tuple[Gap, ...]]:
    """Certify and test, or say why not."""
    if data.clusters is None:
        refuse_without_clusters(terms)
    try:
        check_rows(diagram, "a certificate and a test")
    except errors.InputError as error:
        names = ("certified_upper", "test_p_value")
        return None, None, (Gap(names, f"No certificate and no test: {error}"),)
    if too_good(diagram) and terms.method != "isotonic":  # which is for such rows
        own = ', or bound its own with method="isotonic" (--method isotonic)'
        own = own if data.clusters is None else ""  # there is no such bound for clusters
        question = (
            f"No calibration error at all on {diagram.count:,} rows: {WERE_THESE} Then they prove "
            f"nothing: audit rows that it has not seen{own}. If they were not, calibrant.certify "
            "gives the bound in Python."
        )
        return None, None, (Gap(("certified_upper", "test_p_value"), question),)
    if isinstance(data, Predictions) and data.clusters is not None:
        note = (
            "No test, bands or advice: they take rows for independent. For those audit one row of "
            "each cluster, drawn by lot. The intervals of slope, intercept and observed/expected "
            "ratio take rows for independent, too, so they are too short."
        )
        return certificate_of_clusters(data, terms), None, (Gap(("test_p_value",), note),)
    certificate = certificate_of(diagram, terms, weighted=has_weights(diagram))
    evidence = evidence_of(diagram)
    if not needs_exact(evidence.n, evidence.v0) or diagram.open:
        return certificate, suited_test(diagram, evidence, DRAWS, terms.seed), ()
    note = (
        "No test: with so few rows or events it would have to draw outcomes for every row, which "
        "an audit of this size does not. calibration_test does; a tally does not hold the rows."
    )
    return certificate, None, (Gap(("test_p_value",), note),)


def _reasons(gaps: tuple[Gap, ...]) -> tuple[str, ...]:
    return tuple(gap.reason for gap in gaps)


def _clip_note(measures: Measures) -> tuple[str, ...]:
    """Say that slope and intercept are those of scores that were moved."""
    if measures.clip is None or (measures.slope is None and measures.intercept is None):
        return ()
    low, high = f"{measures.clip:g}", f"{1 - measures.clip:.15g}"
    return (
        f"Calibration slope and intercept are those of scores moved into [{low}, {high}] by clip; "
        "everything else is that of the scores as they are.",
    )


def _provenance(
    data: Predictions | TallyData, certificate: Certificate | None, test: CalibrationTest | None
) -> Provenance:
    seeds = [found.seed for found in (certificate, test) if found is not None]
    return Provenance(
        calibrant=__version__,
        numpy=np.__version__,
        rows=len(data) + data.origin.dropped,
        file=data.origin.file,
        file_sha256=data.origin.sha256,
        event=data.origin.event,
        score=data.origin.score,
        seed=next((seed for seed in seeds if seed is not None), None),
    )


def _reversed_note(diagram: Diagram, measures: Measures) -> tuple[str, ...]:
    """Ask whether the event is the right label, if high scores go with few events for certain."""
    fewer = min(diagram.positives, diagram.weight - diagram.positives)
    auc = measures.roc_auc
    # three standard errors at most: the variance of a ROC AUC is at most 1 / (4 * fewer)
    if auc is None or fewer < 1 or auc >= 0.5 - 1.5 / math.sqrt(fewer):
        return ()
    return (
        f"The event is rarer where scores are higher (ROC AUC {auc:.2f}): is it the right one of "
        "the two labels?",
    )


def _plain(value: Any) -> Any:
    """Spell an infinite number as a word, because JSON has none."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _events(share: float, *, bound: bool) -> str:
    """Say a share as events per 100, or per a larger round number; a bound is rounded up."""
    per = next((per for per in (100, 10_000, 1_000_000) if share * per >= 0.1), 100_000_000)
    events = math.ceil(share * per * 100 - 1e-9) / 100 if bound else share * per
    return f"{events:.2f} events per {per:,}"


def _facts(diagram: Diagram, dropped: int) -> DataFacts:
    return DataFacts(
        rows=int(diagram.cells.rows.sum()),
        weight=diagram.weight,
        observed_rate=diagram.rate,
        mean_prediction=diagram.mean_score,
        labels_binary=diagram.totals.labels_binary,
        weights_integer=diagram.totals.weights_integer,
        dropped=dropped,
    )
