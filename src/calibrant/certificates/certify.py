"""Certify: from data to a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._types import BoolArray
from calibrant.certificates import bounds
from calibrant.certificates.betting import betting
from calibrant.certificates.bounds import Bound, Sided
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.clusters import betting_clusters, certified_clusters, clustered
from calibrant.certificates.evidence import (
    Evidence,
    check_rows,
    counts_of,
    every_cell,
    evidence_of,
    mean_variance,
)
from calibrant.certificates.specification import CertificateSpec, Estimand, Method, chosen, formula
from calibrant.certificates.testing import DRAWS, asymptotic_need, needs_exact, suited_test
from calibrant.core.diagram import Diagram, Needs, nothing, resolve
from calibrant.core.extremes import extremes_need
from calibrant.data.predictions import Predictions, TallyData, data_of, warn
from calibrant.errors import InputError

#: Draws of the exact test behind a lower end; at smaller levels than it can tell, that stays at 0.
_MOST_DRAWS = 99_999


def rows_need(spec: CertificateSpec, most_exact: int | None = None) -> Needs:
    """Mark every cell where the certificate, or an exact test of c = 0, looks at each row.

    A certificate needs that test for a lower end only; `most_exact` asks for it in any case, up to
    so many rows for an exact one. An asymptotic test needs no more than cells that are not wide.
    """

    def need(diagram: Diagram) -> BoolArray:
        if not diagram.totals.are_counts or diagram.weight > 2**53:
            return nothing(diagram)
        n = round(diagram.weight)
        method = chosen(spec.method, n, rows_known=True)
        few = needs_exact(n, mean_variance(diagram))
        tested = most_exact is not None or (method == "asymptotic" and spec.sided == "both")
        exact = tested and few and (most_exact is None or n <= most_exact)
        if method == "betting" or exact:
            return every_cell(diagram)
        return asymptotic_need(diagram) if tested and not few else nothing(diagram)

    return need


def certificate_of(
    diagram: Diagram, spec: CertificateSpec, *, weighted: bool = False
) -> Certificate:
    """Make a certificate from a diagram resolved for it."""
    evidence = evidence_of(diagram)
    method = chosen(spec.method, evidence.n, rows_known=diagram.open)
    if method == "betting":
        bound = _bet(diagram, evidence, spec)
    elif method == "asymptotic":
        p_value = _p_value(diagram, evidence, spec)
        bound = bounds.asymptotic(evidence, spec.delta, spec.sided, p_value=p_value)
    else:
        bound = formula(method)(evidence, spec.delta, spec.sided)
    if weighted:
        bound = replace(bound, assumptions=(*bound.assumptions, "weights are row counts"))
    return _stated(
        bound,
        spec,
        method,
        n=evidence.n,
        c_emp=evidence.c_emp,
        c_emp_at_most=evidence.c_emp_at_most,
    )


def _stated(bound: Bound, spec: CertificateSpec, method: str, **known: Any) -> Certificate:
    """State a bound as a certificate, with what is known of the rows."""
    return Certificate(
        **known,
        lower=bound.lower,
        upper=bound.upper,
        confidence=spec.confidence,
        method=method,
        sided=spec.sided,
        assumptions=bound.assumptions,
        theorem=bound.theorem,
        target=bound.target,
        statements=spec.statements,
    )


def _bet(diagram: Diagram, evidence: Evidence, spec: CertificateSpec) -> Bound:
    delta = spec.delta if spec.sided == "upper" else spec.delta / 2
    counts = counts_of(diagram, "a betting bound")
    bound = betting(counts, evidence.c_emp, delta)
    return bound if spec.sided == "upper" else bounds.with_lower(bound, evidence, delta)


def _p_value(diagram: Diagram, evidence: Evidence, spec: CertificateSpec) -> float:
    """Test c = 0 for the lower end; without rows to draw from, nothing is rejected."""
    hidden = needs_exact(evidence.n, evidence.v0) and not diagram.open
    if spec.sided == "upper" or hidden:
        return 1.0
    # enough to reject at so small a level, as far as that can be waited for
    draws = min(_MOST_DRAWS, max(DRAWS, round(10 / spec.delta)))
    return suited_test(diagram, evidence, draws, spec.seed).p_value


def certificate_of_clusters(data: Predictions, spec: CertificateSpec) -> Certificate:
    """Make a certificate from rows that come in clusters."""
    if spec.method not in {"auto", "certified", "betting"}:
        raise errors.not_for_clusters(
            f'method="{spec.method}"', 'method="certified" or method="betting"'
        )
    if spec.sided == "both":
        raise errors.not_for_clusters('The lower end of sided="both"', 'sided="upper"')
    check_rows(Diagram(*data.source.start()), "a certificate")
    found = clustered(data, spec.estimand, spec.max_cluster_size)
    method = chosen(spec.method, found.n, rows_known=True)
    if method == "betting":
        bound = betting_clusters(found, spec.delta)
    else:
        bound = certified_clusters(found, spec.delta)
    each = "cluster" if spec.estimand == "cluster" else "row"
    bound = replace(bound, target=f"{bound.target} (each {each} counting once)")
    return _stated(
        bound,
        spec,
        method,
        n=found.n,
        c_emp=found.c_emp,
        c_emp_at_most=found.c_emp,
        unit="clusters",
    )


def certificate_for(data: Predictions | TallyData, spec: CertificateSpec) -> Certificate:
    """Make a certificate for data."""
    if isinstance(data, Predictions) and data.clusters is not None:
        return certificate_of_clusters(data, spec)
    refuse_without_clusters(spec)
    check_rows(Diagram(*data.source.start()), "a certificate")
    diagram = resolve(data.source, extremes_need, rows_need(spec))
    return certificate_of(diagram, spec, weighted=has_weights(diagram))


def refuse_without_clusters(spec: CertificateSpec) -> None:
    """Refuse spec that say how clusters count where there are none."""
    if spec.max_cluster_size is not None or spec.estimand != "row":
        raise _clusters_missing()


def has_weights(diagram: Diagram) -> bool:
    """Whether weights make more of the rows than there are."""
    return round(diagram.weight) != int(np.sum(diagram.cells.rows))


def certify(
    y_true: Any,
    y_prob: Any = None,
    *,
    confidence: float = 0.95,
    method: Method = "auto",
    sided: Sided = "upper",
    sample_weight: Any = None,
    pos_label: object = None,
    clusters: Any = None,
    estimand: Estimand = "row",
    max_cluster_size: int | None = None,
    seed: int = 0,
) -> Certificate:
    """Guarantee something about the true calibration error c(f), from held-out rows.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, 0/1, as for `calibration_error`. The rows must not have been used to train the
        model or to choose it.
    y_prob : array_like
        Predicted probabilities.
    confidence : float, default 0.95
        Confidence level.
    method : str, default "auto"
        "certified": distribution-free for any n, in constant time. "betting": the same, tighter
        for few rows. "auto": betting below 3000 rows, certified from there on. "band": holds for
        every interval of scores at once. "fixed_design": about exactly these scores.
        "asymptotic": a normal limit, often the shortest with many rows. "isotonic": for a
        nondecreasing calibrator fitted on these very rows. "gao2017", "gao2017_printed": the
        paper's own, for comparison.
    sided : {"upper", "both"}
        An upper bound, or an interval.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.
    clusters : array_like, optional
        Which rows belong together, such as those of one patient.
    estimand : {"row", "cluster"}
        With clusters: what counts once. "row" needs `max_cluster_size`.
    max_cluster_size : int, optional
        The most rows that a cluster can have, known before the data.
    seed : int, default 0
        Seed of the exact test behind the lower end of "asymptotic"; nothing else is drawn.

    Returns
    -------
    Certificate
        c_emp, lower, upper, assumptions, and a sentence; `explain()` tells what it means.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Theorem 2, for the question; the bounds here are about ten
    times tighter, because they need the tail of one mean only and not uniform convergence.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(10_000, seed=1)
    >>> cb.certify(y_true, y_prob)
    With 95% confidence the true calibration error is at most 0.0129 (measured 0.00522 on
    10,000 rows). Assumes that rows are independent and come from the population you will
    act on, and that the model was fixed before these rows were looked at; assumes nothing
    else about the model or the data.
    """
    spec = CertificateSpec(
        confidence,
        method,
        sided,
        seed,
        estimand=estimand,
        max_cluster_size=max_cluster_size,
    )
    data = data_of(y_true, y_prob, sample_weight, pos_label, clusters)
    warn(data.warnings, stacklevel=2)
    return certificate_for(data, spec)


def _clusters_missing() -> InputError:
    return InputError(
        "estimand= and max_cluster_size= say how clusters count, but there are none. "
        "Say by clusters= which cluster each row is in."
    )
