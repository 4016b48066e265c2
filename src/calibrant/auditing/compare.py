"""Compare: several models on the same rows, and which differences are proved or significant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from calibrant._text import named
from calibrant._types import FloatArray
from calibrant._writing import written
from calibrant.auditing.curves import Curves
from calibrant.auditing.details import Details
from calibrant.auditing.renderers import in_frame, rendered
from calibrant.certificates.certificate import Certificate, percent
from calibrant.certificates.certify import certificate_of, has_weights, rows_need
from calibrant.certificates.evidence import WERE_THESE, check_rows, too_good
from calibrant.certificates.specification import CertificateSpec
from calibrant.core.diagram import Diagram
from calibrant.data.models import Models, PairSums, models_of
from calibrant.measures.clinical import Estimate
from calibrant.measures.decomposition import brier_of
from calibrant.measures.error import error_of
from calibrant.measures.interval import Interval, worst_of

#: How sure it is which of two models is better calibrated.
Evidence: TypeAlias = Literal["proved", "significant", "none"]
SCHEMA_VERSION = 1
#: The most rows of an exact test behind the lower end of an asymptotic interval.
_EXACT_ROWS = 1 << 17
#: What rounding leaves of a variance of 0, as a share of the mean square.
_ROUNDING = 1e-13


@dataclass(frozen=True, slots=True)
class ModelFinding:
    """What was found for one model.

    Attributes
    ----------
    name : str
        Its name.
    calibration_error : float
        c_emp, exact.
    worst_interval : Interval
        Where it fails most.
    certificate : Certificate
        Finite-sample interval for its true calibration error, simultaneous over the models.
    asymptotic : Certificate
        The same by normal limits: a shorter interval, whose level holds in the limit of many rows.
    brier, log_loss : float
        Mean losses; log loss is inf if it was certain and wrong.
    """

    name: str
    calibration_error: float
    worst_interval: Interval
    certificate: Certificate
    asymptotic: Certificate
    brier: float
    log_loss: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model minus the second one: below 0 the first is better.

    Attributes
    ----------
    first, second : str
        Their names.
    calibration_error : Estimate
        Difference of the calibration errors measured, with a finite-sample interval for that of
        the true ones.
    calibration_error_asymptotic : Estimate
        The same with the interval that follows from the two asymptotic ones.
    brier : Estimate
        Difference of the mean losses, with the normal interval of the differences row by row.
    log_loss : Estimate or None
        The same; None if one of the two was certain and wrong, or gave a row a score of 0 or 1
        that the other did not: if that is ever wrong it costs infinitely much, which no sample
        rules out.
    """

    first: str
    second: str
    calibration_error: Estimate
    calibration_error_asymptotic: Estimate
    brier: Estimate
    log_loss: Estimate | None

    @property
    def better(self) -> str | None:
        """Name the model that is proved to be better calibrated; None if neither is."""
        return self._lower(self.calibration_error)

    @property
    def significantly_better(self) -> str | None:
        """Name the model that is proved or significantly better calibrated; None if neither is."""
        return self.better or self._lower(self.calibration_error_asymptotic)

    def _lower(self, difference: Estimate) -> str | None:
        """Name the model whose whole interval lies under that of the other one."""
        if difference.upper < 0:
            return self.first
        return self.second if difference.lower > 0 else None

    @property
    def evidence(self) -> Evidence:
        """How sure it is which one is better calibrated: "proved", "significant", or "none"."""
        if self.better is not None:
            return "proved"
        return "none" if self.significantly_better is None else "significant"

    @property
    def verdict(self) -> str:
        """Say which of the two is better calibrated, if that is shown, and by what."""
        if self.evidence == "none":
            names = f"{named(self.first)} and {named(self.second)}"
            return f"no difference in calibration is shown between {names}"
        return f"{self._order} ({self.evidence})"

    @property
    def _order(self) -> str:
        better = self.significantly_better
        other = self.second if better == self.first else self.first
        return f"{named(better)} is better calibrated than {named(other)}"


