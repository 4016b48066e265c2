"""Claims: what the paper says, as predicates over our numbers, each with its uncertainty.

A verdict is computed, never written: "agrees" and "disagrees" are decided by intervals or tests,
and what they leave open is "undecided".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from calibrant.experiments.study import Mean
from calibrant.experiments.table1 import PUBLISHED

Verdict = Literal["agrees", "disagrees", "undecided"]
#: Means of runs that differ with a probability under this by chance are not the same.
_LEVEL = 0.01
#: Means further apart than this share are not called the same, however uncertain they are.
_NEAR = 0.05
#: A calibration error proved to be under the first is low; one proved to be over it is high.
LOW = 0.05
#: What the paper's text says isotonic regression saves; the ends of a range it rounds to.
SAVED = {
    "Naive Bayes": (0.03, 0.05),
    "Random forest": (0.03, 0.05),
    "SVM": (0.20, 0.20),
    "Boosted trees": (0.12, 0.12),
    "Logistic regression": (0.0, 0.0),
}
#: The paper rounds to whole percents, and "about" may mean one of them.
_ROUNDED = 0.015
#: An interval wider than this decides nothing.
_WIDE = 0.1


_IN_TEXT = {"SVM": "SVM", "Naive Bayes": "naive Bayes"}


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement and what became of it.

    Attributes
    ----------
    where : str
        Table or figure of the paper.
    paper : str
        What it says.
    measured : str
        What we found, with its uncertainty.
    verdict : str
        "agrees", "disagrees" or "undecided".
    rule : str
        How the verdict follows.
    """

    where: str
    paper: str
    measured: str
    verdict: Verdict
    rule: str

    def to_dict(self) -> dict[str, str]:
        """Return the fields as plain text."""
        return asdict(self)


def claims_of(results: dict[str, Any]) -> list[Claim]:
    """Judge every statement that the results speak to."""
    claims: list[Claim] = []
    if "table1" in results:
        claims += _table1(results["table1"])
    if "figure1" in results:
        claims.append(_figure1(results["figure1"]))
    if "figure2" in results:
        claims += _figure2(results["figure2"])
    if "figure3" in results:
        claims += _figure3(results["figure3"])
    if "figure2" in results and "figure3" in results:
        claims.append(_most(results["figure2"], results["figure3"]))
    if "conjecture" in results:
        claims += _conjecture(results["conjecture"])
    return claims


def same_mean(ours: Mean, theirs: Mean, digits: int = 4) -> float:
    """Return Welch's p-value for two means of runs being the same, allowing for rounding."""
    from scipy.stats import t

    gap = max(0.0, abs(ours.mean - theirs.mean) - 0.5 * 10**-digits)
    parts = [one.sd**2 / one.n for one in (ours, theirs)]
    if gap == 0 or sum(parts) == 0:
        return float(gap == 0)
    freedom = sum(parts) ** 2 / sum(
        part**2 / max(one.n - 1, 1) for part, one in zip(parts, (ours, theirs), strict=True)
    )
    return float(2 * t.sf(gap / sum(parts) ** 0.5, freedom))


def _reading(table: dict[str, Any], documents: str, topics: str) -> dict[str, Mean]:
    """Return the means of one reading, with the exponent that comes nearest to the paper."""
    wanted = (documents, topics, table["supported"]["exponent"])
    [found] = [
        one
        for one in table["readings"]
        if (one["documents"], one["topics"], one["exponent"]) == wanted
    ]
    return {
        name: Mean(found[name]["mean"], found[name]["sd"], found[name]["n"]) for name in PUBLISHED
    }


def _table1(table: dict[str, Any]) -> list[Claim]:
    ours = _reading(table, table["supported"]["documents"], "all")
    words = {
        "l1": "the mean l1 error is",
        "c_emp": "the empirical calibration error is",
        "trivial_l1": "the trivial l1 error is",
        "label_frequency": "the frequency of labels is",
    }
    claims = []
    for name, text in words.items():
        theirs = PUBLISHED[name]
        chance = same_mean(ours[name], theirs)
        near = abs(ours[name].mean / theirs.mean - 1) <= _NEAR
        claims.append(
            Claim(
                "Table 1",
                f"{text.capitalize()} {theirs.mean:.4f} ± {theirs.sd:.4f}.",
                f"{ours[name].mean:.4f} ± {ours[name].sd:.4f} over {ours[name].n} runs, on "
                f"{table['supported']['documents']} documents, mean of all topics, exponent "
                f"{table['supported']['exponent']:g} (p = {chance:.2g}).",
                "disagrees" if chance < _LEVEL else "agrees" if near else "undecided",
                f"Welch's test on the means, beyond rounding: they differ if p < {_LEVEL}. They "
                f"agree if moreover they are within {_NEAR:.0%} of each other.",
            )
        )
    claims.append(_large_but_calibrated(table))
    return claims


