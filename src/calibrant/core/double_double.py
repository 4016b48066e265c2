"""Double-double numbers: twice the digits of a double, and the same bits on every machine.

Where the walk is flat near its top, or a new row of weight 1 comes after a million others, a double
has too few digits. A long double has more on some machines only: on Windows, and on Macs with ARM
processors, it is a double. So numbers that need more digits are written as the sum of two doubles
(Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
18, 1971). The operations are those of Joldes, Muller and Popescu, "Tight and rigorous error bounds
for basic building blocks of double-word arithmetic", ACM Transactions on Mathematical Software 44,
2017; none is off by more than 2^-102 of its result.

They rest on every operation on doubles being rounded by itself. Numpy works through an array one
operation at a time, so no compiler can fuse two of them. Nothing may come near the largest double,
1.8e308: sums take numbers up to 1e300, products and quotients up to 1e150.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._types import AnyArray, BoolArray, FloatArray
from calibrant.core.compiled import compiled

#: 2^27 + 1, which cuts the 53 digits of a double into two halves (Veltkamp).
_CUT = 134217729.0
#: So many values are added up at a time: what is needed on the way then stays in the cache.
_CHUNK = 1 << 13


@dataclass(frozen=True, eq=False, slots=True)
class DoubleDouble:
    """An array of numbers, each the sum of two doubles.

    Attributes
    ----------
    high : float array
        The nearest double to each number.
    low : float array
        The rest of it, at most half a unit in the last place of `high`.
    """

    high: FloatArray
    low: FloatArray

    @staticmethod
    def of(values: FloatArray | float) -> DoubleDouble:
        """Return doubles with more digits, all of them 0."""
        high = np.asarray(values, dtype=np.float64)
        return DoubleDouble(high, np.zeros_like(high))

    def __getitem__(self, index: AnyArray | slice) -> DoubleDouble:
        return DoubleDouble(self.high[index], self.low[index])

    def repeat(self, times: AnyArray) -> DoubleDouble:
        """Return each number as many times as `times` says."""
        return DoubleDouble(np.repeat(self.high, times), np.repeat(self.low, times))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        high, error = two_sum(self.high, other.high)
        low, low_error = two_sum(self.low, other.low)
        high, error = _two_sum_ordered(high, error + low)
        return DoubleDouble(*_two_sum_ordered(high, error + low_error))

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self + -other

    def __mul__(self, other: DoubleDouble) -> DoubleDouble:
        high, error = two_product(self.high, other.high)
        across = self.high * other.low + self.low * other.high
        return DoubleDouble(*_two_sum_ordered(high, error + across))

    def __truediv__(self, other: DoubleDouble) -> DoubleDouble:
        high = self.high / other.high
        left = self - other * DoubleDouble.of(high)
        return DoubleDouble(*_two_sum_ordered(high, left.high / other.high))

    def __lt__(self, other: DoubleDouble) -> BoolArray:
        ties = self.high == other.high
        less: BoolArray = (self.high < other.high) | (ties & (self.low < other.low))
        return less

    def minus(self, other: DoubleDouble) -> FloatArray:
        """Return the difference as a double: faster than `-`, and enough if no step follows.

        Leading digits that both numbers share cancel without an error, so what is rounded is the
        last digit of the difference, not of the numbers.
        """
        return (self.high - other.high) + (self.low - other.low)


def running_sum(values: FloatArray) -> DoubleDouble:
    """Return the sums of the first 0, 1, 2, ... and at last of all values: one more than values.

    The rounding error of each addition is a double, so the errors are added up next to the sum:
    algorithm Sum2 of Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM Journal on
    Scientific Computing 26, 2005. The sum of n values is off by at most n^2 2^-106 of the sum of
    their sizes, as if added up in twice the digits.
    """
    kernel = compiled()
    if kernel is not None:
        return DoubleDouble(*kernel.running_sum(values))
    high, low = np.zeros(len(values) + 1), np.zeros(len(values) + 1)
    last = last_error = 0.0
    for begin in range(0, len(values), _CHUNK):
        part = values[begin : begin + _CHUNK]
        # what came before is put in front, so that the length of a part changes no bit
        total = np.cumsum(np.append(last, part))
        error = _error_of_sum(total[:-1], part, total[1:])
        errors = np.cumsum(np.append(last_error, error))
        last, last_error = total[-1], errors[-1]
        place = slice(begin + 1, begin + 1 + len(part))
        high[place], low[place] = two_sum(total[1:], errors[1:])
    return DoubleDouble(high, low)


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a + b as a double, and its rounding error, which is a double too (Knuth)."""
    total = a + b
    return total, _error_of_sum(a, b, total)


def _error_of_sum(a: FloatArray, b: FloatArray, total: FloatArray) -> FloatArray:
    of_b = total - a
    return (a - (total - of_b)) + (b - of_b)


def _two_sum_ordered(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what `two_sum` does, if b is not the larger in size (Dekker)."""
    total = a + b
    return total, b - (total - a)


def two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a b as a double, and its rounding error, which is a double too (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    across = (a_high * b_high - product) + a_high * b_low + a_low * b_high
    return product, across + a_low * b_low


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cut doubles into two of so few digits that products of such halves do not round."""
    scaled = a * _CUT
    high = scaled - (scaled - a)
    return high, a - high
