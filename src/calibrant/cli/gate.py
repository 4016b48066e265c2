"""The gate of a pipeline: the error that is allowed, and whether an audit passes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from calibrant.auditing.limit import Limit
from calibrant.auditing.result import Audit
from calibrant.auditing.verdict import excess_behind
from calibrant.core.diagram import TOLERANCE
from calibrant.errors import InputError

#: What the allowed error is compared with.
Compared = Literal["upper", "estimate"]


@dataclass(frozen=True)
class Judgement:
    """Whether an audit is allowed to pass, and what was compared."""

    max_error: float
    gate: Compared
    value: float
    passed: bool
    limit: str
    proved_over: bool = False

    @property
    def sentence(self) -> str:
        """The judgement in words."""
        if self.gate == "estimate":
            what = "Passed: the measured value, for which nothing is proved, is within"
            return f"{what if self.passed else 'Failed: the measured value is over'} {self.limit}."
        if self.proved_over:
            return f"Failed: proved to be over {self.limit}."
        verdict = "Passed: proved to be" if self.passed else "Failed: not proved to be"
        return f"{verdict} within {self.limit}."

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement for JSON."""
        return asdict(self)


def judged(found: Audit, limit: Limit | None, gate: Compared) -> Judgement | None:
    """Compare an audit with the error that is allowed; None if nobody asked."""
    if limit is None:
        return None
    rate = found.data.observed_rate
    most, said = limit.value(rate), limit.said(rate)
    if gate == "estimate":
        measured = _measured(found, limit)
        return Judgement(most, gate, measured, measured <= most + TOLERANCE, said)
    if found.certificate is None:
        why = found.missing["certified_upper"]
        raise _gate_without_bound(why, fitted_here=found.question is not None)
    verdict = found.verdict
    assert verdict.upper is not None and verdict.limit_at_least is not None  # noqa: PT018, S101
    passed, over = verdict.kind == "within", verdict.kind == "over"
    return Judgement(verdict.limit_at_least, gate, verdict.upper, passed, said, over)


def _measured(found: Audit, limit: Limit) -> float:
    """Return what was measured: the error, or what the limit is on if that is a saving."""
    excess = None if limit.max_cost is None else excess_behind(found.details.diagram, limit)
    return found.calibration_error_at_most if excess is None else excess.measured


def _gate_without_bound(why: str, *, fitted_here: bool) -> InputError:
    # an error of 0 on rows that may have been fitted to must not pass as an estimate
    way_out = (
        "" if fitted_here else " Add --gate estimate to compare the error measured on these rows."
    )
    return InputError(
        f"A limit is compared with the certified upper bound, and there is none. {why}{way_out}"
    )
