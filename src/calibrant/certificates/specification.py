"""Specification: what can be asked of a certificate, and the formula behind each name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from calibrant import errors
from calibrant.certificates import bounds
from calibrant.certificates.bounds import Bound, Sided
from calibrant.certificates.evidence import Evidence

Estimand: TypeAlias = Literal["row", "cluster"]
Method: TypeAlias = Literal[
    "auto",
    "certified",
    "betting",
    "band",
    "fixed_design",
    "asymptotic",
    "isotonic",
    "gao2017",
    "gao2017_printed",
]
METHODS: tuple[str, ...] = get_args(Method)
ESTIMANDS: tuple[str, ...] = get_args(Estimand)
SIDES: tuple[str, ...] = get_args(Sided)
#: "auto" bets below this many rows: there the two methods are equally wide on average over laws
#: (docs/certificates.md). The choice depends on n, and on whether the data hold every score, never
#: on the outcomes, so that the level holds.
BETTING_BELOW = 3000
Formula: TypeAlias = Callable[[Evidence, float, Sided], Bound]
_FORMULAS: dict[str, Formula] = {
    "certified": bounds.certified,
    "band": bounds.band,
    "fixed_design": bounds.fixed_design,
    "asymptotic": bounds.asymptotic,
    "isotonic": bounds.isotonic,
    "gao2017": bounds.gao2017,
    "gao2017_printed": lambda evidence, delta, sided: bounds.gao2017(
        evidence, delta, sided, printed=True
    ),
}


@dataclass(frozen=True, slots=True)
class CertificateSpec:
    """What is asked of a certificate.

    Attributes
    ----------
    confidence : float
        How often all statements together hold.
    method : str
        How the bound is made.
    sided : str
        "upper", or "both".
    seed : int
        Seed of what is random.
    statements : int
        How many statements share the confidence.
    estimand, max_cluster_size
        How clusters count.
    """

    confidence: float = 0.95
    method: str = "auto"
    sided: Sided = "upper"
    seed: int = 0
    statements: int = 1
    estimand: Estimand = "row"
    max_cluster_size: int | None = None

    def __post_init__(self) -> None:
        # of numpy's own kinds single precision would be kept, and 1 - confidence lose digits
        object.__setattr__(self, "confidence", errors.inner_share("confidence", self.confidence))
        for name, allowed in (("method", METHODS), ("sided", SIDES), ("estimand", ESTIMANDS)):
            errors.one_of(name, getattr(self, name), allowed)
        errors.whole_number("seed", self.seed, least=0)

    @property
    def delta(self) -> float:
        """The chance of being wrong that this statement may spend."""
        return (1 - self.confidence) / self.statements


def formula(method: str) -> Formula:
    """Return the function of a method that needs the evidence alone."""
    return _FORMULAS[method]


def chosen(method: str, n: int, rows_known: bool) -> str:
    """Say what "auto" is for n rows; a tally has no rows to bet on."""
    if method != "auto":
        return method
    return "betting" if n < BETTING_BELOW and rows_known else "certified"
