"""Compiled: the functions of the kernel in C, which check what they pass to it.

Without a library, or with `CALIBRANT_KERNEL=numpy`, numpy adds up the same sums; answers agree to
1e-12.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from calibrant._types import AnyArray, FloatArray, IntArray
from calibrant.core.library import library
from calibrant.errors import InputError, not_among

#: The variable that says which kernel to use, and its values; "compiled" fails if there is none.
SETTING, KERNELS = "CALIBRANT_KERNEL", ("auto", "compiled", "numpy")

#: Sums of a cell for labels 0 and 1: rows, their places inside it in parts of 2^-62, and what was
#: carried from that, by label; and its score, NaN if there are several. As in `kernel.c`.
COUNTS = np.dtype(
    [
        ("inside", np.uint64, 2),
        ("carried", np.uint32, 2),
        ("rows", np.uint32, 2),
        ("one", np.float64),
    ]
)
#: Sums for weights and fractions, each with what rounding took from it. As in `kernel.c`.
WEIGHTED = np.dtype(
    [("sum", np.float64, 4), ("rest", np.float64, 4), ("one", np.float64), ("rows", np.int64)]
)
#: Rows that fit into one table of counts.
MOST_ROWS = (1 << 31) - 1
#: Squares are added up over so many rows at a time, whatever the threads.
BLOCK = 1 << 12

#: Bits of a double below those that number the entries of an octave, and entries up to 1.
_OCTAVE_BITS = 47
_OCTAVE_REST = (1 << _OCTAVE_BITS) - 1
_OCTAVE_ENTRIES = (0x3FF << (52 - _OCTAVE_BITS)) + 2
#: So many numbers in one entry take longer to search than octaves do.
_CROWDED = 16

_FLOATS = {"f4": 4, "f8": 5}
_LABELS = {"b1": 0, "i1": 0, "u1": 0, "i2": 1, "u2": 1, "i4": 2, "u4": 2, "i8": 3, "u8": 3}
_LABELS |= _FLOATS


class Index(NamedTuple):
    """Where among sorted numbers to look for a score, as in `kernel.c`.

    Entry e of `start` is the last number not above the lowest score of entry e. Entries are of one
    width, 2^-level; or, if the level is -1, 32 to an octave, which suits numbers crowded at 0.
    """

    level: int
    start: AnyArray
    numbers: FloatArray

    @staticmethod
    def of(numbers: FloatArray, least: int = -1) -> Index:
        """Index numbers in [0, 1]; `least` stands for those before the first."""
        numbers = _plain(numbers)
        level = min(16, max(6, len(numbers).bit_length() + 2))
        counts = np.bincount(
            np.ceil(np.ldexp(numbers, level)).astype(np.int64), minlength=(1 << level) + 2
        )
        if counts.max() > _CROWDED:
            level, bits = -1, (numbers + 0.0).view(np.int64)
            counts = np.bincount((bits + _OCTAVE_REST) >> _OCTAVE_BITS, minlength=_OCTAVE_ENTRIES)
        start = np.cumsum(counts) - 1
        return Index(level, np.maximum(start, least).astype(np.int32), numbers)


class WantedCells(NamedTuple):
    """Closed cells in order of score: where to look for a score among them, and where they end."""

    lows: Index
    high: FloatArray


class SlotMarks(NamedTuple):
    """For each slot of a grid, its levels given: whether no row in it is wanted, all, or some."""

    level: int
    crowd: int
    slots: AnyArray


NONE, ALL, SOME = range(3)
NO_MARKS = SlotMarks(0, 0, np.zeros(1, dtype=np.uint8))


class CellSplit(NamedTuple):
    """How closed cells split: the first cell of each, its level, and 2^bits of them.

    The one that begins at 0, number `zero` of them (-1 if none does), splits into octaves.
    """

    first: IntArray
    level: IntArray
    bits: int
    zero: int
    octaves: int

    @property
    def slots(self) -> int:
        """Finer cells of all closed cells; the octaves come after the others, and then 0."""
        return (len(self.first) << self.bits) + self.octaves + 1


class Kernel:
    """The functions of the library; arrays of a wrong kind or size never reach it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        def function(name: str, kinds: str, result: Any = ctypes.c_int64) -> Any:
            found = getattr(library, f"calibrant_{name}")
            found.restype = result
            found.argtypes = [{"p": ctypes.c_void_p, "n": ctypes.c_int64}[kind] for kind in kinds]
            return found

        self._count_rows = function("count_rows", "pnpnnnnnpnpp")
        self._place = function("place", "pnnnpp")
        self._place_finer = function("place_finer", "ppnppnnnnpp")
        self._add_counts = function("add_counts", "ppppnnp")
        self._add_weighted = function("add_weighted", "ppppnnp")
        self._select = function("select", "pnnppppp")
        self._keys = function("keys", "pnpnnnnpnpppp")
        self._count_finer = function("count_finer", "pnnpppppnnnnp")
        self._pool_keys = function("pool_keys", "pnppp")
        self._steps = function("steps", "pnnnpppp")
        self._lines = function("lines", "pnnnpppnp")
        self._pool = function("pool", "ppnp")
        self._running_sum = function("running_sum", "pnpp", None)

    def count_rows(
        self, score: AnyArray, label: AnyArray, grid: tuple[int, int], cells: AnyArray
    ) -> FloatArray | None:
        """Add rows to the cells of a grid: its level, and how many levels finer it is near 0.

        Returns the sums of f^2 over blocks of rows; None where a score is not in [0, 1], or a
        label neither 0 nor 1, and then `cells` are of no use any more.
        """
        rows, (level, crowd) = len(score), grid
        _check(cells, COUNTS, (1 << level) * (2 if crowd else 1))
        kinds = self._kinds(score, label)
        squares = np.zeros(-(-rows // BLOCK))
        counted = self._count_rows(
            *(_at(score), kinds[0], _at(label), kinds[1], rows, level, crowd, BLOCK),
            *(None, 1, _at(cells), _at(squares)),
        )
        return squares if counted == rows else None

    @staticmethod
    def _kinds(score: AnyArray, label: AnyArray) -> tuple[int, int]:
        _check(label, label.dtype, len(score))
        if not takes(score, label) or len(score) > MOST_ROWS:
            raise _refused(score)
        return _FLOATS[score.dtype.str[1:]], _LABELS[label.dtype.str[1:]]

    def place(self, score: FloatArray, level: int, crowd: int) -> tuple[IntArray, FloatArray]:
        """Return the slot of each score, and how far inside its cell it lies."""
        score = _plain(score)
        slot, inside = _places(score)
        done = self._place(_at(score), len(score), level, crowd, _at(slot), _at(inside))
        return _whole(done, slot, inside)

    def place_finer(
        self, score: FloatArray, which: IntArray, split: CellSplit
    ) -> tuple[IntArray, FloatArray]:
        """Return the slot of each score among the cells that closed cells split into."""
        score = _plain(score)
        _check(which, np.int64, len(score))
        _check(split.first, np.int64, len(split.level))
        _check(split.level, np.int64, len(split.first))
        slot, inside = _places(score)
        done = self._place_finer(
            *(_at(score), _at(which), len(score), _at(split.first), _at(split.level)),
            *(len(split.first), split.bits, split.zero, split.octaves, _at(slot), _at(inside)),
        )
        return _whole(done, slot, inside)

    def add_counts(
        self,
        place: tuple[IntArray, FloatArray],
        score: FloatArray,
        label: AnyArray,
        cells: AnyArray,
    ) -> None:
        """Add rows with labels 0 and 1 to their slots."""
        slot, inside = place
        label = np.ascontiguousarray(label, dtype=bool)
        score = _plain(score)
        for array, kind in ((slot, np.int64), (inside, np.float64), (label, np.bool_)):
            _check(array, kind, len(score))
        _check(cells, COUNTS, len(cells))
        done = self._add_counts(
            *(_at(slot), _at(inside), _at(score), _at(label), len(score), len(cells), _at(cells))
        )
        _whole(done, slot, inside)

    def add_weighted(
        self,
        slot: IntArray,
        score: FloatArray,
        label: AnyArray,
        weight: FloatArray | None,
        cells: AnyArray,
    ) -> None:
        """Add rows of positive weight (1 each if None) to their slots."""
        score, label = _plain(score), _plain(label)
        weight = None if weight is None else _plain(weight)
        _check(slot, np.int64, len(score))
        _check(label, np.float64, len(score))
        if weight is not None:
            _check(weight, np.float64, len(score))
        _check(cells, WEIGHTED, len(cells))
        done = self._add_weighted(
            *(_at(slot), _at(score), _at(label), None if weight is None else _at(weight)),
            *(len(score), len(cells), _at(cells)),
        )
        _check_whole(done, slot)

    def select(self, score: FloatArray, wanted: WantedCells) -> tuple[IntArray, IntArray] | None:
        """Return the rows whose scores lie in wanted cells, and in which; None of bad scores."""
        score = _plain(score)
        row, which = np.empty(len(score), dtype=np.int64), np.empty(len(score), dtype=np.int64)
        found = self._select(_at(score), len(score), *_of(wanted), _at(row), _at(which))
        return None if found < 0 else (row[:found], which[:found])

    def keys(
        self,
        score: AnyArray,
        label: AnyArray,
        wanted: WantedCells | None = None,
        marks: SlotMarks = NO_MARKS,
    ) -> IntArray | None:
        """Return the rows in wanted cells (all if None) as numbers that sort by score, then label.

        None where a score is not in [0, 1], or a label neither 0 nor 1.
        """
        _check(marks.slots, np.uint8, (1 << marks.level) * (2 if marks.crowd else 1))
        kinds = self._kinds(score, label)
        keys = np.empty(len(score), dtype=np.int64)
        cells: tuple[int | None, ...] = (None, 0, None, None, None)
        if wanted is not None:
            cells = (_at(marks.slots), *_of(wanted))
        found = self._keys(
            *(_at(score), kinds[0], _at(label), kinds[1], len(score), marks.level, marks.crowd),
            *cells,
            _at(keys),
        )
        return None if found < 0 else keys[:found]

    def count_finer(
        self, keys: IntArray, wanted: WantedCells, split: CellSplit, cells: AnyArray
    ) -> bool:
        """Add keys to the cells that wanted cells split into; False if one lies in none."""
        _check(keys, np.int64, len(keys))
        closed = len(wanted.high)
        _check(split.first, np.int64, closed)
        _check(split.level, np.int64, closed)
        _check(cells, COUNTS, split.slots)
        done = self._count_finer(
            *(_at(keys), len(keys), *_of(wanted), _at(split.first), _at(split.level), closed),
            *(split.bits, split.zero, split.octaves, _at(cells)),
        )
        return bool(done == len(keys))

    def pool_keys(self, keys: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the rows of each score of sorted keys, five columns, and sums of f^2 and f y.

        The columns are the score, its weight, its events, and how it moves the walk up and down.
        """
        _check(keys, np.int64, len(keys))
        rows, columns = np.empty(len(keys), dtype=np.int64), np.empty((5, len(keys)))
        totals = np.empty(2)
        found = self._pool_keys(_at(keys), len(keys), _at(rows), _at(columns), _at(totals))
        if found < len(keys) // 2:  # what was set aside for other scores is given back
            return rows[:found].copy(), columns[:, :found].copy(), totals
        return rows[:found], columns[:, :found], totals

    def steps(self, score: AnyArray, edges: Index, values: FloatArray, out: FloatArray) -> bool:
        """Look up the value of the last edge not above each score; False if one is out of range."""
        kind = self._looked_up(score, edges, values, out)
        done = self._steps(
            *(_at(score), kind, len(score), edges.level, _at(edges.start), _at(edges.numbers)),
            *(_at(values), _at(out)),
        )
        return bool(done == len(score))

    def lines(self, score: AnyArray, knots: Index, values: FloatArray, out: FloatArray) -> bool:
        """Interpolate between two knots or more; False if a score is out of range."""
        kind = self._looked_up(score, knots, values, out)
        last = len(values) - 1
        if last < 1:
            raise _refused(values)
        done = self._lines(
            *(_at(score), kind, len(score), knots.level, _at(knots.start), _at(knots.numbers)),
            *(_at(values), last, _at(out)),
        )
        return bool(done == len(score))

    @staticmethod
    def _looked_up(score: AnyArray, index: Index, values: FloatArray, out: FloatArray) -> int:
        if not _known(score, _FLOATS):
            raise _refused(score)
        _check_index(index, len(values))
        _check(values, np.float64, len(index.numbers))
        _check(out, np.float64, len(score))
        return _FLOATS[score.dtype.str[1:]]

    def pool(self, weight: FloatArray, positives: FloatArray) -> IntArray:
        """Return where the blocks of pool-adjacent-violators begin."""
        weight, positives = np.array(weight, dtype=float), np.array(positives, dtype=float)
        _check(positives, np.float64, len(weight))
        first = np.empty(len(weight), dtype=np.int64)
        return first[: self._pool(_at(weight), _at(positives), len(weight), _at(first))].copy()

    def running_sum(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return running sums in twice the digits of a double, as a number and its rest."""
        values = _plain(values)
        high, low = np.empty(len(values) + 1), np.empty(len(values) + 1)
        self._running_sum(_at(values), len(values), _at(high), _at(low))
        return high, low


def readable(score: AnyArray) -> bool:
    """Whether scores can be read as they are, without being copied."""
    return _known(score, _FLOATS)


def takes(score: AnyArray, label: AnyArray) -> bool:
    """Whether columns can be counted as they are, without being copied."""
    return _known(score, _FLOATS) and _known(label, _LABELS)


def _known(array: AnyArray, kinds: dict[str, int]) -> bool:
    flags = array.flags
    native = array.dtype.isnative and array.dtype.str[1:] in kinds
    return bool(array.ndim == 1 and native and flags.c_contiguous and flags.aligned)


def _plain(array: AnyArray) -> FloatArray:
    """Return an array as doubles that lie one after another."""
    flags = array.flags
    if array.dtype == np.float64 and flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    return np.require(array, np.float64, ["C", "A"])


def _places(score: FloatArray) -> tuple[IntArray, FloatArray]:
    return np.empty(len(score), dtype=np.int64), np.empty(len(score))


def _whole(done: int, slot: IntArray, inside: FloatArray) -> tuple[IntArray, FloatArray]:
    _check_whole(done, slot)
    return slot, inside


def _check_whole(done: int, slot: IntArray) -> None:
    if done != len(slot):
        raise IndexError(f"row {done} of a chunk lies in no cell: its score has changed")


def _of(wanted: WantedCells) -> tuple[int, int, int, int]:
    """Return what the library takes for wanted cells."""
    lows, high = wanted
    _check_index(lows, len(high))
    _check(high, np.float64, len(lows.numbers))
    return lows.level, _at(lows.start), _at(lows.numbers), _at(high)


def _check(array: AnyArray, kind: Any, size: int) -> None:
    flags = array.flags
    if array.dtype != kind or array.shape != (size,) or not (flags.c_contiguous and flags.aligned):
        raise _refused(array)


def _check_index(index: Index, size: int) -> None:
    entries = _OCTAVE_ENTRIES if index.level < 0 else (1 << index.level) + 2
    _check(index.start, np.int32, entries)
    _check(index.numbers, np.float64, size)


def _refused(array: AnyArray) -> TypeError:
    return TypeError(f"the kernel takes no {array.dtype} of shape {array.shape} here")


def _at(array: AnyArray) -> int:
    """Return where an array begins: by its buffer, in a tenth of the time that `ctypes` takes."""
    if array.flags.writeable and array.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    address: int = array.ctypes.data
    return address


def compiled() -> Kernel | None:
    """Return the compiled kernel; None if numpy does its work."""
    return _chosen()


@cache
def _chosen() -> Kernel | None:
    """Read the setting, and the library, once."""
    setting = os.environ.get(SETTING, "auto") or "auto"
    if setting not in KERNELS:
        raise not_among(SETTING, setting, KERNELS)
    if setting == "numpy":
        return None
    found = library()
    if found is None and setting == "compiled":
        raise InputError(
            f"{SETTING} is 'compiled', but there is no library that was built from kernel.c. "
            "Install calibrant where there is a C compiler (CC, or cc), or leave the variable out."
        )
    return None if found is None else Kernel(found)


def kernel_name() -> str:
    """Return which kernel adds up rows: "compiled" or "numpy"."""
    return "numpy" if compiled() is None else "compiled"
