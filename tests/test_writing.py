"""Files appear whole or not at all, and nothing but a regular file is replaced."""

import errno
import os
import resource
import socket
import stat
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

import calibrant as cb
from calibrant import _writing as writing
from calibrant._writing import check_name, check_new, taking_place, write_whole
from calibrant.calibrators.applying import apply_calibrator
from calibrant.errors import InputError


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def odd_targets(folder, ending):
    """Make what is no regular file, and links to such."""
    os.mkfifo(folder / f"pipe{ending}")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / f"socket{ending}"))
    (folder / f"null{ending}").symlink_to("/dev/null")
    (folder / f"linked{ending}").symlink_to(folder / f"pipe{ending}")
    return listening, [folder / f"{name}{ending}" for name in ("pipe", "socket", "null", "linked")]


def test_devices_pipes_and_sockets_are_never_replaced(tmp_path):
    listening, targets = odd_targets(tmp_path, ".json")
    before = names_in(tmp_path)
    for target in targets:
        mode = Path(target).stat().st_mode
        for refuses in (
            lambda path: check_name(path, ".json"),
            lambda path: check_new(path, ".json", overwrite=True),
            lambda path: write_whole(path, "new"),
        ):
            with pytest.raises(InputError, match=r"is not a regular file .* Name a file"):
                refuses(target)
        assert Path(target).stat().st_mode == mode
    assert names_in(tmp_path) == before
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    listening.close()


def test_every_writer_refuses_them(tmp_path):
    y_true, y_prob, _ = cb.simulate.calibrated().draw(500, seed=1)
    listening, targets = odd_targets(tmp_path, ".csv")
    (tmp_path / "rows.csv").write_text("p\n0.5\n", encoding="utf-8")
    fitted = cb.IsotonicCalibrator().fit(y_prob, y_true)
    for target in targets:
        with pytest.raises(InputError, match="is not a regular file"):
            cb.audit(y_true, y_prob).to_html(target)
        with pytest.raises(InputError, match="is not a regular file"):
            apply_calibrator(fitted, tmp_path / "rows.csv", target, prob="p", overwrite=True)
        with pytest.raises(InputError, match="is not a regular file"):
            writing.write_predictions(target, y=y_true)
    listening.close()


def test_a_target_that_becomes_a_pipe_meanwhile_is_refused(tmp_path):
    target = tmp_path / "out.txt"

    def write():
        with taking_place(target) as part:
            part.write_text("new", encoding="utf-8")
            os.mkfifo(target)

    with pytest.raises(InputError, match="is not a regular file"):
        write()
    assert names_in(tmp_path) == ["out.txt"]
    assert target.is_fifo()


def test_a_link_stays_a_link_and_a_file_keeps_its_mode(tmp_path):
    (tmp_path / "real.txt").write_text("old", encoding="utf-8")
    (tmp_path / "real.txt").chmod(0o604)
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == 0o604


def test_the_umask_counts_and_is_never_set(tmp_path):
    before = os.umask(0o027)
    try:
        with mock.patch.object(os, "umask", side_effect=AssertionError("it is for all threads")):
            write_whole(tmp_path / "new.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path):
    events = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor):
        events.append("file" if stat.S_ISREG(os.fstat(descriptor).st_mode) else "folder")
        fsync(descriptor)

    def renamed(*names, **more):
        events.append("rename")
        replace(*names, **more)

    with mock.patch.object(os, "fsync", synced), mock.patch.object(os, "replace", renamed):
        write_whole(tmp_path / "new.txt", "new")
    assert events == ["file", "rename", "folder"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EFBIG])
def test_errors_name_the_target_and_leave_all_as_it_was(tmp_path, code):
    target = tmp_path / "mine.txt"
    target.write_text("old", encoding="utf-8")
    failing = OSError(code, os.strerror(code), str(tmp_path / ".calibrant.0123"))
    with (
        mock.patch.object(os, "open", side_effect=failing),
        pytest.raises(OSError, match=r"mine\.txt' could not be written") as error,
    ):
        write_whole(target, "new")
    assert isinstance(error.value, InputError)
    assert os.strerror(code) in str(error.value)
    assert ".calibrant." not in str(error.value)
    assert target.read_text(encoding="utf-8") == "old"


APPLY = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
sys.argv = ["calibrant", *sys.argv[1:]]
import calibrant_command
calibrant_command.main()
"""


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_size_limit_names_the_target(tmp_path, ending):
    assert resource.RLIMIT_FSIZE is not None
    rows = "\n".join(["p", *(str(k / 5000) for k in range(5000))])
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    fitted = cb.IsotonicCalibrator().fit([0.1, 0.9], [0, 1])
    (tmp_path / "c.json").write_text(fitted.to_json(), encoding="utf-8")
    command = ["apply", "c.json", "rows.csv", "--prob", "p", "-o", f"out.{ending}"]
    done = subprocess.run(
        [sys.executable, "-c", APPLY, *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"Error: 'out.{ending}' could not be written" in done.stderr
    assert ".calibrant." not in done.stderr
    assert names_in(tmp_path) == ["c.json", "rows.csv"]


def test_what_stops_the_writing_leaves_nothing(tmp_path):
    def write(stop):
        with taking_place(tmp_path / "new.txt") as part:
            part.write_text("half", encoding="utf-8")
            raise stop

    for stop in (KeyboardInterrupt, SystemExit, ValueError):
        with pytest.raises(stop):
            write(stop)
    assert names_in(tmp_path) == []


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    from pathlib import Path

    from calibrant._writing import write_whole

    target = tmp_path / "real.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o600

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        write_whole(target, "newer")
    assert target.read_text(encoding="utf-8") == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]
