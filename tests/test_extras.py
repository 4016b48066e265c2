"""Extras: what is not installed is named with its pip line."""

import pytest

from calibrant._extras import require


def test_what_is_missing_is_told_from_what_is_broken(monkeypatch, tmp_path):
    assert require("json.decoder", "plot").JSONDecoder
    with pytest.raises(
        ImportError, match=r"no_such_thing is needed for the HTML report.*\[report\]"
    ):
        require("no_such_thing.part", "report")
    (tmp_path / "half_installed.py").write_text("import a_part_that_is_gone")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_part_that_is_gone"):
        require("half_installed", "plot")
