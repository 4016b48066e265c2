"""When to act, and what it costs."""

import json

import pytest

import calibrant as cb
from calibrant.simulate import overconfident
from reference.commands import calibrant


def test_decide_says_what_to_do_and_what_it_costs(folder):
    options = [folder / "good.csv", "--label", "y", "--prob", "p"]
    options += ["--false-positive", 1, "--false-negative", 20]
    done = calibrant("decide", *options, "--volume", 1e6, "--currency", "EUR")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith("Act when the score is at least 0.04762. On these rows that costs")
    assert "EUR for 1,000,000 decisions" in text
    for words in ("Bayes' rule", "act on every row", "best in hindsight", "not acted on"):
        assert words in text
    document = json.loads(calibrant("decide", *options, "--json").stdout)
    y_true, y_prob, _ = overconfident().draw(3000)
    expected = cb.expected_cost(y_true, y_prob, false_positive=1, false_negative=20)
    assert document["decision"]["cost"] == pytest.approx(expected.cost, abs=1e-12)
    assert document["price"]["volume"] is None
    for costs, more, words in (
        ((0, 0), [], "both 0"),
        ((-1, 20), [], "must not be negative"),
        ((1, 20), ["--volume", 0], "volume must be a positive number"),
        ((1, 20), ["--weight", "soft"], "Weights must be whole numbers"),
    ):
        wrong = ["--false-positive", costs[0], "--false-negative", costs[1], *more]
        done = calibrant("decide", *options[:5], *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


def test_scores_that_do_worse_than_none_are_told_so(tmp_path):
    y_true, y_prob, _ = overconfident(3.0).draw(3000, seed=1)
    lines = [f"{int(y)},{p!r}" for y, p in zip(y_true, y_prob.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("y,p\n" + "\n".join(lines) + "\n")
    options = ("a.csv", "--label", "y", "--prob", "p", "--false-positive", "1")
    words = "would have cost less: recalibrate"
    dear = calibrant("decide", *options, "--false-negative", "9", cwd=tmp_path)
    assert f"To act on every row {words}" in " ".join(dear.stdout.split())
    fine = calibrant("decide", *options, "--false-negative", "1", cwd=tmp_path)
    assert words not in " ".join(fine.stdout.split())
