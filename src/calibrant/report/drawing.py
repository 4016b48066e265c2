"""Drawing: the strokes that displays share, and the words that go with them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import errors
from calibrant._extras import require
from calibrant._types import FloatArray
from calibrant.auditing.curves import Histogram, ReliabilityCurve
from calibrant.auditing.result import Audit
from calibrant.data import refusals
from calibrant.data.memory.labels import check_event
from calibrant.decisions.curve import CostCurve
from calibrant.errors import InputError
from calibrant.measures.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that colour-blind readers tell apart (Okabe and Ito), of different lightness.
BLUE, ORANGE, RED, GREEN, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#7f7f7f"
#: Text that may come from data is shown as it is, never read as a formula.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
#: The ends that an axis of scores or rates may have.
TOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Up to this many points each gets a mark.
FEW_POINTS = 15
#: Columns and letters of a legend, the first that fit are taken.
LEGENDS = ((2, "small"), (1, "small"), (2, "x-small"), (1, "xx-small"))
#: Groups that are shown, and the letters of a name.
MOST_GROUPS, MOST_LETTERS = 20, 40


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw on: those given, or of a new figure."""
    require("matplotlib", "plot")
    if ax is None:
        pyplot = require("matplotlib.pyplot", "plot")
        made: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
        return made
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise _not_axes(type(ax).__name__)
    return ax


def predicted(
    estimator: Any,
    X: Any,  # noqa: N803 (as scikit-learn calls it)
    pos_label: object,
) -> tuple[FloatArray, object]:
    """Return the probability of the event, and the label of the event if it must be named."""
    for name in ("predict_proba", "classes_"):
        if isinstance(estimator, type) or not hasattr(estimator, name):
            raise errors.model_lacks("estimator", type(estimator).__name__, name)
    classes = np.asarray(estimator.classes_).tolist()
    if len(classes) != 2:
        raise errors.two_classes_only(f"{len(classes)} classes")
    if pos_label is not None:
        check_event(pos_label)
        if pos_label not in classes:
            raise refusals.labels_lack_pos_label("classes_", pos_label, classes)
    column = 1 if pos_label is None else classes.index(pos_label)
    known = classes in ([0, 1], [-1, 1])
    event = classes[1] if pos_label is None and not known else pos_label
    return np.asarray(estimator.predict_proba(X))[:, column], event


def by_chance(audit: Audit) -> bool:
    """Whether scores that are right would often look as bad."""
    return audit.test is not None and audit.test.p_value > 1 - audit.confidence


def worst_in_words(audit: Audit) -> str:
    """Say where the scores fail most."""
    worst = audit.worst_intervals[0]
    if worst.verdict == "exact":
        return "Predictions and outcomes agree"
    if by_chance(audit):
        return "Predictions and outcomes differ no more than by chance"
    return f"{worst.where.capitalize()} are {worst.verdict}"


def top_of(*values: FloatArray) -> float:
    """Return where an axis of rates that holds all values may end."""
    highest = max(float(column.max()) for column in values)
    return next(top for top in TOPS if highest < top or top == 1)


def heights(curve: ReliabilityCurve) -> list[FloatArray]:
    """Return what must fit below the top; the other band may leave it where rows are few."""
    columns = (curve.score, curve.observed, curve.consistent_upper)
    return [column for column in columns if column is not None]


def ends_of(worst: Interval) -> tuple[float, float]:
    """Return both ends of an interval; one that is open below begins at 0."""
    return (0.0 if worst.p1 is None else worst.p1), worst.p2


def shade(ax: Axes, audit: Audit, left: float, right: float) -> None:
    """Shade the worst interval."""
    worst = audit.worst_intervals[0]
    if worst.verdict != "exact":
        label = f"worst interval: {worst.verdict}"
        ax.axvspan(left, right, color=ORANGE, alpha=0.18, linewidth=0, label=label)


def bands(ax: Axes, curve: ReliabilityCurve, sure: str, half: float) -> None:
    """Draw both bands, one filled and one hatched, so that they stay apart where they overlap."""
    if curve.consistent_lower is not None and curve.consistent_upper is not None:
        band = wide(curve.score, curve.consistent_lower, curve.consistent_upper, half)
        label = f"for right scores ({sure} at each)"
        ax.fill_between(*band, color=GREY, alpha=0.4, linewidth=0, label=label)
    if curve.lower is not None and curve.upper is not None:
        label = f"holds the whole true curve ({sure})"
        stairs = stairs_of(*wide(curve.score, curve.lower, curve.upper, half))
        style: dict[str, Any] = {
            "facecolor": "none",
            "edgecolor": BLUE,
            "hatch": r"\\",  # across the diagonal; dots would make a large SVG
            "linewidth": 0.8,
        }
        ax.fill_between(*stairs, **style, alpha=0.45, label=label)


def wide(
    score: FloatArray, lower: FloatArray, upper: FloatArray, half: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give a band at a single score a width that can be seen."""
    if len(score) > 1:
        return score, lower, upper
    return np.array([score[0] - half, score[0] + half]), np.repeat(lower, 2), np.repeat(upper, 2)


def stairs_of(
    score: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Carry a band to the scores between its points: a curve that never falls keeps its bounds.

    Above a score the lower end stays, and below a score the upper one.
    """
    return np.repeat(score, 2)[1:-1], np.repeat(lower[:-1], 2), np.repeat(upper[1:], 2)


def bars(ax: Axes, scores: Histogram, top: float) -> None:
    """Draw where the scores are below the curve, in a strip of its own."""
    base, height = -0.17 * top, 0.13 * top
    ax.bar(
        scores.left,
        height * scores.share / scores.share.max(),
        scores.right - scores.left,
        base,
        align="edge",
        color=GREY,
        edgecolor=ax.get_facecolor(),
        linewidth=0.5,
        label="scores",
    )
    ax.set_ylim(base, 1.02 * top)


def dearest(curve: CostCurve) -> float:
    """Return the highest cost worth showing: no one acts always or never where it costs more."""
    least = np.minimum(curve.always, curve.never)
    return max(float(curve.cost.max()), float(least.max())) or 1.0


def shortened(name: str) -> str:
    """Cut a name that is too long for a picture."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 3]}..."


def inches(ax: Axes) -> float:
    """Return the width of axes."""
    box = ax.get_window_extent()
    return float(box.width / ax.figure.dpi)


def fitted(ax: Axes, text: str) -> str:
    """Break a title into lines of about one length that fit the axes."""
    most = max(20, int(11 * inches(ax)))
    lines = len(textwrap.wrap(text, most))
    width = next(few for few in range(20, most + 1) if len(textwrap.wrap(text, few)) <= lines)
    return "\n".join(textwrap.wrap(text, width))


def legend_above(ax: Axes) -> None:
    """Put the legend at the top and lift the top of the axes until it hides nothing."""
    for columns, size in LEGENDS:
        legend = ax.legend(loc="upper left", fontsize=size, ncols=columns, framealpha=0.9)
        mine, whole = legend.get_window_extent(), ax.get_window_extent()
        width, height = mine.width / whole.width, mine.height / whole.height
        if width < 0.85 and height < 0.4:
            break
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, bottom + (top - bottom) / (1 - min(0.6, height + 0.05)))


def _not_axes(kind: str) -> InputError:
    return InputError(
        f"ax must be one Axes of matplotlib, but it is a {kind}. Pass one of several by its "
        "place, such as ax=axes[0, 1], or none for a figure of its own."
    )
