"""The verdict: the calibration error is within a limit, over it, or these rows cannot tell.

A limit is fixed before the data are seen. Then c(f) is either within it or over it, so that only
one of two claims can be wrong, and each may spend the whole chance of being wrong: "within" where
an upper bound is at most the limit, "over" where a lower bound is above it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, TypeGuard

import numpy as np

from calibrant._figures import figure, rounded_down, rounded_up
from calibrant.auditing.limit import Limit
from calibrant.auditing.more_rows import NO_LOWER, outlook_of, rows_for_error, rows_for_saving
from calibrant.certificates.bounds import band_width
from calibrant.certificates.certificate import Certificate, percent
from calibrant.certificates.certify import certificate_of
from calibrant.certificates.evidence import counted, evidence_of
from calibrant.certificates.specification import CertificateSpec
from calibrant.certificates.testing import CalibrationTest, chance
from calibrant.core.diagram import TOLERANCE, Diagram
from calibrant.decisions.curve import costs_need
from calibrant.decisions.excess import (
    Excess,
    chance_excess_of,
    excess_at_least,
    excess_at_most,
    excess_of,
)
from calibrant.errors import InputError

Kind = Literal[
    "within",
    "over",
    "cannot_tell",
    "miscalibrated",
    "no_evidence",
    "too_few_rows",
    "untested",
    "measured",
]
#: An error of more than this share of the base rate could make the scores useless.
_LARGE = 0.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the scores can be used as probabilities, as far as these rows can tell.

    Attributes
    ----------
    kind : str
        With a limit "within", "over" or "cannot_tell". Without one "miscalibrated" (the test
        rejects the scores), "no_evidence" (it does not, and the error is bounded), or
        "too_few_rows" (the bound is above half the base rate); "untested" where there is no test,
        and "measured" where there is no bound.
    title : str
        The verdict in a few words.
    sentence : str
        The verdict with the numbers that it rests on.
    limit : float or None
        The limit on the calibration error, at the observed rate if it depends on that; a limit on
        cost, in units where the two costs add up to 1.
    rows_needed : int or None
        About how many rows could tell: at that size about half of all samples do, if the true
        error, or saving, is what the sentence takes it for. That is what was measured less what
        chance adds on so few rows, and nothing where the test does not reject the scores. None if
        these rows can tell, or if it is too close to the limit.
    upper, limit_at_least : float or None
        What was compared: the upper bound on the true calibration error, or on the saving, and
        what the limit is at least. A limit that is a share of the base rate is itself an estimate,
        so that both are bounds that share the chance of being wrong.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(10_000, seed=1)
    >>> cb.audit(y_true, y_prob, max_error=0.02).verdict
    Within the limit: with 95% confidence the true calibration error is at most 0.0129, within
    the limit of 0.02.
    >>> cb.audit(y_true, y_prob, max_error=0.01).verdict.rows_needed
    20000
    """

    kind: Kind
    title: str
    sentence: str
    limit: float | None = None
    rows_needed: int | None = None
    upper: float | None = None
    limit_at_least: float | None = None

    def __repr__(self) -> str:
        return f"{self.title}: {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)


def verdict_of(
    diagram: Diagram,
    certificate: Certificate | None,
    test: CalibrationTest | None,
    spec: CertificateSpec,
    limit: Limit | None,
    *,
    failing: int = 0,
) -> Verdict:
    """Judge an audit by its limit, or without one by what its test and its bound say.

    So many `failing` groups are proved to be miscalibrated; the limit is on all rows together.
    """
    if certificate is None:
        found = Verdict("measured", "Measured only", _NO_BOUND)
    elif limit is None:
        found = _known(diagram, certificate, test)
    elif limit.max_cost is not None:
        found = _priced(diagram, certificate, test, spec, limit)
    else:
        found = _judged(diagram, certificate, test, spec, limit)
    if not failing or found.kind in {"over", "miscalibrated"}:
        return found
    some = "a group is" if failing == 1 else f"{failing:,} groups are"
    return replace(found, title=f"{found.title}, but {some} miscalibrated")


_NO_BOUND = "these rows allow no bound on the true calibration error; the notes say why."


