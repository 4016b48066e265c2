"""Bounds: one function for each method, from the evidence to an interval for c(f).

Each takes the evidence and delta = 1 - confidence, and says what it assumes. "upper" leaves the
lower end at 0 and spends all of delta on the upper one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from calibrant.certificates.brownian import range_quantile
from calibrant.certificates.evidence import Evidence
from calibrant.certificates.tails import largest, mean_at_most, worst_tail

Sided: TypeAlias = Literal["upper", "both"]

INDEPENDENT = "rows are independent and come from the population you will act on"
FIXED_MODEL = "the model was fixed before these rows were looked at"
#: Part of delta that is spent on bounding a variance.
VARIANCE_SHARE = 1 / 20


@dataclass(frozen=True, slots=True)
class Bound:
    """An interval for the true calibration error.

    Attributes
    ----------
    lower, upper : float
        Its ends, within [0, 1].
    assumptions : tuple of str
        What must hold; each completes "assumes that".
    theorem : str
        Where it is proved.
    target : str
        What lies between the ends.
    """

    lower: float
    upper: float
    assumptions: tuple[str, ...]
    theorem: str
    target: str = "the true calibration error"


def certified(evidence: Evidence, delta: float, sided: Sided = "upper") -> Bound:
    """Bound c(f) by the tail of one mean: finite-sample, distribution-free.

    At the population's worst interval the draws have variance at most v0 + c (1 - c). A c is
    ruled out if so small a c_emp had a chance under delta.

    References
    ----------
    Hoeffding (1963) and Berry-Esseen with Shevtsova's constants (2013), at the fixed worst
    interval; see `calibrant.certificates.tails`.
    """
    if sided == "both":
        return with_lower(certified(evidence, delta / 2), evidence, delta / 2)
    n, measured = evidence.n, evidence.c_emp_at_most
    delta_v = delta * VARIANCE_SHARE
    v0 = mean_at_most(evidence.v0, n, 0.25, delta_v)

    def tail(c: float) -> float:
        return worst_tail(n, c - measured, 1 + c, min(1 - c * c, v0 + c * (1 - c)))

    return Bound(
        lower=0.0,
        upper=largest(tail, measured, delta - delta_v),
        assumptions=(INDEPENDENT, FIXED_MODEL),
        theorem="Chernoff-Hoeffding and Berry-Esseen tails at the population's worst interval",
    )


def with_lower(upper: Bound, evidence: Evidence, delta: float) -> Bound:
    """Put the lower end of the band under an upper bound that has spent the rest of delta."""
    return Bound(
        max(0.0, evidence.c_emp - band_width(evidence, delta)),
        upper.upper,
        upper.assumptions,
        f"{upper.theorem}; lower end: uniform band over all intervals",
    )


def poisson_gap(n: int) -> float:
    """Return 1 - e^-n n^n / n!: what undoing the Poissonised sample size costs."""
    if n < 100:
        return -math.expm1(n * math.log(n) - n - math.lgamma(n + 1))
    # Stirling, because the terms above grow and cancel
    return 1 - math.exp(-1 / (12 * n) + 1 / (360 * n**3)) / math.sqrt(2 * math.pi * n)


def known_band_width(n: int, variance: float, delta: float) -> float:
    """Return the width of the band if E (Y - f)^2 is known."""
    u = math.log(4 * math.e / delta)
    return (math.sqrt(2 * variance * u / n) + u / (3 * n)) / poisson_gap(n)


def band_width(evidence: Evidence, delta: float) -> float:
    """Bound the difference between sample and population in every interval at once.

    References
    ----------
    Ville's inequality for the reflected walk at a Poissonised sample size, undone by Panchenko's
    lemma (2003).
    """
    delta_v = delta * VARIANCE_SHARE
    variance = mean_at_most(evidence.brier, evidence.n, 1.0, delta_v)
    return known_band_width(evidence.n, variance, delta - delta_v)


def band(evidence: Evidence, delta: float, sided: Sided = "upper") -> Bound:
    """Bound c(f) on both sides by a band that holds for every interval of scores at once.

    Wider than `certified`, but it also covers intervals chosen after looking at the data.

    References
    ----------
    As for `band_width`.
    """
    return _around(
        evidence,
        band_width(evidence, delta),
        sided,
        (INDEPENDENT, FIXED_MODEL),
        "Ville's inequality for a reflected walk and Panchenko's lemma: uniform over intervals",
    )


def fixed_design_width(n: float, delta: float) -> float:
    """Return sqrt(ln(4 / delta) / 2n), which holds given the scores."""
    return math.sqrt(math.log(4 / delta) / (2 * n))


def fixed_design(evidence: Evidence, delta: float, sided: Sided = "upper") -> Bound:
    """Bound the calibration error under the sample's own scores, only outcomes being random.

    References
    ----------
    Ville's inequality for the reflected walk, with Hoeffding's lemma (1963) for its steps.
    """
    bound = _around(
        evidence,
        fixed_design_width(evidence.n, delta),
        sided,
        ("given the scores, outcomes are independent of each other", FIXED_MODEL),
        "Ville's inequality for a reflected walk with Hoeffding steps, given the scores",
    )
    target = "the calibration error over exactly these scores (not over the population)"
    return Bound(bound.lower, bound.upper, bound.assumptions, bound.theorem, target)


def asymptotic(
    evidence: Evidence, delta: float, sided: Sided = "upper", *, p_value: float = 1.0
) -> Bound:
    """Bound c(f) by normal limits: often the shortest interval, but a limit of many rows.

    For finitely many it is not proved. By exact sums over one score the worst at 95% is an upper
    bound missed by 7.3% of samples, for one row with a score of 0 and a rate of 0.93. With scores
    of 0 where nearly every row is an event it stays at 6.9% however many rows there are. It is
    within one percentage point, at most 6%, as soon as five rows of either outcome are expected.
    The lower end stays at 0 unless the test of c = 0, whose `p_value` is passed, rejects.

    References
    ----------
    The score interval of Wilson (1927) at the worst interval; Feller (1951) for the range of
    Brownian motion.
    """
    from scipy.special import ndtri

    each = delta if sided == "upper" else delta / 2
    lower = 0.0
    if sided == "both" and p_value <= each:
        spread = math.sqrt(max(evidence.brier, evidence.v0) / evidence.n)
        lower = max(0.0, evidence.c_emp - range_quantile(each) * spread)
    return Bound(
        lower,
        _score_root(evidence, -float(ndtri(each))),
        (INDEPENDENT, FIXED_MODEL, "there are rows enough for a normal limit (it is asymptotic)"),
        "score interval at the worst interval; range of Brownian motion below",
    )


def _score_root(evidence: Evidence, z: float) -> float:
    """Solve (c - chat)^2 = z^2 (v0 + c - c^2) / n for its larger root."""
    n = evidence.n
    center = min(1.0, evidence.c_emp_at_most + 1 / (2 * n))
    k = z * z / n
    half = center + k / 2
    inside = half * half - (1 + k) * (center * center - k * evidence.v0)
    root = (half + math.copysign(math.sqrt(max(0.0, inside)), z)) / (1 + k)
    return min(1.0, max(evidence.c_emp_at_most, root))


def gao2017_width(n: float, delta: float, *, printed: bool = False) -> float:
    """Return the width of Theorem 2 of the paper for one classifier.

    `printed` is what the paper states; its proof supports twice the complexity term.
    """
    complexity = math.sqrt(math.pi / (2 * n))
    return (2 if printed else 4) * complexity + 2 * math.sqrt(2 * math.log(8 / delta) / n)


def gao2017(
    evidence: Evidence, delta: float, sided: Sided = "upper", *, printed: bool = False
) -> Bound:
    """Bound c(f) as the paper does, for comparison: by uniform convergence, about ten times wider.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Theorem 2. The statement as printed drops a factor 2 that
    its proof needs.
    """
    more = ("the theorem holds as printed, which its proof does not show",) if printed else ()
    return _around(
        evidence,
        gao2017_width(evidence.n, delta, printed=printed),
        sided,
        (INDEPENDENT, FIXED_MODEL, *more),
        "Gao, Parameswaran and Peng (2017), Theorem 2" + (", as printed" if printed else ""),
    )


def isotonic_width(n: int, delta: float) -> float:
    """Return the width that holds for all nondecreasing functions of a score at once."""
    u = math.log(8 * math.e / delta)
    return (2 * math.sqrt(u / n) + 2 * u / (3 * n)) / poisson_gap(n)


def isotonic(evidence: Evidence, delta: float, sided: Sided = "upper") -> Bound:
    """Bound c(g(f)) for a nondecreasing g that was fitted on these very rows.

    Y - g = Y (1 - g) - (1 - Y) g, and both terms are mixtures of indicators of intervals of f, so
    two bands hold for every g at once. A holdout that was not fitted on is tighter.

    References
    ----------
    The band of `band_width`, twice.
    """
    return _around(
        evidence,
        isotonic_width(evidence.n, delta),
        sided,
        (
            INDEPENDENT,
            "the scores are a nondecreasing function, fitted on these rows, of a score that was "
            "fixed before",
        ),
        "two uniform bands, for all nondecreasing functions of the score at once",
    )


def _around(
    evidence: Evidence, width: float, sided: Sided, assumptions: tuple[str, ...], theorem: str
) -> Bound:
    """Take the same width on both sides: the inequality holds for both at once."""
    lower = max(0.0, evidence.c_emp - width) if sided == "both" else 0.0
    return Bound(lower, min(1.0, evidence.c_emp_at_most + width), assumptions, theorem)
