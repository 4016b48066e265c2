"""The audit as Markdown: tables that are tables, and names that are text."""

import re

import numpy as np

import calibrant as cb


def test_markdown_tables_have_as_many_cells_as_heads():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(4000, seed=1)
    found = cb.audit(y_true, y_prob, by={"a|b": np.resize(["c", "|"], 4000)})
    lines = [line for line in found.to_markdown().splitlines() if line.startswith("|")]
    counts = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    assert set(counts) == {5, 7, 8}


def test_nobody_is_mentioned_and_nothing_becomes_a_link():
    group = np.where(np.arange(400) % 2, "@everyone", "https://example.org")
    y_true, y_prob, _ = cb.simulate.overconfident().draw(400, seed=1)
    text = cb.audit(y_true, y_prob, by={"g": group}).to_markdown()
    assert "@everyone" not in text
    assert "://" not in text
