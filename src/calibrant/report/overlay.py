"""Several models on one picture: what each is called, and how it is told from the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from calibrant._text import named
from calibrant._types import FloatArray
from calibrant.report.formats import number
from calibrant.report.pictures import Line

#: Colours that colour-blind readers tell apart on white (Okabe and Ito), the farthest apart first.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Lengths of dashes and of gaps, in widths of the line, for those who see no colour.
_DASHES = ((), (4.0, 1.5), (1.2, 1.2), (5.0, 1.5, 1.2, 1.5))


class Model(NamedTuple):
    """A model on a picture of several."""

    name: str
    calibration_error: float

    @property
    def label(self) -> str:
        """What a legend says of it."""
        return f"{self.name}, error {number(self.calibration_error)}"


class Look(NamedTuple):
    """How a model is drawn: a colour, and dashes unless the line is solid."""

    colour: str
    dashes: tuple[float, ...]


def look_of(model: int) -> Look:
    """Return the look of a model by its place; up to 28 of them differ.

    Examples
    --------
    >>> look_of(0), look_of(1).dashes
    (Look(colour='#0072B2', dashes=()), (4.0, 1.5))
    """
    return Look(_COLOURS[model % len(_COLOURS)], _DASHES[model % len(_DASHES)])


def names_of(names: Iterable[str | None]) -> list[str]:
    """Name every model, and each differently.

    Examples
    --------
    >>> names_of([None, "forest", "forest"])
    ['model 1', 'forest', 'forest (3)']
    """
    found: list[str] = []
    for place, name in enumerate(names, start=1):
        one = f"model {place}" if name is None else named(name)
        found.append(f"{one} ({place})" if one in found else one)
    return found


def best_of(models: Sequence[Model]) -> str:
    """Say which model has the smallest calibration error: the title of a picture."""
    best = min(models, key=lambda one: one.calibration_error)
    return f"{best.name} has the smallest calibration error of {len(models)} models"


def lines_of(
    models: Sequence[Model], curves: Iterable[tuple[FloatArray, FloatArray]], x: str, y: str
) -> list[Line]:
    """Return the curve of each model, which under the pointer says what x and y are."""
    return [
        Line(
            "curve",
            one.label,
            one.label,
            *curve,
            says=lambda at, value, name=one.name: f"{name}, {x} {number(at)}: {y} {number(value)}",  # type: ignore[misc]
            model=place,
        )
        for place, (one, curve) in enumerate(zip(models, curves, strict=True))
    ]


def columns_of(
    models: Sequence[Model], frames: Sequence[dict[str, FloatArray]]
) -> dict[str, list[float] | list[str]]:
    """Put the numbers of all models into one table, one below the other."""
    sizes = [len(next(iter(frame.values()))) for frame in frames]
    names = [one.name for one, size in zip(models, sizes, strict=True) for _ in range(size)]
    return {"model": names} | {
        name: np.concatenate([frame[name] for frame in frames]).tolist() for name in frames[0]
    }
