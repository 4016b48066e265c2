"""The paper's experiments as a command."""

import json
import re

import pytest

from reference.commands import calibrant


def test_reproduce_writes_a_folder_and_goes_on_where_it_was(tmp_path):
    arguments = ("reproduce", "figure1", "--quick", "-o", "results/deep")
    done = calibrant(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A quick look on small simulated data")
    assert "Figure 1: For fixed word weights" in " ".join(done.stdout.split())
    folder = tmp_path / "results" / "deep"
    [entry] = (folder / "cache").iterdir()
    kept = entry.read_bytes()
    first = (folder / "reproduction.json").read_bytes()
    entry.write_bytes(kept[:-100])
    assert calibrant(*arguments, "--quiet", cwd=tmp_path).stdout == ""
    assert entry.read_bytes() == kept
    assert (
        json.loads((folder / "reproduction.json").read_bytes())["figure1"]
        == (json.loads(first)["figure1"])
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--runs", "0"], "runs must be a whole number, 1 or more"),
        (["--seed", "-1"], "seed must be a whole number, 0 or more"),
        (["--data-dir", "nowhere"], "There is no folder 'nowhere'"),
        (["--data-dir", "."], r"There is no adult/adult\.data"),
        (["-o", "taken"], "'taken' is a file, not a folder"),
    ],
)
def test_reproduce_refuses_what_it_cannot_do(tmp_path, arguments, words):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    done = calibrant("reproduce", "figure2", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(words, " ".join(done.stderr.split())), done.stderr
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"
