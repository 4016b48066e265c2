"""Predictions: what a user hands over, checked, with the source that answers for it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from calibrant import _checks
from calibrant.sources.arrays import ArraySource
from calibrant.sources.columns import Column
from calibrant.sources.inputs import (
    check_lengths,
    check_not_swapped,
    check_weights,
    coded,
)
from calibrant.sources.labels import Labels
from calibrant.tally import DEFAULT_LEVEL, Cells, Tally, Totals


@dataclass(frozen=True, slots=True)
class Origin:
    """Where predictions came from: a file and its hash, and how many rows were left out."""

    file: str | None = None
    sha256: str | None = None
    dropped: int = 0


class Predictions:
    """Outcomes and predicted probabilities, checked once, ready for every function.

    A `Predictions` stands for ``(y_true, y_prob)`` wherever these are asked for.

    Parameters
    ----------
    y_true : array-like
        Outcomes: 0/1, -1/1, booleans, any two values with `pos_label`, or fractions in [0, 1]
        (soft labels: the probability of the event in that row).
    y_prob : array-like
        Predicted probabilities of the event, in [0, 1].
    sample_weight : array-like, optional
        Weight of each row, not negative. A whole number counts the row that many times.
    pos_label : optional
        The label that is the event.
    clusters : array-like, optional
        Which rows belong together, such as those of one patient: any values, equal within a
        cluster. Certificates then do not take them for independent.

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
    """

    def __init__(
        self,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        pos_label: object = None,
        clusters: Any = None,
        _names: _checks.Names | None = None,
        _origin: Origin | None = None,
        _fine: bool = False,
    ) -> None:
        names = _names or _checks.Names()
        label, prob = Column(y_true, names.label), Column(y_prob, names.prob)
        weight = None if sample_weight is None else Column(sample_weight, names.weight)
        group = None if clusters is None else Column(clusters, names.clusters)
        check_lengths([column for column in (label, prob, weight, group) if column is not None])
        #: The number of each row's cluster, None if rows stand for themselves.
        self.clusters = None if group is None else coded(group)[1]
        labels = Labels(label, pos_label)
        check_not_swapped(prob, labels, names)
        #: What is allowed but should be known, in words.
        self.warnings: tuple[str, ...] = ()
        if weight is not None:
            self.warnings += check_weights(weight)
        #: Row and value of the first soft label, None if labels are two values.
        self.first_fraction = labels.first_fraction
        self.source = ArraySource(labels, prob, weight, fine=_fine)
        if _one_label(self.source.start()[0]):
            self.warnings += (
                f"{names.label} holds a single value, so nothing is known about the other class.",
            )
        #: The file behind them, if there is one.
        self.origin = _origin or Origin()
        self._rows = len(prob)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<Predictions of {len(self):,} rows>"

    def tally(self, level: int = DEFAULT_LEVEL) -> Tally:
        """Return the sums of the rows in each cell, to be stored, sent or added.

        Parameters
        ----------
        level : int, default 14
            Cells are 2**-level wide. Tallies of one level add; a finer one is larger and
            bounds the calibration error more closely.
        """
        return self.source.tally(level)


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

    def log_loss(self) -> None:
        """Return nothing: a tally does not hold it."""

    def logistic_sums(self, _models: list[tuple[float, float]]) -> None:
        """Return nothing: a tally does not hold it."""


def data_of(
    y_true: Any,
    y_prob: Any = None,
    sample_weight: Any = None,
    pos_label: object = None,
    clusters: Any = None,
    *,
    fine: bool = False,
) -> Predictions | TallyData:
    """Return the data that stand behind a function's arguments.

    `fine` asks for finer cells in the first pass, for statistics that would split them anyway.
    """
    others = {
        "y_prob": y_prob,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
        "clusters": clusters,
    }
    if isinstance(y_true, Predictions | Tally):
        given = [name for name, value in others.items() if value is not None]
        if given:
            raise _checks.argument_superfluous(given, type(y_true).__name__)
        return TallyData(y_true) if isinstance(y_true, Tally) else y_true
    if y_prob is None:
        raise _checks.argument_missing("y_prob")
    return Predictions(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        clusters=clusters,
        _fine=fine,
    )


def _one_label(cells: Cells) -> bool:
    """Whether every row that counts is an event, or none is."""
    return bool((cells.positives == 0).all() or (cells.positives == cells.weight).all())


def warn(messages: tuple[str, ...], stacklevel: int) -> None:
    """Pass warnings on to a caller who gets a bare number."""
    for message in messages:
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)
