"""Hostile command lines: a documented exit code, one short visible message, and no file left."""

import functools
import gzip
import json
import os
import signal
import string
import tempfile
import unicodedata
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

import duckdb
import pytest
import typer.main
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant._text import MOST_OF_MESSAGE
from calibrant.cli import app
from calibrant.experiments.documents import documents_example
from reference.commands import calibrant, process

pytestmark = pytest.mark.fuzz

COMMANDS = typer.main.get_command(app).commands
IN_PROCESS, AS_PROCESSES, SECONDS = 950, 50, 20
#: Seconds that pass at most while others have the processor.
PATIENCE = 120
ODD = "a\x1b[31m\x07\r\u202e:/@'\";<b>`[x](y)"
#: Values that belong to an option, so that commands get past the first check.
KNOWN = {
    "label": ["y", "label", ODD],
    "prob": ["p", "q", ODD],
    "weight": ["w", "p"],
    "clusters": ["g"],
    "by": ["g", "y", ODD],
    "pos_label": ["1", "yes", "0"],
    "confidence": ["0.9", "0.95"],
    "method": ["auto", "betting", "band", "isotonic", "platt", "venn_abers", "histogram"],
    "estimand": ["row", "cluster"],
    "max_cluster_size": ["5", "100"],
    "clip": ["0.001"],
    "false_positive": ["1", "2.5"],
    "false_negative": ["1", "20"],
    "max_error": ["0.02", "1", "0"],
    "gate": ["upper", "estimate"],
    "crossed": ["all"],
    "sql": [
        "SELECT y, p FROM 'good.csv'",
        "SELECT y, p, g FROM 'good.parquet' WHERE p < 0.5",
        "DROP TABLE x",
        "FROM self",
        "SELECT 1; SELECT 2",
        "SELECT y, p, '; ;--' AS g FROM 'good.csv'; -- all;",
    ],
    "url": ["sqlite://", "sqlite:///good.db", "env:NOT_SET", "postgresql://u:p w@127.0.0.1:1/x"],
    "table": ["scores", "none"],
    "epsilon": ["0.05", "0.01", "1e-15", "1e-300"],
    "scores": ["good.csv", "good.parquet"],
    "assurance": ["0.9"],
    "objective": ["log_loss", "squared"],
    "to": ["sql", "onnx"],
    "column": ["p", ODD],
    "dialect": ["duckdb", "postgres", "sqlite"],
    "name": ["calibrated", "p", ODD],
    "volume": ["1000", "1e300"],
    "currency": ["EUR", ODD, "[/red]"],
    "part": ["figure1", "nothing"],
    "seed": ["0", "-1"],
    "runs": ["1", "0"],
    "data_dir": ["none"],
    "title": ["A report", ODD],
    "model": ["gbm", ODD],
    "axis": ["auto", "logit", "linear"],
    "max_relative_error": ["0.1", "2"],
    "max_cost": ["0.1", "1e300"],
}
OUTPUTS = {
    "html": ["out/report.html", "out/no/report.html", "out/report.txt", "/dev/full", "taken"],
    "markdown": ["out/report.md", "taken.md"],
    "save": ["out/demo.csv", "/dev/null"],
    "output": ["out/c.json", "out/a.csv", "out/a.parquet", "out/c.sql", "out/c.onnx", "/dev/null"],
}
FILES = [
    "good.csv",
    "good.parquet",
    "good.jsonl",
    "odd.csv",
    "long.csv",
    "empty.csv",
    "header.csv",
    "binary.csv",
    "cut.parquet",
    "words.csv",
    "outside.csv",
    "gaps.csv",
    "good.csv.gz",
    "*.parquet",
    ".",
    "none.csv",
    "loop.csv",
    "calibrator.json",
    "cut.json",
    "s3://bucket/x.parquet",
    "https://127.0.0.1:1/x.csv",
    "postgresql://u:p@h/x",
    "-",
]
#: Where results of `reproduce` go: nothing else, for it makes the folder.
RESULTS = ["out/results", "reproduction", "good.csv", "/dev/null"]
#: Queries that were read for ever, and for a minute.
ENDLESS = [
    ["--sql", f"SELECT y, p, ';{'/**/' * 30}x' AS a FROM 'good.csv'"],
    ["--url", "sqlite://", "--sql", "SELECT 1" + ";" * 130_000],
]
CALIBRATORS = ["calibrator.json", "cut.json", "wrong.json", "keys.json", "good.csv", "none.json"]
RUBBISH = st.one_of(
    st.sampled_from(
        ["", "nan", "inf", "-1", "1e400", "9" * 400, "0x1", "--", "-", "../..", "'", ODD, "\n\n"]
    ),
    st.text(st.sampled_from(string.printable + "\x1b\x07\u202e\u2066éλ"), max_size=30).filter(
        lambda text: "\0" not in text
    ),
    st.sampled_from([":/" * 4000, "a" * 100_000, "://" + ":@" * 5000, "password=" * 3000]),
)


