"""The two data sets of the paper, UCI Adult and Covertype, as features and labels.

They are not part of calibrant. `--data-dir` or CALIBRANT_DATA names a folder that has them;
otherwise they are downloaded from the UCI repository (CC BY 4.0) and kept in a cache. Either way
their hashes are checked.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrant import _checks
from calibrant._types import BoolArray, FloatArray

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
#: Where each file is downloaded from, and the hash of what is in it.
_FILES = {
    "adult/adult.data": (
        f"{_UCI}/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    "adult/adult.test": (
        f"{_UCI}/adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
    "covtype/covtype.data": (
        f"{_UCI}/covtype/covtype.data.gz",
        "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
    ),
}
#: Columns of Adult that hold numbers; the others hold words.
_ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)
_ADULT_COLUMNS = 14


@dataclass(frozen=True, eq=False, slots=True)
class Dataset:
    """Features and labels of a classification problem.

    Attributes
    ----------
    name : str
        What it is called.
    features : float array, rows by columns
        Words are spread over columns of 0 and 1.
    labels : bool array
        Whether the event happened.
    """

    name: str
    features: FloatArray
    labels: BoolArray

    def __repr__(self) -> str:
        rows, columns = self.features.shape
        rate = f"{self.labels.mean():.1%}"
        return f"<Dataset {self.name}: {rows:,} rows, {columns} columns, {rate} events>"


def load_adult(data_dir: Path | None = None) -> Dataset:
    """Load Adult, whose event is an income over 50,000 dollars: training and test rows together."""
    text = _read("adult/adult.data", data_dir) + _read("adult/adult.test", data_dir)
    lines = (line.split(",") for line in text.splitlines())
    rows = [[cell.strip() for cell in line] for line in lines if len(line) == _ADULT_COLUMNS + 1]
    columns = list(zip(*rows, strict=True))
    blocks = [
        np.array(column, dtype=np.float64)[:, None] if i in _ADULT_NUMBERS else _spread(column)
        for i, column in enumerate(columns[:_ADULT_COLUMNS])
    ]
    labels = np.array([label.startswith(">50K") for label in columns[-1]])
    return Dataset("Adult", np.concatenate(blocks, axis=1), labels)


def _spread(words: tuple[str, ...]) -> FloatArray:
    """Give every word a column; a missing one is a word like any other."""
    values = np.array(words)
    spread: FloatArray = (values[:, None] == np.unique(values)[None, :]).astype(np.float64)
    return spread


def load_covertype(data_dir: Path | None = None) -> Dataset:
    """Load Covertype, whose event is a forest of the most frequent kind."""
    text = _read("covtype/covtype.data", data_dir)
    table = np.array(text.replace("\n", ",").strip(",").split(","), dtype=np.float32)
    table = table.reshape(-1, 55)
    kind = table[:, -1].astype(np.int64)
    largest = np.bincount(kind).argmax()
    return Dataset("Covertype", table[:, :-1].astype(np.float64), kind == largest)


def _read(name: str, data_dir: Path | None) -> str:
    """Return the text of a file whose hash is right."""
    folder = data_dir or (Path(os.environ["CALIBRANT_DATA"]) if _given() else None)
    raw = _downloaded(name) if folder is None else _found(name, folder)
    content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    if hashlib.sha256(content).hexdigest() != _FILES[name][1]:
        raise _checks.data_changed(name)
    return content.decode("utf-8")


def _given() -> bool:
    return bool(os.environ.get("CALIBRANT_DATA"))


def _found(name: str, folder: Path) -> bytes:
    places = [folder / name, folder / f"{name}.gz"]
    places += [folder / place.name for place in places]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise _checks.data_missing(name, str(folder))
    return place.read_bytes()


def _downloaded(name: str) -> bytes:
    import pooch

    url = _FILES[name][0]
    try:
        # the hash is that of the content, whichever way it came, so it is checked after unpacking
        return Path(
            pooch.retrieve(url, known_hash=None, path=pooch.os_cache("calibrant"))
        ).read_bytes()
    except OSError as error:
        raise _checks.data_unreachable(name, url, str(error)) from None
