"""Table: a lazy table and where it lives. Queries run there, and only their results come back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self, TypeAlias

from calibrant._types import AnyArray, FloatArray
from calibrant.core.expressions import Expression, col
from calibrant.data import refusals
from calibrant.data.memory.columns import numbers

Fetched: TypeAlias = dict[str, AnyArray]
#: What goes on while a query runs, such as a bar that shows how far it is.
Watch: TypeAlias = Callable[[], AbstractContextManager[None]]
#: The name of the column that numbers rows.
ROW = "row"


class Table(ABC):
    """A table in an engine. What is asked of it is a query, which runs when it is fetched.

    Attributes
    ----------
    engine : str
        Its engine, as people write it.
    kinds : mapping of str to narwhals DType
        The kind of each column.
    """

    engine: str
    #: Whether fewer groups with more sums each are faster than more groups with fewer.
    few_groups: bool = False

    @property
    @abstractmethod
    def kinds(self) -> Mapping[str, Any]:
        """Return the kind of each column."""

    @abstractmethod
    def chosen(self, columns: Mapping[str, str]) -> Self:
        """Return columns, which are there, under new names that mean nothing to any engine."""

    @abstractmethod
    def select(self, **terms: Expression) -> Self:
        """Return new columns only, or one row of sums."""

    @abstractmethod
    def with_columns(self, **terms: Expression) -> Self:
        """Add new columns."""

    @abstractmethod
    def filter(self, condition: Expression) -> Self:
        """Keep the rows where a condition holds."""

    @abstractmethod
    def grouped(self, by: Sequence[str], **sums: Expression) -> Self:
        """Add up the rows with the same values in some columns."""

    @abstractmethod
    def distinct(self) -> Self:
        """Keep one of all rows that are the same."""

    @abstractmethod
    def head(self, rows: int) -> Self:
        """Keep a few rows."""

    @abstractmethod
    def above(self, others: Sequence[Self]) -> Self:
        """Put the rows of other tables with the same columns under these."""

    @abstractmethod
    def keep_in(self, column: str, values: Sequence[int | str] | Sequence[int]) -> Self:
        """Keep the rows where a column, of whole numbers or of texts, holds one of many values."""

    def coded_words(self, _column: str, _words: Sequence[str], _new: str) -> Self | None:
        """Add a column that says which of some words a text is, or return None if it cannot."""
        return None

    def numbered(self) -> Self | None:
        """Add the number of each row, or return None if rows have no order in this engine."""
        return None

    def release(self) -> None:  # noqa: B027 (most engines keep nothing open)
        """Let go of what is kept open; the next query opens it again."""

    @abstractmethod
    def fetch(self) -> Fetched:
        """Run the query; a failure keeps the engine's own message."""

    def numbers(self) -> dict[str, FloatArray]:
        """Run a query that gives numbers only; the sum of no rows, which is null, is NaN."""
        return {name: numbers(values, 0, name) for name, values in self.fetch().items()}

    def number(self, term: Expression) -> float:
        """Return one sum over all rows."""
        return float(self.select(n=term).numbers()["n"][0])

    def columns(self, wanted: Mapping[str, str]) -> Self:
        """Return columns under new names, and refuse those that are not there."""
        for name in wanted.values():
            if name not in self.kinds:
                raise refusals.unknown_column(name, list(self.kinds), "the table")
        return self.chosen(wanted)

    def first(self, condition: Expression, value: Expression) -> tuple[int | None, Any]:
        """Return the first row where a condition holds (None without order), and a value of it."""
        lined_up = self.numbered()
        if lined_up is None:
            found = self.filter(condition).select(value=value).head(1).fetch()
            return None, found["value"].tolist()[0]
        rows = lined_up.filter(condition).select(row=col(ROW), value=value)
        row = int(rows.number(col(ROW).min()))
        return row, rows.filter(col(ROW) == row).select(value=col("value")).fetch()[
            "value"
        ].tolist()[0]


def unwatched() -> AbstractContextManager[None]:
    """Let a query run with nothing to see."""
    return nullcontext()


def quoted(name: str) -> str:
    """Quote a name as an SQL identifier, so that it is never code."""
    return '"' + name.replace('"', '""') + '"'