@dataclass(frozen=True)
class Comparison:
    """Several models on the same rows; `compare` makes one.

    Printed it is the findings in sentences, and a table of the models; in a notebook it is the
    report of `to_html`.

    Attributes
    ----------
    rows : int
        Rows, each counted as often as it weighs.
    confidence : float
        Simultaneous over the models, for what is proved of their calibration errors; for what is
        significant; for the Brier scores; and for the log losses.
    models : tuple of ModelFinding
        In the order given.
    differences : tuple of Difference
        Of every pair of models.
    warnings : tuple of str
        What is allowed but should be known.
    details : tuple of Details
        The diagram of each model and the rows, for `curves`, which are computed when first asked
        for: rows that were changed meanwhile are refused.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(20_000, seed=1)
    >>> comparison = cb.compare(y_true, {"old": y_prob**2, "new": y_prob})
    >>> print(comparison.summary[0])
    new has the smallest calibration error on these 20,000 rows: 0.003916.
    >>> [model.name for model in comparison.models]
    ['old', 'new']
    >>> comparison.differences[0].verdict
    'new is better calibrated than old (proved)'
    """

    rows: int
    confidence: float
    models: tuple[ModelFinding, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    details: tuple[Details, ...] = field(repr=False, compare=False)

    @cached_property
    def curves(self) -> tuple[Curves, ...]:
        """What pictures show of each model, without bands: those of several would hide it."""
        return tuple(one.curves(self.confidence, 0, independent=False) for one in self.details)

    @property
    def summary(self) -> tuple[str, ...]:
        """The findings in sentences."""
        best = min(self.models, key=lambda one: one.calibration_error)
        return (
            f"{named(best.name)} has the smallest calibration error on these {self.rows:,} rows: "
            f"{best.calibration_error:.4g}.",
            *self._calibration(),
            *self._losses(),
        )

    def _calibration(self) -> tuple[str, ...]:
        """Say which differences of calibration are proved, which significant, which neither."""
        orders: dict[Evidence, list[str]] = {"proved": [], "significant": [], "none": []}
        for pair in self.differences:
            orders[pair.evidence].append("" if pair.evidence == "none" else pair._order)
        sure, rest = percent(self.confidence), percent(self.confidence, rest=True)
        level = f"at the {sure} level (simultaneous over {len(self.models)} models)"
        shown: dict[Evidence, str] = {
            "proved": f"Proved {level}, if rows are independent",
            "significant": f"Significant at {rest} (simultaneous) by asymptotic intervals, not "
            "proved",
        }
        words = [
            f"{start}: {'; '.join(orders[kind])}." for kind, start in shown.items() if orders[kind]
        ]
        if not words:
            return (f"No difference in calibration is shown {level}.",)
        left = len(orders["none"])
        if left:
            others = "the other pair" if left == 1 else f"the other {left:,} pairs"
            words.append(f"No difference in calibration is shown for {others}.")
        return tuple(words)

    def _losses(self) -> tuple[str, ...]:
        """Say which losses are lower, where rows are many enough to tell."""
        lower = []
        for pair in self.differences:
            for name, found in (("Brier score", pair.brier), ("log loss", pair.log_loss)):
                if found is not None and not found.lower <= 0 <= found.upper:
                    order = (
                        (pair.first, pair.second) if found.upper < 0 else (pair.second, pair.first)
                    )
                    first, second = map(named, order)
                    lower.append(f"the {name} is lower for {first} than for {second}")
        words = f"By a normal limit at the same confidence: {'; '.join(lower)}."
        return (words,) if lower else ()

    def __repr__(self) -> str:
        return " ".join(self.summary)

    def __str__(self) -> str:
        return str(rendered("comparison text", self))

    def _repr_html_(self) -> str:
        """Show the report in a notebook, in a frame of its own."""
        return in_frame("Comparison of models", self.to_html, self.summary)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return table and pictures as one HTML text, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it: whole or not at all.
        """
        return written(str(rendered("comparison html", self)), path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "schema": "calibrant.comparison",
            "schema_version": SCHEMA_VERSION,
            "summary": list(self.summary),
            "rows": self.rows,
            "confidence": self.confidence,
            "models": [_model(one) for one in self.models],
            "differences": [_pair(one) for one in self.differences],
            "warnings": list(self.warnings),
        }


def compare(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: object = None,
    label: str | None = None,
    probs: Sequence[str] | None = None,
    weight: str | None = None,
) -> Comparison:
    """Compare the calibration and the losses of several models on the same rows.

    Parameters
    ----------
    y_true : array_like, or a table
        Outcomes, 0/1; or a table that holds them, as for `Predictions`, with `label` and `probs`.
    y_prob : mapping of name to array_like
        The scores of each model.
    confidence : float, default 0.95
        Simultaneous over the models: of all that is proved of calibration errors, of all that is
        significant, and of all that is said of either loss.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.
    label : str, optional
        With a table: its column of outcomes.
    probs : list of str, optional
        With a table: its columns of scores, one for each model.
    weight : str, optional
        With a table: its column of weights.

    Returns
    -------
    Comparison
        Its repr is prose; printed it has a table, and `to_html` adds pictures. `to_dict` gives the
        numbers.

    Notes
    -----
    With K models each one's true calibration error lies in its interval [L, U], which is wrong with
    a chance of at most (1 - confidence) / K. By the union bound all K are right with the confidence
    asked for, although the models share their rows, and then the difference of any two lies in
    [L1 - U2, U1 - L2]: the model with the lower interval is better calibrated if the two do not
    overlap. That is "proved" with `method="certified"`, whose intervals hold for any number of
    rows, and "significant" with the shorter ones of `method="asymptotic"`, whose level holds in the
    limit of many rows. Each of the two has the confidence by itself.

    The intervals for losses are those of the mean of row differences, in the limit of many rows.
    They are at least as wide as they would be if, row by row, the one of the two models were right
    that makes the difference vary more: in a sample without events differences hardly vary, which
    is no evidence.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, truth = cb.simulate.overconfident().draw(50_000, seed=1)
    >>> print(cb.compare(y_true, {"model": y_prob, "truth": truth}).summary[1])
    Proved at the 95% level (simultaneous over 2 models), if rows are independent: truth is
    better calibrated than model.
    """
    models = models_of(
        y_true, y_prob, sample_weight, pos_label, label=label, probs=probs, weight=weight
    )
    return comparison_of(models, confidence)


def comparison_of(models: Models, confidence: float) -> Comparison:
    """Compare models, wherever their rows live."""
    names = models.names
    spec = CertificateSpec(confidence, "certified", "both", statements=len(names))
    confidence = spec.confidence
    diagrams = models.diagrams(rows_need(_asymptotic(spec), most_exact=_EXACT_ROWS))
    check_rows(diagrams[0], "a comparison")
    pairs = models.pairs()
    found = [
        _finding(name, diagram, total, spec)
        for name, diagram, total in zip(names, diagrams, pairs.log_loss.tolist(), strict=True)
    ]
    return Comparison(
        rows=diagrams[0].count,
        confidence=confidence,
        models=tuple(found),
        differences=tuple(_differences(found, pairs, diagrams[0].weight, confidence)),
        warnings=models.warnings + _certain(names, pairs) + _fitted_here(names, diagrams),
        details=tuple(map(Details, diagrams, models.sources)),
    )


def _asymptotic(spec: CertificateSpec) -> CertificateSpec:
    return replace(spec, method="asymptotic")


def _finding(name: str, diagram: Diagram, log_loss: float, spec: CertificateSpec) -> ModelFinding:
    weighted = has_weights(diagram)
    return ModelFinding(
        name=name,
        calibration_error=error_of(diagram)[0],
        worst_interval=worst_of(diagram),
        certificate=certificate_of(diagram, spec, weighted=weighted),
        asymptotic=certificate_of(diagram, _asymptotic(spec), weighted=weighted),
        brier=brier_of(diagram),
        log_loss=log_loss / diagram.weight,
    )


def _differences(
    found: list[ModelFinding], pairs: PairSums, n: float, confidence: float
) -> list[Difference]:
    both = list(combinations(found, 2))
    each = 1 - (1 - confidence) / len(both)
    differences = []
    for (one, other), brier, log in zip(both, pairs.brier, pairs.log, strict=True):
        measured = one.calibration_error - other.calibration_error
        differences.append(
            Difference(
                first=one.name,
                second=other.name,
                calibration_error=Estimate(
                    measured, *_apart(one.certificate, other.certificate), confidence
                ),
                calibration_error_asymptotic=Estimate(
                    measured, *_apart(one.asymptotic, other.asymptotic), confidence
                ),
                brier=_paired(brier, n, each, confidence),
                log_loss=_paired(log, n, each, confidence) if np.isfinite(log).all() else None,
            )
        )
    return differences


def _apart(one: Certificate, other: Certificate) -> tuple[float, float]:
    """Return the least and the largest difference of two errors that lie in their intervals."""
    return one.lower - other.upper, one.upper - other.lower


def _fitted_here(names: list[str], diagrams: list[Diagram]) -> tuple[str, ...]:
    """Ask about models that have no calibration error at all."""
    return tuple(
        f"{named(name)} has no calibration error at all here: {WERE_THESE} Then nothing that is "
        "said of it holds for other rows."
        for name, diagram in zip(names, diagrams, strict=True)
        if too_good(diagram)
    )


def _certain(names: list[str], pairs: PairSums) -> tuple[str, ...]:
    """Say why there is no interval for a difference of log losses that are finite."""
    return tuple(
        f"No interval for the log losses of {named(one)} and {named(other)}: only one of the two "
        "gave some row a score of 0 or 1, which costs infinitely much if it is ever wrong."
        for (one, other), log in zip(combinations(names, 2), pairs.log, strict=True)
        if np.isfinite(log[0]) and not np.isfinite(log[2])
    )


def _paired(sums: FloatArray, n: float, each: float, confidence: float) -> Estimate:
    """Return the mean of row differences with its normal interval at level `each`.

    With few surprises the sample's variance may be next to 0 by chance, so it counts as at least
    what the models themselves expect: as in the score test of a rate, a sample without events then
    excludes 0 only where enough of them were to be expected.
    """
    from scipy.special import ndtri

    mean = float(sums[0]) / n
    square = float(sums[1]) / n
    variance = square - mean**2
    if variance < _ROUNDING * square:  # all that is left of equal differences
        variance = 0.0
    variance *= n / (n - 1) if n > 1 else 1.0
    variance = max(variance, float(sums[2]) / n)
    width = float(ndtri((1 + each) / 2)) * math.sqrt(variance / n)
    return Estimate(mean, mean - width, mean + width, confidence)


def _model(one: ModelFinding) -> dict[str, Any]:
    return {
        "name": one.name,
        "calibration_error": one.calibration_error,
        "worst_interval": one.worst_interval.to_dict(),
        "certificate": one.certificate.to_dict(),
        "asymptotic": one.asymptotic.to_dict(),
        "brier": one.brier,
        "log_loss": one.log_loss if math.isfinite(one.log_loss) else str(one.log_loss),
    }


def _pair(one: Difference) -> dict[str, Any]:
    return {**asdict(one), "evidence": one.evidence, "verdict": one.verdict}
