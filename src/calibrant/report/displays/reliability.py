"""The reliability diagram, without bins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from calibrant._types import FloatArray
from calibrant.auditing.curves import ReliabilityCurve
from calibrant.auditing.result import Audit
from calibrant.certificates.certificate import percent
from calibrant.report.displays.base import RowsDisplay, drawable, models_of
from calibrant.report.formats import number
from calibrant.report.overlay import Model, best_of, columns_of, lines_of
from calibrant.report.pictures import (
    Area,
    Axis,
    Bars,
    Layer,
    Line,
    Picture,
    Points,
    axis_top,
    by_chance,
    consistency_area,
    worst_span,
)

#: Up to this many points each gets a mark.
_FEW_POINTS = 15
#: A score so far from the one before it, as a share of the axis, has a mark: nothing lies between.
_FAR = 0.1
_LONE = "a score far from all others"
_NAME = "the reliability curve"


class ReliabilityDisplay(RowsDisplay):
    """Observed rates against scores: the reliability diagram, without bins.

    The curve is isotonic regression. One band shows where, pointwise, it would lie if
    the scores were right; the other one holds the whole true curve, if that does not decrease. Bars
    at the bottom show where the scores are, and the worst interval is shaded. Soft labels and
    non-integer weights have no bands.

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
    >>> display = cb.ReliabilityDisplay.from_predictions(y_true, y_prob, ax=ax)
    >>> display.frame()["score"]
    [0.2, 0.4, 0.6, 0.8]

    A second model on the same axes, and one legend:

    >>> other = [0.1, 0.3, 0.3, 0.4]
    >>> display = cb.ReliabilityDisplay.from_predictions(y_true, other, name="other", ax=ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['perfectly calibrated', 'model 1, error 0.3500', 'other, error 0.1750']
    """

    @property
    def curve(self) -> ReliabilityCurve:
        """The curve that is drawn."""
        return drawable(self.audit.curves.reliability, _NAME)

    def _described(self) -> Picture:
        return drawable(reliability_picture(self.audit), _NAME)

    @classmethod
    def _overlaid(cls, models: Sequence[tuple[str, Audit]]) -> Picture:
        curves = [drawable(one.curves.reliability, _NAME) for _, one in models]
        return reliability_overlay(models_of(models), curves)

    def _size(self) -> tuple[float, float]:
        return 5.6, 5.6


def reliability_picture(audit: Audit) -> Picture | None:
    """Describe observed rates against scores; a tally may hide them."""
    curve, worst = audit.curves.reliability, audit.worst_intervals[0]
    if curve is None:
        return None
    rates = [one for one in (curve.observed, curve.consistent_upper) if one is not None]
    # the other band may leave the picture where rows are few
    right, top = axis_top(curve.score), axis_top(curve.score, *rates)
    bottom = -0.02 * top if audit.curves.scores is None else -0.17 * top
    fail = f"They fail most for {worst.where}."
    if worst.verdict == "exact" or by_chance(audit):
        fail = ""
    return Picture(
        name="reliability",
        title="Observed against predicted",
        text=f"Where the line lies above the diagonal, scores are too low. {fail}",
        finding=_finding(audit),
        x=Axis("score (predicted probability)", -0.02 * right, 1.02 * right, _fifths(right)),
        y=Axis("observed rate", bottom, 1.02 * top, _fifths(top)),
        layers=tuple(_layers(audit, curve, right, top)),
        columns=curve.frame(),
    )


def reliability_overlay(models: Sequence[Model], curves: Sequence[ReliabilityCurve]) -> Picture:
    """Describe observed rates against scores, for several models and without bands."""
    right = axis_top(*(one.score for one in curves))
    top = axis_top(*(part for one in curves for part in (one.score, one.observed)))
    ends = np.array([0, min(right, top)])
    shown = [(one.score, one.observed) for one in curves]
    return Picture(
        name="reliability",
        title="Observed against predicted",
        text="Where a line lies above the diagonal, the scores of that model are too low.",
        finding=best_of(models),
        x=Axis("score (predicted probability)", -0.02 * right, 1.02 * right, _fifths(right)),
        y=Axis("observed rate", -0.02 * top, 1.02 * top, _fifths(top)),
        layers=(
            Line("diagonal", "perfectly calibrated", "perfectly calibrated", ends, ends),
            *lines_of(models, shown, "score", "observed"),
            *_lone_of(curves, right),
        ),
        columns=columns_of(models, [{"score": x, "observed": y} for x, y in shown]),
    )


def _finding(audit: Audit) -> str:
    """Say where the scores fail most."""
    worst = audit.worst_intervals[0]
    if worst.verdict == "exact":
        return "Predictions and outcomes agree"
    if by_chance(audit):
        return "Chance alone can explain how predictions and outcomes differ"
    return f"{worst.where.capitalize()} are {worst.verdict}"


def _layers(audit: Audit, curve: ReliabilityCurve, right: float, top: float) -> Iterator[Layer]:
    worst, scores = audit.worst_intervals[0], audit.curves.scores
    yield from worst_span(audit, 0.0 if worst.p1 is None else worst.p1, worst.p2)
    half = 0.01 * right
    at = _wide(curve.score, half)
    lower, upper = _twice(curve.consistent_lower), _twice(curve.consistent_upper)
    yield from consistency_area(audit, at, lower, upper)
    lower, upper = _twice(curve.lower), _twice(curve.upper)
    if lower is not None and upper is not None:
        # between two scores only stairs are proved: the lower end lasts, the upper comes before
        stairs = np.repeat(at, 2)[1:-1], np.repeat(lower[:-1], 2), np.repeat(upper[1:], 2)
        label = f"holds the whole true curve ({percent(audit.confidence)})"
        yield Area(
            "confidence",
            label,
            f"{percent(audit.confidence)} band for the whole true curve, if that does not decrease",
            *stairs,
        )
    ends = np.array([0, min(right, top)])
    yield Line("diagonal", "perfectly calibrated", "perfectly calibrated", ends, ends)
    yield Line(
        "curve",
        "observed",
        "observed, by isotonic regression",
        curve.score,
        curve.observed,
        says=lambda x, y: f"score {number(x)}: observed {number(y)}",
        marks=len(curve.score) <= _FEW_POINTS,
    )
    yield from _lone(curve, right)
    if scores is not None:  # in a strip of its own, below the curve
        yield Bars("scores", "scores", "where the scores are", scores, -0.17 * top, 0.13 * top)


def _lone_of(curves: Sequence[ReliabilityCurve], right: float) -> Iterator[Layer]:
    """Mark the lone scores of several models; a legend says once what the mark is."""
    label = _LONE
    for model, curve in enumerate(curves):
        for layer in _lone(curve, right, label, model):
            yield layer
            label = ""


def _lone(
    curve: ReliabilityCurve, right: float, label: str = _LONE, model: int | None = None
) -> Iterator[Layer]:
    """Mark the scores that a line reaches from far away."""
    far = np.flatnonzero(np.diff(curve.score, prepend=-np.inf) > _FAR * right)[1:]
    if len(far) and len(curve.score) > _FEW_POINTS:
        yield Points("lone", label, label, curve.score[far], curve.observed[far], model=model)


def _fifths(end: float) -> list[float]:
    ticks: list[float] = np.linspace(0, end, 6).tolist()
    return ticks


def _wide(score: FloatArray, half: float) -> FloatArray:
    """Give a band at a single score a width that can be seen."""
    return score if len(score) > 1 else np.array([score[0] - half, score[0] + half])


def _twice(end: FloatArray | None) -> FloatArray | None:
    """Return an end of a band at a single score on both sides of it."""
    return end if end is None or len(end) > 1 else np.repeat(end, 2)
