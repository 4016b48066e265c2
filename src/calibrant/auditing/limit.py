"""The limit: the largest calibration error, or saving by recalibration, that is acceptable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from calibrant import errors
from calibrant._figures import figure
from calibrant.certificates.certificate import percent
from calibrant.decisions.costs import Costs, amount, costs_of
from calibrant.errors import InputError
from calibrant.measures.clinical import clopper_pearson

#: The share of the chance of being wrong that goes to the base rate, if the limit depends on it.
_RATE_SHARE = 0.1


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
    def costs(self) -> Costs:
        """The two costs."""
        return Costs(self.false_positive, self.false_negative)

    def value(self, rate: float) -> float:
        """Return the limit where the base rate is `rate`.

        It is on the calibration error, or on a saving in units where the two costs add up to 1.
        """
        if self.max_relative_error is not None:
            return self.max_relative_error * rate
        if self.max_cost is not None:
            return min(1.0, self.max_cost / self.costs.scale)
        return math.inf if self.max_error is None else self.max_error

    def error_delta(self, delta: float) -> float:
        """Return what the bound on the error may spend of the chance of being wrong."""
        return delta if self.max_relative_error is None else (1 - _RATE_SHARE) * delta

    def ends(self, events: float, rows: float, delta: float) -> tuple[float, float]:
        """Return what the limit is at least and at most, given so many events.

        Each is wrong with a chance of at most what `error_delta` leaves of delta, and a verdict
        needs one of them.
        """
        if self.max_relative_error is None:
            return self.value(0), self.value(0)
        low, high = clopper_pearson(events, rows, 1 - 2 * _RATE_SHARE * delta)
        return self.value(low), self.value(high)

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


def _two_limits(names: Sequence[str]) -> InputError:
    stated = " and ".join(f"{name}=" for name in names)
    return InputError(
        f"{stated} state a limit each: give one of max_error=, max_relative_error= and max_cost=."
    )
