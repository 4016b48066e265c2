"""What pages guarantee, in the words that are proved."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "src").rglob("*.py")) + sorted((ROOT / "src").rglob("*.jinja"))
#: What else is read: what changed, how to contribute, what was measured, and the notebook.
READ = [
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "tutorial.ipynb",
    *sorted((ROOT / "benchmarks").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.py")),
]


def words(path):
    return " ".join(path.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("path", PAGES + SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_proved_of_nondecreasing_recalibrations_is_said_of_them(path):
    """A decreasing one can save more than the calibration error."""
    assert not re.search(
        r"monotone \S*\s?(re)?calibrat(ion|or)s?\b.{0,40}\b(save|gain)", words(path)
    )


def test_all_but_the_histogram_keep_the_order():
    text = words(ROOT / "docs" / "guides" / "recalibrate.md")
    assert "All but the histogram are nondecreasing: they never put a row above another" in text


def test_the_page_of_certificates_says_how_far_the_limit_is_off():
    text = words(ROOT / "docs" / "guides" / "certify.md")
    assert "a 95% bound misses up to 7.3% (n = 1)" in text
    assert "About half of the samples of that size will do; with `assurance=0.9`, 90% will." in text
    assert "No guarantee rests on such a draw" in text


#: Words that only we would understand, and what stands for them.
PRIVATE = {
    r"next to (it|its)\b": "with it, compared with",
    r"\bfor certain\b(?! *,)": "at the 95% level",
    r"\bshall\b": "should",
    r"(?<!\.)\bpromis(e|es|ed|ing)\b": "guarantee",
    r"\bmend(s|ed|ing)?\b": "fix or recalibrate",
    r"\btakes? rows for\b": "assumes",
    r"\b(at|for) each (score|place) by itself\b": "pointwise",
    r"\bof it miscalibration\b": "miscalibration component",
    r"\bno test excludes\b": "undetectable",
    r"\bcount no rows\b|\bno row counts\b": "non-integer weights",
    r"\bthe first row is 0\b": "0-based",
    r"\bbrownian test\b": "asymptotic test",
    r"\bin units of both costs\b": "if the two costs add up to 1",
    r"\bthis room\b|\brooms\b": "page, guide, package",
    r"\bby lot\b": "at random",
    r"\brows are no counts\b": "non-integer weights",
    r"\bno test can exclude\b": "undetectable",
    r"\b(every|each) row by itself\b": "individually",
    r"\bby heart\b": "memorise",
    r"\b(?<!of )(their|its|the|on|about|given|for) own rows\b|\bon own rows\b": "fitting, training",
    r"\bplatt calibration\b(?! error)|\bisotonic calibration (lowers|does)\b": "Platt scaling",
    r"\bnext to (the (calibration error|base rate|share|number|others)|scikit-learn|them)\b": (
        "compared with"
    ),
}


@pytest.mark.parametrize(
    "path", PAGES + SOURCES + READ, ids=lambda path: str(path.relative_to(ROOT))
)
def test_pages_and_messages_are_in_the_words_of_the_field(path):
    text = words(path)
    found = {word: instead for word, instead in PRIVATE.items() if re.search(word, text, re.I)}
    assert not found
