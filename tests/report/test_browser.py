"""The report in a real browser: nothing breaks, nothing is fetched, and the slider works."""

import json
import re
import shutil

import numpy as np
import pytest

import calibrant as cb
from calibrant.report.formats import number

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium: install it to run these tests")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def audit():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(4000, seed=1)
    y_prob[0] = 0.0  # which has no log-odds, and so brings a note
    group = np.random.default_rng(0).choice(["a", NASTY], 4000)
    return cb.audit(y_true, y_prob, by={"g": group})


@pytest.fixture
def page(browser, audit, tmp_path):
    """Open the report, and note whatever it complains about or asks for."""
    audit.to_html(tmp_path / "report.html", false_positive=1, false_negative=4)
    opened = browser.new_page()
    opened.complaints, opened.asked = [], []
    opened.on("console", lambda message: opened.complaints.append(message.text))
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.goto((tmp_path / "report.html").as_uri())
    yield opened
    opened.close()


def test_it_opens_without_a_complaint_and_asks_for_nothing(page):
    assert page.complaints == []
    assert [url for url in page.asked if not url.startswith("file://")] == []
    assert len(page.asked) == 1
    assert "Miscalibrated" in page.inner_text("header h2")


def test_the_slider_moves_the_numbers_by_keyboard_and_by_mouse(page, audit):
    cost = audit.to_dict()["curves"]["cost"]
    start = cost["p"].index(0.2)
    assert page.inner_text("#threshold") == "0.2"
    assert page.inner_text("#now") == number(cost["cost"][start])
    page.focus("#ratio")
    page.keyboard.press("ArrowRight")
    assert float(page.inner_text("#threshold")) == pytest.approx(cost["p"][start + 1], abs=1e-4)
    assert page.inner_text("#now") == number(cost["cost"][start + 1])
    assert page.inner_text("#after") == number(cost["best"][start + 1])
    assert "a false negative costs" in page.get_attribute("#ratio", "aria-valuetext")
    box = page.locator("#ratio").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    threshold = float(page.inner_text("#threshold"))
    assert 0.6 < threshold < 0.9
    place = min(range(len(cost["p"])), key=lambda k: abs(cost["p"][k] - threshold))
    assert page.inner_text("#now") == number(cost["cost"][place])
    assert float(page.inner_text("#bound")) >= audit.certificate.upper


def test_tables_match_the_json(page, audit):
    curve = json.loads(audit.to_json())["curves"]["reliability"]
    page.click("#reliability summary")
    cells = page.locator("table[data-name=reliability] tbody tr").first.locator("td")
    assert float(cells.nth(1).inner_text()) == pytest.approx(curve["observed"][0], abs=1e-4)
    assert page.locator("table[data-name=reliability] tbody tr").count() == len(curve["score"])


def test_names_from_data_show_as_text(page):
    assert NASTY in page.inner_text("#groups")
    assert page.locator("#groups script").count() == 0


def test_every_number_of_a_picture_is_under_the_pointer(page):
    titles = page.eval_on_selector_all("svg circle title", "all => all.map(t => t.textContent)")
    assert len(titles) > 50
    assert all(re.search(r"\d", title) for title in titles)


@pytest.mark.parametrize("width", [1200, 360])
def test_nothing_is_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width


@pytest.mark.parametrize("width", [1200, 600, 480, 390, 360])
def test_the_name_of_an_axis_hides_none_of_its_numbers(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    box = "one => one.getBoundingClientRect()"
    for picture in page.locator("figure > svg").all():
        name = picture.locator(".upright").evaluate(box)
        numbers = [
            one.evaluate(box)["left"] for one in picture.locator("text[text-anchor=end]").all()
        ]
        assert name["left"] >= -1
        assert name["right"] < min(numbers)


def test_what_can_be_used_can_be_reached_by_keyboard(page):
    reached = set()
    for _ in range(60):  # terms are links
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"SUMMARY", "INPUT"} <= reached


#: What fits on a sheet of A4 within its margins, in pixels of CSS.
WIDTH, HEIGHT = 703, 1032


def test_it_prints_on_two_pages(page, audit):
    """The verdict and what to do on one, method and assumptions on the other."""
    assert audit.groups
    assert page.inner_text(".note >> text=Note")  # a note is there as well
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.emulate_media(media="print")
    first, second = page.locator(".sheet").all()
    for sheet, parts in ((first, ("#where", "#groups", "#do")), (second, ("#sure", "#method"))):
        assert sheet.bounding_box()["height"] < HEIGHT - 20
        assert all(sheet.locator(part).is_visible() for part in parts)
    assert not page.locator("#terms").is_visible()
    assert "see the HTML file" in page.inner_text(".paper")
    printed = page.pdf(prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2


def test_terms_can_be_reached(page):
    page.click("header a >> nth=0")
    assert page.locator("dt:target").count() == 1


def test_a_comparison_opens_with_its_style_and_asks_for_nothing(browser, tmp_path):
    y_true, y_prob, truth = cb.simulate.overconfident().draw(4000, seed=1)
    found = cb.compare(y_true, {NASTY: y_prob, "truth": truth})
    found.to_html(tmp_path / "comparison.html")
    opened = browser.new_page()
    complaints, asked = [], []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto((tmp_path / "comparison.html").as_uri())
    colours = [
        opened.eval_on_selector(f".curve.model-{k}", "one => getComputedStyle(one).stroke")
        for k in range(2)
    ]
    assert colours == ["rgb(0, 114, 178)", "rgb(213, 94, 0)"]
    assert (complaints, len(asked)) == ([], 1)
    assert NASTY in opened.inner_text("#models + .table")
    opened.close()
