"""Commands, run as a process of their own or in this one."""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from unittest import mock

from calibrant.cli import main
from calibrant.simulate import overconfident

#: The command in a process that says when it has come to its own first line.
ANNOUNCED = """
import calibrant_command as c
listen = c._Stopper.listen
c._Stopper.listen = lambda self: (listen(self), print("here", flush=True))
c.main()
"""
#: The command in a process that says when it begins to import what takes it longest.
IMPORTING = """
import sys
class Announced:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print("here", flush=True)
sys.meta_path.insert(0, Announced())
import calibrant_command
calibrant_command.main()
"""
#: The command in a process that says when DuckDB begins to pass over all rows, for their labels.
PASSING = """
from calibrant.data.files.duckdb_tables import Duck
fetched = Duck._fetched
Duck._fetched = lambda self, query: (
    "DISTINCT" in query and print("here", flush=True), fetched(self, query)
)[1]
import calibrant_command
calibrant_command.main()
"""


def process(*args, cwd=None, env=None, timeout=None):
    """Run a command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "calibrant", *map(str, args)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **(env or {})},
        encoding="utf-8",
        check=False,
        timeout=timeout,
    )


def calibrant(*args, cwd=None):
    """Run a command in this process, which saves a second of imports each time."""
    command = ["calibrant", *map(str, args)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = None
    with (
        contextlib.chdir(cwd or "."),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", command),
        mock.patch.dict(os.environ, COLUMNS="100"),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    assert code is not None, "a command ends by an exit code"
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return subprocess.CompletedProcess(command, code, *texts)


def audited(*args, **kwargs):
    """Return the JSON of an audit."""
    done = calibrant("audit", *args, "--json", **kwargs)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def written(folder, rows=400):
    """Write predictions in two groups to a file; return the options that name it."""
    y_true, y_prob, _ = overconfident().draw(rows, seed=1)
    lines = [
        f"{int(y)},{p!r},{'ab'[i % 2]}"
        for i, (y, p) in enumerate(zip(y_true, y_prob.tolist(), strict=True))
    ]
    (folder / "a.csv").write_text("y,p,g\n" + "\n".join(lines) + "\n")
    return ("a.csv", "--label", "y", "--prob", "p")


def wait_until(started, happened, seconds=60):
    """Wait until something has happened while a process goes on, which must not end before."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(timeout=0.01)
            raise AssertionError(started.communicate())
