"""The glossary: one line for every term that a report prints. The documentation has the same.

A report links a term where it is first read: in its sentences, and in what heads its tables and
pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from calibrant._text import visible
from calibrant.measures.family import LISTED

#: In the order of a report.
TERMS = {
    "calibration error": "The largest difference between observed and predicted events over all "
    "ranges of scores, as a share of all rows. 0 means that observed and predicted events agree in "
    "every range. Also known as ECCE-R, Kuiper's statistic and cutoff calibration error.",
    "verdict": "Whether the true calibration error is within the limit you stated, over it, or "
    "neither can be shown with these rows. Without a limit: whether a test rejects the scores.",
    "limit": "The largest calibration error that is acceptable to you, stated before the rows were "
    "looked at.",
    "miscalibrated": "A test at the stated level rejects that the scores are right, or in a group: "
    "its true calibration error is proved to be above 0.",
    "score": "The predicted probability of the event.",
    "worst range": "The range of scores in which observed and predicted events differ most; also "
    "called the worst interval. The size of the difference is the calibration error.",
    "certified": "An upper bound on the true calibration error, valid at the stated confidence "
    "level for any model and any distribution of the data, if the assumptions hold.",
    "true calibration error": "The calibration error in the population that the rows came from, "
    "which infinitely many rows would show.",
    "confidence level": "How often statements made in this way are right, in the long run.",
    "interval": "Contains the true value, at the stated confidence level.",
    "proved": "Shown by intervals that hold for any number of rows (finite-sample intervals).",
    "significant": "Shown by intervals that hold in the limit of many rows.",
    "simultaneous": "The confidence level holds for all statements together, not for each of them "
    "alone.",
    "pointwise": "The confidence level holds at each score taken alone, not along the whole curve.",
    "p-value": "How likely a calibration error at least this large is if the scores are right.",
    "asymptotic test": "A test of whether the scores can be right. Its p-value holds in the limit "
    "of many rows.",
    "events observed": "The share of rows in which the event happened.",
    "events predicted": "The mean score: the share of rows in which the event was predicted to "
    "happen.",
    "excess": "Observed minus predicted events in a range of scores, as a share of all rows. Below "
    "0 the scores are too high.",
    "O:E": "Observed over expected: events that happened, divided by the sum of the scores. 1 is "
    "best.",
    "ranking (ROC AUC)": "The chance that a row with the event has a higher score than a row "
    "without it. 0.5 is guessing, 1 is perfect.",
    "Brier score": "The mean squared difference between score and outcome. Lower is better.",
    "log loss": "The mean of minus the logarithm of the probability given to what happened. Lower "
    "is better.",
    "miscalibration component": "The part of a loss that isotonic recalibration takes away on "
    "these rows.",
    "log-odds": "The logarithm of p / (1 - p) for a probability p. On a log-odds axis small "
    "probabilities do not crowd, and 0 and 1 lie beyond both ends.",
    "calibration slope": "The slope of a logistic regression of the outcome on the log-odds of the "
    "score. 1 is best; below 1 the scores are too extreme.",
    "calibration intercept": "The intercept of that regression with the slope held at 1. 0 is "
    "best; below 0 the scores are too high.",
    "ECE": "Expected calibration error: the mean difference between score and observed rate over "
    "bins. It depends on the bins, and chance alone makes it larger than 0.",
    "Kolmogorov-Smirnov error": "The calibration error over ranges that start at the lowest score.",
    "smallest undetectable L1 error": "By how much single probabilities may be off on average "
    "without any test being able to show it.",
    "isotonic regression": "The non-decreasing function of the score that is closest to the "
    "outcomes. It has steps, and needs no bins.",
    "confidence band": "Contains the whole true curve, at the stated confidence level.",
    "consistency band": "Where the curve would lie if the scores were right (pointwise).",
    "perfectly calibrated": "Observed and predicted events agree at every score.",
    "held-out rows": "Rows that a calibrator was not fitted on.",
    "recalibration": "Replacing each score by a function of it, fitted on labelled rows, so that "
    "it agrees with the observed rate.",
    "nondecreasing": "A higher score never becomes a lower one.",
    "Platt scaling": "Recalibration by a logistic regression of the outcome on the log-odds of the "
    "score: two numbers.",
    "temperature scaling": "Recalibration that multiplies the log-odds of every score by one "
    "number.",
    "beta calibration": "Recalibration by a logistic regression on the logarithms of the score and "
    "of one minus the score: three numbers.",
    "gain": "By how much a calibrator lowers the Brier score on held-out rows; also called saved.",
    "threshold": "The score from which on one acts. Bayes' rule sets it from the two costs.",
    "in hindsight": "Chosen with the outcomes of these rows known, so that it looks better than it "
    "would on others.",
    "base rate": "The share of rows in which the event happens.",
    "asymptotic": "Valid in the limit of many rows, not proved for any number of them.",
    "cluster": "Rows that belong together, such as those of one patient.",
    "standard error": "How much an estimate varies between samples of this size.",
    "false positive": "Acting on a row in which the event does not happen.",
    "false negative": "Not acting on a row in which the event happens.",
    "non-integer weights": "Weights that cannot be numbers of rows, so that statements about rows "
    "have no meaning.",
    "tally": "Sums of rows in cells of scores. What the rows look like inside a cell is unknown, "
    "so some numbers have bounds.",
}


#: What reports say in place of a term, or as a part of it.
_FORMS = {
    r"ROC AUC": "ranking (ROC AUC)",
    r"(?:\d+(?:\.\d+)?% )?confidence(?! band| level)": "confidence level",
    r"simultaneously": "simultaneous",
    r"finite-sample": "proved",
    r"worst intervals?|worst ranges?": "worst range",
    r"\d+(?:\.\d+)?% band": "confidence band",
    r"where it would lie": "consistency band",
    r"true error|true one": "true calibration error",
    r"(?<!normal )limit(?! of many| law)": "limit",
    r"test(?= rejects| does not reject)": "asymptotic test",
    r"observed": "events observed",
    r"predicted": "events predicted",
    r"observed / expected": "O:E",
    r"errors?": "calibration error",
    r"Brier": "Brier score",
    r"held-out": "held-out rows",
    r"hindsight": "in hindsight",
    r"saved": "gain",
    r"recalibrat(?:e|ed|es|ing|ions?)": "recalibration",
    r"platt": "Platt scaling",
    r"temperature": "temperature scaling",
    r"beta": "beta calibration",
    r"isotonic": "isotonic regression",
    r"scores": "score",
    r"false positives?": "false positive",
    r"false negatives?": "false negative",
    r"clusters": "cluster",
}


def _pattern() -> tuple[re.Pattern[str], list[str]]:
    """Return what finds a term in a text, longer ones first, and the terms by their groups."""
    forms = {re.escape(term): term for term in TERMS if term != "limit"} | _FORMS
    longest = sorted(forms, key=len, reverse=True)
    groups = "|".join(f"({form})" for form in longest)
    return re.compile(rf"(?<![\w-])(?:{groups})(?![\w-])", re.IGNORECASE), [
        forms[form] for form in longest
    ]


_FOUND, _TERM = _pattern()
# a measure that no line above explains has the line that reports print with its number
TERMS |= {
    label: f"{line[:1].upper()}{line[1:]}."
    for label, line in LISTED.values()
    if not _FOUND.search(label)
}
_FOUND, _TERM = _pattern()


def anchor(term: str) -> str:
    """Return the name of a term in a link."""
    return "term-" + "-".join(re.findall(r"[a-z0-9]+", term.lower()))


def terms_in(text: str) -> list[str]:
    """Return the terms that a text uses, in its order."""
    return [_TERM[found.lastindex - 1] for found in _FOUND.finditer(text) if found.lastindex]


def term_of(label: str) -> str | None:
    """Return the term that the label of a number is about; None if it needs no explanation."""
    found = terms_in(label)
    return max(found, key=len) if found else None


def explained() -> dict[str, tuple[str, str]]:
    """Return every term with its place in a page and its line."""
    return {term: (anchor(term), line) for term, line in TERMS.items()}


class Links:
    """Text of a page, in which every term is a link where it is first read.

    Names of models are no terms, even if one is called score.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._seen: set[str] = set()
        longest = sorted(map(re.escape, names), key=len, reverse=True)
        self._names = (
            re.compile(rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])") if longest else None
        )

    def __call__(self, text: str) -> str:
        """Return a text as HTML: names from data in it are escaped."""
        parts, end = [], 0
        names = [] if self._names is None else [one.span() for one in self._names.finditer(text)]
        for found in _FOUND.finditer(text):
            term = _TERM[(found.lastindex or 1) - 1]
            named = any(low <= found.start() and found.end() <= high for low, high in names)
            if named or term in self._seen:
                continue
            self._seen.add(term)
            words = _shown(found[0])
            parts += [_shown(text[end : found.start()]), f'<a href="#{anchor(term)}">{words}</a>']
            end = found.end()
        return "".join([*parts, _shown(text[end:])])


def _shown(text: str) -> str:
    return escape(visible(text, keep="\n"))
