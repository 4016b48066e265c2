"""The result of a comparison: what was found for each model, and for each pair of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from calibrant._figures import figure
from calibrant._text import named
from calibrant._writing import written
from calibrant.auditing.curves import Curves
from calibrant.auditing.details import Details
from calibrant.auditing.renderers import in_frame, rendered
from calibrant.certificates.certificate import Certificate, percent
from calibrant.errors import text_or_none
from calibrant.measures.clinical import Estimate
from calibrant.measures.interval import Interval

#: How sure it is which of two models is better calibrated.
Evidence: TypeAlias = Literal["proved", "significant", "none"]
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class ModelFinding:
    """What was found for one model.

    Attributes
    ----------
    name : str
        Its name.
    calibration_error : float
        c_emp, exact.
    worst_interval : Interval
        Largest differences.
    certificate : Certificate
        Finite-sample interval for its true calibration error, simultaneous over the models.
    asymptotic : Certificate
        The same by normal limits: a shorter interval, whose level holds in the limit of many rows.
    brier, log_loss : float
        Mean losses; log loss is inf if it was certain and wrong.
    """

    name: str
    calibration_error: float
    worst_interval: Interval
    certificate: Certificate
    asymptotic: Certificate
    brier: float
    log_loss: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model minus the second one: below 0 the first is better.

    Attributes
    ----------
    first, second : str
        Their names.
    calibration_error : Estimate
        Difference of the calibration errors measured, with a finite-sample interval for that of
        the true ones.
    calibration_error_asymptotic : Estimate
        The same with the interval that follows from the two asymptotic ones.
    brier : Estimate
        Difference of the mean losses, with the normal interval of the differences row by row.
    log_loss : Estimate or None
        The same; None if one of the two was certain and wrong, or gave a row a score of 0 or 1
        that the other did not: if that is ever wrong it costs infinitely much, which no sample
        rules out.
    """

    first: str
    second: str
    calibration_error: Estimate
    calibration_error_asymptotic: Estimate
    brier: Estimate
    log_loss: Estimate | None

    @property
    def better(self) -> str | None:
        """Name the model that is proved to be better calibrated; None if neither is."""
        return self._lower(self.calibration_error)

    @property
    def significantly_better(self) -> str | None:
        """Name the model that is proved or significantly better calibrated; None if neither is."""
        return self.better or self._lower(self.calibration_error_asymptotic)

    def _lower(self, difference: Estimate) -> str | None:
        """Name the model whose whole interval lies under that of the other one."""
        if difference.upper < 0:
            return self.first
        return self.second if difference.lower > 0 else None

    @property
    def evidence(self) -> Evidence:
        """How sure it is which one is better calibrated: "proved", "significant", or "none"."""
        if self.better is not None:
            return "proved"
        return "none" if self.significantly_better is None else "significant"

    @property
    def verdict(self) -> str:
        """Say which of the two is better calibrated, if that is shown, and by what."""
        if self.evidence == "none":
            names = f"{named(self.first)} and {named(self.second)}"
            return f"no difference in calibration is shown between {names}"
        return f"{self._order} ({self.evidence})"

    @property
    def _order(self) -> str:
        better = self.significantly_better
        other = self.second if better == self.first else self.first
        return f"{named(better)} is better calibrated than {named(other)}"


