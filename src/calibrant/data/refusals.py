"""Refusals of data: what columns, tables and files must be, and the words where they are not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from calibrant._text import named, shown
from calibrant._types import FloatArray
from calibrant.errors import (
    InputError,
    Names,
    engine_words,
    first_row,
    listing,
    near_words,
    path_shown,
    place_shown,
    row_count,
)


def empty(name: str) -> InputError:
    return InputError(f"{name} is empty: at least one row is needed.")


def not_one_column(name: str, shape: tuple[int, ...]) -> InputError:
    if len(shape) == 2 and shape[1] == 2:
        way_out = f"For the output of predict_proba pass its second column: {name}[:, 1]."
    elif len(shape) == 2 and shape[1] > 2:
        way_out = _one_class_at_a_time(name)
    elif len(shape) == 2 and 1 in shape:
        way_out = f"Pass {name}.ravel()."
    else:
        way_out = "Pass one value for each row, as a list, an array or a column of a dataframe."
    return InputError(f"{name} must be one-dimensional, but its shape is {shape}. {way_out}")


def _one_class_at_a_time(name: str) -> str:
    """Say how probabilities of many classes are looked at, two outcomes at a time."""
    return (
        "For predict_proba of many classes look at one class against the rest, for each k: "
        f"(y == classes[k], {name}[:, k]), classes being the model's classes_; or at the "
        "confidence in what is predicted: "
        f"(y == classes[{name}.argmax(axis=1)], {name}.max(axis=1))."
    )


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
        f"{name} has missing values in {row_count(count)}{first_row(row)}. "
        "Remove or fill these rows."
    )


def not_numeric(name: str, row: int | None, value: object) -> InputError:
    way_out = "Convert the column to numbers first."
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", named(value)):
        way_out = (
            "If that is a decimal comma: DuckDB reads such a file by read_csv('mine.csv', "
            "decimal_separator=','), and pandas by read_csv(..., decimal=',')."
        )
    return InputError(
        f"{name} must hold numbers, but{first_row(row, '') or ' it'} holds {shown(value)}. "
        f"{way_out}"
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
        f"{name} must lie between 0 and 1, but {row_count(count)} {verb} not"
        f"{first_row(row)} with {shown(value)}. {way_out} "
        "Log-odds (logits) become probabilities by 1 / (1 + exp(-score)); margins of "
        "decision_function by cb.CalibratedClassifier(LinearSVC(), cb.PlattCalibrator()).fit(X, y)."
    )


def swapped(names: Names) -> InputError:
    return InputError(
        f"{names.prob} holds only 0 and 1 while {names.label} holds fractions: arguments swapped? "
        f"{names.label} must be the outcomes and {names.prob} the probabilities."
    )


def labels_not_binary(name: str, values: Sequence[object]) -> InputError:
    return InputError(
        f"{name} must hold two label values, but it holds {len(values)} or more: "
        f"{listing(values, show=shown)}. Keep the rows of two classes, or turn the column into "
        "one class against the rest, such as y_true == 'the class'."
    )


def labels_need_pos_label(name: str, values: Sequence[object]) -> InputError:
    given = " or ".join(f"pos_label={shown(value)}" for value in values)
    return InputError(
        f"{name} holds the labels {listing(values, show=shown)}; say which one is the event whose "
        f"probability the scores are: {given}. What takes no pos_label takes labels == the event. "
        "Without it labels must be 0/1, -1/1, True/False, or fractions between 0 and 1."
    )


def labels_lack_pos_label(name: str, pos_label: object, values: Sequence[object]) -> InputError:
    near = near_words(pos_label, values)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    return InputError(
        f"pos_label={shown(pos_label)} is not among the labels of {name}: "
        f"{listing(values, show=shown)}.{hint} Pass one of them."
    )


def labels_not_plain(name: str) -> InputError:
    return InputError(
        f"{name} must hold plain labels, such as numbers, words or booleans. "
        "Convert the column first."
    )


def weight_negative(name: str, count: int, row: int | None, value: float) -> InputError:
    return InputError(
        f"{name} must not be negative, but {row_count(count)} {'is' if count == 1 else 'are'}"
        f"{first_row(row)} with {shown(value)}. Remove these rows or fix them."
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
    near = near_words(column, columns, most=3, cutoff=0.5)
    lower = [name for name in columns if name.lower() == named(column).lower()]
    near = lower + [name for name in near if name not in lower]
    hint = f" Did you mean {' or '.join(map(shown, near))}?" if near else ""
    return InputError(
        f"There is no column {shown(column)} in {named(source)}.{hint} "
        f"Its columns are: {listing(columns, most=30)}."
    )


def argument_missing(name: str) -> InputError:
    return InputError(
        f"{name} is missing. Pass (y_true, y_prob), or a Predictions or a Tally alone."
    )


def argument_superfluous(names: Sequence[str], kind: str) -> InputError:
    return InputError(
        f"{', '.join(names)} cannot be given with a {kind}, which holds labels, scores and "
        f"weights already. Pass the {kind} alone."
    )


def scores_without_odds(name: str, count: int, row: int | None, value: float) -> InputError:
    return InputError(
        f"{name} must lie strictly between 0 and 1 for log-odds, but {row_count(count)} of it hold "
        f"0 or 1{first_row(row)} with {shown(value)}. Pass clip=, such as clip=0.001, to "
        "move scores into [0.001, 0.999] for slope and intercept alone; or use "
        "observed_expected_ratio, which needs no log-odds."
    )


def file_missing(path: str) -> InputError:
    return InputError(f"There is no file {path_shown(path)}. Check the name and the folder.")


def file_without_rows(path: str) -> InputError:
    return InputError(f"{place_shown(path)} is empty: at least one row is needed below the header.")


def query_failed(engine: str, why: str) -> InputError:
    return InputError(f"The table could not be read. {engine} says: {engine_words(why)}")


def url_unreadable() -> InputError:
    return InputError(
        "The URL of the database cannot be read. It looks like postgresql+psycopg://host/database, "
        "with the user, a colon, the password and an at sign before the host; an at sign or a "
        "slash in a password is written as %40 or %2F."
    )


def columns_unnamed(missing: Sequence[str]) -> InputError:
    return InputError(
        f"{' and '.join(missing)} must name a column of the table, such as label='y', prob='p'."
    )


def array_with_table(names: Sequence[str]) -> InputError:
    return InputError(
        f"{', '.join(names)} cannot be given with a table. Name its columns: label=, prob= and, "
        "for weights, weight=."
    )


def too_few_models(name: str, example: str) -> InputError:
    return InputError(f"{name} must name two models or more, each once, such as {example}.")


def not_a_select(why: str = "") -> InputError:
    return InputError(
        "The query must be one SELECT, and nothing else: it is read, never run for effect. "
        f"{why}".strip()
    )


def rows_change() -> InputError:
    return InputError(
        "The rows have changed since they were first read, so that no answer would be that of "
        "either. Pass copies of arrays that something else writes to, and ask again."
    )


def table_changes(found: int, expected: int) -> InputError:
    return InputError(
        f"The table changes while it is read: {found:,} rows where there were {expected:,} before. "
        "If its query draws rows or numbers at random, store its result first."
    )


def columns_twice(names: Sequence[object]) -> InputError:
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    return InputError(f"Columns must have different names, but there are several {listing(twice)}.")