def values_of(command, parameter):
    """Draw a value for a parameter: mostly one that belongs to it."""
    if (command, parameter.name) == ("reproduce", "output"):
        return st.sampled_from(RESULTS)
    known = KNOWN.get(parameter.name)
    if parameter.name in OUTPUTS:
        known = OUTPUTS[parameter.name]
    elif parameter.name == "file":
        known = FILES
    elif parameter.name == "calibrator":
        known = CALIBRATORS
    if known is None:
        raise AssertionError(f"say which values belong to {parameter.name}")
    return st.one_of(
        st.sampled_from(known), st.sampled_from(known), st.sampled_from(known), RUBBISH
    )


@st.composite
def command_lines(draw):
    # these two take a second whatever they are given
    slow = ["demo", "reproduce"]
    name = draw(st.sampled_from([*[one for one in COMMANDS if one not in slow] * 5, *slow]))
    words = [name, "--quick"] if name == "reproduce" else [name]
    for parameter in COMMANDS[name].params:
        if parameter.name in {"help", "quick"}:
            continue
        option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
        wanted = 0.95 if parameter.required or parameter.name in {"file", "output"} else 0.15
        if draw(st.floats(0, 1)) > wanted:
            continue
        if getattr(parameter, "is_flag", False):
            words += option
            continue
        times = draw(st.integers(1, 3)) if parameter.multiple else 1
        for _ in range(times):
            words += [*option, draw(values_of(name, parameter))]
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1]))):
        words.insert(draw(st.integers(0, len(words))), draw(RUBBISH))
    return words


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder of good and bad files, which no command may change."""
    folder = tmp_path_factory.mktemp("fuzz")
    y_true, y_prob, _ = cb.simulate.overconfident().draw(800, seed=1)
    lines = [
        f"{int(y)},{float(p)!r},{float(p) ** 2!r},{k % 7},2"
        for k, (y, p) in enumerate(zip(y_true, y_prob, strict=True))
    ]
    text = "y,p,q,g,w\n" + "\n".join(lines) + "\n"
    (folder / "good.csv").write_text(text)
    (folder / "good.csv.gz").write_bytes(gzip.compress(text.encode()))
    quoted = '"' + ODD.replace('"', '""') + '"'
    (folder / "odd.csv").write_text(f"y,p,{quoted}\n1,0.5,{quoted}\n0,0.25,b\n" * 1, newline="")
    (folder / "long.csv").write_text("y,p\n1,0.5\n0," + ":/" * 4000 + "\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("y,p\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "words.csv").write_text("y,p\nyes,high\nno,\x1b[2Jlow\n")
    (folder / "outside.csv").write_text("y,p\n1,50\n0,-3\n1,nan\n")
    (folder / "gaps.csv").write_text("y,p\n1,\n,0.5\n0,0.2\n1,0.7\n")
    (folder / "loop.csv").symlink_to("loop.csv")
    duck = duckdb.connect()
    good = f"read_csv('{folder / 'good.csv'}')"
    duck.execute(f"COPY (FROM {good}) TO '{folder / 'good.parquet'}'")
    duck.execute(f"COPY (FROM {good}) TO '{folder / 'good.jsonl'}' (FORMAT json)")
    duck.close()
    (folder / "cut.parquet").write_bytes((folder / "good.parquet").read_bytes()[:-100])
    calibrator = cb.IsotonicCalibrator().fit(y_prob, y_true).to_json()
    (folder / "calibrator.json").write_text(calibrator)
    (folder / "cut.json").write_text(calibrator[:200])
    wrong = {**json.loads(calibrator), "schema_version": "9" * 10**6}
    (folder / "wrong.json").write_text(json.dumps(wrong))
    (folder / "keys.json").write_text(json.dumps({ODD: 1, "a" * 10**6: 2}))
    return folder


def state_of(folder):
    return {
        path.relative_to(folder): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.name != "out"
    }


@contextmanager
def place_for(folder):
    """Give a folder with the same files, and an empty one for what is written."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for path in folder.iterdir():
            if path.is_symlink():
                (place / path.name).symlink_to(path.readlink())
            else:
                os.link(path, place / path.name)
        (place / "out").mkdir()
        yield place


