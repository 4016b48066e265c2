"""The glossary: every term of a report has one line, and a link that leads to it."""

import re

import pytest

import calibrant as cb
from calibrant.report.displays.cost import cost_picture
from calibrant.report.displays.cumulative import cumulative_picture
from calibrant.report.displays.reliability import reliability_picture
from calibrant.report.findings import (
    GROUP_COLUMNS,
    INTERVAL_COLUMNS,
    MODEL_COLUMNS,
    TRIAL_COLUMNS,
    differences_of,
    findings_of,
)
from calibrant.report.glossary import TERMS, Links, anchor, term_of, terms_in
from calibrant.report.html import figures_of
from calibrant.report.log_odds import on_log_odds

Y_TRUE, Y_PROB, TRUTH = cb.simulate.overconfident().draw(2000, seed=1)
AUDIT = cb.audit(Y_TRUE, Y_PROB, by={"half": [0, 1] * 1000})
FOUND = cb.compare(Y_TRUE, {"old": Y_PROB, "new": TRUTH})
#: What needs no explanation.
PLAIN = {"rows", "group", "model", "calibrator"}


def test_every_number_of_a_report_has_a_term():
    found = findings_of(AUDIT)
    labels = {one.label for part in found.values() for one in part}
    assert {label for label in labels if term_of(label) is None} <= {"rows"}


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_explained_in_plain_sentences(term):
    assert term_of(term) in {term, "calibration error"} or term_of(term) is not None
    line = TERMS[term]
    assert line.endswith(".")
    assert len(line) < 400


@pytest.mark.parametrize(
    "head", [*INTERVAL_COLUMNS, *GROUP_COLUMNS, *MODEL_COLUMNS, *TRIAL_COLUMNS]
)
def test_every_header_has_a_term(head):
    assert (term_of(head) is None) is (head in PLAIN)


def test_every_difference_of_two_models_has_a_term():
    assert all(term_of(one.label) for pair in FOUND.differences for one in differences_of(pair))


#: Lines of legends that say all there is to say.
SAID = {"no difference", "act on every row", "act on no row", "what it would save"}


def test_every_legend_has_terms():
    rates = reliability_picture(AUDIT)
    pictures = (rates, on_log_odds(rates), cumulative_picture(AUDIT), cost_picture(AUDIT))
    words = {line for one in figures_of(pictures) for _, line in one["legend"]}
    assert {line for line in words if not terms_in(line)} <= SAID


@pytest.mark.parametrize("page", [AUDIT.to_html(), FOUND.to_html()], ids=["audit", "comparison"])
def test_links_lead_to_terms(page):
    targets = re.findall(r'href="#(term-[^"]*)"', page)
    assert set(targets) <= {anchor(term) for term in TERMS}
    assert len(set(targets)) > 10
    for target in targets:
        assert page.count(f'id="{target}"') == 1


def test_the_verdict_box_links_what_it_says():
    [box] = re.findall(r'<header class="verdict.*?</header>', AUDIT.to_html(), re.DOTALL)
    linked = re.findall(r'href="#(term-[^"]*)"', box)
    assert len(linked) == len(set(linked))
    for term in ("p-value", "confidence level", "true calibration error", "calibration error"):
        assert anchor(term) in linked
    said = re.sub("<.*?>", "", box)
    assert {anchor(term) for term in terms_in(said)} == set(linked)


def test_a_term_is_linked_where_it_is_first_read_and_text_stays_text():
    links = Links()
    first = links("the <b> scores, within the limit, in the limit of many rows")
    assert first.count("<a ") == 2
    assert "&lt;b&gt;" in first
    assert re.sub("<.*?>", "", first).replace("&lt;", "<").replace("&gt;", ">") == (
        "the <b> scores, within the limit, in the limit of many rows"
    )
    assert links("the scores") == "the scores"


def test_names_of_models_are_no_terms():
    links = Links(["score", "log loss"])
    said = links("the Brier score is lower for log loss than for score; its scores")
    assert re.findall(r'href="#(.*?)"', said) == [anchor("Brier score"), anchor("score")]
    assert said.endswith('than for score; its <a href="#term-score">scores</a>')
    page = cb.compare(Y_TRUE, {"score": Y_PROB, "new": TRUTH}).to_html()
    [box] = re.findall(r'<header class="verdict.*?</header>', page, re.DOTALL)
    assert "for new than for score" in box
    assert 'href="#term-score"' not in box


def test_a_normal_limit_is_not_the_limit_that_somebody_stated():
    assert terms_in("By a normal limit: within the limit") == ["limit"]
