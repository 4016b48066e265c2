"""The site that `make docs` built: links lead somewhere, search finds, and pages fit the window."""

import contextlib
import functools
import http.server
import re
import shutil
import threading
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parent.parent.parent
SITE = ROOT / "build" / "site"
#: Pictures that did not arrive.
EMPTY = "[...document.images].filter(one => !one.naturalWidth).map(one => one.src)"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SOURCES = sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md"))
BUILT = [name.removesuffix(".md") + ".html" for name in SOURCES]


class Page(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") == "stylesheet":
            self.loads.append(given["href"])
        elif given.get("src"):
            self.loads.append(given["src"])


@functools.cache
def page(path):
    assert path.exists(), f"{path.name} is not there: run make docs"
    return Page(path)


@pytest.mark.parametrize("name", BUILT)
def test_every_link_leads_somewhere(name):
    for link in [*page(SITE / name).links, *page(SITE / name).loads]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (SITE / name).parent / unquote(parts.path) if parts.path else SITE / name
        assert target.resolve().is_relative_to(SITE), link
        assert target.exists(), link
        if parts.fragment and target.suffix == ".html":
            assert unquote(parts.fragment) in page(target.resolve()).anchors, link


@pytest.mark.parametrize("name", BUILT)
def test_nothing_is_loaded_from_elsewhere(name):
    assert [load for load in page(SITE / name).loads if urlsplit(load).netloc] == []


def in_nav(entry):
    """Return the pages below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [
        name
        for part in (entry.values() if isinstance(entry, dict) else entry)
        for name in in_nav(part)
    ]


def test_the_navigation_has_every_page_once():
    with (ROOT / "zensical.toml").open("rb") as file:
        assert sorted(in_nav(tomllib.load(file)["project"]["nav"])) == SOURCES


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
def test_links_outside_the_site_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that keeps its log to itself."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    with contextlib.ExitStack() as stack:
        handler = functools.partial(Quiet, directory=SITE)
        server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "there is no chromium: install it to look at the site"
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def window(browser, address, request):
    """A window of the width asked for, which notes complaints and requests to elsewhere."""
    context = browser.new_context(
        viewport={"width": getattr(request, "param", 1280), "height": 900}, base_url=address
    )
    opened = context.new_page()
    opened.complaints = []
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.on("console", lambda one: one.type == "error" and opened.complaints.append(one.text))
    opened.on(
        "request",
        lambda one: (
            one.url.startswith((address, "data:", "blob:")) or opened.complaints.append(one.url)
        ),
    )
    yield opened
    context.close()


@pytest.mark.parametrize("window", [1280, 390], indirect=True, ids=["desktop", "narrow"])
def test_pages_fit_the_window_and_pictures_are_there(window):
    for name in BUILT:
        window.goto(f"/{name}")
        width = window.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, f"{name} is {width} pixels too wide"
        assert window.evaluate(EMPTY) == [], name
    assert window.complaints == []


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("cb.worst_interval", "reference/measure.html"),
        ("undersampled", "how-to/fraud.html"),
        ("VennAbersCalibrator", "reference/recalibrate.html"),
        ("decision curve", "how-to/clinical.html"),
    ],
)
def test_search_finds(window, words, page):
    window.goto("/index.html")
    window.locator("button:has-text('Search')").first.click()
    window.get_by_role("combobox").fill(words)
    found = window.locator("a:has(mark)")
    found.first.wait_for()
    links = [one.get_attribute("href") for one in found.all()[:5]]
    assert any(page in link for link in links), links
    assert window.complaints == []
