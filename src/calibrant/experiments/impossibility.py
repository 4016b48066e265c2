"""Theorem 1: no verifier can tell from n rows that scores are the true probabilities.

A law P has labels that are 1 with probability f(x). An adversary P' of it has the same marginal
law, but each x has one label for good, drawn once with probability f(x). As long as no x comes
twice in a sample, samples from P and from a P' drawn at random have the same law, so every
verifier accepts both as often; yet f is exact under P and far off under P'.

The paper's text is to be read with three corrections, which `REMARKS` has in words.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from calibrant import errors
from calibrant.experiments.points import PointLaw, Scores, mass_limit
from calibrant.experiments.verifiers import Verifier, verifiers

REMARKS = (
    "The proof ends with P'(X, Y) = 0 or 1; it is P'(Y=1|X) that is 0 or 1.",
    "The proof speaks of the distance between P' and P; what it needs is l1(f, P') >= B_f, which "
    "holds for every law with labels fixed by x, as |f - 0| and |f - 1| are at least min(f, 1-f).",
    "The proof needs B_f > 0, for l1(f, P') >= B_f to be more than B_f / 2.",
)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many samples a verifier accepts.

    Attributes
    ----------
    accepted, repetitions : int
        Samples accepted, of how many.
    """

    accepted: int
    repetitions: int

    @property
    def rate(self) -> float:
        """The share of samples accepted."""
        return self.accepted / self.repetitions

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of Clopper and Pearson (1934) for the chance of acceptance.

        Examples
        --------
        >>> from calibrant.experiments.impossibility import Acceptance
        >>> [round(end, 4) for end in Acceptance(0, 10).interval()]
        [0.0, 0.3085]
        """
        tail = (1 - errors.inner_share("confidence", confidence)) / 2
        accepted, refused = self.accepted, self.repetitions - self.accepted
        lower = float(betaincinv(accepted, refused + 1, tail)) if accepted else 0.0
        upper = float(betaincinv(accepted + 1, refused, 1 - tail)) if refused else 1.0
        return lower, upper

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, with the 95% interval."""
        return {**asdict(self), "rate": self.rate, "interval": list(self.interval())}


def acceptance(
    verifier: Verifier,
    law: PointLaw,
    n: int,
    repetitions: int = 1000,
    *,
    seed: int = 0,
    adversaries: bool = False,
) -> Acceptance:
    """Count how many samples of n rows a verifier accepts.

    Parameters
    ----------
    verifier : Verifier
        The rule.
    law : PointLaw
        Where the samples come from.
    n : int
        Rows of a sample.
    repetitions : int
        Samples drawn.
    seed : int
        Seed of the samples, and of the adversaries.
    adversaries : bool
        Take each sample from a new adversary of the law: the mixture in the lemma's proof. For
        one adversary throughout pass `law.adversary(seed)` as the law.

    Returns
    -------
    Acceptance
        Samples accepted, their share and its interval.

    Examples
    --------
    >>> from calibrant.experiments.impossibility import acceptance
    >>> from calibrant.experiments.points import PointLaw
    >>> from calibrant.experiments.verifiers import by_repeats
    >>> law = PointLaw(1, [0.5])
    >>> acceptance(by_repeats(), law, 30, 100).rate
    1.0
    >>> acceptance(by_repeats(), law, 30, 100, adversaries=True).rate
    0.0
    """
    repetitions = errors.whole_number("repetitions", repetitions, least=1)
    accepted = 0
    for one in _seeds(seed, repetitions):
        source = law.adversary(one) if adversaries else law
        accepted += verifier.accepts(*source.draw(n, seed=one), law.scores)
    return Acceptance(accepted, repetitions)


def _seeds(seed: int, count: int) -> list[int]:
    """Make several seeds out of one."""
    seed = errors.whole_number("seed", seed, least=0)
    return [int(one) for one in np.random.SeedSequence(seed).generate_state(count, np.uint64)]


