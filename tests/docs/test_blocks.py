"""Every block of the documentation runs, as it stands, and prints what the page says."""

import re

import pytest

from reference import servers
from reference.engines import started
from reference.pages import ENGINE, FENCE, PAGES, PRINTED, ROOT, RUN, SHOWN, blocks, drawn, run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def held(name, folder, *engines):
    text = PAGES[name].read_text(encoding="utf-8")
    for block, printed in run(name, text, folder, engines):
        if block.printed is not None:
            assert printed == block.printed, f"{name}, line {block.line}"


@pytest.mark.parametrize("name", PAGES)
def test_blocks_run_and_print_what_the_page_says(name, folder):
    held(name, folder)
    for picture in drawn(PAGES[name].read_text(encoding="utf-8"), folder):
        committed = ROOT / "docs" / "pictures" / picture.name
        assert words(picture) == words(committed), f"{picture.name}: run make outputs"


def words(picture):
    """Return what is written in a picture, which matplotlib notes next to the letters it draws."""
    return re.findall(r"<!-- (.*?) -->", picture.read_text(encoding="utf-8"))


@pytest.mark.parametrize("engine", ["spark", "dask"])
def test_blocks_of_engines_run(engine, folder):
    started(getattr(servers, engine))
    asked = [
        name
        for name, path in PAGES.items()
        if any(
            (found := ENGINE.match(block.text)) and found[1] == engine
            for block in blocks(path.read_text(encoding="utf-8"))
        )
    ]
    assert asked
    for name in asked:
        held(name, folder, engine)


@pytest.mark.parametrize("name", PAGES)
def test_no_block_escapes(name):
    text = PAGES[name].read_text(encoding="utf-8")
    fences = FENCE.findall(text)
    assert text.count("```") == 2 * len(fences), "a fence begins a line, alone but for its language"
    assert {language for language, _ in fences} <= RUN | SHOWN | {PRINTED}
    printed = [block for block in blocks(text) if block.printed is not None]
    assert len(printed) == sum(language == PRINTED for language, _ in fences), (
        "text without a block"
    )
