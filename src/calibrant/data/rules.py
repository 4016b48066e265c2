"""Rules: what columns must be before anything is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import FloatArray, IntArray
from calibrant.data import refusals
from calibrant.data.memory.columns import Column, Found, numbers
from calibrant.data.memory.factorize import by_chunks, in_order
from calibrant.data.memory.labels import Labels


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what; all are names."""

    label: str
    prob: str
    weight: str | None = None
    clusters: str | None = None

    def names(self) -> errors.Names:
        """Return the words that errors use."""
        names = (self.label, self.prob, self.weight, self.clusters)
        return errors.Names(*(f"column {shown(name)}" for name in names))

    def columns(self) -> dict[str, str]:
        """Return the column of each role that has one."""
        return {role: name for role, name in asdict(self).items() if name is not None}


def check_lengths(columns: Sequence[Column]) -> None:
    """Refuse columns of different length."""
    if len({len(column) for column in columns}) > 1:
        raise refusals.lengths_differ([(column.name, len(column)) for column in columns])


def check_not_swapped(prob: Column, labels: Labels, names: errors.Names) -> None:
    """Refuse 0/1 scores next to fractional labels."""
    if labels.binary:
        return
    for start, raw in prob.chunks():
        score = numbers(raw, start, prob.name)
        if not ((score == 0) | (score == 1)).all():
            return
    raise refusals.swapped(names)


def check_unit(score: FloatArray, column: Column) -> None:
    """Refuse a chunk with missing scores, or scores outside [0, 1]."""
    # the minimum and maximum of anything with NaN are NaN, so this finds every fault
    if not (score.min() >= 0 and score.max() <= 1):
        raise _fault_of(column)


def _fault_of(column: Column) -> errors.InputError:
    """Read the scores again to say how many are at fault, and where the first one is."""
    missing, outside = Found(), Found()
    highest = 0.0
    for start, raw in column.chunks():
        score = numbers(raw, start, column.name)
        nan = np.isnan(score)
        wrong = ~nan & ~((score >= 0) & (score <= 1))
        missing.see(start, nan, score)
        if outside.see(start, wrong, score):
            highest = max(highest, float(score[wrong].max()))
    if missing.count:
        return refusals.missing(column.name, missing.count, missing.row)
    return refusals.outside_unit(column.name, outside.count, outside.row, outside.value, highest)


def ends_of(column: Column) -> errors.InputError:
    """Say how many scores are exactly 0 or 1, and where the first one is."""
    ends = Found()
    for start, raw in column.chunks():
        score = numbers(raw, start, column.name)
        ends.see(start, (score <= 0) | (score >= 1), score)
    return refusals.scores_without_odds(column.name, ends.count, ends.row, ends.value)


def check_weights(column: Column) -> tuple[str, ...]:
    """Refuse missing, negative and all-zero weights; warn of rows that do not count."""
    missing, negative = Found(), Found()
    total, zeros = 0.0, 0
    for start, raw in column.chunks():
        weight = numbers(raw, start, column.name)
        missing.see(start, np.isnan(weight), weight)
        negative.see(start, weight < 0, weight)
        with np.errstate(over="ignore"):  # a sum past the largest double is refused below
            total += float(weight.sum())
        zeros += int((weight == 0).sum())
    if missing.count:
        raise refusals.missing(column.name, missing.count, missing.row)
    if negative.count:
        raise refusals.weight_negative(column.name, negative.count, negative.row, negative.value)
    if zeros == len(column):
        raise refusals.weight_all_zero(column.name)
    if not 1e-290 < total < 1e300:
        raise refusals.weight_scale(column.name, total)
    return (refusals.zero_weights(column.name, zeros),) if zeros else ()


def coded(column: Column) -> tuple[list[Any], IntArray]:
    """Return the distinct values of a column in order, and which one each row holds."""
    values, codes = by_chunks(column)
    gaps = [place for place, value in enumerate(values) if value is None]
    if gaps:
        missing = codes == gaps[0]
        raise refusals.missing(column.name, int(missing.sum()), int(np.argmax(missing)))
    try:
        return in_order(values, codes, values)
    except TypeError:  # numbers and words
        return in_order(values, codes, [repr(value) for value in values])


def scores_of(y_prob: Any, name: str = "y_prob") -> FloatArray:
    """Return scores as one array of doubles, checked to lie in [0, 1]; (n, 1) is one column."""
    column = Column(one_column(y_prob), name)
    parts = []
    for start, raw in column.chunks():
        score = numbers(raw, start, name)
        check_unit(score, column)
        parts.append(score)
    return np.concatenate(parts)


def one_column(values: Any) -> Any:
    """Return the only column of a table of shape (n, 1); anything else as it is."""
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == 1:
        return np.asarray(values)[:, 0]
    return values


def plain_labels(name: str, labels: object) -> None:
    """Refuse labels that cannot be told apart, such as lists and tables."""
    try:
        values = np.asarray(labels)
    except (TypeError, ValueError, RuntimeError) as error:
        raise refusals.not_an_array(name, error) from None
    try:
        plain = values.dtype.kind != "V" and (
            values.dtype.kind != "O" or bool({*values.ravel().tolist()})
        )
    except TypeError:
        plain = False
    if not plain and values.size:
        raise refusals.labels_not_plain(name)
