"""The gate of a pipeline: the error that is allowed, and whether an audit passes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from calibrant.auditing.result import Audit
from calibrant.core.diagram import TOLERANCE
from calibrant.errors import InputError

#: What the allowed error is compared with.
Compared = Literal["upper", "estimate"]


@dataclass(frozen=True)
class Verdict:
    """Whether a value is at most what is allowed."""

    max_error: float
    gate: Compared
    value: float

    @property
    def passed(self) -> bool:
        """Whether the audit passes."""
        return self.value <= self.max_error + TOLERANCE

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        what = "the certified upper bound" if self.gate == "upper" else "the measured error"
        verdict = f"Passed: {what} is not over" if self.passed else f"Failed: {what} is over"
        return f"{verdict} the {self.max_error:g} allowed."

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        return {**asdict(self), "passed": self.passed}


def judged(found: Audit, max_error: float | None, gate: Compared) -> Verdict | None:
    """Compare an audit with the error that is allowed; None if nobody asked."""
    if max_error is None:
        return None
    if gate == "estimate":
        return Verdict(max_error, gate, found.calibration_error_at_most)
    if found.certificate is None:
        why = found.missing["certified_upper"]
        raise _gate_without_bound(why, fitted_here=found.question is not None)
    return Verdict(max_error, gate, found.certificate.upper)


def _gate_without_bound(why: str, *, fitted_here: bool) -> InputError:
    # an error of 0 on rows that may have been fitted to must not pass as an estimate
    way_out = (
        "" if fitted_here else " Add --gate estimate to compare the error measured on these rows."
    )
    return InputError(
        f"--max-error compares the certified upper bound, and there is none. {why}{way_out}"
    )
