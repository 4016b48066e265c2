"""The policy of a page: its own styles and scripts, and nothing else."""

import re
from base64 import b64encode
from hashlib import sha256

import calibrant as cb
from calibrant.report.policy import with_policy

HEAD = '<meta http-equiv="Content-Security-Policy" content="the policy">'


def policy_of(page):
    [found] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return dict(one.split(" ", maxsplit=1) for one in found.split("; "))


def hashed(text):
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_parts_are_allowed_by_their_hashes():
    found = policy_of(with_policy(f"{HEAD}<style>ä</style><script>1</script>", "img-src data:"))
    assert found == {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "style-src": hashed("ä"),
        "script-src": hashed("1"),
        "img-src": "data:",
    }


def test_the_report_allows_its_own_parts_and_no_others():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(2000, seed=1)
    groups = ["<style>p{}</style>", "<script>1</script>"] * 1000
    page = cb.audit(y_true, y_prob, by={'content="the policy"': groups}).to_html()
    found = policy_of(page)
    assert "unsafe" not in page
    assert found["base-uri"] == found["form-action"] == found["default-src"] == "'none'"
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert (found["style-src"], found["script-src"]) == (hashed(style), hashed(script))
    assert not re.findall(r"<[^>]* (style|on[a-z]+)=", page)
