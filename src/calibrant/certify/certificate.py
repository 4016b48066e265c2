"""The certificate: what is promised about the true calibration error, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from calibrant import _checks
from calibrant.certify.bounds import FIXED_MODEL


@dataclass(frozen=True, slots=True)
class Certificate:
    """A promise about the true calibration error c(f); `certify` makes one.

    Attributes
    ----------
    c_emp, c_emp_at_most : float
        The calibration error measured; they differ only for a tally, which bounds it.
    lower, upper : float
        Ends of the interval for the true one; a one-sided certificate has lower = 0.
    n : int
        What was counted: rows, or clusters.
    confidence : float
        How often such a promise holds, whatever the model and the data.
    method : str
        How the bound was made.
    sided : str
        "upper" or "both".
    assumptions : tuple of str
        What must hold; each completes "assumes that".
    theorem : str
        Where the bound is proved.
    target : str
        What lies between the ends.
    seed : int or None
        The seed, where one was used.
    statements : int
        How many certificates hold at once with this confidence.
    unit : str
        "rows" or "clusters".
    """

    c_emp: float
    c_emp_at_most: float
    lower: float
    upper: float
    n: int
    confidence: float
    method: str
    sided: str
    assumptions: tuple[str, ...]
    theorem: str
    target: str
    seed: int | None = None
    statements: int = 1
    unit: str = "rows"

    def holds_for(self, epsilon: float) -> bool:
        """Whether the true calibration error is proved to be at most `epsilon`."""
        return self.upper <= _checks.share("epsilon", epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the sentence as plain values."""
        plain = {**asdict(self), "assumptions": list(self.assumptions)}
        return {"sentence": self.sentence, **plain}

    @property
    def promise(self) -> str:
        """The promise alone, in one sentence."""
        jointly = f", for all {self.statements} statements at once," if self.statements > 1 else ""
        share = f"{100 * self.confidence:.10g}%"
        about = "about " if self.method == "asymptotic" else ""
        if self._empty:
            return (
                f"With {about}{share} confidence{jointly} nothing below 1 can be promised about "
                f"{self.target}: {self.n:,} {self.unit} are too few (measured {self.c_emp:.3g})."
            )
        if self.sided == "both":
            says = f"between {_down(self.lower)} and {_up(self.upper)}"
        else:
            says = f"at most {_up(self.upper)}"
        measured = f"{self.c_emp:.3g}"
        if self.c_emp_at_most > self.c_emp + 1e-12:
            measured += f" to {_up(self.c_emp_at_most)}"
        return (
            f"With {about}{share} confidence{jointly} {self.target} is {says} "
            f"(measured {measured} on {self.n:,} {self.unit})."
        )

    @property
    def sentence(self) -> str:
        """The promise and what it assumes."""
        if self._empty:
            return self.promise
        main, *more = (text for text in self.assumptions if text != FIXED_MODEL)
        also = "".join(f", and that {text}" for text in more)
        nothing = "nothing else" if more else "nothing"
        return (
            f"{self.promise} Assumes that {main}{also}; assumes {nothing} about the model or the "
            "data."
        )

    @property
    def _empty(self) -> bool:
        return self.upper >= 1 and self.lower <= 0

    def __repr__(self) -> str:
        return self.sentence

    def explain(self) -> str:
        """Say what the promise means for decisions, and what would make it void."""
        cap = _up(self.upper)
        wrong = f"{100 * (1 - self.confidence):.3g}%"
        lines = [
            self.promise,
            "",
            "What it means. In any range of scores, events that happen and events that are "
            f"predicted differ in the long run by at most {cap} of all {self.unit}. If you act "
            "whenever the score reaches a threshold set by your costs, no monotone (nondecreasing) "
            f"recalibration of these scores could save you more than {cap} a decision, in units "
            "where a false positive and a false negative cost 1 together; for costs a and b "
            f"multiply by a + b. The promise is wrong in at most {wrong} of its uses.",
            "",
            "What it assumes. "
            + " ".join(f"{text[0].upper()}{text[1:]}." for text in self.assumptions),
            "",
            "What makes it void. The same rows were used to train the model, to fit its "
            "calibrator or to choose between models; the population has drifted since; rows "
            "depend on each other, as several of one patient do"
            + (" (here only clusters may not)." if self.unit == "clusters" else ": give clusters."),
            "",
            f"How it is proved. {_capital(self.theorem)} (method {self.method}"
            + (f", seed {self.seed})." if self.seed is not None else ")."),
        ]
        if self.method == "isotonic":
            lines.insert(2, "Rows that were not fitted on would give a tighter bound.\n")
        return "\n".join(lines)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _rounded(value: float, rounding: str) -> str:
    context = Context(prec=3, rounding=rounding)
    return f"{float(context.create_decimal(Decimal(repr(value)))):.3g}"


def _up(value: float) -> str:
    """Three digits, rounded up: a bound may grow but not shrink."""
    return _rounded(value, ROUND_CEILING)


def _down(value: float) -> str:
    return _rounded(value, ROUND_FLOOR)
