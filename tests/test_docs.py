"""Every Python block of the documentation runs, and its links lead somewhere."""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant as cb
from reference import servers
from reference.engines import started

DOCS = Path(__file__).parent.parent / "docs"


def run_blocks(name, *engines):
    """Run the blocks of a page, and of those that begin with the name of an engine only some."""
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    namespace = {}
    for block in blocks:
        engine = re.match(r"# (spark|dask)\n", block)
        if engine is None or engine[1] in engines:
            exec(compile(block, name, "exec"), namespace)


@pytest.mark.parametrize("name", ["engines.md", "export.md", "learning.md", "paper.md"])
def test_blocks_run_one_after_another(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(name)


@pytest.mark.parametrize("engine", ["spark", "dask"])
def test_blocks_of_engines_run(engine, tmp_path, monkeypatch):
    started(getattr(servers, engine))
    monkeypatch.chdir(tmp_path)
    run_blocks("engines.md", engine)


def test_commands_that_ask_a_database_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks("engines.md")
    text = (DOCS / "engines.md").read_text(encoding="utf-8")
    monkeypatch.setenv("SCORES_URL", "sqlite:///predictions.db")
    for line in re.search(r"```sh\n(.*?)```", text, flags=re.DOTALL)[1].splitlines():
        arguments = shlex.split(line)[1:]
        subprocess.run([sys.executable, "-m", "calibrant", *arguments], cwd=tmp_path, check=True)


def test_the_tables_of_engines_are_what_was_measured():
    spec = importlib.util.spec_from_file_location("engines_page", DOCS / "engines.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    results = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    text = page.TEXT.read_text(encoding="utf-8")
    assert page.written(text, results) == text
    assert text.count("| PostgreSQL |") == 5
    for one in results["side_by_side"]:
        assert one["difference"] < 1e-12
        assert one["fetched"] / one["rows"] < 0.05


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


COMMANDS = [
    line
    for block in re.findall(
        r"```sh\n(.*?)```", (DOCS / "export.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    for line in block.splitlines()
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, tmp_path):
    fitted = cb.IsotonicCalibrator().fit([0.2, 0.4, 0.7], [0, 1, 1])
    (tmp_path / "calibrator.json").write_text(fitted.to_json(), encoding="utf-8")
    (tmp_path / "predictions.csv").write_text("customer,score\n007,0.3\n", encoding="utf-8")
    arguments = shlex.split(command)
    assert arguments.pop(0) == "calibrant"
    subprocess.run([sys.executable, "-m", "calibrant", *arguments], cwd=tmp_path, check=True)
