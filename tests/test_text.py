"""Text that is safe to show, and every place where text leaves the library."""

import inspect
import io
import json
import re
import sys
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
from hypothesis import given
from matplotlib.figure import Figure
from matplotlib.text import Text

import calibrant as cb
from calibrant import errors
from calibrant._console import SafeConsole
from calibrant._progress import busy, progress_bar
from calibrant._text import MOST_OF_MESSAGE, MOST_OF_VALUE, bounded, named, shown, visible
from calibrant.report import terminal
from calibrant.report.html import html_of
from calibrant.report.markdown import markdown_of, plain
from reference.hostile import BIDI, CONTROLS, HOSTILE_TEXTS, hidden

MODULES = [
    one.name for one in walk_packages(cb.__path__, "calibrant.") if "__main__" not in one.name
]
DISPLAYS = [cb.ReliabilityDisplay, cb.CumulativeDisplay, cb.CostDisplay, cb.GroupsDisplay]
HOSTILE = f"\x1b[31m{CONTROLS}{BIDI}\u2028\u2029\ufeff\ud800<b>&|`*[x](y)www.evil.com"
LONG = "\x1b]0;title\x07 <i>" + "a:/@" * 250_000


@given(HOSTILE_TEXTS)
def test_what_is_shown_can_be_seen(text):
    for found in (visible(text), named(text), shown(text), bounded(text)):
        assert not hidden(found, keep="")
    assert not hidden(visible(text, keep="\n"))
    assert visible(visible(text)) == visible(text)


def test_a_label_that_is_long_says_how_long_it_is():
    with pytest.raises(errors.InputError, match=r"8,000 characters"):
        cb.calibration_error(["a" * 8000, "b"], [0.1, 0.2])


def test_a_span_of_time_is_no_number():
    with pytest.raises(errors.InputError, match="clip must be a number"):
        cb.calibration_slope([0, 1, 1], [0.2, 0.4, 0.9], clip=np.timedelta64(1, "D"))


def test_letters_of_every_language_stay_as_they_are():
    for text in ("Größe 100 %", "名前", "اسم", "می‌خواهم", "👩‍💻", "a b", "naïve"):
        assert visible(text) == named(text) == text


def test_controls_are_shown_by_their_codes():
    assert visible("a\x1b[31m\n\u202e\ud800") == r"a\x1b[31m\n\u202e\ud800"


def test_values_are_cut_and_say_how_long_they_are():
    assert named("a" * 81) == "a" * 80 + "... (81 characters)"
    assert shown("a" * 81) == repr("a" * 80) + "... (81 characters)"
    assert shown("a" * 80) == repr("a" * 80)
    assert len(named("\x00" * 80)) < 120
    assert len(shown(list(range(10**6)))) < 120
    assert len(shown({str(k): [k] * 100 for k in range(1000)})) < 120
    assert len(bounded("a" * 10**7)) < MOST_OF_MESSAGE
    assert MOST_OF_VALUE == 80


class Refuses:
    def __repr__(self):
        raise RuntimeError("no")


def test_what_refuses_to_be_shown_is_named_by_its_type():
    assert "Refuses" in shown(Refuses())
    assert named(Refuses()) == "<Refuses>"
    assert shown(10**10_000) == "<int>"
    assert shown(10**400).startswith("1000")


SAMPLES = {
    "str": [HOSTILE, LONG],
    "object": [HOSTILE, LONG, Refuses()],
    "int": [3],
    "float": [0.5],
    "bool": [True, False],
    "int | None": [None, 3],
    "Sequence[str]": [[HOSTILE], [LONG] * 100],
    "Sequence[object]": [[HOSTILE, LONG], [LONG] * 100],
    "Sequence[tuple[str, int]]": [[(HOSTILE, 1), (LONG, 2)]],
    "tuple[int, ...]": [(2, 2), (1,) * 1000],
    "Names": [errors.Names(HOSTILE, LONG), errors.Names()],
}
#: Arguments that are one of a few words.
WORDS = {("_connection_setting", "name"): ["datestyle"]}
#: Every function that builds a refusal, next to whatever raises it.
REFUSALS = {
    f"{module.removeprefix('calibrant.')}.{name}": function
    for module in MODULES
    for name, function in inspect.getmembers(import_module(module), inspect.isfunction)
    if function.__module__ == module
    and inspect.signature(function).return_annotation == "InputError"
}


def samples_of(name, parameter):
    return WORDS.get((name, parameter.name)) or SAMPLES[parameter.annotation]


@pytest.mark.parametrize("name", REFUSALS)
def test_every_refusal_is_one_short_visible_message(name):
    parameters = inspect.signature(REFUSALS[name]).parameters.values()
    choices = [samples_of(name.rpartition(".")[2], one) for one in parameters]
    for k in range(max(map(len, choices), default=1)):
        values = {
            one.name: choice[k % len(choice)]
            for one, choice in zip(parameters, choices, strict=True)
        }
        found = str(REFUSALS[name](**values))
        assert 0 < len(found) < MOST_OF_MESSAGE
        assert not hidden(found, keep="")