def _known(diagram: Diagram, certificate: Certificate, test: CalibrationTest | None) -> Verdict:
    """Say what is known where nobody said how large an error may be."""
    bound = f"{_start(certificate)} {certificate.target} is at most {_upper(certificate)}"
    if _rejected(test, certificate):
        words = f"the test rejects these scores (p-value {chance(test)}); {bound}."
        return Verdict("miscalibrated", "Miscalibrated", words)
    rarer = min(diagram.rate, 1 - diagram.rate)
    no_test = "there is no test of these rows"
    if test is not None:
        no_test = f"the test does not reject these scores (p-value {chance(test)})"
    if certificate.upper > _LARGE * rarer:
        words = (
            f"{no_test}, but with {_rows(certificate)} {certificate.target} may be as large "
            f"as {_upper(certificate)}, more than half of the rate of the rarer outcome "
            f"({percent_of(rarer)})."
        )
        return Verdict("too_few_rows", "Too few rows to tell", words)
    if test is None:
        return Verdict("untested", "Bounded, not tested", f"{no_test}; {bound}.")
    words = f"{no_test}; {bound}."
    return Verdict("no_evidence", "No evidence of miscalibration", words)


def _judged(
    diagram: Diagram,
    certificate: Certificate,
    test: CalibrationTest | None,
    spec: CertificateSpec,
    limit: Limit,
) -> Verdict:
    used, delta = certificate, spec.delta
    if limit.max_relative_error is not None:
        if certificate.unit != "rows":
            raise _relative_with_clusters()
        spec = replace(spec, confidence=1 - limit.error_delta(delta))
        used = certificate_of(diagram, spec)
    start = f"{_start(certificate)} {certificate.target} is"
    value, said = limit.value(diagram.rate), limit.said(diagram.rate)
    least, most = limit.ends(diagram.positives, diagram.weight, delta)
    judged = partial(Verdict, limit=value, upper=used.upper, limit_at_least=least)
    if used.upper <= least + TOLERANCE:
        words = f"{start} at most {_not_over(used.upper, least)}, within {said}."
        if _rejected(test, certificate):
            words += " The scores are miscalibrated, but by less than that."
        return judged("within", "Within the limit", words + _vacuous(diagram, value))
    lower = _lower(diagram, certificate, spec)
    if lower > most:
        words = f"{start} at least {rounded_down(lower)}, over {said}."
        return judged("over", "Over the limit", words)
    ends = f"at most {rounded_up(used.upper)}"
    if lower > 0:
        ends = f"between {rounded_down(lower)} and {rounded_up(used.upper)} (each at this level)"
    unsure = "" if least == value else f", which is proved to be at least {rounded_down(least)}"
    needed, more = _needed(diagram, certificate, test, limit)
    known = "The scores are miscalibrated, but that" if _rejected(test, certificate) else "That"
    words = (
        f"{start} {ends}. {known} does not show whether the error is within {said}{unsure}. {more}"
    )
    return judged("cannot_tell", _cannot_tell(certificate), words, rows_needed=needed)


def _priced(
    diagram: Diagram,
    certificate: Certificate,
    test: CalibrationTest | None,
    spec: CertificateSpec,
    limit: Limit,
) -> Verdict:
    """Judge by what a nondecreasing recalibration can save at the two costs."""
    value, said, scale = limit.value(diagram.rate), limit.said(diagram.rate), limit.costs.scale
    excess = excess_behind(diagram, limit) if _about_population(certificate) else None
    upper, lower = min(1.0, certificate.upper), 0.0
    if excess is not None:
        # as in `price_of_miscalibration`: two upper bounds share the chance of being wrong
        halved = certificate_of(diagram, replace(spec, confidence=(1 + spec.confidence) / 2))
        upper = min(halved.upper, excess_at_most(excess, spec.delta / 2))
        lower = excess_at_least(excess, spec.delta)
    judged = partial(Verdict, limit=value, upper=upper, limit_at_least=value)
    start, least = _start(certificate), rounded_down(lower * scale)
    none = f"{start} no nondecreasing recalibration saves more than"
    if upper <= value + TOLERANCE:
        most = _not_over(upper * scale, max(value * scale, limit.max_cost or 0))
        words = f"{none} {most} per decision, within {said}." + _vacuous(diagram, value)
        return judged("within", "Within the limit", words)
    if lower > value:
        saves = f"the best nondecreasing recalibration saves at least {least} per decision"
        return judged("over", "Over the limit", f"{start} {saves}, over {said}.")
    ends = f", and the best one saves at least {least} (each at this level)" if lower > 0 else ""
    needed, more = _needed(diagram, certificate, test, limit, excess)
    words = (
        f"{none} {rounded_up(upper * scale)} per decision{ends}. That does not show whether the "
        f"most that one can save is within {said}. {more}"
    )
    return judged("cannot_tell", _cannot_tell(certificate), words, rows_needed=needed)


