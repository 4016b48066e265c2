"""Blocks: a calibrating function that has one value on each range of scores."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from calibrant import errors
from calibrant._types import AnyArray, FloatArray
from calibrant.calibrators.reading import calibrator_unreadable, exactly, numbers_in
from calibrant.core.compiled import Index, compiled, readable
from calibrant.core.threads import ranges, side_by_side, threads

Interpolation: TypeAlias = Literal["step", "linear", "strict"]
INTERPOLATIONS = ("step", "linear", "strict")
#: How much of the score itself "strict" mixes in, so that nothing is flat.
STRICT_SHARE = 2.0**-20
#: Scores from which on a table to look them up pays.
_MANY_SCORES = 1 << 11
#: Blocks of a calibrator that is kept or read: far more than a fit has any use for, and few enough
#: to be read in a second.
MOST_BLOCKS = 1_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """Ranges of scores in order, each with its weight, its positives and its value.

    Attributes
    ----------
    low, high : float array
        The lowest and the highest score of each block that was seen in fitting.
    weight, positives : float array
        Sums over its rows.
    value : float array
        positives / weight: what scores in it become.
    interpolation : str
        What happens in between. "step": the value of the last block that has begun. "linear":
        a straight line from one block to the next. "strict": the same, with a millionth of the
        score mixed in, so that a score higher by 1e-9 or more becomes a higher probability.
    """

    kind: ClassVar[str] = "blocks"
    low: FloatArray
    high: FloatArray
    weight: FloatArray
    positives: FloatArray
    value: FloatArray
    interpolation: str = "step"

    def __len__(self) -> int:
        return len(self.value)

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return the calibrated probability of each score."""
        if self.interpolation == "step":
            found: FloatArray = self.value[
                np.maximum(np.searchsorted(self.low, score, side="right") - 1, 0)
            ]
            return found
        return self._line(score, _between(score, *self.knots()))

    def of_column(self, score: AnyArray) -> FloatArray | None:
        """Return the calibrated probability of each score of an array that may not be checked yet.

        None if the compiled kernel is not there, does not read such an array, or finds a score that
        is not in [0, 1]; and of few scores, for which a table to look them up would not pay.
        """
        kernel = compiled()
        if kernel is None or len(score) < _MANY_SCORES or not readable(score):
            return None
        step = self.interpolation == "step"
        edges, values = self.steps() if step else self.knots()
        if len(values) == 1:
            return None
        index, out = Index.of(edges, least=0), np.empty(len(score))
        look = kernel.steps if step else kernel.lines

        def looked_up(part: slice) -> bool:
            return look(score[part], index, values, out[part])

        workers = threads(len(score))
        if not all(side_by_side(looked_up, ranges(len(score), workers, 1), workers)):
            return None
        return out if step else self._line(score, out)

    def _line(self, score: AnyArray, line: FloatArray) -> FloatArray:
        """Finish an interpolation."""
        if self.interpolation == "strict":
            line += STRICT_SHARE * (score - line)
        return line.clip(0.0, 1.0, out=line)

    def steps(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores at which steps begin, and their values; the first begins at 0."""
        return np.append(0.0, self.low[1:]), self.value

    def knots(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores that lines go through, in order and each once, and their values."""
        ends = np.stack([self.low, self.high], axis=1).ravel()
        keep = np.append(True, ends[1:] > ends[:-1])
        return ends[keep], np.repeat(self.value, 2)[keep]

    @property
    def is_identity(self) -> bool:
        """Whether every score is given back."""
        ends = [0.0, 1.0]
        line = self.interpolation == "linear"
        return line and all(one.tolist() == ends for one in (self.low, self.high, self.value))

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain lists."""
        columns = {
            field.name: getattr(self, field.name).tolist()
            for field in fields(self)
            if field.name != "interpolation"
        }
        return {**columns, "interpolation": self.interpolation}

    @classmethod
    def from_dict(cls, parameters: dict[str, Any]) -> Blocks:
        """Read what `to_dict` wrote, and hold it to what blocks can be."""
        names = [field.name for field in fields(cls)]
        exactly(parameters, names, "the parameters of blocks")
        if parameters["interpolation"] not in INTERPOLATIONS:
            raise errors.not_among("interpolation", parameters["interpolation"], INTERPOLATIONS)
        columns = {name: numbers_in(parameters, name) for name in names[:-1]}
        blocks = cls(**columns, interpolation=parameters["interpolation"])
        blocks.verify()
        return blocks

    def verify(self) -> None:
        """Refuse blocks that overlap, or values that no rows could have given."""
        columns = (self.low, self.high, self.weight, self.positives, self.value)
        if len({len(column) for column in columns}) != 1 or len(self) == 0:
            raise calibrator_unreadable("its columns are empty or differ in length")
        if not all(np.isfinite(column).all() for column in columns):
            raise calibrator_unreadable("a number is not finite")
        in_order = (
            (self.low >= 0).all()
            and (self.high <= 1).all()
            and (self.low <= self.high).all()
            and (self.high[:-1] < self.low[1:]).all()
        )
        if not in_order:
            raise calibrator_unreadable("its blocks are not in order within [0, 1]")
        with np.errstate(over="ignore"):  # no rate then
            rate = self.positives / np.where(self.weight > 0, self.weight, np.nan)
        if (
            not (np.abs(rate - self.value) <= 1e-9).all()
            or not ((self.value >= 0) & (self.value <= 1)).all()
        ):
            raise calibrator_unreadable("a value is not the rate of its block")


def _between(score: FloatArray, knots: FloatArray, values: FloatArray) -> FloatArray:
    """Interpolate; unlike numpy's, it never divides by a gap, whose inverse may be infinite."""
    if len(knots) == 1:
        return np.full(len(score), values[0])
    left = np.clip(np.searchsorted(knots, score, side="right") - 1, 0, len(knots) - 2)
    gap = knots[left + 1] - knots[left]
    share = np.clip((score - knots[left]) / gap, 0.0, 1.0)
    line = values[left] + share * (values[left + 1] - values[left])
    found: FloatArray = np.where(share >= 1, values[left + 1], np.minimum(line, values[left + 1]))
    return found
