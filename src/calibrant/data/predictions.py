"""Predictions: what a user hands over, checked, with the source that answers for it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import IntArray
from calibrant.core.arrays import Sums
from calibrant.core.tally import DEFAULT_LEVEL, Cells, Tally, Totals
from calibrant.data import refusals
from calibrant.data.memory.columns import Column
from calibrant.data.memory.labels import Labels
from calibrant.data.memory.source import ArraySource
from calibrant.data.rules import (
    Roles,
    check_lengths,
    check_not_swapped,
    check_weights,
    coded,
)

if TYPE_CHECKING:
    from calibrant.data.engine.source import FrameSource
    from calibrant.data.groups import Grouped


@dataclass(frozen=True, slots=True)
class Origin:
    """Where predictions came from: a file and its hash, rows that were left out, and columns."""

    file: str | None = None
    sha256: str | None = None
    dropped: int = 0
    event: str | None = None
    score: str | None = None


class Predictions:
    """Outcomes and predicted probabilities, checked once, ready for every function.

    A `Predictions` stands for ``(y_true, y_prob)`` wherever these are asked for.

    Parameters
    ----------
    y_true : array_like, or a table
        Outcomes: 0/1 (the texts too), -1/1, booleans, any two values with `pos_label`, or fractions
        in [0, 1] (soft labels: the probability of the event in that row). Or a table that holds
        them, with `label` and `prob`: of pandas, polars or pyarrow, or one that stays in its
        engine: a polars LazyFrame, a DuckDB relation, a Spark or Dask dataframe, or what
        `sql_table` returns.
    y_prob : array_like
        Predicted probabilities of the event, in [0, 1].
    sample_weight : array_like, optional
        Weight of each row, not negative. A whole number counts the row that many times.
    pos_label : optional
        The label that is the event.
    clusters : array_like, or the name of a column, optional
        Which rows belong together, such as those of one patient: any values, equal within a
        cluster. Certificates then do not take them for independent.
    label : str, optional
        With a table: its column of outcomes.
    prob : str, optional
        With a table: its column of scores.
    weight : str, optional
        With a table: its column of weights.

    Notes
    -----
    The arrays are read, not copied: do not change them while the Predictions is in use.

    Examples
    --------
    >>> import calibrant as cb
    >>> data = cb.Predictions(["no", "yes", "yes"], [0.2, 0.7, 0.9], pos_label="yes")
    >>> data
    <Predictions of 3 rows>
    >>> cb.calibration_error(data)
    0.1333...
    >>> import duckdb
    >>> rows = "('no', 0.2), ('yes', 0.7), ('yes', 0.9)"
    >>> table = duckdb.sql(f"SELECT * FROM (VALUES {rows}) t(y, p)")
    >>> cb.calibration_error(cb.Predictions(table, label="y", prob="p", pos_label="yes"))
    0.1333...
    """

    def __init__(
        self,
        y_true: Any,
        y_prob: Any = None,
        *,
        sample_weight: Any = None,
        pos_label: object = None,
        clusters: Any = None,
        label: str | None = None,
        prob: str | None = None,
        weight: str | None = None,
    ) -> None:
        self._fill(
            y_true,
            y_prob,
            sample_weight=sample_weight,
            pos_label=pos_label,
            clusters=clusters,
            label=label,
            prob=prob,
            weight=weight,
        )

    def _fill(
        self,
        y_true: Any,
        y_prob: Any = None,
        *,
        sample_weight: Any = None,
        pos_label: object = None,
        clusters: Any = None,
        label: str | None = None,
        prob: str | None = None,
        weight: str | None = None,
        names: errors.Names | None = None,
        origin: Origin | None = None,
        fine: bool = False,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Read what is given, as `predictions_of` has it."""
        #: The number of each row's cluster, None if rows stand for themselves.
        self.clusters: IntArray | None = None
        #: What is allowed but should be known, in words.
        self.warnings: tuple[str, ...] = ()
        #: The file behind them, if there is one.
        self.origin = origin or Origin()
        #: The table behind them, if there is one.
        self.table: Any = None
        self._more = more or {}
        names = names or errors.Names()
        if label is not None or prob is not None or weight is not None:
            roles = _roles(label, prob, weight, clusters)
            check_alone(y_prob=y_prob, sample_weight=sample_weight)
            names = roles.names()
            self._from_table(y_true, roles, pos_label, fine)
        elif y_prob is None:
            raise refusals.argument_missing("y_prob")
        else:
            self._from_columns((y_true, y_prob, sample_weight, clusters), names, pos_label, fine)
        if names != errors.Names():
            event = names.label if pos_label is None else f"{names.label} = {shown(pos_label)}"
            self.origin = replace(self.origin, event=event, score=names.prob)
        if _one_label(self.source.start()[0]):
            self.warnings += (
                f"{names.label} holds a single value, so nothing is known about the other class.",
            )

    def _from_table(self, table: Any, roles: Roles, pos_label: object, fine: bool) -> None:
        import narwhals as nw  # here, so that arrays alone never pay for it

        from calibrant.data.engine.source import FrameSource, named_columns, open_table

        self.table = open_table(table)
        if isinstance(self.table, nw.DataFrame):
            # its columns are in memory already, and are read where they are
            named_columns(self.table, list(roles.columns().values()))
            given = (roles.label, roles.prob, roles.weight, roles.clusters)
            columns = [None if name is None else self.table[name] for name in given]
            self._from_columns(tuple(columns), roles.names(), pos_label, fine)
            return
        source = FrameSource(self.table, roles, pos_label, fine=fine)
        self._from_source(source)
        if roles.clusters is not None:
            column = Column(source.clusters(), roles.names().clusters)
            self.clusters = coded(column)[1]

    def _from_source(self, source: FrameSource) -> None:
        self.source: ArraySource | FrameSource = source
        self.first_fraction = source.facts.first_fraction
        self.warnings += source.facts.warnings

    def _from_columns(
        self, values: tuple[Any, ...], names: errors.Names, pos_label: object, fine: bool
    ) -> None:
        y_true, y_prob, sample_weight, clusters = values
        label, prob = Column(y_true, names.label), Column(y_prob, names.prob)
        weight = None if sample_weight is None else Column(sample_weight, names.weight)
        group = None if clusters is None else Column(clusters, names.clusters)
        check_lengths([column for column in (label, prob, weight, group) if column is not None])
        self.clusters = None if group is None else coded(group)[1]
        quick = weight is None and pos_label is None
        source = ArraySource.of_columns(label, prob, fine=fine) if quick else None
        if source is None:
            labels = Labels(label, pos_label)
            check_not_swapped(prob, labels, names)
            if weight is not None:
                self.warnings += check_weights(weight)
            source = ArraySource(labels, prob, weight, fine=fine)
        #: Row and value of the first soft label, None if labels are two values.
        self.first_fraction = source.first_fraction
        self.source = source

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"<Predictions of {len(self):,} rows>"

    def grouped(self, names: list[str]) -> Grouped:
        """Split the rows by columns of the table or file behind them.

        Parameters
        ----------
        names : list of str
            The columns.
        """
        if not _listed(names):
            raise errors.out_of_range("names", "a list of names of columns", names)
        from calibrant.data.engine.groups import GroupedFrames
        from calibrant.data.engine.source import FrameSource, named_columns
        from calibrant.data.memory.groups import GroupedArrays

        if isinstance(self.source, FrameSource):
            return GroupedFrames(self.source, names)
        if self.table is None:
            return GroupedArrays(self.source, {name: self._more[name] for name in names})
        named_columns(self.table, names)
        return GroupedArrays(self.source, {name: self.table[name] for name in names})

    @property
    def has_columns(self) -> bool:
        """Whether groups can be asked for by the names of columns."""
        return self.table is not None or bool(self._more)

    def tally(self, level: int = DEFAULT_LEVEL) -> Tally:
        """Return the sums of the rows in each cell, to be stored, sent or added.

        Parameters
        ----------
        level : int, default 14
            Cells are 2^-level wide. Tallies of one level add; a finer one is larger and
            bounds the calibration error more closely.
        """
        return self.source.tally(level)


