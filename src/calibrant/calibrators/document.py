"""The JSON of a calibrator: read back within limits, whatever the text holds."""

from __future__ import annotations

import json
from pathlib import Path
from re import fullmatch
from typing import Any, TypeAlias

from calibrant._text import shown
from calibrant.calibrators.blocks import MOST_BLOCKS, Blocks
from calibrant.calibrators.fingerprint import LENGTH
from calibrant.calibrators.links import Link
from calibrant.calibrators.reading import calibrator_unreadable, exactly
from calibrant.calibrators.venn_abers import Pairs
from calibrant.data import refusals
from calibrant.errors import InputError, check_no_file_name, out_of_range

SCHEMA = "calibrant.calibrator"
#: Version 2 adds the fingerprint of the scores; version 1 is read as well.
SCHEMA_VERSION = 2
Function: TypeAlias = Blocks | Link | Pairs
#: Columns of numbers that a calibrator has at most, and what comes with them: a calibrator has some
#: twenty names and six lists and objects. Other text is refused before Python makes objects of it,
#: which take up to twenty times its memory.
_COLUMNS, _OTHER_PARTS = 5, 100
#: Letters of a calibrator: a double takes at most 26 with its comma, and as much is for blanks.
_MOST_LETTERS = 2 * 26 * _COLUMNS * MOST_BLOCKS


def text_of(path: str | Path) -> str:
    """Return the text of a calibrator's file."""
    try:
        file = Path(path)
        there, regular = file.exists(), file.is_file()
    except (TypeError, ValueError, OSError):  # such as a name that is too long
        raise out_of_range("path", "the name of a file", path) from None
    if not there:
        raise refusals.file_missing(str(file))
    if not regular:
        raise calibrator_unreadable(f"path {shown(str(file))} is a folder, or a device")
    if file.stat().st_size > _MOST_LETTERS:
        raise _calibrator_too_large(file.stat().st_size, _MOST_LETTERS)
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise calibrator_unreadable(f"path {shown(str(file))} is not text") from None


def check_blocks(function: Function) -> None:
    """Refuse a function of more blocks than are kept."""
    if not isinstance(function, Link) and len(function) > MOST_BLOCKS:
        raise _too_many_blocks(MOST_BLOCKS)


def _check_size(text: str) -> None:
    """Refuse text that would take much memory, before it is read."""
    if len(text) > _MOST_LETTERS:
        raise _calibrator_too_large(len(text), _MOST_LETTERS)
    if text.count("[") + text.count("{") > _OTHER_PARTS:
        raise calibrator_unreadable("it has more lists and objects than a calibrator has")
    if text.count(",") > _COLUMNS * MOST_BLOCKS + _OTHER_PARTS:
        raise _too_many_blocks(MOST_BLOCKS)


def document_in(text: object) -> dict[str, Any]:
    """Return the parts of a calibrator's JSON; text that breaks the schema is refused."""
    check_no_file_name(text, "calibrator", "Read it with Calibrator.load(path).")
    if not isinstance(text, str):
        raise calibrator_unreadable(f"it is not text but {type(text).__name__}")
    _check_size(text)
    try:
        document = json.loads(text, object_pairs_hook=_once)
    except (ValueError, TypeError, RecursionError) as error:
        why = "a number has too many digits" if "digits" in str(error) else str(error)
        raise calibrator_unreadable(f"it is not JSON ({why})") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise calibrator_unreadable(f"its schema is not {SCHEMA!r}")
    version = document.get("schema_version")
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise calibrator_unreadable(
            f"its schema_version is {shown(document.get('schema_version'))}, and this version of "
            f"calibrant reads 1 to {SCHEMA_VERSION}; a newer calibrant may read it"
        )
    names = ["schema", "schema_version", "method", "options", "parameters", "fitted_on"]
    exactly(document, [*names, "calibrant"], "its parts")
    for name in ("options", "parameters", "fitted_on"):
        if not isinstance(document[name], dict):
            raise calibrator_unreadable(f"{name} is not an object")
    known = ["rows", "events"] + ["scores"] * (version > 1)
    exactly(document["fitted_on"], known, "fitted_on")
    return document


def scores_in(fitted_on: dict[str, Any]) -> str | None:
    """Read the fingerprint; version 1 has none, and neither have calibrators of few rows."""
    scores = fitted_on.get("scores")
    if scores is None:
        return None
    if not isinstance(scores, str) or not fullmatch(f"[0-9a-f]{{{LENGTH}}}", scores):
        raise calibrator_unreadable(
            f"fitted_on.scores is not a hash of {LENGTH} hexadecimal digits"
        )
    return scores


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is given twice, because one of the two would be ignored."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _too_many_blocks(most: int) -> InputError:
    return InputError(
        f"This calibrator has more than {most:,} blocks, and calibrant keeps and reads at most "
        "that many. Fit one of fewer blocks, such as HistogramCalibrator with fewer bins, or "
        "PlattCalibrator or BetaCalibrator, which have two or three numbers."
    )


def _calibrator_too_large(size: int, most: int) -> InputError:
    return InputError(
        f"This is not a calibrator that calibrant can read: it takes {size:,} bytes or more, and "
        f"calibrant reads at most {most:,}, twice what the most blocks take. Write it with "
        "to_json()."
    )
