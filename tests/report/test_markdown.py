"""The audit as Markdown: tables that are tables, and names that are text."""

import html
import re

import numpy as np
import pytest
from markdown_it import MarkdownIt

import calibrant as cb
from calibrant.report.markdown import plain

#: What GitHub makes links of within a run of text (extended autolinks), and mentions.
AUTOLINK = re.compile(r"www\.[\w-]|(https?|ftp)://|[\w.+-]+@[\w-]|@\w", re.IGNORECASE)


def test_markdown_tables_have_as_many_cells_as_heads():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(4000, seed=1)
    found = cb.audit(y_true, y_prob, by={"a|b": np.resize(["c", "|"], 4000)})
    lines = [line for line in found.to_markdown().splitlines() if line.startswith("|")]
    counts = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    assert set(counts) == {5, 7, 8}
    assert "|  | value | interval | what it is |\n| :-- | --: | --: | :-- |" in found.to_markdown()


def test_it_opens_with_title_verdict_and_what_to_do():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(4000, seed=1)
    found = cb.audit(y_true, y_prob)
    lines = found.to_markdown(title="Churn | 2026", model="forest *2*").splitlines()
    assert lines[0] == r"# Churn \| 2026"
    assert lines[2].startswith(r"Model: forest \*2\* · Rows: 4,000 · Date: 20")
    order = [f"**{found.verdict.title}", plain(found.headline)[:40], "**What to do:**"]
    assert [next(k for k, line in enumerate(lines) if line.startswith(one)) for one in order] == [
        4,
        6,
        8,
    ]
    assert found.to_markdown().startswith("# Calibration report\n")
    with pytest.raises(cb.InputError, match="title must be text"):
        found.to_markdown(title=1)


def test_nobody_is_mentioned_and_nothing_becomes_a_link():
    group = np.where(np.arange(400) % 2, "@everyone", "https://example.org")
    y_true, y_prob, _ = cb.simulate.overconfident().draw(400, seed=1)
    text = cb.audit(y_true, y_prob, by={"g": group}).to_markdown()
    assert "@everyone" not in text
    assert "://" not in text


@pytest.mark.parametrize(
    "name",
    [
        "www.evil.com",
        "WWW.evil.com",
        "http://evil.com",
        "ftp://evil.com/x",
        "a@evil.com",
        "mailto:a@evil.com",
        "<b>x</b>",
        "&lt;",
        "[x](http://evil.com)",
        "`x`",
        "~~x~~",
        "a\\|b",
        "![x](http://evil.com/x.png)",
        "<http://evil.com>",
        "*x* _y_ **z**",
    ],
)
def test_a_name_is_text_where_it_is_read(name):
    page = MarkdownIt("commonmark").enable("strikethrough").render(plain(name))
    texts = re.split(r"</?p>|<!---->|\n", page)
    assert not any("<" in text for text in texts)
    assert not any(AUTOLINK.search(html.unescape(text)) for text in texts)
    assert html.unescape("".join(texts)) == name


def test_there_are_no_entities_to_read():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(400, seed=1)
    found = cb.audit(y_true, y_prob, by={"g": np.where(y_true, "a & b", "c: d > e")})
    assert not re.search(r"&#?\w+;", found.to_markdown())
