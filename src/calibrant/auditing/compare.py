"""Compare: several models on the same rows, and which differences are proved or significant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from calibrant._text import named
from calibrant._types import FloatArray
from calibrant.auditing.comparison import Comparison, Difference, ModelFinding
from calibrant.auditing.details import Details
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.certify import certificate_of, has_weights, rows_need
from calibrant.certificates.evidence import WERE_THESE, check_rows, too_good
from calibrant.certificates.specification import CertificateSpec
from calibrant.core.diagram import Diagram, Source
from calibrant.core.statistic import values_of
from calibrant.data.models import Models, PairSums, models_of
from calibrant.measures.clinical import Estimate
from calibrant.measures.decomposition import BRIER
from calibrant.measures.error import ERROR
from calibrant.measures.interval import worst_intervals

#: The most rows of an exact test behind the lower end of an asymptotic interval.
_EXACT_ROWS = 1 << 17
#: What rounding leaves of a variance of 0, as a share of the mean square.
_ROUNDING = 1e-13


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
    limit of many rows. The confidence holds for each of the two tiers, not for both together.

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
        _finding(*model, spec)
        for model in zip(names, models.sources, diagrams, pairs.log_loss.tolist(), strict=True)
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


def _finding(
    name: str, source: Source, diagram: Diagram, log_loss: float, spec: CertificateSpec
) -> ModelFinding:
    weighted = has_weights(diagram)
    (error, _), (worst,), brier = values_of(source, diagram, ERROR, worst_intervals(1), BRIER)
    return ModelFinding(
        name=name,
        calibration_error=error,
        worst_interval=worst,
        certificate=certificate_of(diagram, spec, weighted=weighted),
        asymptotic=certificate_of(diagram, _asymptotic(spec), weighted=weighted),
        brier=brier,
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
