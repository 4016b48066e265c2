"""Signs of life: nothing off a terminal, one line on it, and no word taken for markup."""

import io
import sys

import pytest

from calibrant import _progress
from calibrant._progress import busy, progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Give a function to be called within a test, for pytest has a stream of its own for each."""

    def begin():
        monkeypatch.setattr(sys, "stderr", Terminal())
        monkeypatch.setenv("TERM", "xterm")
        return sys.stderr

    return begin


def test_off_a_terminal_nothing_is_said(capsys):
    with busy("reading"), progress_bar("adding up", 10) as done:
        done(5)
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_words_are_shown_as_they_are(terminal):
    screen = terminal()
    with busy("reading [red]rows[/red]"):
        assert len(_progress._shown) == 1
    assert "reading [red]rows[/red]" in screen.getvalue()
    assert _progress._shown == []


def test_a_bar_inside_of_a_sign_shares_its_line(terminal):
    screen = terminal()
    with busy("reading"), progress_bar("adding [up]", 200) as done:
        done(50)
        assert "adding \\[up] 25%" in str(_progress._shown[0].status)
        with busy("more"):  # a terminal shows one such line at a time
            assert len(_progress._shown) == 1
    assert "more" not in screen.getvalue()


def test_a_bar_of_its_own_goes_to_the_end(terminal):
    screen = terminal()
    with progress_bar("adding up", 4) as done:
        done(4)
    assert "adding up" in screen.getvalue()


def test_the_line_is_cleared_after_an_error(terminal):
    terminal()
    with pytest.raises(ValueError, match="no"), busy("reading"):
        raise ValueError("no")
    assert _progress._shown == []
