"""The page of a comparison: its numbers, its pictures, and nothing that a name could smuggle in."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

import calibrant as cb
from calibrant.report.findings import model_cells
from calibrant.report.formats import number
from calibrant.report.overlay import look_of

NASTY = '<script>alert("1")</script>'
Y_TRUE, Y_PROB, TRUTH = cb.simulate.overconfident().draw(20_000, seed=1)
FOUND = cb.compare(Y_TRUE, {NASTY: Y_PROB, "truth": TRUTH, "\u202eturned": np.sqrt(TRUTH)})
PAGE = FOUND.to_html()


class Read(HTMLParser):
    """Collect tags, text, and the cells of tables row by row."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.rows = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.text.append(data)
        if self.rows and data.strip():
            self.rows[-1].append(data.strip())


READ = Read(PAGE)
TEXT = " ".join("".join(READ.text).split())


def test_it_says_what_the_comparison_says():
    for sentence in FOUND.summary:
        assert sentence in TEXT
    for one in FOUND.models[:2]:
        assert [one.name, *model_cells(one)] in READ.rows
    for pair in FOUND.differences:
        assert pair.verdict in TEXT
    assert "simultaneously, with 95% confidence" in TEXT
    assert "at 5%, simultaneously" in TEXT


def test_every_picture_shows_every_model_in_its_own_look():
    pictures = re.findall(r'<svg viewBox="0 0 640 360".*?</svg>', PAGE, re.DOTALL)
    assert len(pictures) == 2
    for svg in pictures:
        for model in range(3):
            assert svg.count(f'class="curve model-{model}"') == 1
    for model in range(3):
        assert f".curve.model-{model} {{ stroke: {look_of(model).colour};" in PAGE
    assert PAGE.count(f"truth, error {number(FOUND.models[1].calibration_error)}") >= 2


def test_rare_events_have_log_odds_axes():
    y_true, y_prob, _ = cb.simulate.rare(0.005).draw(20_000, seed=1)
    rare = {"old": y_prob, "new": y_prob**1.1}
    page = cb.compare(y_true, rare).to_html()
    assert page.count("score (predicted probability), log-odds axis") == 1
    assert f"svg .beyond.model-1 {{ stroke: {look_of(1).colour}; }}" in page
    assert (
        "probability), log-odds axis"
        not in cb.compare(y_true, rare | {"wide": y_prob**0.1}).to_html()
    )
    assert "probability), log-odds axis" not in PAGE


def test_tables_behind_pictures_are_the_numbers_of_the_curves():
    curve = FOUND.curves[1].reliability
    for score, observed in zip(curve.score, curve.observed, strict=True):
        assert ["truth", number(score), number(observed)] in READ.rows


def test_names_are_text():
    assert NASTY not in PAGE
    assert "\u202e" not in PAGE
    assert "script" not in [tag for tag, _ in READ.tags]
    assert NASTY in TEXT


def test_it_needs_nothing_but_itself():
    policy = next(a["content"] for tag, a in READ.tags if "http-equiv" in a)
    [style] = re.findall(r"<style>(.*?)</style>", PAGE, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"style-src 'sha256-{digest}'" in policy
    assert "script-src" not in policy
    assert "<title>Comparison of 3 models</title>" in PAGE
    for _, attributes in READ.tags:
        assert not {"src", "style"} & attributes.keys()
        assert attributes.get("href", "#").startswith("#")


def test_it_is_written_whole_or_not_at_all(tmp_path):
    assert FOUND.to_html(tmp_path / "a.html") == PAGE
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == PAGE
    with pytest.raises(cb.InputError, match="could not be written"):
        FOUND.to_html(tmp_path / "absent" / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_few_rows_have_a_page(rows):
    found = cb.compare(np.arange(rows) % 2, {"a": np.full(rows, 0.3), "b": np.linspace(0, 1, rows)})
    assert "No difference in calibration" in found.to_html()


def test_it_has_a_title_the_data_and_the_date():
    page = FOUND.to_html(title="Old <or> new", data="march.csv")
    assert "<title>Old &lt;or&gt; new</title>" in page
    assert "<h1>Old &lt;or&gt; new</h1>" in page
    assert re.search(r"Data: march\.csv · Rows: 20,000 · Date: \d{4}-\d\d-\d\d", page)
    assert "<h1>Comparison of 3 models</h1>" in PAGE
    with pytest.raises(cb.InputError, match="title must be text"):
        FOUND.to_html(title=1)
