"""The verdict: the calibration error is within a limit, over it, or these rows cannot tell.

A limit is fixed before the data are seen. Then c(f) is either within it or over it, so that only
one of two claims can be wrong, and each may spend the whole chance of being wrong: "within" where
an upper bound is at most the limit, "over" where a lower bound is above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, TypeGuard

from calibrant import errors
from calibrant._figures import figure, rounded_down, rounded_up
from calibrant.certificates.bounds import band_width, certified
from calibrant.certificates.certificate import Certificate, percent
from calibrant.certificates.certify import certificate_of
from calibrant.certificates.evidence import Evidence, counted, evidence_of
from calibrant.certificates.specification import CertificateSpec
from calibrant.certificates.testing import CalibrationTest, chance
from calibrant.core.diagram import TOLERANCE, Diagram
from calibrant.decisions.costs import amount, costs_of
from calibrant.errors import InputError
from calibrant.measures.clinical import clopper_pearson

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
#: The share of the chance of being wrong that goes to the base rate, if the limit depends on it.
_RATE_SHARE = 0.1
#: An error of more than this share of the base rate could make the scores useless.
_LARGE = 0.5
#: More rows than this are never going to be labelled.
_MOST_ROWS = 10**12
#: Methods whose bound is about other things than a model that was fixed before, on any rows.
_NO_LOWER = {"isotonic", "fixed_design"}


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest calibration error that is acceptable, stated in one of three ways.

    Attributes
    ----------
    max_error : float or None
        The calibration error itself.
    max_relative_error : float or None
        The calibration error as a share of the base rate.
    max_cost : float or None
        What a recalibration may save per decision at the two costs.
    false_positive, false_negative : float
        These costs.
    """

    max_error: float | None = None
    max_relative_error: float | None = None
    max_cost: float | None = None
    false_positive: float = 1.0
    false_negative: float = 1.0

    @property
    def scale(self) -> float:
        """The sum of the two costs: what an error is multiplied by to bound a saving."""
        return self.false_positive + self.false_negative

    def value(self, rate: float) -> float:
        """Return the limit on the calibration error where the base rate is `rate`."""
        if self.max_relative_error is not None:
            return self.max_relative_error * rate
        if self.max_cost is not None:
            return min(1.0, self.max_cost / self.scale)
        return math.inf if self.max_error is None else self.max_error

    def said(self, rate: float) -> str:
        """Say the limit, where the base rate is `rate`."""
        if self.max_relative_error is not None:
            share = percent(float(f"{self.max_relative_error:.3g}"))
            return f"the limit of {figure(self.value(rate), 3)} ({share} of the base rate)"
        if self.max_cost is not None:
            return (
                f"the limit of {figure(self.max_cost, 6)} per decision at costs of "
                f"{figure(self.false_positive, 6)} and {figure(self.false_negative, 6)}"
            )
        return f"the limit of {figure(self.max_error or 0.0, 6)}"


def limit_of(
    max_error: float | None = None,
    max_relative_error: float | None = None,
    max_cost: float | None = None,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
) -> Limit | None:
    """Return the limit that was stated; None if none was."""
    given = {
        "max_error": max_error,
        "max_relative_error": max_relative_error,
        "max_cost": max_cost,
    }
    stated = [name for name, value in given.items() if value is not None]
    if len(stated) > 1:
        raise _two_limits(stated)
    if not stated:
        return None
    if max_cost is None:
        [name] = stated
        return Limit(**{name: errors.share(name, given[name])})
    costs = costs_of(false_positive, false_negative)
    most = amount("max_cost", max_cost)
    if most < 0:
        raise errors.out_of_range("max_cost", "0 or more", most)
    return Limit(
        max_cost=most, false_positive=costs.false_positive, false_negative=costs.false_negative
    )


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
        The limit on the calibration error, at the observed rate if it depends on that.
    rows_needed : int or None
        About how many rows could tell, if the error stays as measured; None if these can, or if
        the measured error is too close to the limit.
    upper, limit_at_least : float or None
        What was compared: the upper bound on the true calibration error, and what the limit is at
        least. A limit that is a share of the base rate is itself an estimate, so that both are
        bounds that share the chance of being wrong.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(10_000, seed=1)
    >>> cb.audit(y_true, y_prob, max_error=0.02).verdict
    Within the limit: with 95% confidence the true calibration error is at most 0.0129, within
    the limit of 0.02.
    >>> cb.audit(y_true, y_prob, max_error=0.01).verdict.rows_needed
    24000
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
        found = _priced(diagram, certificate, limit)
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
    used, rates = certificate, (diagram.rate, diagram.rate)
    if limit.max_relative_error is not None:
        if certificate.unit != "rows":
            raise _relative_with_clusters()
        spec = replace(spec, confidence=1 - (1 - _RATE_SHARE) * (1 - spec.confidence))
        used = certificate_of(diagram, spec)
        spent = 2 * _RATE_SHARE * (1 - certificate.confidence)  # of an interval: both of its ends
        rates = clopper_pearson(diagram.positives, diagram.weight, 1 - spent)
    start = f"{_start(certificate)} {certificate.target} is"
    value, said = limit.value(diagram.rate), limit.said(diagram.rate)
    least = limit.value(rates[0])
    judged = partial(Verdict, limit=value, upper=used.upper, limit_at_least=least)
    if used.upper <= least + TOLERANCE:
        words = f"{start} at most {_not_over(used.upper, least)}, within {said}."
        if _rejected(test, certificate):
            words += " The scores are miscalibrated, but by less than that."
        return judged("within", "Within the limit", words + _vacuous(diagram, value))
    lower = _lower(diagram, certificate, spec)
    if lower > limit.value(rates[1]):
        words = f"{start} at least {rounded_down(lower)}, over {said}."
        return judged("over", "Over the limit", words)
    ends = f"at most {rounded_up(used.upper)}"
    if lower > 0:
        ends = f"between {rounded_down(lower)} and {rounded_up(used.upper)} (each at this level)"
    unsure = "" if least == value else f", which is proved to be at least {rounded_down(least)}"
    needed, more = _needed(diagram, certificate, value)
    words = f"{start} {ends}. That does not show whether it is within {said}{unsure}. {more}"
    return judged("cannot_tell", _cannot_tell(certificate), words, rows_needed=needed)


