"""Groups: where a model fails, group by group, in one joint statement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from calibrant import errors
from calibrant._figures import figure
from calibrant._progress import busy, progress_bar
from calibrant._text import named, shown
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.certify import certificate_of, has_weights, rows_need
from calibrant.certificates.evidence import mean_variance
from calibrant.certificates.specification import CertificateSpec
from calibrant.core.diagram import Diagram
from calibrant.core.statistic import read
from calibrant.data.groups import (
    LEAST_ROWS,
    Grouped,
    View,
    crossings,
    resolve_groups,
    views_of,
)
from calibrant.data.predictions import Predictions, TallyData
from calibrant.errors import InputError
from calibrant.measures.error import ERROR_AND_WORST
from calibrant.measures.interval import Interval

Crossed: TypeAlias = Literal["first", "all"]
CROSSED = ("first", "all")
#: Columns whose pairs are audited unless all are asked for: 45 pairs, where 60 columns have 1,770.
_FIRST = 10


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """What was found in one group; `audit(..., by=...)` makes them.

    Attributes
    ----------
    columns : tuple of str
        The columns that make it.
    group : dict
        The value of each of them, None if it is missing. A column has no entry if what is left of
        it, its small values together, is meant.
    pooled : int
        How many small values, or pairs of values, this group pools; 0 for a group of its own.
    rows : int
        Rows, each counted as often as it weighs if weights are whole numbers.
    observed_rate, mean_prediction : float
        Share of the weight where the event happened, and mean score.
    calibration_error : float
        c_emp within the group, exact.
    worst_interval : Interval
        Largest differences.
    certificate : Certificate or None
        Both ends for the true calibration error of the group; those of all groups hold at once.
        None if labels are soft or weights are not integers.
    evidence : float
        Against calibration: c_emp in units of its standard deviation if the scores were right.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> region = ["north", "south"] * 10_000
    >>> first = cb.audit(y_true, y_prob, by={"region": region}).groups[0]
    >>> first.group, first.rows, first.certain
    ({'region': 'north'}, 10000, True)
    """

    columns: tuple[str, ...]
    group: dict[str, Any]
    pooled: int
    rows: int
    observed_rate: float
    mean_prediction: float
    calibration_error: float
    worst_interval: Interval
    certificate: Certificate | None
    evidence: float

    @property
    def certain(self) -> bool:
        """Whether the group is proved to be miscalibrated: its lower bound is above 0."""
        return self.certificate is not None and self.certificate.lower > 0

    @property
    def name(self) -> str:
        """The group in words."""
        if self.pooled:
            groups = "small group" if self.pooled == 1 else "small groups"
            return f"{self.pooled:,} {groups} of {' and '.join(map(named, self.columns))}"
        return ", ".join(f"{named(one)} {self._value(one)}" for one in self.columns)

    @property
    def verb(self) -> str:
        """Whether the group is, or several small ones are."""
        return "are" if self.pooled > 1 else "is"

    def _value(self, column: str) -> str:
        value = self.group.get(column, "other")
        return "is missing" if value is None else f"= {named(value)}"

    def __repr__(self) -> str:
        sure = "miscalibrated" if self.certain else "not shown to be miscalibrated"
        return (
            f"{self.name}: calibration error {figure(self.calibration_error)} on {self.rows:,} "
            f"rows, {sure}; worst for {self.worst_interval!r}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        certificate = None if self.certificate is None else self.certificate.to_dict()
        plain = {name: finite_or_text(value) for name, value in self.group.items()}
        return {
            **asdict(self),
            "name": self.name,
            "columns": list(self.columns),
            "group": plain,
            "worst_interval": self.worst_interval.to_dict(),
            "certificate": certificate,
            "certain": self.certain,
            "evidence": finite_or_text(self.evidence),
        }


def groups_of(
    data: Predictions | TallyData, by: Any, spec: CertificateSpec, crossed: Crossed = "first"
) -> tuple[tuple[GroupFinding, ...], tuple[str, ...]]:
    """Find out about every value of the columns, and pairs of values; and say what is left out.

    With K groups each certificate spends (1 - confidence) / K, so that all hold at once, however
    they depend on each other. The groups depend on the columns alone, never on outcomes.
    """
    if not isinstance(data, Predictions):
        raise errors.tally_hides("which group a row is in")
    if data.clusters is not None:
        raise errors.not_for_clusters("by=", "audit for each group, with clusters=")
    grouped = grouped_by(data, by)
    pairs = crossings(grouped, _FIRST if crossed == "first" else None)
    sizes = [len(view) for view in views_of(grouped, pairs)]
    both = replace(spec, sided="both")
    joint = replace(both, statements=sum(sizes))
    found: list[GroupFinding] = []
    what = "Auditing groups"
    with busy(what), progress_bar(what, len(sizes)) as show:
        resolved = resolve_groups(grouped, rows_need(both), pairs=pairs)
        for count, (view, diagrams) in enumerate(resolved, start=1):
            found += [
                _finding(grouped, view, number, diagram, joint)
                for number, diagram in enumerate(diagrams)
            ]
            show(count)
    found.sort(key=lambda one: (not one.certain, -one.evidence, -one.rows))
    return tuple(found), _notes(grouped) + _left_out(grouped, len(pairs))


def grouped_by(data: Predictions, by: Any) -> Grouped:
    """Split the rows by columns: names of a table's, or a mapping of names to arrays."""
    from calibrant.data.memory.source import ArraySource

    if isinstance(by, Mapping):
        if not by or not isinstance(data.source, ArraySource):
            raise _groups_unnamed(by)
        from calibrant.data.memory.groups import GroupedArrays

        return GroupedArrays(data.source, by)
    names = [by] if isinstance(by, str) else by
    plain = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not plain or not names or len(set(names)) < len(names) or not data.has_columns:
        raise _groups_unnamed(by)
    return data.grouped(list(names))


