"""Help, options that are missing, and a command that is stopped."""

import signal
import subprocess
import sys

from reference.commands import calibrant

#: The command in a process that says when it begins to read.
READING = """
from calibrant.cli import audit
busy = audit.busy
audit.busy = lambda words: (print("here", flush=True), busy(words))[1]
import calibrant_command
calibrant_command.main()
"""
#: The command in a process whose memory runs out while it works.
NO_MEMORY = """
from calibrant.cli import calibrate
def busy(words):
    raise MemoryError
calibrate.busy = busy
import calibrant_command
calibrant_command.main()
"""


def test_memory_that_runs_out_is_one_message():
    command = ["calibrate", "x.csv", "--label", "y", "--prob", "p", "-o", "c.json"]
    done = subprocess.run(
        [sys.executable, "-c", NO_MEMORY, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: There is not enough memory for this.")
    assert done.stderr.count("\n") == 1


def test_missing_options_are_named():
    done = calibrant("audit", "x.csv", "--label", "y")
    assert done.returncode == 2
    assert "--prob" in done.stderr
    gate = calibrant("audit", "x.csv", "--label", "y", "--prob", "p", "--max-error", "7")
    assert gate.returncode == 2
    assert "--max-error" in gate.stderr


def test_no_command_is_bad_input():
    done = calibrant()
    assert done.returncode == 2
    assert done.stderr == "Error: Name a command. See: calibrant --help\n"
    assert "audit" in done.stdout


def test_ctrl_c_leaves_no_file_and_no_traceback(tmp_path):
    sql = "SELECT (hash(i) % 1000) / 1000 AS p, i % 2 AS y FROM range(1000000000) t(i)"
    command = ["audit", "--sql", sql, "--label", "y", "--prob", "p", "--html", "r.html"]
    started = subprocess.Popen(
        [sys.executable, "-c", READING, *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    assert started.stdout.readline() == "here\n"
    started.send_signal(signal.SIGINT)
    output, error = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Traceback" not in error
    assert output == ""
    assert list(tmp_path.iterdir()) == []
