"""Writing: files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from calibrant import errors
from calibrant._text import named
from calibrant._types import AnyArray
from calibrant.errors import InputError, WriteError, path_shown

Content = TypeVar("Content", str, bytes)


def check_name(path: Path, ending: str) -> None:
    """Refuse, before any work is done, a name without the ending, or a folder that is not there."""
    if path.suffix.lower() != ending or path.is_dir():
        raise _name_without_ending(str(path), ending)
    if not path.absolute().parent.is_dir():
        raise _folder_missing(str(path), str(path.parent))
    _check_regular(path)


def check_new(path: Path, ending: str, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a name without the ending, or one that is taken."""
    check_name(path, ending)
    if not overwrite and path.exists():
        raise _file_exists(str(path))


def _check_regular(path: Path) -> None:
    """Refuse a device, a pipe or a socket, and a link to one: a file would take its place."""
    if path.exists() and not path.is_file():
        raise _not_regular(str(path))


def write_predictions(path: Path, **columns: AnyArray) -> None:
    """Write columns to a CSV file, whole or not at all; every number reads back to the bit."""
    check_name(path, ".csv")
    values = [
        (column.astype(int) if column.dtype == bool else column).tolist()
        for column in columns.values()
    ]
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in zip(*values, strict=True))]
    write_whole(path, "\n".join(lines) + "\n")


def is_text(text: str) -> bool:
    """Say whether a text can be written: no NUL, and no halves of a letter."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def path_of(name: str, value: object) -> Path:
    """Return an argument that must be the name of a file; a folder is none."""
    try:
        path = Path(value)  # type: ignore[arg-type]
        if not is_text(str(path)):
            raise ValueError("it holds what is no letter")
        folder = not path.name or path.is_dir()
    except (TypeError, ValueError) as error:
        raise _not_a_path(name, error) from None
    except OSError as error:  # such as a name that is too long
        raise _not_a_path(name, error.strerror) from None
    if folder:
        raise _not_a_path(name, "it is a folder")
    return path


def write_whole(path: Path, content: str | bytes, *, overwrite: bool = True) -> None:
    """Write a file whole or not at all."""
    with taking_place(path, overwrite=overwrite) as part:
        part.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def written(content: Content, path: object) -> Content:
    """Return a text or bytes, which are written to a file as well unless its name is None."""
    if path is not None:
        write_whole(path_of("path", path), content)
    return content


@contextmanager
def taking_place(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Give another name in the folder to write to; at the end it takes the place of a file.

    A link stays a link to the file that is written, and a file that was there keeps its mode. What
    goes wrong is an OSError that names the file, not the one that was to take its place.
    """
    with _explained(path):
        _check_regular(path)
        target = _resolved(path)
        part = target.with_name(f".calibrant.{secrets.token_hex(8)}")
        try:
            # made here, so that it has the mode of any new file without asking for the umask
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            yield part
            if target.exists():
                part.chmod(target.stat().st_mode & 0o777)
            _to_disk(part)
            _check_regular(path)
            if not overwrite and target.exists():  # somebody was faster
                raise _file_exists(str(path))
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _to_disk(target.parent)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # a link that leads to itself
        raise OSError(str(error)) from None


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say of a file that cannot be written that all is as it was."""
    try:
        yield
    except errors.InputError:
        raise
    except OSError as error:
        raise _not_written(str(path), error.strerror or str(error)) from error


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, survive a loss of power."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # a file system that cannot
            raise
    finally:
        os.close(descriptor)


def _not_a_path(name: str, why: object) -> InputError:
    return InputError(f"{name} must be the name of a file that can be written ({named(why, 200)}).")


def _folder_missing(path: str, folder: str) -> InputError:
    return InputError(
        f"There is no folder {path_shown(folder)} to write {path_shown(path)} in. Make it first."
    )


def _name_without_ending(path: str, ending: str) -> InputError:
    return InputError(f"{path_shown(path)} must be the name of a file that ends in {ending}.")


def _file_exists(path: str) -> InputError:
    return InputError(
        f"There is a file {path_shown(path)} already. Add overwrite=True to replace it."
    )


def _not_regular(path: str) -> InputError:
    return InputError(
        f"{path_shown(path)} is not a regular file but a device, a pipe or a folder, and nothing "
        "takes its place. Name a file."
    )


def _not_written(path: str, why: str) -> InputError:
    return WriteError(
        f"{path_shown(path)} could not be written ({named(why, 200)}), and everything is as it was "
        "before."
    )
