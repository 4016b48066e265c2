"""Columns: one dimension of numbers or labels, read chunk by chunk and never copied whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calibrant._types import AnyArray, BoolArray, FloatArray
from calibrant.data import refusals
from calibrant.errors import InputError

#: Rows read at a time: the temporaries of one chunk then stay in the processor's cache.
CHUNK = 1 << 15
#: From this many rows on chunks are twice as long, because each one costs a pass over a table.
_MANY_ROWS = 1 << 22


class Column:
    """A one-dimensional input of any kind: array, list, or a series of a dataframe library."""

    def __init__(self, values: Any, name: str) -> None:
        self.name = name
        self._values = _sliceable(values, name)
        if len(self._values) == 0:
            raise refusals.empty(name)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def step(self) -> int:
        """Rows in a chunk."""
        return 2 * CHUNK if len(self) >= _MANY_ROWS else CHUNK

    def chunk(self, start: int, rows: int | None = None) -> AnyArray:
        """Return the chunk at `start`, or as many rows as asked for (a view where possible)."""
        part = self._values[start : start + (rows or self.step)]
        if isinstance(part, np.ndarray):
            return unmasked(part)
        values: AnyArray = part.to_numpy()
        if part.null_count():  # not every backend shows them as NaN or None
            return unmasked(np.ma.masked_array(values, part.is_null().to_numpy()))
        return values

    def objects(self, start: int) -> AnyArray:
        """Return a chunk as Python values; whole numbers next to missing ones stay whole."""
        part = self._values[start : start + self.step]
        if isinstance(part, np.ndarray):
            plain = unmasked(part)
            unit = {"M": "datetime64[us]", "m": "timedelta64[us]"}.get(plain.dtype.kind)
            return (plain if unit is None else plain.astype(unit)).astype(object)
        values = np.empty(len(part), dtype=object)
        for row, value in enumerate(part.to_list()):  # one by one: a value may be a list itself
            values[row] = value
        return values

    @property
    def array(self) -> AnyArray | None:
        """The array that holds the column, if there is one and nothing in it is masked."""
        values = self._values
        plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
        return values if plain else None

    @property
    def native(self) -> Any:
        """The array, or the column as its library knows it."""
        return self._values if isinstance(self._values, np.ndarray) else self._values.to_native()

    def chunks(self) -> Iterator[tuple[int, AnyArray]]:
        """Yield every chunk with the number of its first row."""
        for start in range(0, len(self), self.step):
            yield start, self.chunk(start)


def _sliceable(values: Any, name: str) -> Any:
    """Return an array or a narwhals series: both give a slice without copying the rest."""
    if not isinstance(values, np.ndarray | list | tuple):
        import narwhals as nw  # here, so that arrays alone never pay for it

        series = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(series, nw.Series) and series.dtype in (nw.Int128, nw.UInt128):
            return np.array([*series.to_list(), None], dtype=object)[:-1]  # too wide for arrays
        if isinstance(series, nw.Series):
            return _in_place(series)
    array = values if isinstance(values, np.ndarray) else _as_array(values, name)
    if array.ndim != 1:
        raise refusals.not_one_column(name, array.shape)
    return array


def _in_place(series: Any) -> Any:
    """Return the array that holds the numbers of a series, if there is one; else the series."""
    native = series.to_native()
    if series.implementation.is_polars() and series.dtype.is_numeric():
        try:
            return native.to_numpy(allow_copy=False)
        except RuntimeError:  # missing values, or several chunks
            return series
    numpy_backed = series.implementation.is_pandas() and isinstance(native.dtype, np.dtype)
    return native.to_numpy() if numpy_backed and native.dtype.kind in "biuf" else series


def _as_array(values: Any, name: str) -> AnyArray:
    if hasattr(type(values), "columns"):  # its own would make a lazy table think
        raise _table_for_column(name)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, MemoryError) as error:
        why = str(error) or "it does not fit into memory"
        raise refusals.not_an_array(name, why) from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy turns a list of numbers and words into words; keep what the user wrote
        array = np.asarray(values, dtype=object)
    return array


def unmasked(values: AnyArray) -> AnyArray:
    """Give masked entries the missing value of their kind."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    numeric = values.dtype.kind in "biuf"
    filled = np.asarray(values.data).astype(np.float64 if numeric else object)
    filled[np.ma.getmaskarray(values)] = np.nan if numeric else None
    return filled


def is_missing(values: AnyArray) -> BoolArray:
    """Mark NaN, None, NaT and the NA of dataframe libraries."""
    if values.dtype.kind == "O":
        return np.array([_missing(value) for value in values.tolist()], dtype=bool)
    if values.dtype.kind in "fcmM":
        return np.isnan(values) if values.dtype.kind in "fc" else np.isnat(values)
    return np.zeros(len(values), dtype=bool)


def _missing(value: object) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 (NaN alone does)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA, Decimal("sNaN")
        return True


def numbers(values: AnyArray, start: int, name: str) -> FloatArray:
    """Return a chunk as doubles, missing values as NaN; refuse what is no number."""
    if values.dtype == np.float64:
        return values
    if values.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # of long doubles: what is infinite is refused later
            return values.astype(np.float64, copy=False)
    out = np.empty(len(values))
    for row, value in enumerate(values.tolist()):
        out[row] = _number(value, start + row, name)
    return out


def _number(value: Any, row: int, name: str) -> float:
    """Read a Decimal, an integer among objects, or a missing value; words are no numbers."""
    if _missing(value):
        return np.nan
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except OverflowError:  # an integer past the largest double
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise refusals.not_numeric(name, row, value)


class Found:
    """Rows that break a rule: how many, which one first, and what it holds."""

    def __init__(self) -> None:
        self.count = 0
        self.row = -1
        self.value: Any = None

    def see(self, start: int, bad: BoolArray, values: AnyArray) -> bool:
        """Note the rows of a chunk that are marked `bad`; true if there are any."""
        if not bad.any():
            return False
        if not self.count:
            place = int(np.argmax(bad))
            self.row, self.value = start + place, values[place : place + 1].tolist()[0]
        self.count += int(bad.sum())
        return True


def _table_for_column(name: str) -> InputError:
    return InputError(f"{name} must be one column, but it is a table. Pass one of its columns.")
