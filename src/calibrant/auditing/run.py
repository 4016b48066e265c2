"""An audit is run: everything the library can say about one set of predictions, computed once."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._version import __version__
from calibrant.auditing.advice import Advice, backwards, only_labels
from calibrant.auditing.claims import claims_of
from calibrant.auditing.details import Details
from calibrant.auditing.groups import CROSSED, Crossed, groups_of
from calibrant.auditing.limit import Limit, limit_of
from calibrant.auditing.result import Audit, DataFacts, Provenance
from calibrant.auditing.verdict import verdict_of
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.certify import rows_need
from calibrant.certificates.evidence import check_rows
from calibrant.certificates.specification import CertificateSpec, Estimand, Method
from calibrant.certificates.testing import CalibrationTest
from calibrant.core.diagram import Diagram, Needs, resolve
from calibrant.core.statistic import values_of
from calibrant.data.predictions import Predictions, TallyData, data_of
from calibrant.decisions.curve import costs_need
from calibrant.measures.error import ERROR
from calibrant.measures.family import Family, Gap, Measures
from calibrant.measures.interval import worst_intervals
from calibrant.measures.reliability import RELIABILITY

#: Worst intervals that an audit names.
_WORST = 3
#: Up to this many rows an audit runs an exact test where the limit is not to be trusted.
_EXACT_ROWS = 1 << 17


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
    max_error: float | None = None,
    max_relative_error: float | None = None,
    max_cost: float | None = None,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
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
        Columns whose values, and pairs of values, make groups; with arrays, the columns
        themselves by name. Groups of fewer than 100 rows are pooled. The certificates of all groups
        hold at once.
    crossed : {"first", "all"}
        With more than ten columns: which of them are paired, the first ten or all. The number of
        pairs grows with the square of that of columns, and so does the time.
    clip : float, optional
        Move every score into [clip, 1 - clip] for the calibration slope and intercept alone, which
        scores of exactly 0 or 1 have none of otherwise; as for `calibration_slope`.
    max_error : float, optional
        The largest calibration error that is acceptable, chosen before these rows were looked at.
        `Audit.verdict` says whether the true one is within it, over it, or which of the two these
        rows cannot tell.
    max_relative_error : float, optional
        Instead of max_error: the limit as a share of the base rate, such as 0.1.
    max_cost : float, optional
        Instead of max_error: the most that a nondecreasing recalibration may save per decision, in
        the unit of the two costs.
    false_positive, false_negative : float, default 1
        With max_cost: what the two errors cost.

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
    The largest difference is for scores above 0.4 up to 0.8 (2 rows): 70.00% predicted on ...
    """
    spec = CertificateSpec(
        confidence, method, seed=seed, estimand=estimand, max_cluster_size=max_cluster_size
    )
    clip = errors.clip_or_none(clip)
    errors.one_of("crossed", crossed, CROSSED)
    costs = {"false_positive": false_positive, "false_negative": false_negative}
    limit = limit_of(max_error, max_relative_error, max_cost, **costs)
    named = {"label": label, "prob": prob, "weight": weight}
    data = data_of(y_true, y_prob, sample_weight, pos_label, clusters, fine=True, **named)
    family = Family(spec.confidence, clip)
    parts = (ERROR, worst_intervals(_WORST), RELIABILITY)
    diagram = resolve(
        data.source,
        *(one.needs for one in parts),
        *family.needs,
        rows_need(spec, most_exact=_EXACT_ROWS),
        *_limit_needs(limit),
    )
    (error, at_most), worst, reliability = values_of(data.source, diagram, *parts)
    measures, gaps = family.measures_of(data.source, diagram)
    certificate, test, unsure = claims_of(data, diagram, spec)
    notes = _reasons(gaps) + _clip_note(measures)
    notes += _labels_note(diagram) + _reversed_note(diagram)
    groups, pooled = groups_of(data, by, spec, crossed) if by is not None else ((), ())
    data.source.release()  # the audit may be kept for long
    return Audit(
        data=_facts(diagram, data.origin.dropped),
        calibration_error=error,
        calibration_error_at_most=at_most,
        worst_intervals=worst,
        reliability=reliability,
        warnings=data.warnings + notes + _reasons(unsure) + pooled,
        missing={name: gap.reason for gap in gaps + unsure for name in gap.names},
        measures=measures,
        certificate=certificate,
        test=test,
        verdict=verdict_of(
            diagram, certificate, test, spec, limit, failing=sum(one.certain for one in groups)
        ),
        groups=groups,
        confidence=confidence,
        seed=spec.seed,
        independent=data.clusters is None,
        details=Details(diagram, data.source),
        provenance=_provenance(data, certificate, test),
    )


def _limit_needs(limit: Limit | None) -> tuple[Needs, ...]:
    """Open what shows the saving at the two costs, if the limit is on that."""
    if limit is None or limit.max_cost is None:
        return ()
    return (partial(costs_need, at=np.array([limit.costs.threshold])),)


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
        standing at the mean of about a thousand groups. The simplest one within two standard errors
        of the best wins, but one that leaves a calibration error which the asymptotic test sees on
        held-out rows is passed over, unless all are. None wins if the best gains less than two
        standard errors, or if the test does not reject the scores at the confidence asked for.

    Notes
    -----
    A low calibration error means that there is little to gain: no nondecreasing recalibration saves
    more than the true one (Gao, Parameswaran and Peng, 2017, Section 4, suspect as much).

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(5000, seed=2)
    >>> cb.advise(y_true, y_prob).recommended
    'temperature'
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(5000, seed=1)
    >>> cb.advise(y_true, y_prob).recommended is None
    True
    """
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "seed": seed}
    found = audit(y_true, y_prob, confidence=confidence, **options)
    check_rows(found.details.diagram, "advice")
    if found.advice is None:
        raise errors.needs_binary("advice")
    return found.advice


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


def _labels_note(diagram: Diagram) -> tuple[str, ...]:
    """Say that scores are class labels."""
    if not only_labels(diagram):
        return ()
    return (
        "All scores are 0 or 1: these are class labels, as predict gives them, not probabilities.",
    )


def _reversed_note(diagram: Diagram) -> tuple[str, ...]:
    """Ask whether the event is the right label, if high scores clearly go with few events."""
    auc = backwards(diagram)
    if auc is None:
        return ()
    return (
        f"The event is rarer where scores are higher (ROC AUC {auc:.2f}): is it the right one of "
        "the two labels?",
    )


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
