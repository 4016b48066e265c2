"""Claims: what the paper says, as predicates over our numbers, each with its uncertainty.

A verdict is computed, never written: "agrees" and "disagrees" are decided by intervals or tests,
and what they leave open is "undecided".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from calibrant.experiments.run import Mean
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
    ours : bool
        Not a statement of the paper but one of ours.
    """

    where: str
    paper: str
    measured: str
    verdict: Verdict
    rule: str
    ours: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
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


def same_mean(ours: Mean, theirs: Mean, digits: int = 4) -> float | None:
    """Return Welch's p-value for two means of runs being the same, allowing for rounding.

    A single run says nothing of how much runs differ, so that there is none.
    """
    from scipy.stats import t

    if min(ours.n, theirs.n) < 2:
        return None
    gap = max(0.0, abs(ours.mean - theirs.mean) - 0.5 * 10**-digits)
    parts = [one.sd**2 / one.n for one in (ours, theirs)]
    if gap == 0 or sum(parts) == 0:
        return float(gap == 0)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (one.n - 1) for part, one in zip(parts, (ours, theirs), strict=True)
    )
    return float(2 * t.sf(gap / sum(parts) ** 0.5, freedom))


def _verdict(*, agrees: bool, disagrees: bool) -> Verdict:
    return "disagrees" if disagrees else "agrees" if agrees else "undecided"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


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
        said = "" if chance is None else f" (p = {chance:.2g})"
        claims.append(
            Claim(
                "Table 1",
                f"{text.capitalize()} {theirs.mean:.4f} ± {theirs.sd:.4f}.",
                f"{ours[name].mean:.4f} ± {ours[name].sd:.4f} over {_runs(ours[name].n)}, on "
                f"{table['supported']['documents']} documents, mean of all topics, exponent "
                f"{table['supported']['exponent']:g}{said}.",
                _verdict(
                    agrees=chance is not None and chance >= _LEVEL and near,
                    disagrees=chance is not None and chance < _LEVEL,
                ),
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
    return Claim(
        "Figure 1",
        "For fixed word weights the best sigmoid matches P(Y = 1 | w(X)).",
        f"The sigmoid lies in the 95% band at {figure['inside']:.0%} of all scores; its "
        f"calibration error is between {figure['c_lower']:.4f} and {figure['c_upper']:.4f}.",
        _verdict(agrees=figure["c_upper"] < LOW, disagrees=figure["c_lower"] > LOW),
        f"Agrees if the calibration error is proved to be under {LOW}, disagrees if over it.",
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
                _verdict(agrees=low, disagrees=high),
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
                _verdict(agrees=high, disagrees=low),
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
        _verdict(agrees=apart, disagrees=False),
        "Agrees if the proved intervals of two data sets do not meet.",
    )


def _figure3(figure: dict[str, Any]) -> list[Claim]:
    claims = []
    for classifier, (least, most) in SAVED.items():
        curves = [one for one in figure["curves"] if one["classifier"] == classifier]
        low, high = _ends([one["saved"] for one in curves])
        mean = float(np.mean([one["saved"]["mean"] for one in curves]))
        between = f", {low:.1%} to {high:.1%}" if np.isfinite(low) else ", of one run"
        meets = low <= most + _ROUNDED and high >= least - _ROUNDED
        said = f"{least:.0%}" if least == most else f"{least:.0%} to {most:.0%}"
        each = "; ".join(f"{one['data']}: {one['saved']['mean']:.1%}" for one in curves)
        claims.append(
            Claim(
                "Figure 3",
                f"Isotonic regression saves {said} of the cost for "
                f"{_IN_TEXT.get(classifier, classifier.lower())}.",
                f"{mean:.1%} on average{between} ({each}).",
                _verdict(agrees=meets and high - low <= _WIDE, disagrees=not meets),
                "Disagrees if the 95% interval, mean over both data sets and all p, stays more "
                f"than {_ROUNDED:.1%} away from it; agrees if not, and it is at most {_WIDE:.0%} "
                "wide.",
            )
        )
    return claims


def _ends(means: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the mean of some intervals; the whole line if one of them is of a single run."""
    if not all(one["interval"] for one in means):
        return -np.inf, np.inf
    low, high = np.mean([one["interval"] for one in means], axis=0).tolist()
    return low, high


def _leads(ends: dict[str, tuple[float, float]]) -> tuple[bool, bool]:
    """Say whether SVM and boosted trees are surely above all others, and surely not."""
    pair = [ends[name] for name in _PAIR]
    others = [ends[name] for name in ends if name not in _PAIR]
    surely = min(low for low, _ in pair) > max(high for _, high in others)
    surely_not = min(high for _, high in pair) < max(low for low, _ in others)
    return surely, surely_not


_PAIR = ("SVM", "Boosted trees")


def _most(bars: list[dict[str, Any]], figure: dict[str, Any]) -> Claim:
    errors = {
        name: (
            float(np.mean([one["lower"] for one in _levels(bars, name)])),
            float(np.mean([one["upper"] for one in _levels(bars, name)])),
        )
        for name in SAVED
    }
    saved = {name: [one["saved"] for one in _levels(figure["curves"], name)] for name in SAVED}
    means = {name: float(np.mean([one["mean"] for one in some])) for name, some in saved.items()}
    sure = [_leads(errors), _leads({name: _ends(some) for name, some in saved.items()})]
    order = ", ".join(
        f"{name} {means[name]:.1%}" for name in sorted(means, key=lambda name: -means[name])
    )
    said = ", ".join(f"{name} {low:.4f} to {high:.4f}" for name, (low, high) in errors.items())
    return Claim(
        "Figures 2 and 3",
        "SVM and boosted trees benefit most, and have the highest calibration errors.",
        f"Saved: {order}. Errors: {said}.",
        _verdict(agrees=all(yes for yes, _ in sure), disagrees=any(no for _, no in sure)),
        "Agrees if the intervals of these two, means over data sets, lie above those of all "
        "others in both lists; disagrees if one lies below another's.",
    )


def _conjecture(found: dict[str, Any]) -> list[Claim]:
    points = found["points"]
    trials = sum(point["trials"] for point in points)
    above = sum(point["above_bound"] for point in points)
    bound = Claim(
        "The bound",
        "At no p can a nondecreasing calibrator save more than the calibration error.",
        f"Isotonic regression saved more than c_emp in {above} of {trials} trials.",
        _verdict(agrees=above == 0, disagrees=above > 0),
        "Exact on the rows of each test, where it is a theorem; one counterexample, at the p that "
        "were tried, would refute it.",
        ours=True,
    )
    low = [point for point in points if point["c_emp"]["mean"] <= _SMALL]
    return [bound, *(_little(found, low, kind) for kind in _KINDS)]


#: Calibration errors up to this are low for the conjecture.
_SMALL = 0.02
#: So many points with a low error are needed for a verdict.
_FEWEST = 5


class _Saving(NamedTuple):
    """A kind of saving: which, what is called much of it, and how it is said."""

    name: str
    much: float
    form: str
    statement: str
    of: str


_KINDS = (
    _Saving(
        "most_saved",
        0.02,
        "{:.4f}",
        "A classifier with a low calibration error is not likely to benefit much from "
        "calibration: in cost, at any p.",
        "at the best of the p tried",
    ),
    _Saving(
        "share_saved", 0.05, "{:.1%}", "The same, as a share of the whole cost.", "of its cost"
    ),
)


def _little(found: dict[str, Any], low: list[dict[str, Any]], kind: _Saving) -> Claim:
    """Judge whether none of the points with a low error saves much."""
    ends = [_ends([point[kind.name]]) for point in low]
    enough = len(low) >= _FEWEST
    said = f"{len(low)} of {len(found['points'])} points have c_emp up to {_SMALL}."
    if low:
        most = max(low, key=lambda point: point[kind.name]["mean"])
        where = f"{most['classifier']} on {most['data']}"
        best = kind.form.format(most[kind.name]["mean"])
        said += f" The most that one of them saves is {best} ({where}); the"
        said += f" 95% intervals end at {kind.form.format(max(high for _, high in ends))}."
    rank = found["rank_correlation"][kind.name]
    correlation = "not defined" if rank is None else f"{rank:.2f}"
    return Claim(
        "Section 4",
        kind.statement,
        f"{said} Rank correlation of error and saving over all points: {correlation}.",
        _verdict(
            agrees=enough and all(high <= kind.much for _, high in ends),
            disagrees=enough and any(least > kind.much for least, _ in ends),
        ),
        f"Agrees if the 95% intervals of all points with c_emp up to {_SMALL}, at least {_FEWEST} "
        f"of them, lie under {kind.form.format(kind.much)} {kind.of}; disagrees if one lies above.",
    )
