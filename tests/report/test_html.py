"""The report: one file that says what the audit says, and nothing that data could smuggle in."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.report.findings import interval_cells
from calibrant.report.formats import number

NASTY = "<script>alert(1)</script>"


def sample(rows=4000):
    y_true, y_prob, _ = cb.simulate.overconfident().draw(rows, seed=1)
    rng = np.random.default_rng(0)
    by = {NASTY: rng.choice(["a", NASTY, '"><img src=x onerror=alert(2)>'], rows)}
    return cb.audit(y_true, y_prob, by=by)


AUDIT = sample()
PAGE = AUDIT.to_html()


class Tables(HTMLParser):
    """Collect the cells of every table that has a name, and all text."""

    def __init__(self):
        super().__init__()
        self.tables, self.text, self.tags, self._name = {}, [], [], None

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self._name = dict(attributes).get("data-name")
            self.tables.setdefault(self._name, [])
        if tag == "tr" and self._name is not None:
            self.tables[self._name].append([])

    def handle_data(self, data):
        self.text.append(data)
        if self._name is not None and data.strip() and self.tables[self._name]:
            self.tables[self._name][-1].append(data.strip())

    def handle_endtag(self, tag):
        if tag == "table":
            self._name = None


def parsed(page):
    found = Tables()
    found.feed(page)
    return found


def test_it_opens_with_the_verdict_and_says_what_the_audit_says():
    text = " ".join("".join(parsed(PAGE).text).split())
    assert text.index("Miscalibrated The test rejects") < text.index("Largest differences")
    for sentence in (AUDIT.headline, AUDIT.where, AUDIT.certificate.statement):
        assert sentence in text
    for sentence in AUDIT.advice.summary:
        assert sentence in text
    assert "✖" in PAGE


def test_the_mark_is_a_tick_where_nothing_speaks_against_the_scores():
    y_true, y_prob, _ = cb.simulate.calibrated().draw(3000, seed=1)
    page = cb.audit(y_true, y_prob).to_html()
    assert "No evidence of miscalibration" in page
    assert "✔" in page


def test_tables_behind_pictures_are_the_numbers_of_the_json():
    document = json.loads(AUDIT.to_json())["curves"]
    tables = parsed(PAGE).tables
    for name, columns in (
        ("reliability", document["reliability"]),
        ("difference", document["difference"]),
        ("cost", {k: document["cost"][k] for k in ("p", "cost", "best", "always", "never")}),
    ):
        head, *rows = tables[name]
        assert head == [column.replace("_", " ") for column in columns]
        expected = [
            # bands allow for rounding by 1e-12, which is no number to show
            [number(value if abs(value) > 1e-11 else 0.0) for value in row if value is not None]
            for row in zip(*columns.values(), strict=True)
        ]
        assert rows == expected
    shares = [float(row[1].rstrip("%")) / 100 for row in tables["scores"][1:]]
    assert shares == pytest.approx(document["scores"]["share"], abs=1e-4)


def test_groups_of_equal_size_are_a_table_as_in_the_terminal():
    [table] = re.findall(r'<table id="equal-size">.*?</table>', PAGE, re.DOTALL)
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th><td>(.*?)</td></tr>", table)
    written = [[first, *rest.split("</td><td>")] for first, rest in rows]
    assert written == [list(interval_cells(one)) for one in AUDIT.reliability]


def test_the_slider_has_the_costs_of_the_json():
    data = json.loads(re.search(r"const costs = (\{.*?\});", PAGE)[1])
    cost = AUDIT.to_dict()["curves"]["cost"]
    assert data["p"] == cost["p"]
    assert data["now"] == [number(value) for value in cost["cost"]]
    assert data["after"] == [number(value) for value in cost["best"]]
    assert float(data["bound"]) >= AUDIT.certificate.upper
    for ratio in (1, 4, 20, 1000):
        page = AUDIT.to_html(false_positive=1, false_negative=ratio)
        start = int(re.search(r'id="ratio".*?value="(\d+)"', page)[1])
        assert cost["p"][start] == pytest.approx(1 / (1 + ratio), abs=1e-9)
        assert "nearest to the costs" not in page
    assert "nearest to the costs" in AUDIT.to_html(false_positive=1, false_negative=37)


def test_names_from_data_are_text():
    assert NASTY not in PAGE
    assert "<img" not in PAGE
    found = parsed(PAGE)
    assert NASTY in " ".join(found.text)
    assert [tag for tag, _ in found.tags].count("script") == 1
    handlers = [name for _, attributes in found.tags for name in attributes if name[:2] == "on"]
    assert handlers == []
    assert "\\<script" not in AUDIT.to_markdown()
    assert "<script" not in AUDIT.to_markdown()


def test_it_needs_nothing_but_itself():
    assert len(PAGE.encode()) < 100_000
    assert "default-src 'none'" in PAGE
    for _, attributes in parsed(PAGE).tags:
        assert not {"src", "xlink:href"} & attributes.keys()
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in PAGE
    assert "@import" not in PAGE


def test_pictures_have_words_for_those_who_do_not_see_them():
    pictures = [a for tag, a in parsed(PAGE).tags if tag == "svg" and "aria-hidden" not in a]
    assert len(pictures) == 3
    assert all(a["role"] == "img" and len(a["aria-label"]) > 40 for a in pictures)
    labels = [a for tag, a in parsed(PAGE).tags if tag == "label"]
    assert labels == [{"for": "ratio"}]


@pytest.mark.parametrize("kind", ["soft", "tally", "one row", "weights"])
def test_every_kind_of_audit_has_a_report(kind):
    rng = np.random.default_rng(0)
    y_true, y_prob = rng.random(300) < 0.5, rng.random(300)
    found = {
        "soft": lambda: cb.audit(rng.random(300), y_prob),
        "tally": lambda: cb.audit(cb.Predictions(y_true, y_prob).tally(5)),
        "one row": lambda: cb.audit([1], [0.3]),
        "weights": lambda: cb.audit(y_true, y_prob, sample_weight=rng.random(300)),
    }[kind]()
    page = found.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert found.headline in " ".join("".join(parsed(page).text).split())
    assert f"\n**{found.verdict.title}" in found.to_markdown()
    json.loads(found.to_json())


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "report.html"
    assert AUDIT.to_html(path) == path.read_text(encoding="utf-8")
    with pytest.raises(OSError, match=r"report\.html' could not be written"):
        AUDIT.to_html(tmp_path / "nowhere" / "report.html")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_notebook_shows_it_in_a_frame():
    shown = AUDIT._repr_html_()
    assert shown.startswith("<iframe")
    assert shown.count("<") == 2
    assert "srcdoc=" in shown


def test_without_the_extra_there_is_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InputError, match=r"pip install 'calibrant\[report\]'"):
        AUDIT.to_html()
    assert AUDIT._repr_html_().startswith("<p>Miscalibrated")


def test_what_take_rows_for_independent_is_left_out_for_clusters():
    rng = np.random.default_rng(0)
    prob = rng.random(60)
    label = (rng.random(60) < prob).astype(int)
    found = cb.audit(
        np.repeat(label, 50),
        np.repeat(prob, 50),
        clusters=np.repeat(np.arange(60), 50),
        estimand="cluster",
    )
    assert found.advice is None
    assert found.curves.reliability.lower is None
    assert found.curves.difference.consistent_lower is None
    assert "No test, bands or advice" in found.to_html()
    assert found.to_dict()["independent"] is False


def test_predictions_that_are_perfect_fail_nowhere():
    y_true = np.arange(200) % 2
    page = cb.audit(y_true, y_true.astype(float)).to_html().split('id="terms"')[0]
    assert "fail most" not in page
    assert "worst interval" not in page


def test_a_tally_is_not_said_to_be_exact():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(2000, seed=1)
    page = cb.audit(cb.Predictions(y_true, y_prob).tally(4)).to_html()
    assert "It is exact" not in page
    assert "given by its bounds" in page


def test_rows_that_were_dropped_are_told(tmp_path):
    from calibrant.data.files.reading import read_predictions

    (tmp_path / "a.csv").write_text("y,p\n0,0.1\n1,\n1,0.8\n")
    data = read_predictions(tmp_path / "a.csv", label="y", prob="p", drop_missing=True)
    found = cb.audit(data)
    note = "1 rows with a missing value were dropped"
    assert note in found.to_html()
    assert note in found.to_markdown()


def test_proved_ends_are_rounded_outward():
    from calibrant.certificates.certificate import rounded_down, rounded_up

    for one in AUDIT.groups:
        lower, upper = one.certificate.lower, one.certificate.upper
        assert float(rounded_down(lower)) <= lower
        assert float(rounded_up(upper)) >= upper
        assert f"{rounded_down(lower)} to {rounded_up(upper)}" in PAGE
        assert f"{rounded_down(lower)} to {rounded_up(upper)}" in AUDIT.to_markdown()


def test_one_score_still_shows():
    page = cb.audit([0, 1, 1, 0], [0.4] * 4).to_html()
    assert 'class="few"' in page


def test_groups_that_fail_are_in_the_verdict():
    half = np.arange(20_000) % 2 == 1
    y_prob = np.random.default_rng(3).random(20_000)
    truth = np.clip(np.where(half, y_prob + 0.1, y_prob - 0.1), 0, 1)
    y_true = np.random.default_rng(0).random(20_000) < truth
    text = cb.audit(y_true, y_prob, by={"half": half}).to_html()
    assert "No evidence of miscalibration, but 2 groups are miscalibrated" in text
    assert "✔" not in text


def test_the_report_says_what_the_event_is():
    rows = {"outcome": ["paid", "<b>late"] * 50, "score": [0.2, 0.7] * 50}
    table = pd.DataFrame(rows)
    found = cb.audit(table, label="outcome", prob="score", pos_label="<b>late")
    assert found.provenance.event == "column 'outcome' = '<b>late'"
    text = found.to_html()
    assert "The event is column &#39;outcome&#39; = &#39;&lt;b&gt;late&#39;" in text
    assert "the scores are column &#39;score&#39;" in text


def test_clusters_are_the_reason_where_they_are():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(400, seed=1)
    found = cb.audit(y_true, y_prob, clusters=np.arange(400) // 2, estimand="cluster")
    text = found.to_html()
    assert "There is no advice for rows that come in clusters: audit one row of each" in text
    assert "calibrant decide" not in text
    assert "For those audit one row of each cluster, drawn at random." in " ".join(found.notes)
