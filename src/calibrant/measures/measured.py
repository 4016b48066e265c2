"""Measured: from the arguments of a measure to its value, once for all of them."""

from __future__ import annotations

from typing import Any, TypeVar

from calibrant.core.diagram import resolve
from calibrant.core.statistic import Statistic, values_of
from calibrant.data.predictions import data_of, warn
from calibrant.errors import InputError

T = TypeVar("T")


def measured(
    statistic: Statistic[T],
    y_true: Any,
    y_prob: Any = None,
    sample_weight: Any = None,
    pos_label: object = None,
    *,
    fine: bool = False,
) -> T:
    """Return a statistic of data, and pass the warnings on to the caller of a public function.

    `fine` asks for finer cells in the first pass, for statistics that would split them anyway.
    """
    data = data_of(y_true, y_prob, sample_weight, pos_label, fine=fine)
    diagram = resolve(data.source, statistic.needs)
    [value] = values_of(data.source, diagram, statistic)
    warn(data.warnings, stacklevel=3)
    if isinstance(value, InputError):
        raise value
    found: T = value
    return found
