"""The command with its streams closed or full, and stopped by signals."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant as cb
import calibrant_command
from reference.commands import IMPORTING, PASSING

RUN = f'"{sys.executable}" -c "import calibrant_command; calibrant_command.main()"'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    y_true, y_prob, _ = cb.simulate.calibrated().draw(2000, seed=1)
    lines = [f"{int(y)},{float(p)!r}" for y, p in zip(y_true, y_prob, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["y,p", *lines]), encoding="utf-8")
    return folder


AUDIT = "audit rows.csv --label y --prob p"
CASES = {
    "closed errors, passed": (f"{AUDIT} --max-error 0.9 --quiet 2>&-", 0),
    "closed errors, failed": (f"{AUDIT} --max-error 1e-6 --quiet 2>&-", 1),
    "closed errors, bad input": ("audit none.csv --label y --prob p 2>&-", 2),
    "closed output": (f"{AUDIT} >&-", 0),
    "closed output, failed": (f"{AUDIT} --max-error 1e-6 >&-", 1),
    "closed input": (f"{AUDIT} <&- >/dev/null", 0),
    "all closed": (f"{AUDIT} --max-error 1e-6 <&- >&- 2>&-", 1),
    "an error that nobody reads": ("audit none.csv --label y --prob p 2>&1 >/dev/null | true", 2),
    "a wrong option that nobody reads": ("audit --lable y 2>&1 >/dev/null | true", 2),
    "full errors": (f"{AUDIT} 2>/dev/full >/dev/null", 0),
    "full errors, bad input": ("audit none.csv --label y --prob p 2>/dev/full", 2),
    "full errors, bad option": ("audit --none 2>/dev/full", 2),
    "full output": (f"{AUDIT} --json >/dev/full", 2),
    "help into a full output": ("--help >/dev/full", 2),
    "help that nobody reads": ("--help | true", 0),
    "help of a command that nobody reads": ("audit --help | true", 0),
    "a version that nobody reads": ("--version | true", 0),
    "no command": (">/dev/null", 2),
    "no command, and nobody reads the help": ("| true", 2),
    "an audit that nobody reads": (f"{AUDIT} | true", 0),
    "a failed gate that nobody reads": (f"{AUDIT} --max-error 1e-6 | true", 1),
}


@pytest.mark.parametrize("name", CASES)
def test_streams_change_no_exit_code(folder, name):
    words, code = CASES[name]
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {RUN} {words}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert "Exception ignored" not in done.stderr
    if "full output" in name:
        assert done.stderr.startswith("Error: ")


def test_a_closed_stream_does_not_print_into_a_file(folder, tmp_path):
    report = tmp_path / "report.html"
    command = f'{RUN} {AUDIT} --html "{report}" >&- 2>&-'
    assert subprocess.run(["bash", "-c", command], cwd=folder, check=False).returncode == 0
    page = report.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")


def _listening():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


@pytest.mark.kills
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ([signal.SIGINT], 130),
        ([signal.SIGTERM], 143),
        ([signal.SIGHUP], 129),
        ([signal.SIGINT, signal.SIGTERM], 143),
    ],
    ids=["int", "term", "hup", "int, term"],
)
@pytest.mark.parametrize("program", [IMPORTING, PASSING], ids=["importing", "working"])
def test_signals_end_without_a_traceback(folder, sent, code, program):
    query = "SELECT (hash(i) % 1000) / 1000 AS p, i % 2 AS y FROM range(1000000000) t(i)"
    command = ["audit", "--sql", query, "--label", "y", "--prob", "p"]
    started = subprocess.Popen(
        [sys.executable, "-c", program, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=_listening,  # noqa: PLW1509
    )
    assert started.stdout.readline() == "here\n"
    for one in sent * 3:  # an impatient user: the others are ignored while it cleans up
        if started.poll() is None:
            started.send_signal(one)
    _, error = started.communicate(timeout=60)
    assert (started.returncode, error) == (code, "")


#: The command with an interrupt before it takes signals, at its first import or in its first call.
INTERRUPTED = {
    "import": """
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name in {"__future__", "signal", "typing"}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
import calibrant_command
""",
    "call": """
import calibrant_command
def interrupted():
    raise KeyboardInterrupt
calibrant_command._open_missing = interrupted
""",
}


@pytest.mark.parametrize("when", INTERRUPTED)
def test_an_interrupt_before_signals_are_taken(when):
    source = Path(calibrant_command.__file__).parent
    program = f"import sys; sys.path.append({str(source)!r})\n{INTERRUPTED[when]}"
    # alone, because what a site has imported is not imported again
    alone = [sys.executable, "-I", "-S", "-c", f"{program}\ncalibrant_command.main()"]
    done = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (130, "")


def test_whoever_ignores_a_signal_is_not_overruled(folder):
    command = [
        "nohup",
        sys.executable,
        "-c",
        "import calibrant_command as c; c.main()",
        "--version",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0