def _about_population(certificate: Certificate) -> bool:
    """Whether the bound is on independent rows and a model fixed before, as the others are."""
    return certificate.unit == "rows" and certificate.method not in NO_LOWER


def excess_behind(diagram: Diagram, limit: Limit) -> Excess | None:
    """Return what a recalibration could save; None if a tally hides the rows that show it."""
    p = limit.costs.threshold
    hidden = diagram.hides(partial(costs_need, at=np.array([p])))
    return None if hidden else excess_of(diagram, p)


def _vacuous(diagram: Diagram, limit: float) -> str:
    """Warn of a limit that scores without any information are within."""
    rarer = min(diagram.rate, 1 - diagram.rate)
    if limit < rarer:
        return ""
    return (
        f" This limit is not below the rate of the rarer outcome ({percent_of(rarer)}), so that "
        "the same score of 0 or 1 for every row would be within it."
    )


def _rejected(test: CalibrationTest | None, certificate: Certificate) -> TypeGuard[CalibrationTest]:
    return test is not None and test.p_value <= 1 - certificate.confidence


def _start(certificate: Certificate) -> str:
    about = "about " if certificate.approximate else ""
    return f"with {about}{percent(certificate.confidence)} confidence"


def _lower(diagram: Diagram, certificate: Certificate, spec: CertificateSpec) -> float:
    """Return a lower bound at the level of the upper one; 0 where there is none."""
    if not _about_population(certificate):
        return 0.0
    evidence = evidence_of(diagram)
    return max(0.0, evidence.c_emp - band_width(evidence, spec.delta))


def _cannot_tell(certificate: Certificate) -> str:
    return f"Cannot tell with {_rows(certificate)}"


def _needed(
    diagram: Diagram,
    certificate: Certificate,
    test: CalibrationTest | None,
    limit: Limit,
    excess: Excess | None = None,
) -> tuple[int | None, str]:
    """Return how many rows could tell, and say so."""
    if certificate.unit != "rows":
        return None, "More clusters could tell, if it is."
    outlook = outlook_of(evidence_of(diagram), diagram.rate, certificate, test)
    if excess is not None:
        return rows_for_saving(outlook, excess, chance_excess_of(diagram, excess.p), limit)
    hidden = limit.max_cost is not None and _about_population(certificate)
    if hidden and outlook.true > limit.value(diagram.rate):
        return None, "The rows themselves, which a tally does not hold, say more at these costs."
    return rows_for_error(outlook, limit)


def _not_over(upper: float, limit: float) -> str:
    """Write a bound that is within a limit with so many digits that it still is."""
    written = (rounded_up(upper, digits) for digits in range(3, 17))
    return next((text for text in written if float(text) <= limit), f"{upper!r}")


def percent_of(share: float) -> str:
    """Write a share as a percentage that people can read."""
    return f"{figure(100 * share, 3)}%"


def _upper(certificate: Certificate) -> str:
    return rounded_up(certificate.upper)


def _rows(certificate: Certificate) -> str:
    return counted(certificate.n, certificate.unit.removesuffix("s"))


def _relative_with_clusters() -> InputError:
    return InputError(
        "max_relative_error= needs an interval for the base rate, which takes independent rows, "
        "and there are clusters. State the limit as max_error=."
    )
