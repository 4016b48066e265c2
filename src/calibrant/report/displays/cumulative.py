"""The cumulative diagram: observed minus predicted events, added up along the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from calibrant._figures import figure, rounded_down, rounded_up
from calibrant._types import FloatArray
from calibrant.auditing.curves import DifferenceCurve
from calibrant.auditing.result import Audit
from calibrant.report.displays.base import RowsDisplay, models_of
from calibrant.report.formats import number
from calibrant.report.overlay import Model, best_of, columns_of, lines_of
from calibrant.report.pictures import (
    Axis,
    Layer,
    Line,
    Picture,
    Points,
    by_chance,
    consistency_area,
    worst_span,
)


class CumulativeDisplay(RowsDisplay):
    """Observed minus predicted events, added up along the scores.

    Where the curve falls the scores are too high, where it rises they are too low, and its range is
    the calibration error: the height between the two ends of the worst interval, which is shaded.
    The band shows where, pointwise, the curve would lie if the scores were right.

    Parameters
    ----------
    audit : Audit
        What is drawn.

    Attributes
    ----------
    ax_ : Axes of matplotlib
        Where it was drawn.
    figure_ : Figure of matplotlib
        The figure that these axes are in.

    Examples
    --------
    >>> import calibrant as cb
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> y_true, y_prob = [0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4]
    >>> display = cb.CumulativeDisplay.from_predictions(y_true, y_prob, ax=ax)
    >>> display
    <CumulativeDisplay: Calibration error 0.35: chance alone can explain it>
    >>> display.frame()["share"]
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    def _described(self) -> Picture:
        return cumulative_picture(self.audit)

    @classmethod
    def _overlaid(cls, models: Sequence[tuple[str, Audit]]) -> Picture:
        counts = all(one.data.weights_integer for _, one in models)
        curves = [one.curves.difference for _, one in models]
        return cumulative_overlay(models_of(models), curves, counts=counts)


def cumulative_picture(audit: Audit) -> Picture:
    """Describe observed minus predicted events along the scores."""
    curve = audit.curves.difference
    parts = (curve.difference, curve.consistent_lower, curve.consistent_upper)
    x, y = _axes([one for one in parts if one is not None], counts=audit.data.weights_integer)
    return Picture(
        name="difference",
        title="Observed minus predicted, added up",
        text=f"Its range is the calibration error, {_error(audit)}. Where it falls, scores are too "
        "high; where it rises, too low.",
        finding=_finding(audit),
        x=x,
        y=y,
        layers=tuple(_layers(audit)),
        columns=curve.frame(),
    )


def cumulative_overlay(
    models: Sequence[Model], curves: Sequence[DifferenceCurve], *, counts: bool = True
) -> Picture:
    """Describe observed minus predicted events along the scores of several models."""
    x, y = _axes([one.difference for one in curves], counts=counts)
    shown = [(one.share, one.difference) for one in curves]
    return Picture(
        name="difference",
        title="Observed minus predicted, added up",
        text="The range of a line is the calibration error of that model. Where it falls, scores "
        "are too high; where it rises, too low. Each model has an order of its own.",
        finding=best_of(models),
        x=x,
        y=y,
        layers=(
            Line(
                "diagonal",
                "perfectly calibrated",
                "perfectly calibrated: no difference",
                np.array([0, 1]),
                np.zeros(2),
            ),
            *lines_of(models, shown, "share", "difference"),
        ),
        columns=columns_of(
            models,
            [
                {name: getattr(one, name) for name in ("score", "share", "difference")}
                for one in curves
            ],
        ),
    )


def _axes(curves: Sequence[FloatArray], *, counts: bool) -> tuple[Axis, Axis]:
    """Return axes that hold all curves."""
    values = np.concatenate(curves)
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 0.01
    unit, each = ("rows", "row") if counts else ("weight", "unit of weight")
    return (
        Axis(f"share of the {unit}, in order of score", 0, 1),
        Axis(f"difference in events, per {each}", low - margin, high + margin),
    )


def _error(audit: Audit) -> str:
    """Show the calibration error, or both of its bounds where a tally hides it."""
    if audit.exact:
        return number(audit.calibration_error)
    most = rounded_up(audit.calibration_error_at_most)
    return f"between {rounded_down(audit.calibration_error)} and {most}"


def _finding(audit: Audit) -> str:
    error, most = audit.calibration_error, audit.calibration_error_at_most
    found = figure(error, 3)
    if not audit.exact:
        found = f"between {rounded_down(error)} and {rounded_up(most)}"
    worst = audit.worst_intervals[0]
    if worst.verdict == "exact":
        return f"Calibration error {found}"
    if by_chance(audit):
        return f"Calibration error {found}: chance alone can explain it"
    return f"Calibration error {found}: {worst.where} are {worst.verdict}"


def _layers(audit: Audit) -> Iterator[Layer]:
    curve, worst = audit.curves.difference, audit.worst_intervals[0]
    ends = np.array([-np.inf if worst.p1 is None else worst.p1, worst.p2])
    places = np.searchsorted(curve.score[1:], ends, side="right")
    yield from worst_span(audit, *curve.share[places].tolist())
    yield from consistency_area(audit, curve.share, curve.consistent_lower, curve.consistent_upper)
    yield Line(
        "diagonal",
        "perfectly calibrated",
        "perfectly calibrated: no difference",
        np.array([0, 1]),
        np.zeros(2),
    )
    yield Line(
        "curve",
        "observed minus predicted",
        "observed minus predicted so far",
        curve.share,
        curve.difference,
        says=lambda x, y: f"{100 * x:.0f}% of rows: {number(y, '+')}",
    )
    if worst.verdict != "exact":
        apart = f"apart by {figure(abs(worst.excess), 3)}"
        label, words = f"its ends, {apart}", f"ends of the worst interval, {apart}"
        yield Points("ends", label, words, curve.share[places], curve.difference[places])
