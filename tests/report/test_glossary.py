"""The glossary: every term of a report has one line, and a link that leads to it."""

import re

import pytest

import calibrant as cb
from calibrant.report.findings import findings_of
from calibrant.report.glossary import TERMS, anchor, term_of

Y_TRUE, Y_PROB, _ = cb.simulate.overconfident().draw(2000, seed=1)


def test_every_number_of_a_report_has_a_term():
    found = findings_of(cb.audit(Y_TRUE, Y_PROB))
    labels = {one.label for part in found.values() for one in part}
    assert {label for label in labels if term_of(label) is None} <= {"rows"}


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_explained_in_plain_sentences(term):
    assert term_of(term) in {term, "calibration error"} or term_of(term) is not None
    line = TERMS[term]
    assert line.endswith(".")
    assert len(line) < 400


def test_links_lead_to_terms():
    page = cb.audit(Y_TRUE, Y_PROB).to_html()
    targets = set(re.findall(r'href="#(term-[^"]*)"', page))
    assert targets <= {anchor(term) for term in TERMS}
    assert len(targets) > 10
    for target in targets:
        assert page.count(f'id="{target}"') == 1
