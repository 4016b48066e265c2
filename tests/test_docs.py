"""Every Python block of the documentation runs, and its links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant as cb

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("name", ["export.md", "learning.md", "paper.md"])
def test_blocks_run_one_after_another(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    namespace = {}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)


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
