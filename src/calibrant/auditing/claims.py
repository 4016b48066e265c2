"""Claims: the certificate and the test of an audit, or why there is none."""

from __future__ import annotations

from calibrant.certificates.certificate import Certificate
from calibrant.certificates.certify import (
    certificate_of,
    certificate_of_clusters,
    has_weights,
    refuse_without_clusters,
)
from calibrant.certificates.evidence import WERE_THESE, check_rows, evidence_of, too_good
from calibrant.certificates.specification import CertificateSpec
from calibrant.certificates.testing import DRAWS, CalibrationTest, needs_exact, suited_test
from calibrant.core.diagram import Diagram
from calibrant.data.predictions import Predictions, TallyData
from calibrant.errors import InputError
from calibrant.measures.family import Gap


def claims_of(
    data: Predictions | TallyData, diagram: Diagram, spec: CertificateSpec
) -> tuple[Certificate | None, CalibrationTest | None, tuple[Gap, ...]]:
    """Certify and test, or say why not."""
    if data.clusters is None:
        refuse_without_clusters(spec)
    try:
        check_rows(diagram, "a certificate and a test")
    except InputError as error:
        names = ("certified_upper", "test_p_value")
        return None, None, (Gap(names, f"No certificate and no test: {error}"),)
    if too_good(diagram) and spec.method != "isotonic":  # which is for such rows
        own = ', or bound its own with method="isotonic"'
        own = own if data.clusters is None else ""  # there is no such bound for clusters
        question = (
            f"No calibration error at all on {diagram.count:,} rows: {WERE_THESE} Then they prove "
            f"nothing: audit rows that it has not seen{own}. If they were not, calibrant.certify "
            "gives the bound in Python."
        )
        return None, None, (Gap(("certified_upper", "test_p_value"), question),)
    if isinstance(data, Predictions) and data.clusters is not None:
        note = (
            "No test, bands or advice: they assume independent rows. For those audit one row of "
            "each cluster, drawn at random. The intervals of slope, intercept and "
            "observed/expected ratio assume independent rows, too, so they are too short."
        )
        return certificate_of_clusters(data, spec), None, (Gap(("test_p_value",), note),)
    certificate = certificate_of(diagram, spec, weighted=has_weights(diagram))
    evidence = evidence_of(diagram)
    if not needs_exact(evidence.n, evidence.v0) or diagram.open:
        return certificate, suited_test(diagram, evidence, DRAWS, spec.seed), ()
    note = (
        "No test: with so few rows or events it would have to draw outcomes for every row, which "
        "an audit of this size does not. calibration_test does; a tally does not hold the rows."
    )
    return certificate, None, (Gap(("test_p_value",), note),)