def predictions_of(y_true: Any, y_prob: Any = None, **options: Any) -> Predictions:
    """Return predictions of which more is known than a user says.

    Next to what `Predictions` takes there are: `names`, what messages call the arguments; `origin`;
    `fine`, for finer cells in the first pass; and `more`, columns that groups may be made of.
    """
    data = Predictions.__new__(Predictions)
    data._fill(y_true, y_prob, **options)
    return data


class TallyData:
    """A stored tally as data: its cells are known, the rows behind them are not."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.source = self
        self.clusters = None
        self.warnings: tuple[str, ...] = ()
        self.origin = Origin()

    def __len__(self) -> int:
        return self._tally.rows

    def start(self) -> tuple[Cells, Totals]:
        """Return the cells of the tally."""
        return self._tally.cells, self._tally.totals

    def zoom(self, _cells: Cells) -> None:
        """Return nothing: there are no rows to look at."""

    def total(self, _sums: Sums, /, **_numbers: float) -> None:
        """Return nothing: a tally does not hold it."""

    def release(self) -> None:
        """Do nothing: nothing is open."""


def data_of(
    y_true: Any,
    y_prob: Any = None,
    sample_weight: Any = None,
    pos_label: object = None,
    clusters: Any = None,
    *,
    fine: bool = False,
    label: str | None = None,
    prob: str | None = None,
    weight: str | None = None,
) -> Predictions | TallyData:
    """Return the data that stand behind a function's arguments.

    `fine` asks for finer cells in the first pass, for statistics that would split them anyway.
    """
    others = {
        "y_prob": y_prob,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
        "clusters": clusters,
        "label": label,
        "prob": prob,
        "weight": weight,
    }
    if isinstance(y_true, Predictions | Tally | TallyData):
        given = [name for name, value in others.items() if value is not None]
        if given:
            raise refusals.argument_superfluous(given, type(y_true).__name__)
        return TallyData(y_true) if isinstance(y_true, Tally) else y_true
    return predictions_of(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        clusters=clusters,
        label=label,
        prob=prob,
        weight=weight,
        fine=fine,
    )


def _roles(label: str | None, prob: str | None, weight: str | None, clusters: Any) -> Roles:
    """Return the names of columns, which must be names."""
    given = {"label": label, "prob": prob}
    unnamed = [role for role, name in given.items() if not isinstance(name, str)]
    more = {"weight": weight, "clusters": clusters}
    unnamed += [role for role, n in more.items() if n is not None and not isinstance(n, str)]
    if unnamed:
        raise refusals.columns_unnamed(unnamed)
    return Roles(str(label), str(prob), weight, clusters)


def _listed(names: object) -> bool:
    """Whether these are names of columns, one or more."""
    several = isinstance(names, list | tuple) and bool(names)
    return several and all(isinstance(name, str) for name in names)  # type: ignore[attr-defined]


def check_alone(**arrays: Any) -> None:
    """Refuse arrays next to a table."""
    given = [name for name, values in arrays.items() if values is not None]
    if given:
        raise refusals.array_with_table(given)


def _one_label(cells: Cells) -> bool:
    """Whether every row that counts is an event, or none is."""
    if 0 < np.count_nonzero(cells.positives) < len(cells):  # most often
        return False
    return bool((cells.positives == 0).all() or (cells.positives == cells.weight).all())


def warn(messages: tuple[str, ...], stacklevel: int) -> None:
    """Pass warnings on to a caller who gets a bare number."""
    for message in messages:
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)
