"""Costs: what a wrong action costs, and Bayes' rule, which follows from it.

Acting on a row without the event costs `false_positive`, not acting on a row with it costs
`false_negative`. With probability f of the event, acting is right when f >= a / (a + b), a and b
these two costs (Claim 1 of Gao, Parameswaran and Peng, 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import BoolArray, FloatArray
from calibrant.data import refusals
from calibrant.data.rules import scores_of
from calibrant.errors import MOST_COST, InputError, finite_number, out_of_range


@dataclass(frozen=True, slots=True)
class Costs:
    """The two costs that decide, as differences to the right action.

    Attributes
    ----------
    false_positive : float
        What acting costs more than not acting, if there is no event.
    false_negative : float
        What not acting costs more than acting, if there is one.

    Notes
    -----
    What the right action costs anyway plays no part in the choice, and is left out of every cost
    that is reported.
    """

    false_positive: float
    false_negative: float

    @property
    def scale(self) -> float:
        """Their sum: what costs in units of p and 1 - p are multiplied by."""
        return self.false_positive + self.false_negative

    @property
    def threshold(self) -> float:
        """Act when the probability is at least this."""
        return self.false_positive / self.scale


def costs_of(false_positive: Any, false_negative: Any, matrix: Any = None) -> Costs:
    """Check the costs that a user gives, either two numbers or a 2 x 2 matrix."""
    if matrix is not None:
        if false_positive is not None or false_negative is not None:
            raise _costs_twice()
        return _from_matrix(matrix)
    if false_positive is None or false_negative is None:
        raise _costs_missing()
    a = _cost("false_positive", false_positive)
    b = _cost("false_negative", false_negative)
    if a == b == 0:
        raise _costs_zero()
    return Costs(a, b)


def _cost(name: str, value: Any) -> float:
    if not errors.is_single(value):
        raise _cost_per_row(name)
    cost = amount(name, value)
    if cost < 0:
        raise _cost_negative(name, cost)
    return cost


def _from_matrix(matrix: Any) -> Costs:
    """Read [[c00, c01], [c10, c11]], c_ij the cost of deciding i when the truth is j."""
    table = doubles(matrix)
    if table is None or table.shape != (2, 2) or not (np.abs(table) <= errors.MOST_COST).all():
        raise _matrix_shape(matrix)
    a, b = float(table[1, 0] - table[0, 0]), float(table[0, 1] - table[1, 1])
    if a >= 0 and b >= 0 and a + b > 0:
        return Costs(a, b)
    raise _matrix_one_sided(a, b)


def bayes_threshold(
    false_positive: float | None = None, false_negative: float | None = None, *, matrix: Any = None
) -> float:
    """Return the probability from which on acting costs less than not acting.

    Parameters
    ----------
    false_positive : float
        Cost of acting where there is no event.
    false_negative : float
        Cost of not acting where there is one.
    matrix : 2 x 2 array_like, optional
        Instead of both: ``[[c00, c01], [c10, c11]]``, c_ij the cost of deciding i (1: act) when
        the truth is j (1: event). Gains are negative costs.

    Returns
    -------
    float
        a / (a + b). Act when the probability is at least that.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Claim 1; Elkan (2001).

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.bayes_threshold(false_positive=1, false_negative=19)
    0.05
    >>> cb.bayes_threshold(matrix=[[0, 20], [1, 1]])
    0.05
    """
    return costs_of(false_positive, false_negative, matrix).threshold


def decide(
    y_prob: Any,
    *,
    false_positive: Any = None,
    false_negative: Any = None,
    matrix: Any = None,
) -> BoolArray:
    """Decide for every row whether to act, by Bayes' rule.

    Parameters
    ----------
    y_prob : array_like
        Probabilities of the event, in [0, 1]; they should be calibrated.
    false_positive : float or array_like
        Cost of acting where there is no event: the same for all rows, or one for each, such as the
        amount of each loan.
    false_negative : float or array_like
        Cost of not acting where there is one, likewise.
    matrix : 2 x 2 array_like, optional
        Instead of both, as for `bayes_threshold`.

    Returns
    -------
    bool array
        True where acting costs less, or as much: f >= a / (a + b).

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.decide([0.02, 0.05, 0.3], false_positive=1, false_negative=19).tolist()
    [False, True, True]
    >>> cb.decide([0.1, 0.1], false_positive=1, false_negative=[5, 50]).tolist()
    [False, True]
    """
    score = scores_of(y_prob)
    if differ_by_row(false_positive, false_negative, matrix):
        a, b = costs_by_row(false_positive, false_negative, len(score))
        by_row: BoolArray = score >= a / (a + b)
        return by_row
    act: BoolArray = score >= costs_of(false_positive, false_negative, matrix).threshold
    return act


def differ_by_row(false_positive: Any, false_negative: Any, matrix: Any) -> bool:
    """Whether one of the costs is given for each row, which no matrix can be next to."""
    if errors.is_single(false_positive) and errors.is_single(false_negative):
        return False
    if matrix is not None:
        raise _costs_twice()
    return True


def costs_by_row(
    false_positive: Any, false_negative: Any, rows: int
) -> tuple[FloatArray, FloatArray]:
    """Return both costs of each row, from costs of which one or both differ by row."""
    if false_positive is None or false_negative is None:
        raise _costs_missing()
    a = _row_costs("false_positive", false_positive, rows)
    b = _row_costs("false_negative", false_negative, rows)
    free = a + b <= 0
    if free.any():
        raise _row_costs_zero(int(np.argmax(free)))
    return a, b


def _row_costs(name: str, cost: Any, rows: int) -> FloatArray:
    """Return a cost for each row."""
    if errors.is_single(cost):
        return np.full(rows, _cost(name, cost))
    each = doubles(cost)
    if each is None:
        raise errors.out_of_range(name, "one number for each row", cost)
    if each.shape != (rows,):
        raise refusals.lengths_differ([("y_prob", rows), (name, len(each))])
    wrong = ~((each >= 0) & (each <= errors.MOST_COST))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise _cost_in_row(name, row, float(each[row]))
    return each


def amount(name: str, value: object, rule: str = "a finite number") -> float:
    """Return an argument that must be an amount of money, or a number of decisions."""
    number = finite_number(name, value, rule)
    if abs(number) > MOST_COST:
        raise out_of_range(name, f"at most {MOST_COST:g}: choose a larger unit", value)
    return number


def doubles(value: object) -> FloatArray | None:
    """Return an argument as doubles, infinite where it is past them; None if it is no numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError, ArithmeticError):
        return None