class Hangs(BaseException):
    """What no command takes for an error of its own."""


@contextmanager
def limited(seconds, patience=PATIENCE):
    """Stop what hangs: it has worked for some seconds, or waited for many."""
    stopped = []

    def stop(number, _frame):
        stopped.append(signal.Signals(number).name)
        raise Hangs

    kinds = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {number: signal.signal(number, stop) for number in kinds}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        yield
    except Hangs:
        pass
    finally:
        for number, timer in kinds.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
    assert not stopped, f"still running after {seconds} s"  # whoever has caught it


def hidden(text):
    return {
        one
        for one in text
        if one != "\n" and unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }


def check(done, words, place, before):
    """Hold what a command did to what every command guarantees."""
    said = done.stderr
    assert done.returncode in {0, 1, 2}, (words, done)
    errors = [line for line in said.splitlines() if line.startswith("Error:")]
    assert len(errors) == (done.returncode == 2), (words, said)
    assert all(len(line) < MOST_OF_MESSAGE for line in said.splitlines()), words
    assert "Traceback" not in said + done.stdout, (words, said)
    assert not hidden(said), (words, said)
    assert not hidden(done.stdout), (words, done.stdout)
    folders = set(map(Path, RESULTS[:2])) if "reproduce" in words else set()
    given = {Path(word) for word in words} | {Path(word.partition("=")[2]) for word in words}
    after = state_of(place)
    new = {path for path in after if path not in before}
    assert all(path in given or folders & {path, *path.parents} for path in new), (words, new)
    assert {path: after.get(path) for path in before if path not in given} == {
        path: state for path, state in before.items() if path not in given
    }, words
    if done.returncode == 2:
        assert not new, (words, new)


SETTINGS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


#: The same documents every time.
documents = functools.cache(lambda: documents_example(documents=2000))


@settings(SETTINGS, max_examples=IN_PROCESS)
@given(words=command_lines())
@example(words=["audit", "odd.csv", "--label", "y", "--prob", "p", "--by", ODD])
@example(words=["audit", "long.csv", "--label", "y", "--prob", "p"])
@example(words=["audit", *ENDLESS[0], "--label", "y", "--prob", "p", "-q"])
@example(words=["audit", *ENDLESS[1], "--label", "y", "--prob", "p", "-q"])
@example(words=["demo", "--save", "out/demo.csv"])
@example(words=["reproduce", "figure1", "--quick", "-o", "out/results"])
def test_command_lines(folder, words):
    with (
        place_for(folder) as place,
        mock.patch("webbrowser.open"),
        mock.patch("calibrant.cli.demo.documents_example", return_value=documents()),
        limited(SECONDS),
    ):
        before = state_of(place)
        check(calibrant(*words, cwd=place), words, place, before)


@settings(SETTINGS, max_examples=AS_PROCESSES)
@given(words=command_lines())
def test_processes(folder, words):
    words = [word for word in words if word != "--open"]
    with place_for(folder) as place:
        before = state_of(place)
        check(process(*words, cwd=place, timeout=PATIENCE), words, place, before)


@pytest.mark.parametrize("caught", [OSError, Exception, BaseException])
def test_what_hangs_is_no_error_of_a_command(caught):
    def command():
        with suppress(caught):
            while True:
                pass

    with pytest.raises(AssertionError, match="still running"), limited(0.05):
        command()


def test_files_of_the_folder_are_what_they_are_called(folder):
    assert calibrant("audit", "good.csv", "--label", "y", "--prob", "p", cwd=folder).returncode == 0
    bad = calibrant("audit", "cut.parquet", "--label", "y", "--prob", "p", cwd=folder)
    assert bad.returncode == 2