@dataclass(frozen=True)
class Comparison:
    """Several models on the same rows; `compare` makes one.

    Printed it is the findings in sentences, and a table of the models; in a notebook it is the
    report of `to_html`.

    Attributes
    ----------
    rows : int
        Rows, each counted as often as it weighs.
    confidence : float
        Simultaneous over the models, for what is proved of their calibration errors; for what is
        significant; for the Brier scores; and for the log losses.
    models : tuple of ModelFinding
        In the order given.
    differences : tuple of Difference
        Of every pair of models.
    warnings : tuple of str
        What is allowed but should be known.
    details : tuple of Details
        The diagram of each model and the rows, for `curves`, which are computed when first asked
        for: rows that were changed meanwhile are refused.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(20_000, seed=1)
    >>> comparison = cb.compare(y_true, {"old": y_prob**2, "new": y_prob})
    >>> print(comparison.summary[0])
    new has the smallest calibration error on these 20,000 rows: 0.003916.
    >>> [model.name for model in comparison.models]
    ['old', 'new']
    >>> comparison.differences[0].verdict
    'new is better calibrated than old (proved)'
    """

    rows: int
    confidence: float
    models: tuple[ModelFinding, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    details: tuple[Details, ...] = field(repr=False, compare=False)

    @cached_property
    def curves(self) -> tuple[Curves, ...]:
        """What pictures show of each model, without bands: those of several would hide it."""
        return tuple(one.curves(self.confidence, 0, independent=False) for one in self.details)

    @property
    def summary(self) -> tuple[str, ...]:
        """The findings in sentences."""
        best = min(self.models, key=lambda one: one.calibration_error)
        return (
            f"{named(best.name)} has the smallest calibration error on these {self.rows:,} rows: "
            f"{figure(best.calibration_error)}.",
            *self._calibration(),
            *self._losses(),
        )

    def _calibration(self) -> tuple[str, ...]:
        """Say which differences of calibration are proved, which significant, which neither."""
        orders: dict[Evidence, list[str]] = {"proved": [], "significant": [], "none": []}
        for pair in self.differences:
            orders[pair.evidence].append("" if pair.evidence == "none" else pair._order)
        sure, rest = percent(self.confidence), percent(self.confidence, rest=True)
        level = f"at the {sure} level (simultaneous over {len(self.models)} models)"
        shown: dict[Evidence, str] = {
            "proved": f"Proved {level}, if rows are independent",
            "significant": f"Significant at {rest} (simultaneous) by asymptotic intervals, not "
            "proved",
        }
        words = [
            f"{start}: {'; '.join(orders[kind])}." for kind, start in shown.items() if orders[kind]
        ]
        if not words:
            return (f"No difference in calibration is shown {level}.",)
        left = len(orders["none"])
        if left:
            others = "the other pair" if left == 1 else f"the other {left:,} pairs"
            words.append(f"No difference in calibration is shown for {others}.")
        return tuple(words)

    def _losses(self) -> tuple[str, ...]:
        """Say which losses are lower, where rows are many enough to tell."""
        lower = []
        for pair in self.differences:
            for name, found in (("Brier score", pair.brier), ("log loss", pair.log_loss)):
                if found is not None and not found.lower <= 0 <= found.upper:
                    order = (
                        (pair.first, pair.second) if found.upper < 0 else (pair.second, pair.first)
                    )
                    first, second = map(named, order)
                    lower.append(f"the {name} is lower for {first} than for {second}")
        words = f"By a normal limit at the same confidence: {'; '.join(lower)}."
        return (words,) if lower else ()

    def __repr__(self) -> str:
        return " ".join(self.summary)

    def __str__(self) -> str:
        return str(rendered("comparison text", self))

    def _repr_html_(self) -> str:
        """Show the report in a notebook, in a frame of its own."""
        return in_frame("Comparison of models", self.to_html, self.summary)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        data: str | None = None,
    ) -> str:
        """Return table and pictures as one HTML text, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it: whole or not at all.
        title : str, optional
            The title of the report.
        data : str, optional
            The name of the data, such as that of their file, which stands under the title.
        """
        names = {"title": text_or_none("title", title), "data": text_or_none("data", data)}
        return written(str(rendered("comparison html", self, **names)), path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "schema": "calibrant.comparison",
            "schema_version": SCHEMA_VERSION,
            "summary": list(self.summary),
            "rows": self.rows,
            "confidence": self.confidence,
            "models": [_model(one) for one in self.models],
            "differences": [_pair(one) for one in self.differences],
            "warnings": list(self.warnings),
        }


def _model(one: ModelFinding) -> dict[str, Any]:
    return {
        "name": one.name,
        "calibration_error": one.calibration_error,
        "worst_interval": one.worst_interval.to_dict(),
        "certificate": one.certificate.to_dict(),
        "asymptotic": one.asymptotic.to_dict(),
        "brier": one.brier,
        "log_loss": one.log_loss if math.isfinite(one.log_loss) else str(one.log_loss),
    }


def _pair(one: Difference) -> dict[str, Any]:
    return {**asdict(one), "evidence": one.evidence, "verdict": one.verdict}