def _costs_missing() -> InputError:
    return InputError(
        "Say what errors cost: false_positive= and false_negative=, or matrix=[[c00, c01], "
        "[c10, c11]], c_ij the cost of deciding i when the truth is j."
    )


def _costs_twice() -> InputError:
    return InputError("Pass false_positive and false_negative, or matrix, but not both.")


def _costs_zero() -> InputError:
    return InputError(
        "false_positive and false_negative are both 0, so every decision costs the same and "
        "there is nothing to decide. Give at least one of them a cost."
    )


def _cost_negative(name: str, value: float) -> InputError:
    return InputError(
        f"{name} must not be negative, but it is {shown(value)}. A gain from the right action goes "
        "into matrix=[[c00, c01], [c10, c11]] as a negative cost."
    )


def _cost_per_row(name: str) -> InputError:
    return InputError(
        f"{name} must be one number here: costs that differ from row to row make the threshold "
        "differ, and no single curve, threshold or bound applies to all rows. decide() and "
        "expected_cost() take a cost for each row."
    )


def _cost_in_row(name: str, row: int, value: float) -> InputError:
    return InputError(
        f"{name} must be a number between 0 and {MOST_COST:g} in every row, but row {row} "
        f"(0-based) holds {shown(value)}."
    )


def _row_costs_zero(row: int) -> InputError:
    return InputError(
        f"Both costs are 0 in row {row} (0-based), so there is nothing to decide. "
        "Leave such rows out."
    )


def _matrix_shape(value: object) -> InputError:
    return InputError(
        f"matrix must be 2 x 2 finite numbers, [[c00, c01], [c10, c11]], at most {MOST_COST:g} in "
        f"size, but it is {shown(value)}."
    )


def _matrix_one_sided(a: float, b: float) -> InputError:
    if a == b == 0:
        why = "both actions cost the same, whatever the truth"
    elif a <= 0 <= b:
        why = "acting never costs more than not acting, so always act"
    elif b <= 0 <= a:
        why = "not acting never costs more than acting, so never act"
    else:
        why = "acting is right when there is no event; swap its rows, or the labels"
    return InputError(f"There is nothing to decide by probability: {why}.")
