"""Findings: one list, and every report draws the same rows."""

import io
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from rich.console import Console

import calibrant as cb
from calibrant.report import findings, html, markdown, terminal
from calibrant.report.findings import (
    costs_by_rule,
    differences_of,
    findings_of,
    found,
    interval_cells,
    worst_of,
)
from calibrant.simulate import overconfident, rare

Y_TRUE, Y_PROB, _ = overconfident().draw(3000, seed=1)
AUDITS = {
    "rows": lambda: cb.audit(Y_TRUE, Y_PROB),
    "rare events": lambda: cb.audit(*rare(0.01).draw(20_000, seed=3)[:2]),
    "soft labels": lambda: cb.audit(np.linspace(0, 1, 300), np.full(300, 0.4)),
    "weights": lambda: cb.audit(Y_TRUE, Y_PROB, sample_weight=np.resize([0.5, 1.5], 3000)),
    "infinite loss": lambda: cb.audit([1, 0, 1], [0.0, 0.2, 0.9]),
    "a tally": lambda: cb.audit(cb.Predictions(Y_TRUE, Y_PROB).tally(5)),
}


def reports(audit):
    """Return the rows of every report: label, number and interval, without layout."""
    out = io.StringIO()
    terminal.render(audit, Console(file=out, width=78))
    page = unescape(re.sub(r'<a href="#term-[a-z0-9-]*">(.*?)</a>', r"\1", html.html_of(audit)))
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', page)
    cells = [" ".join([label, *re.findall(r"<td>(.*?)</td>", rest)]) for label, rest in rows]
    return {
        "terminal": _plain(out.getvalue()),
        "html": _plain(" ; ".join(cells)),
        "markdown": _plain(markdown.markdown_of(audit)),
    }


def _plain(text):
    text = text.replace("\\~", "~")
    return " ".join(re.sub(r"[|()]", " ", text).split())


@pytest.mark.parametrize("name", AUDITS)
def test_every_report_draws_the_same_rows(name):
    audit = AUDITS[name]()
    drawn = reports(audit)
    for part in findings_of(audit).values():
        for one in part:
            row = _plain(f"{one.label} {one.number} {one.ends()}")
            assert {kind for kind, text in drawn.items() if row in text} == set(drawn), row


def test_every_finding_says_what_it_means_in_one_line():
    for audit in (make() for make in AUDITS.values()):
        for one in (one for part in findings_of(audit).values() for one in part):
            assert one.meaning
            assert "\n" not in one.meaning
            assert one.number


def test_estimates_have_their_intervals():
    with_ends = {
        one.label: one.interval
        for part in findings_of(AUDITS["rows"]()).values()
        for one in part
        if one.interval
    }
    slope = cb.calibration_slope(Y_TRUE, Y_PROB)
    assert with_ends["calibration slope"] == pytest.approx((slope.lower, slope.upper), abs=1e-9)
    assert set(with_ends) == {
        "calibration slope",
        "calibration intercept",
        "observed / expected",
    }


def test_a_row_in_the_list_is_a_row_in_every_report(monkeypatch):
    before = findings.findings_of
    more = {"a new part": found("a new measure", 0.125, "what it means")}
    for module in (findings, html, markdown, terminal):
        monkeypatch.setattr(module, "findings_of", lambda audit: before(audit) | more)
    for text in reports(AUDITS["rows"]()).values():
        assert "a new measure 0.1250" in text
    assert AUDITS["rows"]().to_dict()["findings"][-1]["label"] == "a new measure"


def test_what_is_missing_is_no_row():
    assert found("nothing", None, "") == ()
    labels = [one.label for part in findings_of(AUDITS["soft labels"]()).values() for one in part]
    assert "calibration slope" not in labels
    assert "certified, 95%" not in labels


def test_differences_of_models_have_ends():
    compared = cb.compare(Y_TRUE, {"a": Y_PROB, "b": Y_PROB**2})
    rows = differences_of(compared.differences[0])
    assert [one.label for one in rows] == [
        "calibration error",
        "the same, asymptotic",
        "Brier score",
        "log loss",
    ]
    assert all(one.interval[0] < one.value < one.interval[1] for one in rows)
    out = io.StringIO()
    terminal.render_comparison(compared, Console(file=out, width=100))
    for one in rows:
        assert one.number in out.getvalue()
        assert one.ends(" and ") in out.getvalue()


def test_the_costs_of_rules_are_listed():
    cost = cb.expected_cost(Y_TRUE, Y_PROB, false_positive=1, false_negative=4)
    rows = {one.label: one.value for one in costs_by_rule(cost, cost.threshold)}
    assert rows["act on every row"] == cost.always
    assert rows["act from 0.2 on (Bayes' rule)"] == cost.cost
    assert cost.best_cost in rows.values()


def test_reports_of_rare_events_have_no_exponents():
    rng = np.random.default_rng(0)
    truth = np.exp(rng.normal(-9.4, 0.6, 100_000)).clip(0, 0.5)
    y_true = rng.random(100_000) < truth
    one = cb.audit(y_true, 1.15 * truth, max_relative_error=0.5)
    assert "e-0" not in " ".join(one.summary)
    texts = (one.to_markdown(), *re.findall(r">([^<]*)<", one.to_html()))
    assert not any(re.search(r"\de-\d", text) for text in texts)


def test_a_tiny_excess_is_no_row_of_the_worst_and_0_elsewhere():
    one = cb.audit([0, 1] * 5000, [0.2, 0.9] * 5000)
    first = one.worst_intervals[0]
    tiny = replace(first, excess=-2e-7)
    kept = worst_of(replace(one, worst_intervals=(first, tiny, replace(first, excess=2e-6))))
    assert [part.excess for part in kept] == [first.excess, 2e-6]
    assert len(worst_of(replace(one, worst_intervals=(tiny,)))) == 1
    assert interval_cells(tiny)[4] == "+0.0000"
