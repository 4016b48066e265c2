"""How many threads share the rows, and that they change nothing."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import calibrant as cb
from calibrant.core import threads as module
from calibrant.core.threads import MANY_ROWS, ranges, side_by_side, threads
from calibrant.errors import InputError


@pytest.fixture(autouse=True)
def no_setting(monkeypatch):
    for name in (module.SETTING, module.OPENMP):
        monkeypatch.delenv(name, raising=False)


def test_few_rows_have_one_thread(monkeypatch):
    monkeypatch.setenv(module.SETTING, "5")
    assert threads(MANY_ROWS - 1) == 1
    assert threads(MANY_ROWS) == 5


def test_without_a_setting_there_is_a_thread_for_each_core_up_to_eight(monkeypatch):
    assert 1 <= module._cores() <= os.cpu_count()
    for cores, expected in ((1, 1), (3, 3), (64, 8)):
        monkeypatch.setattr(module, "_cores", lambda cores=cores: cores)
        assert threads(MANY_ROWS) == expected


def test_all_cores_are_counted_where_nobody_says_which_may_be_used(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert module._cores() == os.cpu_count()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("1", 1), ("3", 3), ("4,2", 4), (" 2 ", 2), ("100000", 1024), ("9" * 18, 1024)],
)
def test_openmp_is_asked_next(monkeypatch, setting, expected):
    monkeypatch.setenv(module.OPENMP, setting)
    assert threads(MANY_ROWS) == expected
    monkeypatch.setenv(module.SETTING, "6")
    assert threads(MANY_ROWS) == 6


@pytest.mark.parametrize("setting", ["", "0", "x", "-1", "2.5", "9" * 5000])
def test_what_openmp_cannot_mean_is_no_setting(monkeypatch, setting):
    monkeypatch.setenv(module.OPENMP, setting)
    monkeypatch.setattr(module, "_cores", lambda: 2)
    assert threads(MANY_ROWS) == 2


@pytest.mark.parametrize("setting", ["0", "x", "-1", "2.5", "1025", "²", "9" * 5000])
def test_a_setting_that_is_no_number_of_threads_is_refused_in_words(monkeypatch, setting):
    monkeypatch.setenv(module.SETTING, setting)
    rule = "CALIBRANT_THREADS must be a whole number, between 1 and 1024"
    with pytest.raises(InputError, match=rule):
        threads(MANY_ROWS)


def test_no_setting_is_no_refusal(monkeypatch):
    monkeypatch.setattr(module, "_cores", lambda: 2)
    for empty in ("", "  "):
        monkeypatch.setenv(module.SETTING, empty)
        assert threads(MANY_ROWS) == 2


def test_a_thread_that_others_started_shares_nothing(monkeypatch):
    monkeypatch.setenv(module.SETTING, "3")
    found = []
    other = threading.Thread(target=lambda: found.append(threads(MANY_ROWS)))
    other.start()
    other.join()
    assert found == [1]


ASK = """
import json, multiprocessing, os, sys, warnings
from calibrant.core.threads import MANY_ROWS, threads

def ask(_=None):
    return threads(MANY_ROWS)

if __name__ == "__main__":
    found = {"main": ask()}
    for kind in ("fork", "spawn"):
        with multiprocessing.get_context(kind).Pool(1) as pool:
            found[kind] = pool.map(ask, [0])[0]
    import joblib
    found["loky"] = joblib.Parallel(n_jobs=2)(joblib.delayed(threads)(MANY_ROWS) for _ in "ab")[0]
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, str(ask()).encode())
        os._exit(0)
    found["os.fork"] = int(os.read(read, 9))
    found["after"] = ask()
    print(json.dumps(found))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_has_one_thread_and_its_parent_still_has_its_own(tmp_path):
    script = tmp_path / "ask.py"
    script.write_text(ASK)
    setting = {**os.environ, module.SETTING: "3", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, script]
    done = subprocess.run(command, env=setting, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    one = {"fork": 1, "spawn": 1, "loky": 1, "os.fork": 1}
    assert json.loads(done.stdout) == {"main": 3, "after": 3, **one}


FORKED = """
import os
import numpy as np, calibrant as cb
from calibrant.core.threads import MANY_ROWS
rng = np.random.default_rng(0)
p = rng.random(MANY_ROWS); y = rng.random(MANY_ROWS) < p
found = cb.calibration_error(y, p)
child = os.fork()
if child == 0:
    os._exit(cb.calibration_error(y, p) != found)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_by_fork_finds_what_its_parent_found():
    setting = {**os.environ, module.SETTING: "3", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", FORKED], env=setting, check=True, timeout=60)


AT_EXIT = """
import atexit
import numpy as np, calibrant as cb
from calibrant.core.threads import MANY_ROWS
rng = np.random.default_rng(0)
p = rng.random(MANY_ROWS); y = rng.random(MANY_ROWS) < p
atexit.register(lambda: print(cb.calibration_error(y, p)))
print(cb.calibration_error(y, p))
"""


def test_a_program_that_ends_starts_no_more_threads():
    setting = {**os.environ, module.SETTING: "2"}
    command = [sys.executable, "-c", AT_EXIT]
    done = subprocess.run(command, env=setting, capture_output=True, text=True, check=True)
    first, last = done.stdout.split()
    assert first == last
    assert done.stderr == ""


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 50])
def test_parts_come_back_in_their_order(workers):
    assert side_by_side(lambda part: part * part, range(20), workers) == [k * k for k in range(20)]
    assert side_by_side(lambda part: part, [], workers) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_of_one_part_is_the_error(workers):
    def work(part):
        if part == 2:
            raise RuntimeError("part two")
        return part

    with pytest.raises(RuntimeError, match="part two"):
        side_by_side(work, range(5), workers)


def test_where_no_thread_can_be_started_one_does_the_work(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert side_by_side(lambda part: -part, range(4), 3) == [0, -1, -2, -3]


@pytest.mark.parametrize("rows", [0, 1, 5, 4096, 4097, 100_000])
@pytest.mark.parametrize("parts", [1, 2, 3, 7, 1024])
@pytest.mark.parametrize("unit", [1, 4096])
def test_ranges_cover_every_row_once_in_whole_units(rows, parts, unit):
    found = ranges(rows, parts, unit)
    assert len(found) <= parts
    assert np.array_equal(
        np.concatenate([np.arange(rows)[part] for part in found] or [np.arange(0)]), np.arange(rows)
    )
    assert all(part.start % unit == 0 for part in found)
    assert all(part.stop % unit == 0 for part in found[:-1])


def test_threads_change_no_bit_of_a_calibration_error(monkeypatch):
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 1.5, MANY_ROWS + 17)
    label = rng.random(len(score)) < score
    found = set()
    for count in ("1", "2", "3", "7"):
        monkeypatch.setenv(module.SETTING, count)
        found.add(cb.calibration_error(label, score))
    assert len(found) == 1


def test_this_process_is_not_taken_for_a_child():
    assert multiprocessing.current_process().name == "MainProcess"
    assert not module._forked