def _finding(
    grouped: Grouped, view: View, number: int, diagram: Diagram, spec: CertificateSpec
) -> GroupFinding:
    (error, _), worst = read(ERROR_AND_WORST, diagram)
    claim = diagram.totals.are_counts
    weighted = has_weights(diagram)
    columns = [grouped.splits[k] for k in view.columns]
    last = view.pooled and number == len(view) - 1
    codes = [] if last else zip(columns, view.members[number][0].tolist(), strict=True)
    values = {split.name: split.values[code] for split, code in codes if code < len(split.values)}
    small = columns[0].pooled if len(columns) == 1 and not values else 0
    return GroupFinding(
        columns=tuple(split.name for split in columns),
        group=values,
        pooled=view.pooled if last else small,
        rows=diagram.count,
        observed_rate=diagram.rate,
        mean_prediction=diagram.mean_score,
        calibration_error=error,
        worst_interval=worst,
        certificate=certificate_of(diagram, spec, weighted=weighted) if claim else None,
        evidence=_evidence(diagram, error),
    )


def _evidence(diagram: Diagram, error: float) -> float:
    if error <= 0:
        return 0.0
    deviation = math.sqrt(mean_variance(diagram) / diagram.weight)
    return error / deviation if deviation > 0 else math.inf


def _notes(grouped: Grouped) -> tuple[str, ...]:
    return tuple(
        f"No value of {shown(split.name)} has {LEAST_ROWS} rows, so it makes no groups."
        for split in grouped.splits
        if split.pooled and not split.values
    )


def _left_out(grouped: Grouped, audited: int) -> tuple[str, ...]:
    pairs = len(crossings(grouped))
    if audited == pairs:
        return ()
    return (
        f"Pairs were audited for the first {_FIRST} of {len(grouped.splits)} columns; "
        f'crossed="all" audits all {pairs:,}.',
    )


def finite_or_text(value: Any) -> Any:
    """Return a value that JSON knows: infinite numbers as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _groups_unnamed(by: object) -> InputError:
    return InputError(
        f"by must name columns of the table, each once, such as by=['sex', 'region'], but it is "
        f"{shown(by)}. With arrays pass them: by={{'sex': sex}}."
    )
