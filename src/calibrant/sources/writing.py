"""Writing: files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibrant import _checks
from calibrant._types import AnyArray


def check_csv_name(path: Path) -> None:
    """Refuse, before any work is done, a file that `write_predictions` could not write."""
    if path.suffix.lower() != ".csv" or path.is_dir():
        raise _checks.csv_name(str(path))
    _check_folder(path)


def check_json_name(path: Path) -> None:
    """Refuse, before any work is done, a name that is not one of a JSON file."""
    if path.suffix.lower() != ".json" or path.is_dir():
        raise _checks.json_name(str(path))
    _check_folder(path)


def check_name(path: Path, ending: str) -> None:
    """Refuse, before any work is done, a name without the ending, or a folder that is not there."""
    if path.suffix.lower() != ending or path.is_dir():
        raise _checks.name_without_ending(str(path), ending)
    _check_folder(path)


def check_new(path: Path, ending: str, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a name without the ending, or one that is taken."""
    check_name(path, ending)
    if not overwrite and path.exists():
        raise _checks.file_exists(str(path))


def _check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise _checks.folder_missing(str(path), str(path.parent))


def write_predictions(path: Path, **columns: AnyArray) -> None:
    """Write columns to a CSV file, whole or not at all; every number reads back to the bit."""
    check_csv_name(path)
    values = [
        (column.astype(int) if column.dtype == bool else column).tolist()
        for column in columns.values()
    ]
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in zip(*values, strict=True))]
    write_whole(path, "\n".join(lines) + "\n")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    with taking_place(path) as part:
        part.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


@contextmanager
def taking_place(path: Path) -> Iterator[Path]:
    """Give another name in the folder to write to; at the end it takes the place of a file.

    A link stays a link to the file that is written, and a file that was there keeps its mode.
    """
    try:
        path = path.resolve()
    except RuntimeError as error:  # a link that leads to itself
        raise OSError(str(error)) from None
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".calibrant.")
    part = Path(name)
    try:
        os.close(descriptor)
        yield part
        part.chmod(mode)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the permissions that new files do without (there is no way to read but to set)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
