"""Commands that are killed at any moment: the file there was, or the new one, whole."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

import calibrant as cb
from reference.commands import ANNOUNCED

pytestmark = pytest.mark.kills

#: How many kills; more by this environment variable.
KILLS = int(os.environ.get("CALIBRANT_KILLS", "25"))
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
RUN = [sys.executable, "-c", ANNOUNCED]
ROWS = ["--label", "y", "--prob", "p"]
SCORES = ["c.json", "rows.parquet", "--prob", "p", "--overwrite"]
#: The command of each writer; the last word is the file that it writes.
WRITERS = {
    "html": ["audit", "rows.parquet", *ROWS, "--html", "out.html"],
    "compare": ["compare", "rows.parquet", *ROWS, "--prob", "q", "--html", "both.html"],
    "markdown": ["audit", "rows.parquet", *ROWS, "--markdown", "out.md"],
    "calibrate": ["calibrate", "rows.parquet", *ROWS, "--overwrite", "-o", "out.json"],
    "csv": ["apply", *SCORES, "-o", "out.csv"],
    "parquet": ["apply", *SCORES, "-o", "out.parquet"],
    "sql": ["export", "c.json", "--to", "sql", "--overwrite", "-o", "out.sql"],
    "onnx": ["export", "c.json", "--to", "onnx", "--overwrite", "-o", "out.onnx"],
    "demo": ["demo", "--save", "out.csv"],
    "reproduce": ["reproduce", "figure1", "--quick", "-o", "out"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    y_true, y_prob, _ = cb.simulate.overconfident().draw(3000, seed=1)
    (folder / "c.json").write_text(cb.IsotonicCalibrator().fit(y_prob, y_true).to_json())
    score = "(hash(i) % 99991) / 99991"
    rows = f"SELECT {score} AS p, p * p AS q, ((hash(i + 7) % 1000) / 1000 < {score})::INT AS y"
    with duckdb.connect() as duck:
        duck.execute(f"COPY ({rows} FROM range(1000000) t(i)) TO '{folder / 'rows.parquet'}'")
    return folder


def started(command, folder):
    run = subprocess.Popen(
        [*RUN, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    assert run.stdout.readline() == "here\n"  # what happens to Python before that is its own
    return run


def contents(target):
    """Return what a command has written: a file, or all files of a folder but those kept aside."""
    if target.is_dir():
        files = [path for path in target.iterdir() if path.suffix in {".csv", ".svg"}]
        return {path.name: path.read_bytes() for path in files}
    return {target.name: target.read_bytes()} if target.exists() else {}


@pytest.fixture(scope="module")
def whole(folder):
    """Return what each writer writes if nothing stops it, and how long it takes."""
    found = {}
    for name, command in WRITERS.items():
        begun = time.monotonic()
        run = started(command, folder)
        _, error = run.communicate(timeout=120)
        assert run.returncode == 0, error
        target = folder / command[-1]
        found[name] = contents(target), time.monotonic() - begun
        assert found[name][0]
    return found


def leftovers(folder):
    return list(folder.rglob(".calibrant.*"))


@pytest.mark.parametrize("k", range(KILLS))
def test_a_kill_leaves_the_old_file_or_the_new_one(folder, whole, k):
    name = list(WRITERS)[k % len(WRITERS)]
    sent = SIGNALS[(k + k // len(WRITERS)) % len(SIGNALS)]
    written, seconds = whole[name]
    target = folder / WRITERS[name][-1]
    old = dict.fromkeys(written, b"old")
    for path in old:
        (target / path if target.is_dir() else target).write_bytes(b"old")
    run = started(WRITERS[name], folder)
    # no event is waited for: a kill should come at any moment, those between two steps included
    with contextlib.suppress(subprocess.TimeoutExpired):
        run.wait(timeout=seconds * random.Random(k).uniform(0.05, 1.1))
    run.send_signal(sent)
    _, error = run.communicate(timeout=60)
    stopped = {-sent, 130, 143} - ({130} if sent == signal.SIGTERM else {143})
    assert run.returncode in {0, *stopped}, error
    for path, content in contents(target).items():
        assert content in {old[path], written[path]}, f"{path} is damaged"
    assert target.exists()
    if sent == signal.SIGKILL:
        for path in leftovers(folder):
            path.unlink()
    assert leftovers(folder) == []
    assert "Traceback" not in error
    assert {path.name for path in folder.iterdir()} <= _known()


def _known():
    return {"c.json", "rows.parquet", *(Path(command[-1]).name for command in WRITERS.values())}
