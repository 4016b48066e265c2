"""Pages that are made from committed results say what those say, and so do their pictures."""

import importlib.util
import math
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from calibrant.calibrators.fitting import GIVEN_UP
from calibrant.certificates.specification import BETTING_BELOW
from calibrant.experiments.pictures import rendered
from kept import kept

DOCS = Path(__file__).parent.parent.parent / "docs"
#: What drew the committed pictures. Another version may put letters elsewhere.
DRAWN_BY = "3.11.2"


def script(name):
    """Import the script that makes a page."""
    spec = importlib.util.spec_from_file_location(f"{name}_page", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def committed(name):
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def made(name, path=None):
    """Make a page anew, from the results that are committed and the page at a path."""
    maker, results = script(name), kept(name)
    maker.TEXT = path or DOCS / f"{name}.md"
    if name == "engines":
        return maker.written(maker.TEXT.read_text(encoding="utf-8"), results)
    if name == "paper":
        return maker.page(results, {other: kept(other) for other in maker.OTHERS})
    return maker.page(results)


@pytest.mark.parametrize("name", ["certificates", "engines", "learning", "paper", "reproduction"])
def test_the_page_is_made_from_the_results(name):
    assert made(name) == committed(name), f"run docs/{name}.py"


@pytest.mark.parametrize("name", ["engines", "learning", "paper"])
def test_whatever_stands_between_marks_is_written_anew(name, tmp_path):
    """No mark is left over: a page whose numbers are all gone becomes whole again."""
    text, path = committed(name), tmp_path / f"{name}.md"
    assert text.count("<!--") == 2 * text.count("<!-- end -->") > 0
    emptied = re.sub(r"(<!-- [^>]+ -->\n).*?(<!-- end -->)", r"\1\2", text, flags=re.DOTALL)
    assert len(emptied) < len(text) - 500
    path.write_text(emptied, encoding="utf-8")
    assert made(name, path) == text


def figures(name):
    maker, results = script(name), kept(name)
    if name == "reproduction":
        return maker.pictures_of(results)
    return {picture: draw(results) for picture, draw in maker.PICTURES.items()}


@pytest.mark.parametrize("name", ["certificates", "learning", "paper", "reproduction"])
def test_the_pictures_are_drawn_from_the_results(name):
    drawn = figures(name)
    assert drawn
    for picture, figure in drawn.items():
        assert f"](pictures/{picture}.svg)" in committed(name)
        shown = (DOCS / "pictures" / f"{picture}.svg").read_text(encoding="utf-8")
        anew = rendered(figure, "svg").decode()
        if mpl.__version__ == DRAWN_BY:
            assert anew == shown, f"{picture}: run docs/{name}.py"
        else:  # the same lines, marks and words, wherever they are
            assert re.findall(r'<g id="(?:line|patch|text)[^"]*"', anew) == re.findall(
                r'<g id="(?:line|patch|text)[^"]*"', shown
            )


def test_reproduction_is_a_full_run():
    assert not kept("reproduction")["settings"]["quick"]


def test_engines_agree_and_send_little_back():
    assert committed("engines").count("| PostgreSQL |") == 5
    for one in kept("engines")["side_by_side"]:
        assert one["difference"] < 1e-12
        assert one["fetched"] / one["rows"] < 0.05


def test_certificates_hold_as_often_as_promised():
    results = kept("certificates")
    for one in results["coverage"]:
        assert len(one["held"]) == len(results["laws"])
        slack = 4 * math.sqrt(0.05 * 0.95 / one["samples"])
        assert min(min(law.values()) for law in one["held"]) > 1 - results["delta"] - slack
        assert ("betting" in one["held"][0]) == (one["rows"] < BETTING_BELOW)


def test_the_switch_is_where_betting_stops_being_narrower():
    found = kept("certificates")["switch"]
    pairs = np.array(list(found["bounds"].values()))
    ratio = np.exp(np.log(pairs[:, :, 0] / pairs[:, :, 1]).mean(axis=0))
    rows = np.array(found["rows"])
    assert (ratio[rows < BETTING_BELOW] < 1.02).all()
    assert (ratio[rows > BETTING_BELOW] > 1.0).all()


def test_the_order_of_widths_is_what_the_page_says():
    widths = {name: np.array(found) for name, found in kept("certificates")["widths"].items()}
    others = [found for name, found in widths.items() if name not in ("rows", "oracle")]
    assert all((widths["oracle"] < found).all() for found in others)
    assert (widths["the paper's"] > 4 * widths["certified"]).all()


def test_theorem_1_is_a_full_run_in_which_no_verifier_tells():
    found = kept("paper")["impossibility"]
    many, few = found["theorem"], found["counter_cases"][-1]
    assert (many["n"], many["points"], few["points"]) == (500, 2_500_001, 5)
    assert many["condition"]
    assert all(one["within_bound"] and not one["tells_apart"] for one in many["verifiers"])
    assert all(one["tells_apart"] for one in few["verifiers"])


def test_regions_are_exact_on_their_own_rows_only():
    found = kept("paper")["regions"]
    for kind, own in found["own"].items():
        assert max(own) < 1e-12
        fresh = found["fresh"][kind]
        assert fresh[-1] == max(fresh) > 3 * fresh[0]


def test_readings_of_theorem_2_are_wide():
    found = kept("paper")["convergence"]
    for one in found:
        assert not any(one["missed"].values())
        times = one["times"]
        assert 5 < times["sharp"] < times["proved"]
        assert times["printed"] < times["proved"]
        assert (times["sharp"] > 50) == (one["law"] == "rare events")
    assert len(found) == 17


def test_isotonic_regression_comes_nearer_as_the_root_of_rows():
    found = kept("paper")["isotonic"]
    for one in found:
        assert 10 * one["largest"] < one["printed"] < one["proved"]
    first, *_, last = (np.median(list(one["median"].values())) for one in found)
    assert 5 < first / last < 20  # a tenth at a hundred times the rows


def test_links_are_chosen_as_the_page_says():
    assert kept("paper")["kept"] == pytest.approx(1 - GIVEN_UP)


def test_example_1_is_read_from_the_reproduction():
    maker, others = script("paper"), {"reproduction": kept("reproduction")}
    [text] = maker.example_1({}, others)
    assert "Its numbers, 0.127 and 0.008, are" in maker.wrapped(text)
    others["reproduction"]["table1"]["published"]["l1"]["mean"] = 0.5
    [text] = maker.example_1({}, others)
    assert "Its numbers, 0.500 and 0.008, are" in maker.wrapped(text)
