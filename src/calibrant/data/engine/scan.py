"""Scan: check the rows of a lazy table and tally them by one query, where they need no more.

Most tables hold whole outcomes 0 and 1 and scores from 0 to 1. A row is put under the key 2c + y,
for its score's cell c and its outcome y, whatever that is. Any other outcome lands in a cell where
its score cannot be, and any other score shows among the least and greatest of its cell, so that
what a tally brings back tells whether all is well. If it is, the table is read once less; if not,
the table is looked at as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import narwhals as nw  # the kinds of columns
import numpy as np

from calibrant._types import FloatArray
from calibrant.core.expressions import Expression, col, when
from calibrant.core.tally import Cells, Totals
from calibrant.data.engine.aggregate import Placed, coarser, decoded, plain_sums
from calibrant.data.engine.checks import CROWDED, FIRST_CROWD, Facts, is_number, outcome_of
from calibrant.data.engine.table import Table
from calibrant.data.memory.kernel import start_level
from calibrant.data.rules import Roles


class Scan(NamedTuple):
    """What is known of a table without fault."""

    facts: Facts
    cells: Cells
    totals: Totals


def scan(table: Table, roles: Roles, pos_label: object, *, fine: bool) -> Scan | None:
    """Tally columns named after their roles, or return None if they are to be looked at."""
    level = start_level(None, fine=fine)
    kinds = table.kinds
    whole = bool(kinds["label"].is_integer()) or kinds["label"] == nw.Boolean
    if not (whole and is_number(kinds["prob"])) or pos_label is not None or roles.weight:
        return None
    placed = _Fenced(level)
    outcome = _outcome_or_nan() if table.few_groups else _fenced_outcome()
    found = plain_sums(table.select(f=col("prob").double(), y=outcome), placed)
    if not _all_well(found, float(2**level)):
        return None
    _, cells = decoded(found["key"].astype(np.int64), found, placed, plain=True)
    count = int(cells.rows.sum())
    if cells.rows[cells.cell < 1 << (level - FIRST_CROWD)].sum() >= CROWDED * count:
        return None  # wants cells of two widths
    facts = Facts.plain(count, outcome_of("label"))
    cells = coarser(cells, level - start_level(count, fine=fine))
    return Scan(facts, cells, plain_totals(cells, float(found["ff"].sum())))


def plain_totals(cells: Cells, ff: float) -> Totals:
    """Return the totals of outcomes 0 and 1 without weights."""
    positives = float(cells.positives.sum())
    return Totals(ff, float((cells.positives - cells.rise).sum()), positives, True, True)


class _Fenced(Placed):
    """A grid that puts all scores under 0 before the first cell, so that keys stay few."""

    def _cell(self, score: Expression, size: float) -> Expression:
        return when(score < 0, -1.0, super()._cell(score, size))


def _fenced_outcome() -> Expression:
    """Return the outcome, or -1 or 2 for whatever is beyond 0 and 1."""
    label = col("label").double()
    above = when(label > 1, 2.0, label)
    return when(label < 0, -1.0, above)


def _outcome_or_nan() -> Expression:
    """Return the outcome, or NaN for whatever is not 0 or 1, which a sum then is as well."""
    label = col("label").double()
    return when(label == 1, 1.0, when(label == 0, 0.0, float("nan")))


def _all_well(found: dict[str, FloatArray], size: float) -> bool:
    """Say whether every key belongs to the scores under it, so that all outcomes are 0 or 1."""
    key, low, high = found["key"], found["low"], found["high"]
    finite = [np.isfinite(found[name]).all() for name in ("key", "n", "ff")]
    if not (len(key) and all(finite)):
        return False  # no rows, missing values, or odd outcomes
    slot = np.floor(key / 2)
    inside = (low * size >= slot) & ((high * size < slot + 1) | (slot == size - 1))
    return bool((inside & (slot >= 0) & (slot < size) & (high <= 1)).all())