def test_there_are_refusals_to_walk():
    assert len(REFUSALS) > 100


def test_a_long_name_is_no_reason_to_wait_in_markdown():
    assert len(plain(LONG)) < 20 * len(LONG)


@pytest.fixture(scope="module")
def hostile_audit():
    y_true, y_prob, _ = cb.simulate.overconfident(2.0).draw(3000, seed=1)
    groups = np.array([HOSTILE, LONG, "www.evil.com"], dtype=object)[np.arange(3000) % 3]
    found = cb.audit(y_true, y_prob, by={HOSTILE: groups, LONG: groups})
    made = replace(
        found.provenance,
        file=HOSTILE + LONG,
        command=HOSTILE + LONG,
        event=f"column {shown(HOSTILE)}",
        score=f"column {shown(LONG)}",
    )
    return replace(found, provenance=made)


def test_hostile_names_on_the_terminal(hostile_audit):
    out = io.StringIO()
    terminal.render(hostile_audit, SafeConsole(file=out, width=100))
    assert not hidden(out.getvalue())
    assert len(out.getvalue()) < 20_000


def test_hostile_names_in_html(hostile_audit):
    page = html_of(hostile_audit)
    assert not hidden(page, keep="\n")
    assert "<i>" not in page
    assert len(page) < 150_000


def test_hostile_names_in_markdown(hostile_audit):
    page = markdown_of(hostile_audit)
    assert not hidden(page)
    assert "www.evil" not in page
    assert "www.<!---->evil.com" in page
    assert len(page) < 50_000


def test_hostile_names_in_json_are_whole_and_ascii(hostile_audit):
    text = json.dumps(hostile_audit.to_dict())
    assert text.isascii()
    assert not hidden(text)
    assert any(one["group"].get(HOSTILE) == HOSTILE for one in hostile_audit.to_dict()["groups"])


def test_no_name_becomes_a_link_or_a_mention_in_markdown():
    assert plain("www.evil.com") == "www.<!---->evil.com"
    assert plain("a@evil.com") == "a@<!---->evil.com"
    assert plain("https://x") == "https:<!---->//x"
    assert plain("0.5, 1.25 and 12.") == "0.5, 1.25 and 12."


def test_hostile_names_of_models():
    y_true, y_prob, _ = cb.simulate.calibrated().draw(2000, seed=1)
    found = cb.compare(y_true, {HOSTILE: y_prob, LONG: y_prob**2})
    out = io.StringIO()
    terminal.render_comparison(found, SafeConsole(file=out, width=100))
    for text in (out.getvalue(), *found.summary, repr(found)):
        assert not hidden(text)
        assert len(text) < 5000


def texts_of(figure):
    """Return every text of a picture as it is drawn, and so read as a formula or not."""
    figure.draw_without_rendering()
    return [one for one in figure.findobj(Text) if one.get_text()]


@pytest.mark.parametrize("formula", ["", r"$\frac{$"])
@pytest.mark.parametrize("kind", DISPLAYS)
def test_hostile_names_in_plots(hostile_audit, kind, formula):
    ax = Figure(figsize=(7, 6)).subplots()
    kind.from_audit(hostile_audit).plot(ax, name=HOSTILE + formula)
    first = texts_of(ax.figure)
    kind.from_audit(replace(hostile_audit)).plot(ax, name=formula + LONG)
    for text in (*first, *texts_of(ax.figure)):
        assert not hidden(text.get_text())
        assert len(text.get_text()) < 500
    said = " ".join(text.get_text() for text in texts_of(ax.figure))
    assert "[31m" in said
    assert formula in said.replace("\n", "")


#: What rich itself moves the cursor and changes colours with.
OF_RICH = re.compile(r"\x1b\[(?!31m)[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize("what", [HOSTILE, LONG], ids=["hostile", "long"])
def test_hostile_names_in_signs_of_life(monkeypatch, what):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress_bar(what, 4) as done:
        done(2)
    with busy(what), progress_bar(what, 4) as done:
        done(2)
    said = screen.getvalue()
    assert "[31m" in said or what == LONG
    assert not hidden(OF_RICH.sub("", said), keep="\n\r")
    assert len(said) < 10_000


def test_hostile_currencies():
    y_true, y_prob, _ = cb.simulate.calibrated().draw(2000, seed=1)
    for currency in (HOSTILE, LONG, "[/bold]"):
        price = cb.price_of_miscalibration(
            y_true, y_prob, false_positive=1, false_negative=5, currency=currency
        )
        cost = cb.expected_cost(y_true, y_prob, false_positive=1, false_negative=5)
        out = io.StringIO()
        terminal.render_decision(cost, price, SafeConsole(file=out, width=100))
        assert not hidden(out.getvalue())
        assert len(out.getvalue()) < 5000
