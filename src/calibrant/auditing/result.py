"""The result of an audit: everything that was found, in words and numbers."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from calibrant._figures import figure, percentage, rounded_up
from calibrant._writing import written
from calibrant.auditing.advice import Advice, advice_of, no_advice
from calibrant.auditing.curves import Curves
from calibrant.auditing.details import Details
from calibrant.auditing.groups import GroupFinding
from calibrant.auditing.renderers import in_frame, rendered
from calibrant.auditing.verdict import Verdict
from calibrant.certificates.certificate import Certificate, percent
from calibrant.certificates.evidence import counted, too_good
from calibrant.certificates.testing import CalibrationTest
from calibrant.core.diagram import TOLERANCE
from calibrant.decisions.costs import costs_of
from calibrant.errors import text_or_none
from calibrant.measures.family import Measures
from calibrant.measures.interval import Interval

SCHEMA_VERSION = 1


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
        The measures that others report, besides the calibration error.
    certificate : Certificate or None
        What is guaranteed about the true calibration error; None, and `missing` says why, if labels
        are soft or weights are not integers, or if there is no error at all: see `question`.
    test : CalibrationTest or None
        Whether the scores can be right at all; None, and `missing` says why, if there is no test.
    verdict : Verdict
        Whether the scores can be used as probabilities, as far as these rows can tell.
    groups : tuple of GroupFinding
        With `by`: what was found in each group, the most evidence against calibration first.
    confidence : float
        Of the certificate and of every interval and band.
    seed : int
        The seed of whatever was drawn.
    independent : bool
        Rows are independent of each other: they do not come in clusters.
    details : Details
        The cumulative diagram that all of it was read off, and the rows, for `curves` and `advice`,
        which are computed when first asked for: rows that were changed meanwhile are refused.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> report = cb.audit(y_true, y_prob)
    >>> print(report.headline)
    In the worst range of scores predictions and outcomes differ by 4.42 events per 100 rows
    of these data (calibration error 0.04417, 20,000 rows).
    >>> print(report.where)
    It fails most for scores above 0.0005979 up to 0.5162 (12,845 rows): 17.24% predicted
    on average, 24.12% observed (O:E 1.40), so these scores are too low.
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
    verdict: Verdict
    groups: tuple[GroupFinding, ...]
    confidence: float
    seed: int
    independent: bool
    details: Details = field(repr=False, compare=False)

    @cached_property
    def curves(self) -> Curves:
        """What pictures show: reliability, difference, cost, and where the scores are."""
        return self.details.curves(self.confidence, self.seed, independent=self.independent)

    @cached_property
    def advice(self) -> Advice | None:
        """Whether to recalibrate, and how; None for soft labels or non-integer weights."""
        if not self.independent:
            return None
        opened = self.details.opened
        if self.question is not None:
            return no_advice(opened)
        failing = [one for one in self.groups if one.certain]
        known = self.certificate, self.test, self.confidence, self.seed
        worst = self.worst_intervals[0]
        return advice_of(opened, *known, worst=worst, failing=failing)

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
        found, most = figure(self.calibration_error), ""
        if not self.exact:
            most = "at most "
            more = self.calibration_error_at_most - self.calibration_error
            found += f" or up to {rounded_up(more, 2)} more"
        return (
            f"In the worst range of scores predictions and outcomes differ by {most}"
            f"{_events(self.calibration_error_at_most, bound=not self.exact)} {unit} of these data "
            f"(calibration error {found}, {self.data.rows:,} rows)."
        )

    @property
    def where(self) -> str:
        """Largest differences, in one sentence."""
        worst = self.worst_intervals[0]
        if worst.verdict == "exact":
            return "Predictions and outcomes agree in every range of scores."
        rates = (
            f"{worst.where} ({counted(worst.rows, 'row')}): "
            f"{percentage(worst.mean_prediction)} predicted on average, "
            f"{percentage(worst.observed_rate)} observed{_ratio(worst)}"
        )
        if self.test is not None and self.test.p_value > 1 - self.confidence:
            return f"The largest difference is for {rates}; chance alone can explain one as large."
        return f"It fails most for {rates}, so these scores are {worst.verdict}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known: rows that were left out, and warnings that `summary` has not."""
        dropped = self.data.dropped
        left_out = (f"{dropped:,} rows with a missing value were dropped.",) if dropped else ()
        return (*left_out, *(text for text in self.warnings if text != self.question))

    @property
    def question(self) -> str | None:
        """What is asked in place of a guarantee where there is no calibration error at all.

        Rows that a calibrator was fitted to look perfect, whatever it is worth.
        """
        return self.missing.get("certified_upper") if too_good(self.details.diagram) else None

    @property
    def summary(self) -> tuple[str, ...]:
        """The findings in sentences: the verdict, how large, what is guaranteed, where."""
        guaranteed = self.question if self.certificate is None else self.certificate.sentence
        guarantee = () if guaranteed is None else (guaranteed,)
        return (repr(self.verdict), self.headline, *guarantee, self.where, *self._group_sentence())

    def _group_sentence(self) -> tuple[str, ...]:
        """Say how many groups are proved to be miscalibrated, and which one most clearly."""
        if not self.groups:
            return ()
        certain = [one for one in self.groups if one.certain]
        level = f" at the {percent(self.confidence)} level (simultaneous)"
        if not certain:
            none = f"None of {len(self.groups):,} groups is proved to be miscalibrated{level}"
            return (f"{none}; in a group of few rows a large error can go unnoticed.",)
        worst = certain[0]
        verb = "is" if len(certain) == 1 else "are"
        some = f"{len(certain):,} of {len(self.groups):,} groups {verb} proved to be miscalibrated"
        return (
            f"{some}{level}, the clearest being {worst.name} (calibration error "
            f"{figure(worst.calibration_error)} on {worst.rows:,} rows).",
        )

    def __repr__(self) -> str:
        return " ".join(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "schema": "calibrant.audit",
            "schema_version": SCHEMA_VERSION,
            "summary": list(self.summary),
            "verdict": self.verdict.to_dict(),
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
            "findings": rendered("findings", self),
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

    def to_markdown(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        model: str | None = None,
    ) -> str:
        """Return the findings as Markdown, for a pull request or a model card.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as well: whole or not at all.
        title : str, optional
            The title of the report.
        model : str, optional
            The name of the model, which stands under the title.
        """
        names = {"title": text_or_none("title", title), "model": text_or_none("model", model)}
        text: str = rendered("markdown", self, **names)
        return written(text, path)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
        title: str | None = None,
        model: str | None = None,
        axis: str = "auto",
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
        title : str, optional
            The title of the report.
        model : str, optional
            The name of the model, which stands under the title.
        axis : {"auto", "linear", "logit"}
            Axes of the reliability diagram; "auto" takes log-odds if 90% of scores are under 0.1.
        """
        costs = costs_of(false_positive, false_negative)
        text: str = rendered(
            "html",
            self,
            false_positive=costs.false_positive,
            false_negative=costs.false_negative,
            title=text_or_none("title", title),
            model=text_or_none("model", model),
            axis=axis,
        )
        return written(text, path)

    def _repr_html_(self) -> str:
        """Show the report in a notebook, in a frame of its own."""
        return in_frame("Calibration report", self.to_html, self.summary)

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


def _plain(value: Any) -> Any:
    """Spell an infinite number as a word, because JSON has none."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _ratio(worst: Interval) -> str:
    """Say observed over expected, the size relative to the rate."""
    expected = worst.mean_prediction
    return f" (O:E {worst.observed_rate / expected:.2f})" if expected > 0 else ""


def _events(share: float, *, bound: bool) -> str:
    """Say a share as events per 100, or per a larger round number; a bound is rounded up."""
    per = next((per for per in (100, 10_000, 1_000_000) if share * per >= 0.1), 100_000_000)
    events = math.ceil(share * per * 100 - 1e-9) / 100 if bound else share * per
    return f"{events:.2f} events per {per:,}"
