"""What inputs must be, and the words of every refusal.

Each function builds one error: which argument, the rule, what was found and in which row,
and the way out. Sources find the facts (an array scans, an engine counts) and raise these,
so that the words are the same wherever the data live.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from calibrant._text import MOST_OF_MESSAGE, MOST_OF_VALUE, bounded, named, shown
from calibrant._types import FloatArray

#: The most entries of a table that is made for an argument, such as its bins.
MOST_ENTRIES = 10_000_000
#: The most rows or draws that anybody waits for.
MOST_DRAWS = 1_000_000_000

#: Characters that are shown of a path.
_LONGEST_PATH = 240
_NUMBER = (int, float, np.integer, np.floating)
#: Costs, and the number of decisions, at most: their products are still doubles.
MOST_COST = 1e100


class InputError(ValueError):
    """The input breaks a rule; the message names it and the way out.

    Whatever went into the message, it is one line of visible text, under 2,000 characters.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(bounded(text))


class WriteError(InputError, OSError):
    """A file could not be written; everything is as it was before."""


@dataclass(frozen=True)
class Names:
    """What the user calls each column: arguments in Python, columns of a file elsewhere."""

    label: str = "y_true"
    prob: str = "y_prob"
    weight: str = "sample_weight"
    clusters: str = "clusters"


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _first(row: int | None, before: str = ", first in") -> str:
    """Name the first row at fault; engines whose rows have no order name none."""
    return "" if row is None else f"{before} row {row} (the first row is 0)"


def _listed(values: Iterable[object], most: int = 8, show: Callable[[object], str] = named) -> str:
    given = list(values)
    more = f", ... ({len(given) - most} more)" if len(given) > most else ""
    return ", ".join(map(show, given[:most])) + more


def _path(path: str) -> str:
    """Quote a path, of which more is shown than of a value: its end says which file it is."""
    return shown(path, _LONGEST_PATH)


def _place(path: str) -> str:
    """Name where rows come from: a path, a pattern, or words such as "the query"."""
    return named(path, _LONGEST_PATH)


def _said(why: str) -> str:
    """Return the first lines of what an engine says, as one."""
    lines = [line.strip() for line in why[: 8 * MOST_OF_MESSAGE].splitlines() if line.strip()]
    return named(" ".join(lines[:4]), 1000)


