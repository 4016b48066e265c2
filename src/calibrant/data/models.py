"""Models: several columns of scores on the same rows, as diagrams, and row by row in pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import FloatArray
from calibrant.core.diagram import Diagram, Needs, Source, resolve
from calibrant.core.extremes import reaching_extremes
from calibrant.data import refusals
from calibrant.data.memory.source import ArraySource
from calibrant.data.predictions import Predictions, predictions_of
from calibrant.data.rules import Roles

if TYPE_CHECKING:
    from calibrant.data.engine.source import FrameSource
    from calibrant.data.engine.table import Table


@dataclass(frozen=True, eq=False, slots=True)
class PairSums:
    """Sums over the rows: of each model's log loss, and of what pairs of models lose more or less.

    Attributes
    ----------
    log_loss : float array
        Of each model; inf if it was certain and wrong.
    brier, log : float array of shape (pairs, 3)
        Sum of the difference of squared losses, or of log losses; of its square; and of the
        variance that it would have if one of the two models were right about the row, the one that
        makes it larger: (d1 - d0)^2 f (1 - f), with d0 and d1 the difference without and with the
        event. Infinite for log losses where one model is certain and the other is not.
    """

    log_loss: FloatArray
    brier: FloatArray
    log: FloatArray


class Models(Protocol):
    """Several models on the same rows."""

    names: list[str]
    warnings: tuple[str, ...]
    #: The rows of each model by itself.
    sources: list[Source]

    def diagrams(self, *needs: Needs) -> list[Diagram]:
        """Return the diagram of each model, resolved for its extremes and other needs."""

    def pairs(self) -> PairSums:
        """Compare all pairs row by row, in one pass."""


class ArrayModels:
    """Models whose scores are in memory."""

    def __init__(self, names: list[str], data: list[Predictions]) -> None:
        self.names, self._data = names, data
        self.sources: list[Source] = [one.source for one in data]
        self.warnings = tuple(dict.fromkeys(text for one in data for text in one.warnings))

    def diagrams(self, *needs: Needs) -> list[Diagram]:
        """Return the diagram of each model, resolved for its extremes and other needs."""
        return [resolve(source, reaching_extremes, *needs) for source in self.sources]

    def pairs(self) -> PairSums:
        """Compare all pairs row by row, in one pass."""
        count = len(self.names)
        log_loss = np.zeros(count)
        sums = np.zeros((2, count * (count - 1) // 2, 3))
        sources = [one.source for one in self._data if isinstance(one.source, ArraySource)]
        for chunks in zip(*(source.numbered_chunks() for source in sources), strict=True):
            rows = [chunk[2] for chunk in chunks]
            weight = rows[0].each_weight
            hits = [np.where(one.label, one.score, 1 - one.score) for one in rows]
            with np.errstate(divide="ignore"):
                logs = [-np.log(hit) for hit in hits]
            squares = [(1 - hit) ** 2 for hit in hits]
            for k, loss in enumerate(logs):
                log_loss[k] += (loss * weight).sum()
            for which, losses in enumerate((squares, logs)):
                for pair, (a, b) in enumerate(combinations(losses, 2)):
                    with np.errstate(invalid="ignore"):  # both may be certain, and wrong
                        apart = a - b
                        weighted = apart * weight
                        sums[which, pair, :2] += weighted.sum(), (weighted * apart).sum()
            for pair, (one, other) in enumerate(combinations([row.score for row in rows], 2)):
                sums[:, pair, 2] += _expected_squares(one, other, weight)
        return PairSums(log_loss, sums[0], sums[1])


def _expected_squares(
    one: FloatArray, other: FloatArray, weight: FloatArray
) -> tuple[float, float]:
    """Sum up the variances that two models expect of the differences of their losses."""
    spread = weight * np.maximum(one * (1 - one), other * (1 - other))
    gap = one - other
    # sums of products, not dot products: threads for so few rows take longer than the rows
    squared = 4 * float((spread * np.square(gap)).sum())
    sure = (one <= 0) | (one >= 1) | (other <= 0) | (other >= 1)
    differ = (gap != 0) & (weight > 0)
    if (sure & differ).any():
        return squared, math.inf
    if sure.any():  # equal ones, which have no log-odds
        one, other, spread = one[differ], other[differ], spread[differ]
    odds = (np.log(one) - np.log1p(-one)) - (np.log(other) - np.log1p(-other))
    return squared, float((spread * np.square(odds)).sum())


class FrameModels:
    """Models whose scores are columns of a lazy table: one pass of the engine tallies them all."""

    def __init__(self, table: Table, names: list[str], roles: Roles, pos_label: object) -> None:
        from calibrant.data.engine.source import FrameSource

        self.names = names
        each = [
            FrameSource(
                table,
                Roles(roles.label, name, roles.weight),
                pos_label,
                tallied=False,  # all of them are tallied together
            )
            for name in names
        ]
        self.sources: list[Source] = [*each]
        self._source: FrameSource = each[0]
        notes = [text for one in each for text in one.facts.warnings]
        self.warnings: tuple[str, ...] = tuple(dict.fromkeys(notes))
        scores = {f"f{k}": name for k, name in enumerate(names)}
        self._rows: Table = self._source.read(scores)

    def diagrams(self, *needs: Needs) -> list[Diagram]:
        """Return the diagram of each model, resolved for its extremes and other needs."""
        from calibrant.core.expressions import col, kept, lit
        from calibrant.data.engine.groups import GroupedFrames
        from calibrant.data.groups import resolve_groups

        columns = [f"f{k}" for k in range(len(self.names))]
        others = kept("y", *(["w"] if self._source.weighted else []))
        # not unpivot, which narwhals runs on another connection of DuckDB
        each = [
            self._rows.select(**others, f=col(name).double()).with_columns(c0=lit(name))
            for name in columns
        ]
        stacked = each[0].above(each[1:])
        grouped = GroupedFrames.stacked(self._source, stacked, "model", self.names, columns)
        [(_, found)] = resolve_groups(grouped, *needs)
        return found

    def pairs(self) -> PairSums:
        """Compare all pairs row by row, in one pass."""
        from calibrant.core.expressions import (
            SMALLEST,
            Expression,
            col,
            count,
            lit,
            log_gain,
            plain,
            when,
        )
        from calibrant.data.engine.aggregate import part_of

        models = range(len(self.names))
        weight = col("w") if self._source.weighted else lit(1.0)
        losses: dict[str, Expression] = {}
        for k in models:
            score = col(f"f{k}").double()
            gain, wrong = log_gain(score, col("y"), binary=True)
            off = col("y") - score
            losses |= {f"l{k}": 0 - gain, f"x{k}": wrong, f"b{k}": off.squared()}
            losses |= {f"p{k}": score, f"s{k}": (score <= 0) | (score >= 1)}
            losses |= {f"v{k}": score * (1 - score), f"o{k}": score.log() - (1 - score).log()}
        sums: dict[str, Expression] = {f"t{k}": col(f"l{k}") * weight for k in models}
        for a, b in combinations(models, 2):
            for kind in "bl":
                difference = col(f"{kind}{a}") - col(f"{kind}{b}")
                sums[f"{kind}{a}_{b}"] = difference * weight
                sums[f"{kind}{a}_{b}_2"] = difference.squared() * weight
            larger = when(col(f"v{a}") > col(f"v{b}"), col(f"v{a}"), col(f"v{b}"))
            # PostgreSQL refuses products that are too small for a double
            larger = when(larger < SMALLEST, 0.0, larger) * weight
            gap, odds = (col(f"{part}{a}") - col(f"{part}{b}") for part in "po")
            sums[f"b{a}_{b}_3"] = gap.squared().weighed(larger) * 4.0
            sums[f"l{a}_{b}_3"] = odds.squared().weighed(larger)
        columns = dict(zip(losses, plain(losses.values()), strict=True))
        rows = self._rows.with_columns(**columns, part=part_of(col("f")))
        added = {name: col(name).sum() for name in sums}
        wrongs = {f"x{k}": count(col(f"x{k}")) for k in models}
        for a, b in combinations(models, 2):
            sure = (col(f"s{a}") | col(f"s{b}")) & (col(f"p{a}") != col(f"p{b}"))
            wrongs[f"x{a}_{b}"] = count(sure & (weight > 0) if self._source.weighted else sure)
        parts = rows.with_columns(**sums).grouped(["part"], **added, **wrongs).numbers()
        found = {name: float(values.sum()) for name, values in parts.items()}
        return _pairs(found, len(self.names))


def _pairs(found: dict[str, float], count: int) -> PairSums:
    wrong = np.array([found[f"x{k}"] > 0 for k in range(count)])
    log_loss = np.where(wrong, np.inf, [found[f"t{k}"] for k in range(count)])
    both, ends = list(combinations(range(count), 2)), ("", "_2", "_3")
    brier, log = (
        np.array([[found[f"{kind}{a}_{b}{end}"] for end in ends] for a, b in both]) for kind in "bl"
    )
    log[[bool(wrong[a] or wrong[b]) for a, b in both]] = np.nan
    log[[found[f"x{a}_{b}"] > 0 for a, b in both], 2] = np.inf
    return PairSums(log_loss, brier, log)


def models_of(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    pos_label: object,
    *,
    label: str | None,
    probs: Sequence[str] | None,
    weight: str | None,
) -> Models:
    """Return the models behind the arguments of `compare`."""
    if label is None and probs is None and weight is None:
        if not isinstance(y_prob, Mapping) or len({str(name) for name in y_prob}) < max(
            2, len(y_prob)
        ):
            raise refusals.too_few_models("y_prob", "{'a': scores_a, 'b': scores_b}")
        options = {"sample_weight": sample_weight, "pos_label": pos_label}
        data = [
            predictions_of(
                y_true, scores, **options, names=errors.Names(prob=f"y_prob[{shown(name)}]")
            )
            for name, scores in y_prob.items()
        ]
        return ArrayModels([str(name) for name in y_prob], data)
    given = {"y_prob": y_prob, "sample_weight": sample_weight}
    superfluous = [name for name, values in given.items() if values is not None]
    if superfluous:
        raise refusals.array_with_table(superfluous)
    try:
        names = [probs] if isinstance(probs, str) else list(() if probs is None else probs)
    except TypeError:  # a number, or an array without a dimension
        names = []
    plain = all(isinstance(name, str) for name in names)
    if not plain or len(set(names)) < 2 or len(set(names)) < len(names):
        raise refusals.too_few_models("probs", "probs=['model_a', 'model_b']")
    if not isinstance(label, str):
        raise refusals.columns_unnamed(["label"])
    return table_models(y_true, names, Roles(label, names[0], weight), pos_label)


def table_models(table: Any, names: list[str], roles: Roles, pos_label: object) -> Models:
    """Return the models in the columns of a table."""
    from calibrant.data.engine.source import open_table
    from calibrant.data.engine.table import Table

    frame = open_table(table)
    if isinstance(frame, Table):
        return FrameModels(frame, names, roles, pos_label)
    label, weight = roles.label, roles.weight
    data = [
        Predictions(table, label=label, prob=name, weight=weight, pos_label=pos_label)
        for name in names
    ]
    return ArrayModels(names, data)