def impossibility(seed: int = 0, quick: bool = False) -> dict[str, Any]:
    """Run Theorem 1 as an experiment: every verifier, under P and under its adversaries.

    Parameters
    ----------
    seed : int
        Seed of everything that is drawn.
    quick : bool
        Few and small samples, for a look within seconds.

    Returns
    -------
    dict
        For the domain of 10 n^2 + 1 points, the least that meets the theorem's condition, and for
        the counter-cases of one and of five points, where the condition fails: the law with its
        l1 errors and B_f, the bound on how far rates of acceptance may differ, and each
        verifier's rates with intervals. All plain values.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Theorem 1.

    Examples
    --------
    >>> from calibrant.experiments.impossibility import impossibility
    >>> found = impossibility(quick=True)
    >>> any(verifier["tells_apart"] for verifier in found["theorem"]["verifiers"])
    False
    >>> [case["verifiers"][-1]["tells_apart"] for case in found["counter_cases"]]
    [True, True]
    """
    n, repetitions = (50, 200) if quick else (500, 2000)
    points = 10 * n**2 + 1
    seeds = _seeds(seed, 3)
    few = np.linspace(0.3, 0.7, 5)
    return {
        "theorem": _case(PointLaw(points, _ramp(points)), n, repetitions, seeds[0]),
        "counter_cases": [
            _case(PointLaw(1, [0.5]), n, repetitions, seeds[1]),
            _case(PointLaw(len(few), few), n, repetitions, seeds[2]),
        ],
        "remarks": list(REMARKS),
    }


def _ramp(points: int) -> Scores:
    """Return scores that rise from 0.1 to 0.9 along the domain, so that neighbours are alike."""
    return lambda x: 0.1 + 0.8 * x / (points - 1)


def _case(law: PointLaw, n: int, repetitions: int, seed: int) -> dict[str, Any]:
    """Run all verifiers on a law and its adversaries."""
    rules = verifiers(n)
    fixed_seed, *rest = _seeds(seed, 1 + len(rules))
    fixed, slack = law.adversary(fixed_seed), law.repeat_bound(n)
    return {
        "n": n,
        "points": law.points,
        "repetitions": repetitions,
        "largest_mass": law.largest_mass,
        "mass_limit": mass_limit(n),
        "condition": law.meets_condition(n),
        "b_f": law.b_f,
        "l1_true": law.l1_error(law.scores),
        "l1_fixed_adversary": fixed.l1_error(law.scores),
        "l1_adversaries_mean": law.mean_adversary_l1,
        "most_difference": slack,
        "verifiers": [
            _compared(_rates(rule, (law, fixed), n, repetitions, one), rule, slack)
            for rule, one in zip(rules, rest, strict=True)
        ],
    }


class _Rates(NamedTuple):
    """Acceptance under P, under a new adversary for each sample, and under one adversary."""

    true: Acceptance
    new: Acceptance
    fixed: Acceptance


def _rates(
    rule: Verifier, laws: tuple[PointLaw, PointLaw], n: int, repetitions: int, seed: int
) -> _Rates:
    law, fixed = laws
    seeds = _seeds(seed, 3)
    return _Rates(
        acceptance(rule, law, n, repetitions, seed=seeds[0]),
        acceptance(rule, law, n, repetitions, seed=seeds[1], adversaries=True),
        acceptance(rule, fixed, n, repetitions, seed=seeds[2]),
    )


def _compared(rates: _Rates, rule: Verifier, slack: float) -> dict[str, Any]:
    """Say how far the rates under P and its adversaries differ.

    The interval of the difference takes the ends of two intervals of 97.5% each, so that it
    covers 95% of the time. The verifier tells P from its adversaries if it does what the theorem
    asks of a prover: it accepts P more than 2/3 of the time, and adversaries less than 1/3.
    """
    (low, high), (new_low, new_high) = rates.true.interval(0.975), rates.new.interval(0.975)
    ends = [low - new_high, high - new_low]
    return {
        "name": rule.name,
        "rule": rule.rule,
        "true": rates.true.to_dict(),
        "new_adversaries": rates.new.to_dict(),
        "fixed_adversary": rates.fixed.to_dict(),
        "difference": rates.true.rate - rates.new.rate,
        "difference_interval": ends,
        "within_bound": ends[0] <= slack and ends[1] >= -slack,
        "tells_apart": low > 2 / 3 and new_high < 1 / 3,
    }
