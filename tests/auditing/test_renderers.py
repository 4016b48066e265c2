"""Renderers: results are shown by modules that are loaded when they are asked for."""

import subprocess
import sys
from importlib import import_module

import pytest

import calibrant as cb
from calibrant.auditing.renderers import RENDERERS, in_frame, rendered
from calibrant.simulate import overconfident


@pytest.mark.parametrize("format_", RENDERERS)
def test_every_renderer_is_a_function_of_the_package(format_):
    module, function = RENDERERS[format_]
    assert module.startswith("calibrant.report.")
    assert callable(getattr(import_module(module), function))


@pytest.mark.parametrize("format_", ["html", "markdown"])
def test_a_result_is_rendered_as_its_own_method_does(format_):
    found = cb.audit(*overconfident().draw(200, seed=1)[:2])
    assert rendered(format_, found) == getattr(found, f"to_{format_}")()


def test_a_renderer_gets_the_result_and_its_options(monkeypatch):
    monkeypatch.setitem(RENDERERS, "repr", ("calibrant._text", "shown"))
    assert rendered("repr", "a result", most=4) == import_module("calibrant._text").shown(
        "a result", 4
    )


def test_a_frame_holds_a_page_or_the_prose():
    frame = in_frame("a <title>", lambda: '<p class="x">', ["one", "<two>"])
    assert frame.startswith('<iframe title="a &lt;title&gt;" style=')
    assert 'srcdoc="&lt;p class=&quot;x&quot;&gt;"' in frame

    def without_extra():
        raise cb.InputError("not installed")

    assert in_frame("a", without_extra, ["one", "<two>"]) == "<p>one</p><p>&lt;two&gt;</p>"


def test_no_renderer_is_loaded_before_it_is_asked_for():
    script = """
import sys, calibrant
from calibrant.auditing.renderers import RENDERERS
calibrant.audit([0, 1], [0.2, 0.7])
loaded = [module for module, _ in RENDERERS.values() if module in sys.modules]
assert RENDERERS and not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", script], check=True)