def _large_but_calibrated(table: dict[str, Any]) -> Claim:
    worst = []
    for documents in ("training", "fresh"):
        ours = _reading(table, documents, "all")
        low, high = ours["l1"].interval()[0], ours["c_emp"].interval()[1]
        worst.append((documents, ours["l1"].mean / ours["c_emp"].mean, low > 3 * high))
    measured = "; ".join(f"{ratio:.0f} times on {documents}" for documents, ratio, _ in worst)
    return Claim(
        "Example 1",
        "Logistic regression has a large l1 error, and yet is almost calibrated.",
        f"The l1 error is larger than c_emp: {measured} documents.",
        "agrees" if all(sure for *_, sure in worst) else "undecided",
        "The 95% intervals of both means show a factor of at least 3.",
    )


def _figure1(figure: dict[str, Any]) -> Claim:
    everywhere = figure["inside"] == 1.0
    return Claim(
        "Figure 1",
        "For fixed word weights the best sigmoid matches P(Y = 1 | w(X)).",
        f"The sigmoid lies in the 95% band at {figure['inside']:.0%} of all scores; its "
        f"calibration error is between {figure['c_lower']:.4f} and {figure['c_upper']:.4f}.",
        "agrees" if figure["c_upper"] < LOW else "disagrees" if not everywhere else "undecided",
        f"Agrees if the calibration error is proved to be under {LOW}.",
    )


def _levels(figure: list[dict[str, Any]], classifier: str) -> list[dict[str, Any]]:
    return [one for one in figure if one["classifier"] == classifier]


def _said(bars: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{one['data']}: {one['c_emp']['mean']:.4f} "
        f"(c(f) between {one['lower']:.4f} and {one['upper']:.4f})"
        for one in bars
    )


def _figure2(figure: list[dict[str, Any]]) -> list[Claim]:
    claims = []
    for classifier in ("Logistic regression", "Random forest"):
        bars = _levels(figure, classifier)
        low = all(one["upper"] < LOW for one in bars)
        high = any(one["lower"] > LOW for one in bars)
        claims.append(
            Claim(
                "Figure 2",
                f"{classifier} is calibrated by nature.",
                f"{_said(bars)}.",
                "agrees" if low else "disagrees" if high else "undecided",
                f"Agrees if c(f) is proved to be under {LOW} on both data sets, disagrees if it "
                "is proved to be over it on one.",
            )
        )
    for classifier in ("SVM", "Boosted trees"):
        bars = _levels(figure, classifier)
        high = all(one["lower"] > LOW for one in bars)
        low = any(one["upper"] < LOW for one in bars)
        claims.append(
            Claim(
                "Figure 2",
                f"{classifier}, a large margin method, is not calibrated.",
                f"{_said(bars)}.",
                "agrees" if high else "disagrees" if low else "undecided",
                f"Agrees if c(f) is proved to be over {LOW} on both data sets, disagrees if it is "
                "proved to be under it on one.",
            )
        )
    return [*claims, _naive_bayes(figure)]


def _naive_bayes(figure: list[dict[str, Any]]) -> Claim:
    bars = _levels(figure, "Naive Bayes")
    ends = [(one["lower"], one["upper"]) for one in bars]
    apart = max(low for low, _ in ends) > min(high for _, high in ends)
    return Claim(
        "Figure 2",
        "The calibration of naive Bayes depends on the data set.",
        f"{_said(bars)}.",
        "agrees" if apart else "undecided",
        "Agrees if the proved intervals of two data sets do not meet.",
    )


