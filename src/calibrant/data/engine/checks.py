"""Facts: what the columns of a lazy table hold, found in one pass and held to the rules.

The rules and their words are those of arrays; only the counting happens in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw  # the kinds of columns

from calibrant._types import AnyArray
from calibrant.core.expressions import Expression, col, count, how_many, lit, when
from calibrant.data import refusals
from calibrant.data.engine.table import Table
from calibrant.data.memory.columns import is_missing
from calibrant.data.memory.labels import (
    ENOUGH,
    ZERO_ONE,
    as_word,
    check_event,
    ordered_values,
    refuse_lookalike,
)
from calibrant.data.rules import Roles

#: Scores crowd near zero if this share of them is under 2**-c, for the largest such c.
CROWDED = 0.97
#: No label is larger.
_LARGEST = 1e300
#: From here on every double is a whole number.
_ALL_WHOLE = 2.0**53
FIRST_CROWD, _MORE_CROWDS = 4, (7, 10, 13, 16, 20)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found.

    Attributes
    ----------
    rows, counted : int
        Rows of the table, and those of positive weight.
    outcome : Expression
        The label as 0 and 1, or as fractions.
    binary : bool
        Whether it is 0 and 1.
    first_fraction : (row, value) or None
        The first label that is neither.
    whole_weights : bool
        Weights are whole numbers, or there are none.
    warnings : tuple of str
        What is allowed but should be known.
    crowd : int
        Nearly all scores are under 2**-crowd; 0 if they do not crowd.
    """

    rows: int
    counted: int
    outcome: Expression
    binary: bool
    first_fraction: tuple[int | None, float] | None
    whole_weights: bool
    warnings: tuple[str, ...]
    crowd: int

    @classmethod
    def plain(cls, rows: int, outcome: Expression) -> Facts:
        """Return the facts of outcomes 0 and 1, without weights, whose scores do not crowd."""
        return cls(rows, rows, outcome, True, None, True, (), 0)


def facts_of(table: Table, roles: Roles, pos_label: object) -> Facts:
    """Look at columns named after their roles once; refuse what breaks a rule."""
    return _Inspection(table, roles, pos_label).facts()


