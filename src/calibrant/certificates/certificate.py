"""The certificate: what is guaranteed about the true calibration error, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from calibrant import errors
from calibrant._figures import figure, rounded_down, rounded_up
from calibrant.certificates.evidence import counted


@dataclass(frozen=True, slots=True)
class Certificate:
    """A guarantee about the true calibration error c(f); `certify` makes one.

    Attributes
    ----------
    c_emp, c_emp_at_most : float
        The calibration error measured; they differ only for a tally, which bounds it.
    lower, upper : float
        Ends of the interval for the true one; a one-sided certificate has lower = 0.
    n : int
        What was counted: rows, or clusters.
    confidence : float
        How often such a guarantee holds, whatever the model and the data.
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

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(10_000, seed=1)
    >>> certificate = cb.certify(y_true, y_prob)
    >>> print(certificate.sentence)
    With 95% confidence the true calibration error is at most 0.0129 (measured 0.00522 on
    10,000 rows). Assumes that rows are independent and come from the population you will
    act on, and that the model was fixed before these rows were looked at; assumes nothing
    else about the model or the data.
    >>> certificate.holds_for(0.02)
    True
    >>> certificate.method, certificate.n
    ('certified', 10000)
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
        return self.upper <= errors.share("epsilon", epsilon)

    @property
    def approximate(self) -> bool:
        """Whether the confidence is that of a limit of many rows, and not proved."""
        return self.method == "asymptotic"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the sentence as plain values."""
        plain = {**asdict(self), "assumptions": list(self.assumptions)}
        return {"sentence": self.sentence, **plain}

    @property
    def statement(self) -> str:
        """The guarantee alone, in one sentence."""
        about = "about " if self.approximate else ""
        jointly = f", for all {self.statements} statements at once," if self.statements > 1 else ""
        measured = figure(self.c_emp, 3)
        if self.c_emp_at_most > self.c_emp + 1e-12:
            measured += f" to {rounded_up(self.c_emp_at_most)}"
        basis = f"(measured {measured} on {counted(self.n, self.unit.removesuffix('s'))})"
        start = f"With {about}{percent(self.confidence)} confidence{jointly}"
        if self._empty:
            return f"{start} there is no upper bound below 1 for {self.target} {basis}."
        says = f"at most {rounded_up(self.upper)}"
        if self.sided == "both":
            says = f"between {rounded_down(self.lower)} and {rounded_up(self.upper)}"
        return f"{start} {self.target} is {says} {basis}."

    @property
    def sentence(self) -> str:
        """The guarantee and what it assumes."""
        if self._empty:
            return self.statement
        nothing = "nothing else" if len(self.assumptions) > 1 else "nothing"
        return f"{self.statement} {self.assumed}; assumes {nothing} about the model or the data."

    @property
    def assumed(self) -> str:
        """What must hold, in one sentence without its full stop."""
        main, *more = self.assumptions
        return f"Assumes that {main}" + "".join(f", and that {text}" for text in more)

    @property
    def _empty(self) -> bool:
        return self.upper >= 1 and self.lower <= 0

    def __repr__(self) -> str:
        return self.sentence

    def explain(self) -> str:
        """Say what the guarantee means for decisions, and what would make it void."""
        paragraphs = [
            self.statement,
            f"What it means. {self._meaning}",
            "What it assumes. " + " ".join(_capital(text) + "." for text in self.assumptions),
            f"What makes it void. {self._void}",
            f"How it is proved. {_capital(self.theorem)} (method {self.method}"
            + (f", seed {self.seed})." if self.seed is not None else ")."),
        ]
        if self.method == "isotonic":
            paragraphs.insert(1, "Rows that were not fitted on would give a tighter bound.")
        return "\n\n".join(paragraphs)

    @property
    def _meaning(self) -> str:
        cap = rounded_up(self.upper)
        wrong = percent(self.confidence, rest=True)
        often = f"about {wrong}" if self.approximate else f"at most {wrong}"
        where = "over all outcomes that these scores could have had"
        if self.method != "fixed_design":
            where = f"in the long run, as a share of all {self.unit}"
        return (
            "In any range of scores, events that happen and events that are predicted differ "
            f"{where}, by at most {cap}. If you act whenever the score reaches a threshold set by "
            "your costs, no nondecreasing recalibration of these scores could save you "
            f"more than {cap} a decision on average, if the costs of a false positive and of a "
            "false negative add up to 1; for costs a and b multiply by a + b. Of all bounds made "
            f"this way, quoted or not, {often} are wrong."
        )

    @property
    def _void(self) -> str:
        used = "The same rows were used to train the model, to fit its calibrator or to choose "
        if self.method == "isotonic":
            used = "The same rows were used to train the model under the calibrator, or to choose "
        depend = "rows depend on each other, as several of one patient do: give clusters."
        if self.unit == "clusters":
            depend = "clusters depend on each other."
        return f"{used}between models; the population has drifted since; {depend}"


def percent(share: float, *, rest: bool = False) -> str:
    """Say a share, or the rest, as a percentage with as many digits as it was given with."""
    exact = Decimal(repr(float(share)))
    return f"{(100 * (1 - exact if rest else exact)).normalize():f}%"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