def _figure3(figure: dict[str, Any]) -> list[Claim]:
    claims = []
    for classifier, (least, most) in SAVED.items():
        curves = [one for one in figure["curves"] if one["classifier"] == classifier]
        low, high = (
            float(np.mean([one["saved"]["interval"][end] for one in curves]))
            if all(one["saved"]["interval"] for one in curves)
            else (-np.inf, np.inf)[end]
            for end in (0, 1)
        )
        mean = float(np.mean([one["saved"]["mean"] for one in curves]))
        meets = low <= most + _ROUNDED and high >= least - _ROUNDED
        said = f"{least:.0%}" if least == most else f"{least:.0%} to {most:.0%}"
        each = "; ".join(f"{one['data']}: {one['saved']['mean']:.1%}" for one in curves)
        claims.append(
            Claim(
                "Figure 3",
                f"Isotonic regression saves {said} of the cost for "
                f"{_IN_TEXT.get(classifier, classifier.lower())}.",
                f"{mean:.1%} on average, {low:.1%} to {high:.1%} ({each}).",
                "disagrees" if not meets else "agrees" if high - low <= _WIDE else "undecided",
                "Disagrees if the 95% interval, mean over both data sets and all p, stays more "
                f"than {_ROUNDED:.1%} away from it; agrees if not, and it is at most {_WIDE:.0%} "
                "wide.",
            )
        )
    return claims


def _most(bars: list[dict[str, Any]], figure: dict[str, Any]) -> Claim:
    error, saved = (
        {
            name: float(np.mean([one[part]["mean"] for one in rows if one["classifier"] == name]))
            for name in SAVED
        }
        for part, rows in (("c_emp", bars), ("saved", figure["curves"]))
    )
    top = [set(sorted(ranked, key=lambda name: -ranked[name])[:2]) for ranked in (error, saved)]
    pair = {"SVM", "Boosted trees"}
    order = ", ".join(
        f"{name} {saved[name]:.1%}" for name in sorted(saved, key=lambda n: -saved[n])
    )
    return Claim(
        "Figures 2 and 3",
        "SVM and boosted trees benefit most, and have the highest calibration errors.",
        f"Saved: {order}. Highest errors: {', '.join(sorted(top[0]))}.",
        "agrees" if top[0] == pair and top[1] == pair else "disagrees",
        "Agrees if these two lead both lists, means over data sets.",
    )


def _conjecture(found: dict[str, Any]) -> list[Claim]:
    points, ranks = found["points"], found["rank_correlation"]
    trials = sum(point["trials"] for point in points)
    above = sum(point["above_bound"] for point in points)
    low = [point for point in points if point["c_emp"]["mean"] <= 0.02]
    most = max(low, key=lambda point: point["most_saved"]["mean"], default=None)
    share = max(low, key=lambda point: point["share_saved"]["mean"], default=None)
    said = "No classifier has an error of 0.02 or less."
    if most is not None and share is not None:
        said = (
            f"Of {len(low)} with c_emp up to 0.02, isotonic regression saves at most "
            f"{most['most_saved']['mean']:.4f} at any p ({most['classifier']} on {most['data']}), "
            f"and at most {share['share_saved']['mean']:.1%} of the whole cost "
            f"({share['classifier']} on {share['data']})."
        )
    little = most is not None and most["most_saved"]["mean"] <= 0.02
    relative = share is not None and share["share_saved"]["mean"] <= 0.05
    return [
        Claim(
            "Beyond: the bound",
            "At no p can a monotone calibrator save more than the calibration error.",
            f"It saved more than c_emp in {above} of {trials} trials.",
            "agrees" if above == 0 else "disagrees",
            "Exact on the rows of each test; one counterexample would refute it.",
        ),
        Claim(
            "Section 4",
            "A classifier with a low calibration error is not likely to benefit much from "
            "calibration (in cost).",
            f"{said} Rank correlation of error and mean saving over {len(points)} classifiers and "
            f"data sets: {ranks['mean_saved']:.2f}.",
            "undecided" if most is None else "agrees" if little else "disagrees",
            "Agrees if no classifier with c_emp up to 0.02 saves more than 0.02 at any p.",
        ),
        Claim(
            "Section 4",
            "The same, as a share of the cost.",
            f"{said} Rank correlation of error and share saved: {ranks['share_saved']:.2f}.",
            "undecided" if share is None else "agrees" if relative else "disagrees",
            "Agrees if no classifier with c_emp up to 0.02 saves more than 5% of its cost.",
        ),
    ]
