"""Data sets as numbers, categories and labels: the paper's two, and some that need no file.

UCI Adult and Covertype are not part of calibrant. `data_dir=` or CALIBRANT_DATA names a folder
that has them; otherwise they are downloaded from the UCI repository (CC BY 4.0) and kept in a
cache. Either way their hashes are checked.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrant._text import named
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.errors import InputError, path_shown

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
    numbers : float array, rows by columns
        Features that are numbers.
    categories : int array, rows by columns
        Features that are words, as codes from 0 on.
    labels : bool array
        Whether the event happened.
    """

    name: str
    numbers: FloatArray
    categories: IntArray
    labels: BoolArray

    @property
    def sizes(self) -> list[int]:
        """How many categories each column of them has."""
        return [int(column.max()) + 1 for column in self.categories.T]

    @property
    def features(self) -> FloatArray:
        """Numbers, and a column of 0 and 1 for each category."""
        spread = [
            (column[:, None] == np.arange(size)).astype(np.float64)
            for column, size in zip(self.categories.T, self.sizes, strict=True)
        ]
        return np.concatenate([self.numbers, *spread], axis=1)

    @property
    def table(self) -> FloatArray:
        """Numbers and then codes: what a model gets that tells the two apart."""
        return np.concatenate([self.numbers, self.categories.astype(np.float64)], axis=1)

    def __repr__(self) -> str:
        columns = self.numbers.shape[1] + sum(self.sizes)
        rate = f"{self.labels.mean():.1%}"
        return f"<Dataset {self.name}: {len(self.labels):,} rows, {columns} columns, {rate} events>"


def load_adult(data_dir: Path | None = None) -> Dataset:
    """Load Adult, whose event is an income over 50,000 dollars: training and test rows together."""
    text = _read("adult/adult.data", data_dir) + _read("adult/adult.test", data_dir)
    lines = (line.split(",") for line in text.splitlines())
    rows = [[cell.strip() for cell in line] for line in lines if len(line) == _ADULT_COLUMNS + 1]
    columns = list(zip(*rows, strict=True))
    numbers = [np.array(columns[i], dtype=np.float64) for i in _ADULT_NUMBERS]
    words = [columns[i] for i in range(_ADULT_COLUMNS) if i not in _ADULT_NUMBERS]
    # a missing word is a word like any other
    codes = [np.unique(np.array(column), return_inverse=True)[1] for column in words]
    labels = np.array([label.startswith(">50K") for label in columns[-1]])
    return Dataset("Adult", np.stack(numbers, axis=1), np.stack(codes, axis=1), labels)


def load_covertype(data_dir: Path | None = None) -> Dataset:
    """Load Covertype, whose event is a forest of the most frequent kind."""
    text = _read("covtype/covtype.data", data_dir)
    table = np.array(text.replace("\n", ",").strip(",").split(","), dtype=np.float32)
    table = table.reshape(-1, 55)
    kind = table[:, -1].astype(np.int64)
    largest = np.bincount(kind).argmax()
    areas, soils = table[:, 10:14].argmax(axis=1), table[:, 14:54].argmax(axis=1)
    codes = np.stack([areas, soils], axis=1)
    return Dataset("Covertype", table[:, :10].astype(np.float64), codes, kind == largest)


def bundled() -> list[Dataset]:
    """Return data sets that come with scikit-learn, made binary, and simulated ones.

    The event is a malignant tumour, a digit of 5 or more, and, of wine, the most frequent kind.
    """
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    tumours, digits, wine = load_breast_cancer(), load_digits(), load_wine()
    return [
        _numeric("Breast cancer", tumours.data, tumours.target == 0),
        _numeric("Digits", digits.data, digits.target >= 5),
        _numeric("Wine", wine.data, wine.target == np.bincount(wine.target).argmax()),
        simulated("additive"),
        simulated("interactions"),
        simulated("rare events"),
    ]


def simulated(kind: str, rows: int = 12_000, seed: int = 0) -> Dataset:
    """Draw numbers from a normal law, categories, and labels with a known dependence on them.

    "additive" suits logistic regression; "interactions" suits trees; "rare events" is additive
    with about 2 events in 100 rows.
    """
    rng = np.random.default_rng([seed, len(kind)])
    numbers = rng.standard_normal((rows, 6)) @ (np.eye(6) + 0.3)  # correlated, so that Bayes errs
    codes = rng.integers(0, [3, 5], (rows, 2))
    score = numbers @ [0.6, -0.4, 0.3, 0.2, 0.0, 0.0] + 0.5 * (codes[:, 0] == 1)
    if kind == "interactions":
        score = 1.5 * np.sign(numbers[:, 0] * numbers[:, 1]) + np.abs(numbers[:, 2]) - 1
    if kind == "rare events":
        score = score - 4.5
    labels = rng.random(rows) < 1 / (1 + np.exp(-score))
    return Dataset(f"Simulated, {kind}", numbers, codes, labels)


def _numeric(name: str, numbers: FloatArray, labels: BoolArray) -> Dataset:
    none = np.zeros((len(labels), 0), dtype=np.int64)
    return Dataset(name, np.asarray(numbers, dtype=np.float64), none, labels)


def _read(name: str, data_dir: Path | None) -> str:
    """Return the text of a file whose hash is right."""
    folder = data_dir or (Path(os.environ["CALIBRANT_DATA"]) if _given() else None)
    place = _downloaded(name) if folder is None else _found(name, folder)
    raw = place.read_bytes()
    try:
        content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, OSError, zlib.error):  # cut off, or damaged
        content = b""
    if hashlib.sha256(content).hexdigest() != _FILES[name][1]:
        if folder is None:
            place.unlink()  # so that the next attempt downloads it again
        raise _data_changed(name, str(place))
    return content.decode("utf-8")


def _given() -> bool:
    return bool(os.environ.get("CALIBRANT_DATA"))


def _found(name: str, folder: Path) -> Path:
    places = [folder / name, folder / f"{name}.gz"]
    places += [folder / place.name for place in places]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise _data_missing(name, str(folder))
    return place


def _downloaded(name: str) -> Path:
    import pooch

    url = _FILES[name][0]
    try:
        # the hash is that of the content, whichever way it came, so it is checked after unpacking
        return Path(pooch.retrieve(url, known_hash=None, path=pooch.os_cache("calibrant")))
    except OSError as error:
        raise _data_unreachable(name, url, str(error)) from None


def _data_missing(name: str, folder: str) -> InputError:
    return InputError(
        f"There is no {name} (or {name}.gz) in {path_shown(folder)}. Put the UCI file there, or "
        "name no folder, and it is downloaded."
    )


def _data_changed(name: str, place: str) -> InputError:
    return InputError(
        f"{path_shown(place)} is not the {name} that results are known for: its hash differs, as "
        "it does if a download was cut off. Download it again."
    )


def _data_unreachable(name: str, url: str, why: str) -> InputError:
    return InputError(
        f"{name} could not be downloaded from {named(url)} ({named(why, 200)}). Put it in a folder "
        "and name that folder by data_dir= or CALIBRANT_DATA."
    )
