"""More rows: how many could tell on which side of a limit the error is, as far as one can say.

A measured error holds some chance: right scores show one of about 1.6 sqrt(v0 / n) on n rows
(`plan.expected_evidence`), which more rows make smaller, while what is real in it stays. The two
are taken to add like a signal and its noise, by their squares; a measured saving is what is real
plus what right scores show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from calibrant._figures import figure
from calibrant.auditing.limit import Limit
from calibrant.certificates.bounds import band_width
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.evidence import Evidence
from calibrant.certificates.plan import expected_evidence
from calibrant.certificates.specification import formula
from calibrant.certificates.testing import CalibrationTest
from calibrant.decisions.excess import (
    ChanceExcess,
    Excess,
    Side,
    excess_at_least,
    excess_at_most,
)

#: More rows than this are never going to be labelled.
_MOST_ROWS = 10**12
#: Methods whose bound is about other things than a model that was fixed before, on any rows.
NO_LOWER = {"isotonic", "fixed_design"}
_TOO_CLOSE = "The error is too close to the limit for any number of rows to tell."
_ZERO = "No number of rows can show that it is 0."


@dataclass(frozen=True, slots=True)
class Outlook:
    """What more rows like these would show.

    Attributes
    ----------
    evidence : Evidence
        What these rows show.
    rate : float
        The share of events.
    true : float
        The calibration error, as far as chance does not explain it.
    method : str
        How the error is bounded.
    delta : float
        The chance of being wrong.
    """

    evidence: Evidence
    rate: float
    true: float
    method: str
    delta: float

    def then(self, n: int) -> Evidence:
        """Return what n rows would show on average."""
        chance = expected_evidence(n, self.evidence.v0, self.method).c_emp
        error = min(1.0, math.hypot(self.true, chance))
        return replace(self.evidence, n=n, c_emp=error, c_emp_at_most=error)

    def upper(self, n: int, delta: float) -> float:
        """Return the upper bound on n rows; bets have no formula."""
        method = "certified" if self.method == "betting" else self.method
        return formula(method)(self.then(n), delta, "upper").upper


def outlook_of(
    evidence: Evidence, rate: float, certificate: Certificate, test: CalibrationTest | None
) -> Outlook:
    """Say what is real in the error: nothing, where a test does not reject the scores."""
    delta = 1 - certificate.confidence
    chance = expected_evidence(evidence.n, evidence.v0, certificate.method).c_emp
    true = 0.0
    if test is None or test.p_value <= delta:
        true = beyond_chance(evidence.c_emp, chance)
    return Outlook(evidence, rate, true, certificate.method, delta)


def beyond_chance(measured: float, chance: float) -> float:
    """Return what is left of a measured number if so much of it is chance."""
    return math.sqrt(max(0.0, measured**2 - chance**2))


def rows_for_error(outlook: Outlook, limit: Limit) -> tuple[int | None, str]:
    """Return about how many rows would show on which side of a limit the error is, and say so.

    The bounds are those of the verdict, at its own shares of the chance of being wrong.
    """
    true, value = outlook.true, limit.value(outlook.rate)
    delta = limit.error_delta(outlook.delta)
    if true > value and outlook.method in NO_LOWER:
        return None, (
            f"The error seems to be over it, which no number of rows can prove with "
            f'method="{outlook.method}", an upper bound alone.'
        )

    def told(n: int) -> bool:
        low, high = limit.ends(outlook.rate * n, n, outlook.delta)
        if true <= value:
            return outlook.upper(n, delta) <= low
        then = outlook.then(n)
        return then.c_emp - band_width(then, delta) > high

    given = "the scores are right" if true == 0 else f"the true error is about {figure(true, 3)}"
    return _said(told, outlook.evidence.n, value, given)


def rows_for_saving(
    outlook: Outlook, excess: Excess, chance: ChanceExcess, limit: Limit
) -> tuple[int | None, str]:
    """Return about how many rows would show on which side of a limit a saving is, and say so."""
    value, delta = limit.value(outlook.rate), outlook.delta
    true = 0.0  # right scores leave nothing to save
    if outlook.true > 0:
        true = max(0.0, excess.measured - chance.at(excess.n))

    def told(n: int) -> bool:
        then = _excess_then(excess, n, true + chance.at(n))
        if true > value:
            return excess_at_least(then, delta) > value
        return excess_at_most(then, delta / 2) <= value or outlook.upper(n, delta / 2) <= value

    given = f"a recalibration saves about {figure(true * limit.costs.scale, 3)}"
    if true == 0:
        right = outlook.true == 0
        given = "the scores are right" if right else "a recalibration saves nothing"
    return _said(told, excess.n, value, given)


def _excess_then(excess: Excess, n: int, saved: float) -> Excess:
    """Return what n rows would show, if so much is saved on the side that saves most here."""

    def side(now: Side) -> Side:
        return replace(now, measured=min(saved, 1.0) if now.measured == excess.measured else 0.0)

    return replace(excess, n=n, left=side(excess.left), right=side(excess.right))


def _said(told: Callable[[int], bool], n: int, value: float, given: str) -> tuple[int | None, str]:
    """Say how many rows are enough, and on what condition."""
    needed = _smallest(told)
    if needed is None:
        return None, _TOO_CLOSE if value > 0 else _ZERO
    # the usual sample of this size may tell where this one did not
    needed = max(needed, _two_digits(math.ceil(1.1 * n)))
    return needed, f"About {needed:,} rows could tell, if {given}."


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