def _priced(diagram: Diagram, certificate: Certificate, limit: Limit) -> Verdict:
    """Judge by what recalibration can save: an error times the costs bounds that from above only.

    So a saving within the limit can be proved, and one over it cannot.
    """
    value = limit.value(diagram.rate)
    judged = partial(Verdict, limit=value, upper=certificate.upper, limit_at_least=value)
    words = (
        f"{_start(certificate)} no nondecreasing recalibration saves more than "
        f"{rounded_up(min(1.0, certificate.upper) * limit.scale)} per decision"
    )
    if certificate.upper <= value + TOLERANCE:
        words += f", within {limit.said(diagram.rate)}."
        return judged("within", "Within the limit", words + _vacuous(diagram, value))
    words += (
        f", which does not show whether it is within {limit.said(diagram.rate)}. A bound for this "
        "pair of costs alone may be smaller: price_of_miscalibration gives it."
    )
    needed = None
    if certificate.c_emp <= value:
        needed, more = _needed(diagram, certificate, value)
        words += f" {more}"
    return judged("cannot_tell", _cannot_tell(certificate), words, rows_needed=needed)


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
    if certificate.unit != "rows" or certificate.method in _NO_LOWER:
        return 0.0
    evidence = evidence_of(diagram)
    return max(0.0, evidence.c_emp - band_width(evidence, spec.delta))


def _cannot_tell(certificate: Certificate) -> str:
    return f"Cannot tell with {_rows(certificate)}"


def _needed(diagram: Diagram, certificate: Certificate, value: float) -> tuple[int | None, str]:
    """Return how many rows could tell, and say so."""
    if certificate.unit != "rows":
        return None, "More clusters could tell."
    evidence = evidence_of(diagram)
    needed = rows_to_tell(evidence, value, 1 - certificate.confidence)
    if needed is None:
        return None, "The measured error is too close to the limit for any number of rows to tell."
    # the plan is for one of the bounds, where rows may have been judged by another one
    needed = max(needed, _two_digits(math.ceil(1.1 * evidence.n)))
    return needed, f"About {needed:,} rows could tell, if the error stays as measured."


def rows_to_tell(evidence: Evidence, limit: float, delta: float) -> int | None:
    """Return about how many rows like these could tell on which side of a limit the error is.

    The error and the spread of outcomes are taken to stay as measured.
    """
    error = evidence.c_emp

    def told(n: int) -> bool:
        then = replace(evidence, n=n)
        if error <= limit:
            return certified(then, delta).upper <= limit
        return error - band_width(then, delta) > limit

    return _smallest(told)


def _smallest(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number that is enough, to two digits; None if there is none in reach."""
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_ROWS:
            return None
    low = high // 2
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _two_digits(high)


def _two_digits(rows: int) -> int:
    """Round up to two digits: a plan is no more precise."""
    unit = int(10 ** max(0, len(str(rows)) - 2))
    return -(-rows // unit) * unit


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


def _two_limits(names: Sequence[str]) -> InputError:
    return InputError(
        f"{' and '.join(names)} state a limit each: give one of max_error, max_relative_error and "
        "max_cost."
    )


def _relative_with_clusters() -> InputError:
    return InputError(
        "max_relative_error needs an interval for the base rate, which takes independent rows, and "
        "there are clusters. State the limit as max_error."
    )
