"""Details: what an audit finds when first asked for it, from the rows behind it.

Curves and advice take as long as all the rest, and most audits are asked for neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._types import FloatArray
from calibrant.auditing.advice import advice_need
from calibrant.auditing.curves import Curves, curves, curves_of
from calibrant.core.diagram import TOLERANCE, Diagram, Source, resolve
from calibrant.core.tally import Tally
from calibrant.data.predictions import TallyData
from calibrant.errors import InputError


class Details:
    """The diagram of an audit, or of a model in a comparison, and the rows behind it.

    Copies keep the rows. What is pickled does not: it holds what was found before, and says so
    where more is asked of it.
    """

    def __init__(self, diagram: Diagram, source: Source) -> None:
        self.diagram = diagram
        self._source: Source | None = source

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rows behind: they may be millions, or on a server."""
        return {**self.__dict__, "_source": None}

    def __copy__(self) -> Details:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Details:
        return self

    @cached_property
    def opened(self) -> Diagram:
        """The diagram, opened as far as curves and advice need."""
        needs = (*(one.needs for one in curves().values()), advice_need)
        if self._source is None:
            if any(self.diagram.hides(need) for need in needs):
                raise _rows_gone()
            return self.diagram
        opened = resolve(self._source, *needs, start=self.diagram)
        self._source.release()
        _check_same(opened, self.diagram)
        return opened

    def curves(self, confidence: float, seed: int, *, independent: bool) -> Curves:
        """Return what pictures show."""
        opened, source = self.opened, self._source
        if source is None:
            source = TallyData(Tally(0, opened.cells, opened.totals))
        how = {"confidence": confidence, "seed": seed, "independent": independent}
        return curves_of(source, opened, **how)


def _check_same(opened: Diagram, before: Diagram) -> None:
    """Refuse rows that are not those which were tallied: every cell must hold what it did."""
    first = np.searchsorted(opened.cells.low, before.cells.low)
    slack = 1e3 * TOLERANCE * before.weight
    if first[-1] < len(opened.cells):
        pairs = zip(_sums_of(opened), _sums_of(before), strict=True)
        if all(np.abs(np.add.reduceat(now, first) - was).max() <= slack for now, was in pairs):
            return
    raise InputError(
        "The rows behind this result have changed since it was made, so that curves and advice "
        "would be those of other rows. Make it again."
    )


def _sums_of(diagram: Diagram) -> Iterator[FloatArray]:
    """Yield sums that a cell has, opened or not."""
    cells = diagram.cells
    yield from (cells.rows.astype(float), cells.weight, cells.positives, cells.mass)
    if diagram.totals.labels_binary:  # then a closed cell's rise is the sum of 1 - f over events
        yield np.where(cells.single, cells.positives * (1 - cells.score), cells.rise)


def _rows_gone() -> InputError:
    return InputError(
        "This result was pickled without its rows, which curves, advice and reports need. Ask for "
        "them before it is pickled, or make it again from the rows."
    )