def _near(word: object, words: Iterable[object], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the words that a word may have been meant to be; long ones by their beginnings."""
    known = {named(one)[:MOST_OF_VALUE]: str(one) for one in words}
    near = difflib.get_close_matches(named(word)[:MOST_OF_VALUE], known, n=most, cutoff=cutoff)
    return [known[one] for one in near]


def empty(name: str) -> InputError:
    return InputError(f"{name} is empty: at least one row is needed.")


def not_one_column(name: str, shape: tuple[int, ...]) -> InputError:
    if len(shape) == 2 and shape[1] == 2:
        way_out = f"For the output of predict_proba pass its second column: {name}[:, 1]."
    elif len(shape) == 2 and 1 in shape:
        way_out = f"Pass {name}.ravel()."
    else:
        way_out = "Pass one value for each row, as a list, an array or a column of a dataframe."
    return InputError(f"{name} must be one-dimensional, but its shape is {shape}. {way_out}")


def table_for_column(name: str) -> InputError:
    return InputError(f"{name} must be one column, but it is a table. Pass one of its columns.")


def not_an_array(name: str, why: object) -> InputError:
    return InputError(
        f"{name} could not be read as an array ({named(why, 200)}). Pass one value for each row, "
        "as a list, an array or a column of a dataframe."
    )


def lengths_differ(lengths: Sequence[tuple[str, int]]) -> InputError:
    found = ", ".join(f"{name} has {count:,}" for name, count in lengths)
    return InputError(
        f"All arguments must have the same number of rows, but {found}. "
        "Pass the rows of one and the same table."
    )


def missing(name: str, count: int, row: int | None) -> InputError:
    return InputError(
        f"{name} has missing values in {_rows(count)}{_first(row)}. "
        "Remove or fill these rows; on the command line --drop-missing removes them."
    )


def not_numeric(name: str, row: int | None, value: object) -> InputError:
    way_out = "Convert the column to numbers first."
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", named(value)):
        way_out = (
            "If that is a decimal comma: DuckDB, and so a query in --sql, reads such a file by "
            "read_csv('mine.csv', decimal_separator=','), and pandas by read_csv(..., decimal=',')."
        )
    return InputError(
        f"{name} must hold numbers, but{_first(row, '') or ' it'} holds {shown(value)}. {way_out}"
    )


def outside_unit(
    name: str, count: int, row: int | None, value: float, highest: float
) -> InputError:
    """Scores below 0 or above 1: guess what they are, never squash them."""
    if -1e-6 <= value <= 1 + 1e-6:
        way_out = "If this is rounding noise, clip it: numpy.clip(scores, 0, 1)."
    elif value > 1 and highest <= 100:
        way_out = "If they are percentages, divide by 100."
    else:
        way_out = "They are not probabilities."
    verb = "does" if count == 1 else "do"
    return InputError(
        f"{name} must lie between 0 and 1, but {_rows(count)} {verb} not"
        f"{_first(row, ', first')} with {shown(value)}. {way_out} "
        "Log-odds (logits) become probabilities by 1 / (1 + exp(-score)); margins, such as those "
        "of decision_function, need a calibrator fitted on held-out rows."
    )


def swapped(names: Names) -> InputError:
    return InputError(
        f"{names.prob} holds only 0 and 1 while {names.label} holds fractions: arguments swapped? "
        f"{names.label} must be the outcomes and {names.prob} the probabilities."
    )


def labels_not_binary(name: str, values: Sequence[object]) -> InputError:
    return InputError(
        f"{name} must hold two label values, but it holds {len(values)} or more: "
        f"{_listed(values, show=shown)}. Keep the rows of two classes, or turn the column into "
        "one class against the rest, such as y_true == 'the class'."
    )


def labels_need_pos_label(name: str, values: Sequence[object]) -> InputError:
    given = " or ".join(f"pos_label={shown(value)}" for value in values)
    options = " or ".join(f"--pos-label {named(value)}" for value in values)
    return InputError(
        f"{name} holds the labels {_listed(values, show=shown)}; say which one is the event whose "
        f"probability the scores are: {given} (on the command line: {options}). What takes no "
        f"pos_label takes {name} == the event. "
        "Without it labels must be 0/1, -1/1, True/False, or fractions between 0 and 1."
    )


def labels_lack_pos_label(name: str, pos_label: object, values: Sequence[object]) -> InputError:
    near = _near(pos_label, values)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    return InputError(
        f"pos_label={shown(pos_label)} is not among the labels of {name}: "
        f"{_listed(values, show=shown)}.{hint} Pass one of them."
    )


def pos_label_kind(pos_label: object) -> InputError:
    return InputError(
        f"pos_label must be one label, but it is {shown(pos_label)}. Pass the value of the event."
    )


def labels_not_plain(name: str) -> InputError:
    return InputError(
        f"{name} must hold plain labels, such as numbers, words or booleans. "
        "Convert the column first."
    )


def labels_soft(name: str, row: int | None, value: float) -> InputError:
    return InputError(
        f"{name} must hold 0/1 labels, but{_first(row, '') or ' it'} holds {shown(value)}. "
        "If these are soft labels (probabilities of the event), say so with --soft."
    )


def weight_negative(name: str, count: int, row: int | None, value: float) -> InputError:
    return InputError(
        f"{name} must not be negative, but {_rows(count)} {'is' if count == 1 else 'are'}"
        f"{_first(row, ', first')} with {shown(value)}. Remove these rows or fix them."
    )


def zero_weights(name: str, count: int) -> str:
    """Say, as a warning, that rows of zero weight do not count."""
    rows = "1 row has" if count == 1 else f"{count:,} rows have"
    return f"{rows} zero {name} and {'is' if count == 1 else 'are'} not counted."


def weight_scale(name: str, total: float) -> InputError:
    return InputError(
        f"{name} must have a sum that doubles can hold with precision, between 1e-290 and 1e300, "
        f"but it is {total:.4g}. Multiply the weights by a constant: only proportions matter."
    )


def weights_in_scale(name: str, weight: FloatArray) -> None:
    """Refuse weights whose sum is past what doubles hold with precision."""
    with np.errstate(over="ignore"):  # a sum past the largest double is refused here
        total = float(weight.sum())
    if total and not 1e-290 < total < 1e300:
        raise weight_scale(name, total)


def weight_all_zero(name: str) -> InputError:
    return InputError(
        f"{name} is zero in every row, so nothing is left to measure. "
        "At least one row needs a positive weight."
    )


def unknown_column(column: object, columns: Sequence[str], source: str) -> InputError:
    columns = [str(name) for name in columns]
    near = _near(column, columns, most=3, cutoff=0.5)
    lower = [name for name in columns if name.lower() == named(column).lower()]
    near = lower + [name for name in near if name not in lower]
    hint = f" Did you mean {' or '.join(map(shown, near))}?" if near else ""
    return InputError(
        f"There is no column {shown(column)} in {named(source)}.{hint} "
        f"Its columns are: {_listed(columns, most=30)}."
    )


def argument_missing(name: str) -> InputError:
    return InputError(
        f"{name} is missing. Pass (y_true, y_prob), or a Predictions or a Tally alone."
    )


def argument_superfluous(names: Sequence[str], kind: str) -> InputError:
    return InputError(
        f"{', '.join(names)} cannot be given next to a {kind}, which holds labels, scores and "
        f"weights already. Pass the {kind} alone."
    )


def out_of_range(name: str, rule: str, value: object) -> InputError:
    return InputError(f"{name} must be {rule}, but it is {shown(value)}.")


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return an argument that must be a whole number; refuse True, 2.0 and "2"."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        # a limit that guards memory is of no interest to those who are not past it
        past = most is not None and (most < MOST_ENTRIES or (number is not None and number > most))
        rule = f"between {least} and {most}" if past else f"{least} or more"
        raise out_of_range(name, f"a whole number, {rule}", value)
    return number


def is_number(value: object) -> TypeGuard[float]:
    """Say whether a value is one number; numpy takes a span of time for one."""
    return isinstance(value, _NUMBER) and not isinstance(value, np.timedelta64)


def number_between(name: str, value: object, low: float, high: float) -> float:
    """Return an argument that must be a number in [low, high]."""
    if is_number(value) and low <= value <= high:
        return float(value)
    raise out_of_range(name, f"a number between {low:g} and {high:g}", value)


def share(name: str, value: object) -> float:
    """Return an argument that must be a number between 0 and 1."""
    return number_between(name, value, 0, 1)


def inner_share(name: str, value: object) -> float:
    """Return an argument that must lie strictly between 0 and 1, such as a confidence."""
    # as a double, because a number that is wider or narrower may be rounded to 0 or 1
    if is_number(value) and 0 < value < 1 and 0 < float(value) < 1:
        return float(value)
    percent = is_number(value) and 1 < value < 100
    hint = f" For {value}% write {float(str(value)) / 100:g}." if percent else ""
    raise InputError(
        f"{name} must be a number strictly between 0 and 1, but it is {shown(value)}.{hint}"
    )


def is_single(value: object) -> bool:
    """Say whether an argument is one value, and not a list, an array or a table of them."""
    try:
        return np.ndim(value) == 0  # type: ignore[arg-type]
    except (TypeError, ValueError):  # lists of different length
        return False


def finite_number(name: str, value: object, rule: str = "a finite number") -> float:
    """Return an argument that must be one finite number, of any kind."""
    try:
        number = float(value) if is_single(value) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, ArithmeticError):  # 10**400 is past every double
        number = math.nan
    if math.isfinite(number):
        return number
    raise out_of_range(name, rule, value)


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


def switch(name: str, value: object) -> bool:
    """Return an argument that must be True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise out_of_range(name, "True or False", value)


def plain_labels(name: str, labels: object) -> None:
    """Refuse labels that cannot be told apart, such as lists and tables."""
    try:
        values = np.asarray(labels)
    except (TypeError, ValueError, RuntimeError) as error:
        raise not_an_array(name, error) from None
    try:
        plain = values.dtype.kind != "V" and (
            values.dtype.kind != "O" or bool({*values.ravel().tolist()})
        )
    except TypeError:
        plain = False
    if not plain and values.size:
        raise labels_not_plain(name)


@contextmanager
def within_doubles(name: str) -> Iterator[None]:
    """Refuse numbers past the largest double in the words of calibrant, whoever meets them."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ArithmeticError:
        raise InputError(
            f"{name} must hold numbers that doubles can hold, at most 1.8e308 in size. "
            "Convert the column first."
        ) from None


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse an argument that is not one of some words; a table cannot be compared with them."""
    if not isinstance(value, str) or value not in allowed:
        raise not_among(name, value, allowed)


def clip_or_none(value: object) -> float | None:
    """Return an argument that moves scores into [clip, 1 - clip], or None, which leaves them."""
    if value is None:
        return None
    # below 1e-16 a double takes 1 - clip for 1, which has no log-odds
    if is_number(value) and 1e-16 <= value < 0.5:
        return float(value)
    raise InputError(
        "clip must be a number strictly between 0 and 0.5 (1e-16 or more), or None for scores as "
        f"they are, but it is {shown(value)}. With clip=0.001 a score of 0 counts as 0.001, and a "
        "score of 1 as 0.999."
    )


def not_among(name: str, value: object, allowed: Sequence[str]) -> InputError:
    near = _near(value, allowed)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    return InputError(f"{name} must be one of {_listed(allowed)}, but it is {shown(value)}.{hint}")


def not_for_clusters(what: str, instead: str) -> InputError:
    return InputError(
        f"{what} does not carry over to rows that come in clusters, which are not independent. "
        f"Use {instead}."
    )


def cluster_too_large(size: int, most: int) -> InputError:
    return InputError(
        f"A cluster has {size:,} rows, but max_cluster_size is {most:,}. It must be a limit that "
        "was known before the data; leave rows out beyond it by a rule of your own, or use "
        'estimand="cluster", which needs no limit.'
    )


def cluster_size_missing() -> InputError:
    return InputError(
        'With clusters, estimand="row" needs max_cluster_size: the most rows that a cluster can '
        "have, known before the data and not read off them. Pass it, or let every cluster count "
        'once with estimand="cluster" (on the command line: --max-cluster-size, or --estimand '
        "cluster)."
    )


def nothing_to_certify(name: str) -> InputError:
    return InputError(f"{name} names no model. Pass at least one, as {{name: scores}}.")


def groups_missing() -> InputError:
    return InputError(
        "Say what the statements are about: y_prob as {name: scores} for several models, or "
        "groups=, one value for each row. For one statement use certify."
    )


def no_formula(method: str) -> InputError:
    return InputError(
        f'method="{method}" has no formula for the rows it takes, because its bound depends on '
        'each row. Plan with method="certified", and name it to certify as well.'
    )


def clusters_missing() -> InputError:
    return InputError(
        "estimand and max_cluster_size say how clusters count, but there are none. "
        "Pass clusters=, one value for each row (on the command line: --clusters COLUMN)."
    )


def too_few_clusters() -> InputError:
    return InputError("All rows are in one cluster: two independent ones are the least.")


def tally_inexact(error: float, at_most: float) -> InputError:
    return InputError(
        f"A tally holds no rows: it proves only that the calibration error lies between "
        f"{error:.6g} and {at_most:.6g}. audit(tally) reports both bounds; a finer tally, "
        "Predictions(...).tally(level=...), brings them closer."
    )


def tally_hides(what: str) -> InputError:
    return InputError(
        f"A tally holds no rows, and what it holds does not give {what} exactly. "
        "Pass the rows, or see what audit(tally) can say."
    )


def curve_hidden(what: str) -> InputError:
    return InputError(
        f"This audit is of a tally, which holds no rows, and its cells are too wide to draw "
        f"{what}. Audit the rows, or a finer tally: Predictions(...).tally(level=...)."
    )


def groups_not_audited() -> InputError:
    return InputError(
        "There are no groups to draw: the audit was made without by=, or no group has rows "
        "enough. Name the columns that make them, such as audit(..., by={'sex': sex})."
    )


def not_axes(kind: str) -> InputError:
    return InputError(
        f"ax must be one Axes of matplotlib, but it is a {kind}. Pass one of several by its "
        "place, such as ax=axes[0, 1], or none for a figure of its own."
    )


def needs_binary(what: str) -> InputError:
    return InputError(f"Labels must be 0/1 for {what}; soft labels are not outcomes.")


def needs_row_counts(what: str) -> InputError:
    return InputError(
        f"Weights must be whole numbers (row counts) for {what}: it is a claim about rows."
    )


def counts_too_large(total: float) -> InputError:
    return InputError(
        f"Weights are row counts here, and their sum {total:.3g} is past 2**53, where doubles no "
        "longer count one by one."
    )


def too_many_rows(what: str, count: int, most: int) -> InputError:
    return InputError(
        f"There may be {count:,} {what}, and this method looks at each: it takes at most {most:,}. "
        'Use one that works on sums: method="certified", or method="asymptotic" for the test.'
    )


def no_estimate(what: str, why: str) -> InputError:
    return InputError(f"There is no finite {what}: {why}.")


def scores_without_odds(name: str, count: int, row: int | None, value: float) -> InputError:
    return InputError(
        f"{name} must lie strictly between 0 and 1 for log-odds, but {_rows(count)} of it hold 0 "
        f"or 1{_first(row)} with {shown(value)}. Pass clip=, such as clip=0.001 (on the command "
        "line: --clip 0.001), to move scores into [0.001, 0.999] for slope and intercept alone; or "
        "use observed_expected_ratio, which needs no log-odds."
    )


def gate_without_bound(why: str, *, fitted_here: bool) -> InputError:
    # an error of 0 on rows that may have been fitted to must not pass as an estimate
    way_out = (
        "" if fitted_here else " Add --gate estimate to compare the error measured on these rows."
    )
    return InputError(
        f"--max-error compares the certified upper bound, and there is none. {why}{way_out}"
    )


def scores_need_column() -> InputError:
    return InputError("--scores needs --prob, the name of the column that holds them.")


def column_needs_scores() -> InputError:
    return InputError("--prob names a column of --scores FILE, but there is no file.")


def band_too_sure(most: float, value: float) -> InputError:
    return InputError(
        f"confidence must be at most {most} for a consistency band, which is drawn by simulation, "
        f"but it is {shown(value)}. confidence_band takes any."
    )


def calibrator_unreadable(why: str) -> InputError:
    return InputError(
        f"This is not a calibrator that calibrant can read: {why}. Write it with to_json()."
    )


def too_many_blocks(most: int) -> InputError:
    return InputError(
        f"This calibrator has more than {most:,} blocks, and calibrant keeps and reads at most "
        "that many. Fit one of fewer blocks, such as HistogramCalibrator with fewer bins, or "
        "PlattCalibrator or BetaCalibrator, which have two or three numbers."
    )


def calibrator_too_large(size: int, most: int) -> InputError:
    return InputError(
        f"This is not a calibrator that calibrant can read: it takes {size:,} bytes or more, and "
        f"calibrant reads at most {most:,}, twice what the most blocks take. Write it with "
        "to_json()."
    )


def too_many_for_sql(blocks: int, most: int) -> InputError:
    return InputError(
        f"This calibrator has {blocks:,} blocks, and an SQL expression would hold each of them: "
        f"engines take minutes and gigabytes to read more than {most:,}. Use `calibrant apply` on "
        "a file, or export it to ONNX."
    )


def exactly(found: dict[str, object], names: Sequence[str], what: str) -> None:
    """Refuse a JSON object that lacks a name or has one that is not known."""
    missing = [name for name in names if name not in found]
    unknown = [name for name in found if name not in names]
    if missing or unknown:
        wrong = f"lack {_listed(missing)}" if missing else f"hold {_listed(unknown)}, which is new"
        raise calibrator_unreadable(f"{what} {wrong}")


def number_in(found: dict[str, object], name: str) -> float:
    """Return a finite number out of a JSON object."""
    value = found[name]
    try:
        number = float(value) if type(value) in {int, float} else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise calibrator_unreadable(f"{name} is {shown(value)}, not a number")
    return number


def numbers_in(found: dict[str, object], name: str) -> FloatArray:
    """Return a list of numbers out of a JSON object."""
    values = found[name]
    if type(values) is not list or not set(map(type, values)) <= {int, float}:
        raise calibrator_unreadable(f"{name} is not a list of numbers")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise calibrator_unreadable(f"{name} holds a number past the largest double") from None


def one_class() -> InputError:
    return InputError(
        "A calibrator needs rows with and without the event, but y_true holds one class only. "
        "Add rows of the other class."
    )


def weights_too_heavy(total: float, most: float) -> InputError:
    return InputError(
        f"sample_weight adds up to {total:.3g}, next to which a new row of weight 1 is nothing "
        f"(the limit is {most:g}). Divide the weights by their mean."
    )


def weights_light(mean: float) -> str:
    return (
        f"Weights are {mean:.3g} on average, and a new row has weight 1, so that it counts as "
        f"{1 / mean:.3g} fitting rows. Divide the weights by their mean, unless this is meant."
    )


def one_class_only(label: object) -> InputError:
    label = label.item() if hasattr(label, "item") else label
    return InputError(
        f"A classifier needs rows of two classes, but y holds one class only: {shown(label)}. "
        "Add rows of the other class."
    )


def nothing_varies(rate: float) -> str:
    return (
        f"No feature varies, so that every row gets the same probability, {rate:.4g}. "
        "Give X columns that differ between rows."
    )


def nothing_found(rate: float) -> str:
    return (
        "No direction was found in which the event becomes more frequent, so that every row gets "
        f"the same probability, {rate:.4g}. Add features that go up or down with the event, such "
        "as squares and products of those there are; outliers may hide the others."
    )


def not_converged(max_iter: int, tol: float) -> str:
    return (
        f"Learning stopped after {max_iter} steps, before it had converged. Raise max_iter, or "
        f"raise tol (now {tol:g}) to accept less progress; the best direction so far is kept."
    )


def features_too_large() -> InputError:
    return InputError(
        "X holds numbers too large to be added up. Scale its columns, for example with "
        "sklearn.preprocessing.StandardScaler."
    )


def too_few_to_hold_back(least: int, share: float) -> InputError:
    return InputError(
        f"early_stopping needs both classes in both parts, but it holds back {share:g} of the rows "
        f"and the rarer class has {least}. Give more rows, change validation_fraction, or turn "
        "it off."
    )


def classes_unknown(unknown: Sequence[object], known: Sequence[object]) -> InputError:
    return InputError(
        f"y holds {_listed(unknown, show=shown)}, which the frozen classifier was not trained on: "
        f"it knows {_listed(known, show=shown)}. Use the labels of its training."
    )


def columns_not_classes(columns: int, classes: int) -> InputError:
    return InputError(
        f"The classifier's scores must have a column for each of the {classes} classes, but they "
        f"have {columns}, or one for each pair of classes. For an SVC set "
        'decision_function_shape="ovr".'
    )


def folds_without_class(folds: int, rows: int) -> InputError:
    return InputError(
        f"cv={folds} folds need {folds} rows of every class, but one class has {rows}. Use fewer "
        "folds, or a classifier that is trained already: FrozenEstimator(classifier)."
    )


def too_few_for_folds(rows: float, folds: int) -> InputError:
    return InputError(
        f"Held-out results need at least {folds} rows, one for each fold, but there are {rows:g}."
    )


def class_too_small_for_folds(rows: float) -> InputError:
    return InputError(
        f"Held-out results need two rows of each class at least, but one class has {rows:g}. "
        "Add rows of it."
    )


def too_few_to_fit(rows: int) -> InputError:
    return InputError(f"A calibrator needs two rows at least, but there is {rows}. Add rows.")


def costs_missing() -> InputError:
    return InputError(
        "Say what errors cost: false_positive= and false_negative=, or matrix=[[c00, c01], "
        "[c10, c11]], c_ij the cost of deciding i when the truth is j."
    )


def costs_twice() -> InputError:
    return InputError("Pass false_positive and false_negative, or matrix, but not both.")


def costs_zero() -> InputError:
    return InputError(
        "false_positive and false_negative are both 0, so every decision costs the same and "
        "there is nothing to decide. Give at least one of them a cost."
    )


def cost_negative(name: str, value: float) -> InputError:
    return InputError(
        f"{name} must not be negative, but it is {shown(value)}. A gain from the right action goes "
        "into matrix=[[c00, c01], [c10, c11]] as a negative cost."
    )


def cost_per_row(name: str) -> InputError:
    return InputError(
        f"{name} must be one number here: costs that differ from row to row make the threshold "
        "differ, and no single curve, threshold or bound applies to all rows. decide() and "
        "expected_cost() take a cost for each row."
    )


def cost_in_row(name: str, row: int, value: float) -> InputError:
    return InputError(
        f"{name} must be a number between 0 and {MOST_COST:g} in every row, but row {row} (the "
        f"first row is 0) holds {shown(value)}."
    )


def row_costs_zero(row: int) -> InputError:
    return InputError(
        f"Both costs are 0 in row {row} (the first row is 0), so there is nothing to decide. "
        "Leave such rows out."
    )


def no_partition(given: object) -> InputError:
    return InputError(
        "partition must be 'tree', 'kmeans', a scikit-learn tree or clusterer, or a function of "
        f"X, but it is {shown(given)}."
    )


def regions_not_plain(shape: tuple[int, ...], kind: str, rows: int) -> InputError:
    return InputError(
        f"partition must give one whole number or word for each row, {rows} in all, but it gives "
        f"an array of shape {shape} and kind {kind}."
    )


def model_without_scores(kind: str, method: str) -> InputError:
    return InputError(
        f"model must be a fitted classifier with {method}, but {kind} has none. A model of margins "
        "gets probabilities from CalibratedClassifier(model).fit(X, y)."
    )


def label_unknown(
    value: object, row: int | None, classes: Sequence[object], name: str = "y"
) -> InputError:
    where = "" if row is None else f", first in row {row}"
    return InputError(
        f"{name} must hold labels that the model knows, {shown(classes[0])} and "
        f"{shown(classes[1])}, but it holds {shown(value)}{where}."
    )


def not_an_audit(kind: str) -> InputError:
    return InputError(
        f"audit must be what calibrant.audit returns, but it is of type {kind}. Use "
        "from_predictions for labels and scores."
    )


def not_a_calibrator(kind: str) -> InputError:
    return InputError(
        f"calibrator must be a calibrator such as IsotonicCalibrator(), but it is of type {kind}."
    )


def not_a_path(name: str, why: object) -> InputError:
    return InputError(f"{name} must be the name of a file that can be written ({named(why, 200)}).")


def weight_infinite(name: str) -> InputError:
    return InputError(f"{name} must hold finite numbers, but some are not. Fix these rows.")


def size_uncounted(epsilon: float, least: float) -> InputError:
    return InputError(
        f"epsilon={shown(epsilon)} takes more than 2**53 rows, past which doubles no longer count "
        f"one by one. Plan for epsilon={shown(least)} or more."
    )


def model_lacks(name: str, kind: str, method: str) -> InputError:
    return InputError(f"{name} must be a fitted classifier with {method}, but {kind} has none.")


def two_classes_only(kind: str) -> InputError:
    return InputError(
        f"Only binary classification is supported. The type of the target is {kind}. Turn y into "
        "one class against the rest, such as y == 'the class'."
    )


def matrix_shape(value: object) -> InputError:
    return InputError(
        f"matrix must be 2 x 2 finite numbers, [[c00, c01], [c10, c11]], at most {MOST_COST:g} in "
        f"size, but it is {shown(value)}."
    )


def matrix_one_sided(a: float, b: float) -> InputError:
    if a == b == 0:
        why = "both actions cost the same, whatever the truth"
    elif a <= 0 <= b:
        why = "acting never costs more than not acting, so always act"
    elif b <= 0 <= a:
        why = "not acting never costs more than acting, so never act"
    else:
        why = "acting is right when there is no event; swap its rows, or the labels"
    return InputError(f"There is nothing to decide by probability: {why}.")


def data_missing(name: str, folder: str) -> InputError:
    return InputError(
        f"There is no {name} (or {name}.gz) in {_path(folder)}. Put the UCI file there, or name no "
        "folder, and it is downloaded."
    )


def data_folder_missing(folder: str) -> InputError:
    return InputError(
        f"There is no folder {_path(folder)}. Name the one that has the UCI files with --data-dir "
        "or CALIBRANT_DATA, or neither, and they are downloaded."
    )


def not_a_folder(path: str) -> InputError:
    return InputError(
        f"{_path(path)} is a file, not a folder. Name a folder, which is made if need be."
    )


def data_changed(name: str, place: str) -> InputError:
    return InputError(
        f"{_path(place)} is not the {name} that results are known for: its hash differs, as it "
        "does if a download was cut off. Download it again."
    )


def data_unreachable(name: str, url: str, why: str) -> InputError:
    return InputError(
        f"{name} could not be downloaded from {named(url)} ({named(why, 200)}). Put it in a folder "
        "and name that folder with --data-dir or CALIBRANT_DATA."
    )


def file_missing(path: str) -> InputError:
    return InputError(f"There is no file {_path(path)}. Check the name and the folder.")


def not_a_file(path: str) -> InputError:
    return InputError(
        f"{_path(path)} is a folder without Parquet files, or a device. "
        "Name a file that holds the rows."
    )


def folder_missing(path: str, folder: str) -> InputError:
    return InputError(
        f"There is no folder {_path(folder)} to write {_path(path)} in. Make it first."
    )


def file_kind(path: str, endings: Sequence[str]) -> InputError:
    return InputError(
        f"{_path(path)} is not a file that calibrant reads: its name must end in "
        f"{_listed(endings, most=20)}. Export the table to CSV or Parquet."
    )


def file_without_rows(path: str) -> InputError:
    return InputError(f"{_place(path)} is empty: at least one row is needed below the header.")


def file_all_missing(path: str, rows: int) -> InputError:
    return InputError(
        f"All {rows:,} rows of {_place(path)} have a missing value, so nothing is left to measure. "
        "Check the columns named on the command line, such as --label and --prob."
    )


def file_unreadable(path: str, why: str) -> InputError:
    return InputError(f"{_place(path)} could not be read. DuckDB says: {_said(why)}")


def query_failed(engine: str, why: str) -> InputError:
    return InputError(f"The table could not be read. {engine} says: {_said(why)}")


def not_a_connection(kind: str) -> InputError:
    return InputError(
        "connection must be a URL such as 'postgresql+psycopg://user@host/database', or an Engine "
        f"or Connection of SQLAlchemy, but is of type {kind}."
    )


def texts_among_numbers(name: str, text: object) -> InputError:
    return InputError(
        f"{name} holds values of several kinds, such as {shown(text)} next to numbers. Ask for "
        "rows of one kind by a query with a WHERE, or with a CAST."
    )


def not_a_name(name: str, kind: str) -> InputError:
    return InputError(f"{name} must be a text, but is of type {kind}.")


def connection_setting(name: str, value: str) -> InputError:
    wanted = {"extra_float_digits": "3", "datestyle": "'ISO'"}[name]
    return InputError(
        f"This connection has {name} = {named(value)}, so that values lose something on their way. "
        f"Run SET {name} = {wanted} on it first, or pass the engine or URL."
    )


def table_or_query() -> InputError:
    return InputError("Give either the name of a table or query=, a SELECT; not both, not neither.")


def url_unreadable() -> InputError:
    return InputError(
        "The URL of the database cannot be read. It looks like postgresql+psycopg://host/database, "
        "with the user, a colon, the password and an at sign before the host; an at sign or a "
        "slash in a password is written as %40 or %2F."
    )


def database_unknown(why: str) -> InputError:
    return InputError(
        f"SQLAlchemy does not know this kind of database. It says: {_said(why)} Install its "
        "dialect, or check the beginning of the URL: postgresql+psycopg://, sqlite:///, mysql+pymysql://."
    )


def driver_missing(module: str) -> InputError:
    packages = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary"}
    packages |= {"MySQLdb": "mysqlclient"}
    return InputError(
        f"The driver {shown(module)} that this URL asks for is not installed. Install it with: "
        f"pip install '{packages.get(module, module)}'"
    )


def table_too_long(rows: int, most: int) -> InputError:
    return InputError(
        f"This needs every row in memory, up to {most:,} of them, but the table has {rows:,}. "
        "Pass a random sample of the rows."
    )


def not_a_table(kind: str) -> InputError:
    return InputError(
        f"label= and prob= name columns of a table, but this is a {kind}. Pass a pandas, polars or "
        "pyarrow table, a polars LazyFrame or a DuckDB relation; or arrays, as (y_true, y_prob)."
    )


def columns_unnamed(missing: Sequence[str]) -> InputError:
    return InputError(
        f"{' and '.join(missing)} must name a column of the table, such as label='y', prob='p'."
    )


def array_with_table(names: Sequence[str]) -> InputError:
    return InputError(
        f"{', '.join(names)} cannot be given next to a table. Name its columns: label=, prob= and, "
        "for weights, weight=."
    )


def groups_unnamed(by: object) -> InputError:
    return InputError(
        f"by must name columns of the table, each once, such as by=['sex', 'region'], but it is "
        f"{shown(by)}. Next to arrays pass them: by={{'sex': sex}}."
    )


def too_few_models(name: str, example: str) -> InputError:
    return InputError(f"{name} must name two models or more, each once, such as {example}.")


def file_or_sql() -> InputError:
    return InputError(
        "Name a file, or write a SELECT after --sql: one of the two. For a database: --url."
    )


def variable_unset(name: str) -> InputError:
    return InputError(
        f"--url env:{named(name)} asks for the environment variable {named(name)}, "
        f"which is not set: export {named(name)}=postgresql+psycopg://..."
    )


def table_without_url() -> InputError:
    return InputError("--table is a table of a database: say which one by --url.")


def one_of_database() -> InputError:
    return InputError(
        "--url names a database: say what to read there by either --table or --sql, and no file."
    )


def secret_out_of_place() -> InputError:
    return InputError(
        "A word of this command looks like the address of a database with its password. Give it as "
        "--url, and what to read there by --table or --sql."
    )


def file_is_url() -> InputError:
    return InputError(
        "This looks like the address of a database, not a file. Give it as --url, and what to read "
        "there by --table or --sql."
    )


def not_a_select(why: str = "") -> InputError:
    return InputError(
        "The query must be one SELECT, and nothing else: it is read, never run for effect. "
        f"{why}".strip()
    )


def query_not_parsed(engine: str, why: str) -> InputError:
    return InputError(
        f"The query must be one SELECT, but it cannot be parsed as SQL of {engine} ({why}). If the "
        "database reads it, make a view of it there, and name that instead: table=, or --table."
    )


def query_in_two_ways(what: str) -> InputError:
    return InputError(
        f"The query must be one SELECT beyond doubt, but it holds {what}. A database may read that "
        "in two ways. Or make a view of it there, and name that instead: table=, or --table."
    )


def table_changes(found: int, expected: int) -> InputError:
    return InputError(
        f"The table changes while it is read: {found:,} rows where there were {expected:,} before. "
        "If its query draws rows or numbers at random, store its result first."
    )


def columns_twice(names: Sequence[object]) -> InputError:
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    return InputError(f"Columns must have different names, but there are several {_listed(twice)}.")


def column_of_two_roles(name: str) -> InputError:
    return InputError(
        f"Column {shown(name)} is named for two roles. Each needs a column of its own."
    )


def groups_unstable(name: str) -> InputError:
    return InputError(
        f"The engine does not tell the values of by column {shown(name)} apart the same way each "
        "time. A collation such as NOCASE does that: cast the column to text without it."
    )


def name_without_ending(path: str, ending: str) -> InputError:
    return InputError(f"{_path(path)} must be the name of a file that ends in {ending}.")


def file_exists(path: str) -> InputError:
    return InputError(f"There is a file {_path(path)} already. Add --overwrite to replace it.")


def output_ending(path: str, endings: Sequence[str]) -> InputError:
    return InputError(
        f"{_path(path)} must be the name of a file that ends in {' or '.join(endings)}. Name it so."
    )


def output_among_inputs(path: str) -> InputError:
    return InputError(
        f"{_path(path)} is one of the files that are read, so all rows would take the place of its "
        "own. Write to another file."
    )


def not_regular(path: str) -> InputError:
    return InputError(
        f"{_path(path)} is not a regular file but a device, a pipe or a folder, and nothing takes "
        "its place. Name a file."
    )


def not_printed(why: str) -> InputError:
    return InputError(f"The answer could not be printed ({named(why, 200)}). Print it elsewhere.")


def not_written(path: str, why: str) -> InputError:
    return WriteError(
        f"{_path(path)} could not be written ({named(why, 200)}), and everything is as it was "
        "before."
    )


def rows_too_long(path: str, memory: str) -> InputError:
    return InputError(
        f"{_place(path)} has rows so long that {memory} of memory hold too few of them. Leave out "
        "columns of long texts, and join the result to them."
    )


def column_exists(name: str, column: str) -> InputError:
    return InputError(
        f"There is a column {shown(column)} already, so none can be added as {shown(name)}. Give "
        "it another name: --name calibrated_2."
    )


def columns_renamed(new: Sequence[str]) -> InputError:
    return InputError(
        "Columns must have names, and these must differ in more than upper and lower case, but "
        f"DuckDB would have to call some of them {_listed(new, show=shown)}. Rename them first."
    )


def headers_differ(one: str, other: str) -> InputError:
    return InputError(
        f"{_path(one)} and {_path(other)} begin with different lines, so that they cannot be one "
        "table with one header. Apply the calibrator to each of them."
    )


def folder_replaces(column: str) -> InputError:
    return InputError(
        f"There are folders named {named(column)}=..., and a column {shown(column)} in the files, "
        "which their names would replace. Rename one of them."
    )


def types_differ(column: str) -> InputError:
    return InputError(
        f"Column {shown(column)} is not of one type, or not of one name, in all files, and made "
        "one it might not keep every digit. Apply the calibrator to each of them."
    )


def decimal_too_long(name: str, digits: int, most: int) -> InputError:
    return InputError(
        f"Column {shown(name)} has decimals of {digits} digits, and DuckDB keeps {most}. Leave it "
        f"out, or make it a decimal of {most} digits or fewer, or text."
    )


def nanoseconds_lost(name: str) -> InputError:
    return InputError(
        f"Column {shown(name)} has nanoseconds next to a time zone, which this version of DuckDB "
        "does not keep: pip install --upgrade duckdb. Or make it microseconds first."
    )


def output_missing(kind: str) -> InputError:
    return InputError(
        f"--to {kind} writes a file that is not text: say where, as -o calibrator.{kind}."
    )


def option_of_sql(name: str) -> InputError:
    return InputError(f"{name} is for --to sql; an ONNX model has no columns. Leave it out.")


def not_shown(encoding: str) -> InputError:
    return InputError(
        f"The output is {encoding}, which lacks letters of the column's name. Write the SQL to a "
        "file: -o calibrator.sql."
    )


def not_visible() -> InputError:
    return InputError(
        "The column's name has control characters, which would reach the terminal. Write the SQL "
        "to a file: -o calibrator.sql."
    )


def overwrite_without_output() -> InputError:
    return InputError("--overwrite replaces a file: name it, as -o calibrator.sql.")


def open_without_html() -> InputError:
    return InputError("--open shows the HTML report: say where to write it, as --html report.html.")


def not_a_column_each(name: str, shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"{name} must be two-dimensional, one column for each model, but its shape is {shape}. "
        "Pass such an array, or {name: scores}; for one model use of_scores."
    )


def surer_than_simulated(most: float, value: float) -> InputError:
    return InputError(
        f"confidence must be below {most:.6g}, because the complexity was simulated and may be too "
        f"small in the rest of cases, but it is {shown(value)}. Simulate it with a smaller error=."
    )


def not_one_per_point(name: str, shape: tuple[int, ...], points: int) -> InputError:
    return InputError(
        f"{name} must give one number for each of {points:,} points, but its shape is {shape}."
    )


def not_a_probability(name: str, point: int, value: float) -> InputError:
    return InputError(
        f"{name} must lie between 0 and 1 at every point, but at point {point} it is "
        f"{shown(value)}."
    )


def masses_no_law(least: float, total: float) -> InputError:
    return InputError(
        f"masses must be numbers, none of them under 0, that add up to 1, but the least is "
        f"{shown(least)} and their sum is {shown(total)}. Divide counts by their sum."
    )


def not_a_class(shape: tuple[int, ...]) -> InputError:
    return InputError(
        "patterns must be a table of 0 and 1 with a row for each classifier and a column for each "
        f"point, one or more of both, but its shape is {shape}."
    )