class _Inspection:
    def __init__(self, table: Table, roles: Roles, pos_label: object) -> None:
        self._table, self._roles = table, roles
        self._names = roles.names()
        self._kinds = table.kinds
        self._pos_label = pos_label
        if pos_label is not None:
            check_event(pos_label)
        self._label_is_number = is_number(self._kinds["label"])
        kind = self._kinds["label"]
        self._label_is_words = any(kind == word for word in (nw.String, nw.Categorical, nw.Enum))
        whole = bool(kind.is_integer()) or kind == nw.Boolean
        self._label_is_float = self._label_is_number and not whole

    def facts(self) -> Facts:
        self._check_kind("prob")
        self._check_kind("weight")
        if self._zero_one_in_words():
            self._pos_label = as_word(1 if self._pos_label is None else self._pos_label)
        found = self._summary().numbers()
        seen = {name: float(values[0]) for name, values in found.items()}
        rows = int(seen["rows"])
        if rows == 0:
            raise refusals.empty(self._names.label)
        outcome, fraction = self._outcome(seen)
        if fraction is not None and self._count(_at_ends(self._score())) == rows:
            raise refusals.swapped(self._names)
        warnings = self._check_weights(seen) if self._roles.weight is not None else ()
        self._check_scores(seen)
        return Facts(
            rows=rows,
            counted=rows - int(seen.get("w_zero", 0)),
            outcome=outcome,
            binary=fraction is None or seen["y_inner"] == 0,
            first_fraction=fraction,
            whole_weights=seen.get("w_broken", 0) == 0,
            warnings=warnings,
            crowd=self._crowd(seen),
        )

    def _check_kind(self, role: str) -> None:
        """Refuse scores and weights that are no numbers."""
        if role not in self._kinds or is_number(self._kinds[role]):
            return
        given, name = ~col(role).is_null(), getattr(self._names, role)
        rows = int(self._table.number(how_many()))
        if rows == 0:
            raise refusals.empty(self._names.label)
        if self._count(given) == 0:
            ordered = self._table.numbered() is not None
            raise refusals.missing(name, rows, 0 if ordered else None)
        row, value = self._table.first(given, col(role))
        raise refusals.not_numeric(name, row, value)

    def _zero_one_in_words(self) -> bool:
        """Whether all labels are the texts "0" and "1", which count as the numbers."""
        if not self._label_is_words or isinstance(self._pos_label, str):
            return False
        known = col("label").text().is_in(ZERO_ONE)
        found = self._table.select(rows=how_many(), known=count(known)).numbers()
        return bool(found["rows"][0] == found["known"][0] > 0)

    def _score(self) -> Expression:
        return col("prob").double()

    def _weight(self) -> Expression:
        return col("weight").double()

    def _number(self) -> Expression:
        return col("label").double()

    def _summary(self) -> Table:
        """Count in one pass whatever might break a rule."""
        score = self._score()
        sums = {
            "rows": how_many(),
            "f_missing": count(_missing(score)),
            "f_low": score.min(),
            "f_high": score.max(),
            "crowded": count(score < 2.0**-FIRST_CROWD),
        }
        if self._roles.weight is not None:
            weight = self._weight()
            whole = (weight >= 0) & (weight < _ALL_WHOLE)
            floor = when(whole, weight, 0.0).floor()  # not every engine can round larger ones
            sums |= {
                "w_missing": count(_missing(weight)),
                "w_negative": count(weight < 0),
                "w_zero": count(weight == 0),
                "w_broken": count(whole & (weight != floor)),
                "w_total": weight.sum(),
            }
        label = self._number() if self._label_is_number else col("label")
        sums["y_missing"] = count(label.is_null())
        if self._label_is_number:
            sums |= {"y_low": label.min(), "y_high": label.max(), "y_zero": count(label == 0)}
        if self._label_is_float:
            sums["y_missing"] = count(_missing(label))
            inner = (label > 0) & (label < 1)
            sums["y_fraction"] = count(inner)
            # a row of weight 0 is as good as none
            counts = self._weight() > 0 if self._roles.weight is not None else lit(True)
            sums["y_inner"] = count(inner & counts)
        if self._pos_label is not None and self._comparable():
            sums["y_event"] = count(self._event())
        return self._table.select(**sums)

    def _check_scores(self, seen: dict[str, float]) -> None:
        score, name = self._score(), self._names.prob
        if seen["f_missing"]:
            row, _ = self._table.first(_missing(score), lit(0))
            raise refusals.missing(name, int(seen["f_missing"]), row)
        if not (seen["f_low"] >= 0 and seen["f_high"] <= 1):
            outside = ~((score >= 0) & (score <= 1))
            row, value = self._table.first(outside, score)
            wrong = self._count(outside)
            raise refusals.outside_unit(name, wrong, row, float(value), seen["f_high"])

    def _check_weights(self, seen: dict[str, float]) -> tuple[str, ...]:
        weight, name = self._weight(), self._names.weight
        if seen["w_missing"]:
            row, _ = self._table.first(_missing(weight), lit(0))
            raise refusals.missing(name, int(seen["w_missing"]), row)
        if seen["w_negative"]:
            row, value = self._table.first(weight < 0, weight)
            raise refusals.weight_negative(name, int(seen["w_negative"]), row, float(value))
        zeros = int(seen["w_zero"])
        if zeros == seen["rows"]:
            raise refusals.weight_all_zero(name)
        if not 1e-290 < seen["w_total"] < 1e300:
            raise refusals.weight_scale(name, seen["w_total"])
        return (refusals.zero_weights(name, zeros),) if zeros else ()

    def _outcome(
        self, seen: dict[str, float]
    ) -> tuple[Expression, tuple[int | None, float] | None]:
        """Say how the label reads as an outcome, and where the first fraction is."""
        if seen["y_missing"]:
            label = col("label")
            gap = _missing(self._number()) if self._label_is_number else label.is_null()
            row, _ = self._table.first(gap, lit(0))
            raise refusals.missing(self._names.label, int(seen["y_missing"]), row)
        if self._pos_label is not None:  # or labels are the texts "0" and "1"
            self._check_two_values(bool(seen.get("y_event", 0)))
            return _whole(self._event()), None
        if not self._label_is_number:
            self._refuse_values()
        number, low, high = self._number(), seen["y_low"], seen["y_high"]
        broken = seen.get("y_fraction", 0) > 0
        if low >= 0 and high <= 1 and not broken:
            return outcome_of("label"), None
        if low == -1 and high <= 1 and not (seen["y_zero"] or broken) and self._signs():
            return outcome_of("label"), None
        if low < 0 or high > 1:
            self._refuse_values()
        row, value = self._table.first((number > 0) & (number < 1), number)
        return number, (row, float(value))

    def _signs(self) -> bool:
        number = self._number()
        return self._count((number != 1) & (number != -1)) == 0

    def _count(self, condition: Expression) -> int:
        return int(self._table.number(count(condition)))

    def _crowd(self, seen: dict[str, float]) -> int:
        """Return c such that nearly all scores are under 2**-c; 0 if they do not crowd."""
        enough = CROWDED * seen["rows"]
        if seen["crowded"] < enough:
            return 0
        under = {f"under_{c}": count(self._score() < 2.0**-c) for c in _MORE_CROWDS}
        found = self._table.select(**under).numbers()
        deeper = [c for c in _MORE_CROWDS if found[f"under_{c}"][0] >= enough]
        return max(deeper, default=FIRST_CROWD)

    def _comparable(self) -> bool:
        event = cast("Any", self._pos_label)
        if not self._label_is_number:
            return isinstance(event, str) == self._label_is_words
        try:
            if isinstance(event, str) or abs(float(event)) > _LARGEST:
                return False
        except (TypeError, ValueError, OverflowError):  # no number, or past the largest double
            return False
        if self._kinds["label"].is_integer():
            return int(event) == event and abs(int(event)) < 2**63
        return True

    def _event(self) -> Expression:
        """Say in which rows the label is `pos_label`."""
        label, event = col("label"), cast("Any", self._pos_label)
        if self._kinds["label"].is_integer():
            return label == lit(int(event))  # a double does not hold every whole number
        if self._label_is_number:
            return self._number() == lit(float(event))
        if isinstance(event, str):
            return label.text() == lit(event)
        return label == lit(event)

    def _check_two_values(self, found: bool) -> None:
        name, pos_label = self._names.label, self._pos_label
        others = self._values(without_event=found)
        if len(others) > 1 and found:
            raise refusals.labels_not_binary(name, [pos_label, *others])
        if len(others) > 1:
            raise refusals.labels_lack_pos_label(name, pos_label, others)
        if others and not found:
            refuse_lookalike(name, pos_label, others[0])

    def _values(self, *, without_event: bool = False) -> list[object]:
        """Return a few distinct labels in order."""
        table = self._table.filter(~self._event()) if without_event else self._table
        label = col("label")
        if not self._label_is_number:
            label = label.text()
        distinct = table.select(value=label).distinct().head(ENOUGH + 1)
        values: AnyArray = distinct.fetch()["value"]
        return ordered_values(values[~is_missing(values)].tolist())

    def _refuse_values(self) -> None:
        found = self._values()
        if len(found) > 2:
            raise refusals.labels_not_binary(self._names.label, found)
        raise refusals.labels_need_pos_label(self._names.label, found)


def is_number(kind: Any) -> bool:
    """Say whether a column of this kind holds numbers; truth values count."""
    return bool(kind.is_numeric()) or kind == nw.Boolean


def outcome_of(column: str) -> Expression:
    """Return 1 where a number is 1, else 0."""
    return _whole(col(column).double() == 1)


def _at_ends(score: Expression) -> Expression:
    return (score == 0) | (score == 1)


def _missing(number: Expression) -> Expression:
    return number.is_null() | number.is_nan()


def _whole(condition: Expression) -> Expression:
    """Turn truth values into 0 and 1."""
    return when(condition, 1, 0)
