"""Displays: the pictures of an audit, drawn with matplotlib on axes of your own.

They follow scikit-learn's displays: `from_predictions`, `from_estimator` and `plot(ax)`. Everything
is told apart by line style, hatch or marker as well as by colour, and no setting of matplotlib is
changed.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant import _checks
from calibrant._extras import require
from calibrant._types import FloatArray
from calibrant.audit import Audit, audit
from calibrant.certify.certificate import percent
from calibrant.curves import Histogram, ReliabilityCurve
from calibrant.decide.curve import CostCurve
from calibrant.groups import GroupFinding
from calibrant.measure.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: Colours that colour-blind readers tell apart (Okabe and Ito), of different lightness.
_BLUE, _ORANGE, _RED, _GREEN, _GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#7f7f7f"
#: Text that may come from data is shown as it is, never read as a formula.
_LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
#: The ends that an axis of scores or rates may have.
_TOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Up to this many points each gets a mark.
_FEW_POINTS = 15
#: Columns and letters of a legend, the first that fit are taken.
_LEGENDS = ((2, "small"), (1, "small"), (2, "x-small"), (1, "xx-small"))
#: Groups that are shown, and the letters of a name.
_MOST_GROUPS, _MOST_LETTERS = 20, 40


class _Display(ABC):
    """One picture of an audit; it computes nothing but where things go on the paper."""

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, audit: Audit) -> None:
        self.audit = audit

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Take what is drawn from an audit; `plot` draws it."""
        return cls(audit)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where; a new figure unless given.

        Returns
        -------
        The display itself, with `ax_` and `figure_`.
        """
        self.ax_ = _axes(ax, self._size())
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        self.ax_.set_title(_fitted(self.ax_, self.finding), fontsize="medium", **_LITERAL)
        if ax is None:
            self.ax_.get_figure().draw_without_rendering()  # type: ignore[union-attr]
        _legend_above(self.ax_)
        return self

    @property
    @abstractmethod
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""

    @abstractmethod
    def frame(self) -> dict[str, list[Any]]:
        """Return the numbers behind the picture as plain lists."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None: ...

    def _size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 6.4, 4.8

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.finding}>"


class _RowsDisplay(_Display):
    """A picture that needs nothing but labels and scores."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        sample_weight: Any = None,
        pos_label: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Audit predictions and draw.

        Parameters
        ----------
        y_true, y_prob, sample_weight, pos_label, confidence
            As for `audit`; a Predictions or a Tally stands for all but `confidence`.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.
        """
        require("matplotlib", "plot")
        found = audit(
            y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, confidence=confidence
        )
        return cls.from_audit(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 (as scikit-learn calls it)
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Audit what a fitted classifier predicts and draw.

        Parameters
        ----------
        estimator : classifier
            Fitted on two classes, with `predict_proba`.
        X, y : array-like
            Rows it was not trained on, and their labels.
        sample_weight, confidence
            As for `audit`.
        pos_label : label, optional
            The event; the second of `classes_` unless given.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.
        """
        y_prob, event = _predicted(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            y_prob,
            sample_weight=sample_weight,
            pos_label=event,
            confidence=confidence,
            ax=ax,
        )


class ReliabilityDisplay(_RowsDisplay):
    """Observed rates against scores: the reliability diagram, without bins.

    The curve is isotonic regression. One band shows where it would lie if the scores were right,
    the other one holds the whole true curve, if that does not decrease. Bars at the bottom show
    where the scores are, and the worst interval is shaded. Soft labels and weights that are no row
    counts have no bands.

    Parameters
    ----------
    audit : Audit
        What is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import calibrant as cb
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> display = cb.ReliabilityDisplay.from_predictions([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4], ax=ax)
    >>> display.frame()["score"]
    [0.2, 0.4, 0.6, 0.8]
    """

    def __init__(self, audit: Audit) -> None:
        super().__init__(audit)
        _ = self.curve  # refused now, not when it is drawn

    @property
    def curve(self) -> ReliabilityCurve:
        """The curve that is drawn."""
        found = self.audit.curves.reliability
        if found is None:
            raise _checks.curve_hidden("the reliability curve")
        return found

    @property
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""
        return _worst_in_words(self.audit)

    def frame(self) -> dict[str, list[float]]:
        """Return the numbers behind the picture as plain lists, as in the JSON of the audit."""
        found: dict[str, list[float]] = self.audit.curves.to_dict()["reliability"]
        return found

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        right, top = _top(curve.score), _top(*_heights(curve))
        _shade(ax, self.audit, *_ends(self.audit.worst_intervals[0]))
        _bands(ax, curve, percent(self.audit.confidence), 0.01 * right)
        ends = (0, min(right, top))
        ax.plot(ends, ends, color=_GREY, linestyle="--", linewidth=1, label="perfect")
        mark = "o" if len(curve.score) <= _FEW_POINTS else ""
        ax.plot(
            curve.score, curve.observed, color=_BLUE, linewidth=2, marker=mark, label="observed"
        )
        ax.set_xticks(np.linspace(0, right, 6))
        ax.set_yticks(np.linspace(0, top, 6))
        ax.set_xlim(-0.02 * right, 1.02 * right)
        ax.set_ylim(-0.02 * top, 1.02 * top)
        if self.audit.curves.scores is not None:
            _bars(ax, self.audit.curves.scores, top)
        ax.set_xlabel("score (predicted probability)")
        ax.set_ylabel("observed rate")

    def _size(self) -> tuple[float, float]:
        return 5.6, 5.6


class CumulativeDisplay(_RowsDisplay):
    """Observed minus predicted events, added up along the scores.

    Where the curve falls the scores are too high, where it rises they are too low, and its range is
    the calibration error: the height between the two ends of the worst interval, which is shaded.
    The band shows where the curve would lie if the scores were right.

    Parameters
    ----------
    audit : Audit
        What is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import calibrant as cb
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> display = cb.CumulativeDisplay.from_predictions([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4], ax=ax)
    >>> display
    <CumulativeDisplay: Calibration error 0.35: no more than chance allows>
    >>> display.frame()["share"]
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    @property
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""
        error, most = self.audit.calibration_error, self.audit.calibration_error_at_most
        found = f"{error:.3g}" if self.audit.exact else f"between {error:.3g} and {most:.3g}"
        worst = self.audit.worst_intervals[0]
        if worst.verdict == "exact":
            return f"Calibration error {found}"
        if _by_chance(self.audit):
            return f"Calibration error {found}: no more than chance allows"
        return f"Calibration error {found}: {worst.where} are {worst.verdict}"

    def frame(self) -> dict[str, list[float | None]]:
        """Return the numbers behind the picture as plain lists, as in the JSON of the audit."""
        found: dict[str, list[float | None]] = self.audit.curves.to_dict()["difference"]
        return found

    def _draw(self, ax: Axes) -> None:
        curve = self.audit.curves.difference
        worst = self.audit.worst_intervals[0]
        places = [0 if worst.p1 is None else self._place(worst.p1), self._place(worst.p2)]
        _shade(ax, self.audit, *curve.share[places])
        if curve.consistent_lower is not None and curve.consistent_upper is not None:
            label = f"if the scores were right ({percent(self.audit.confidence)})"
            ends = curve.consistent_lower, curve.consistent_upper
            ax.fill_between(curve.share, *ends, color=_GREY, alpha=0.35, linewidth=0, label=label)
        ax.axhline(0, color=_GREY, linestyle="--", linewidth=1, label="perfect")
        label = "observed minus predicted"
        ax.plot(curve.share, curve.difference, color=_BLUE, linewidth=2, label=label)
        if self.audit.worst_intervals[0].verdict != "exact":
            self._witness(ax, places)
        ax.set_xlim(0, 1)
        counts = self.audit.data.weights_integer
        ax.set_xlabel(f"share of the {'rows' if counts else 'weight'}, in order of score")
        ax.set_ylabel(f"difference in events, per {'row' if counts else 'unit of weight'}")

    def _place(self, score: float) -> int:
        """Return the point of the curve up to a score."""
        return int(np.searchsorted(self.audit.curves.difference.score[1:], score, side="right"))

    def _witness(self, ax: Axes, places: list[int]) -> None:
        """Mark both ends of the worst interval."""
        curve = self.audit.curves.difference
        ends = curve.share[places], curve.difference[places]
        label = f"its ends, apart by {abs(self.audit.worst_intervals[0].excess):.3g}"
        ax.plot(*ends, color=_RED, linestyle="none", marker="D", clip_on=False, label=label)


class CostDisplay(_RowsDisplay):
    """What decisions cost, for every ratio of the two costs.

    Acting is right if the event happens, and one acts when the score is at least p. What that costs
    is drawn next to the cost of the best recalibration of the scores, chosen with these rows in
    sight, of always acting and of never acting.

    Parameters
    ----------
    audit : Audit
        What is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import calibrant as cb
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> cb.CostDisplay.from_predictions([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4], ax=ax)
    <CostDisplay: In hindsight, recalibration would save most at p = 0.6: 0.3 a decision>
    """

    def __init__(self, audit: Audit) -> None:
        super().__init__(audit)
        _ = self.curve  # refused now, not when it is drawn

    @property
    def curve(self) -> CostCurve:
        """The curve that is drawn."""
        found = self.audit.curves.cost
        if found is None:
            raise _checks.curve_hidden("the cost curve")
        return found

    @property
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""
        curve = self.curve
        most = int(np.argmax(curve.regret))
        if curve.regret[most] <= 1e-12:
            return "No recalibration would save anything"
        saved, at = f"{curve.regret[most]:.3g}", f"{curve.p[most]:.3g}"
        return f"In hindsight, recalibration would save most at p = {at}: {saved} a decision"

    def frame(self) -> dict[str, list[float | None]]:
        """Return the numbers behind the picture as plain lists, as in the JSON of the audit."""
        return self.curve.to_dict()

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        top = 1.05 * _dearest(curve)
        ax.plot(curve.p, curve.cost, color=_BLUE, linewidth=2, label="cost now")
        label = "best recalibration"
        ax.plot(curve.p, curve.best, color=_GREEN, linestyle="--", linewidth=2, label=label)
        label = "what it would save"
        style: dict[str, Any] = {"facecolor": "none", "edgecolor": _GREY, "hatch": "////"}
        ax.fill_between(curve.p, curve.best, curve.cost, **style, linewidth=0, label=label)
        self._without_scores(ax, top)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, top)
        ax.set_xlabel("p, the share of a false positive in the two costs")
        ax.set_ylabel("mean cost of a decision")

    def _without_scores(self, ax: Axes, top: float) -> None:
        """Draw the straight lines of acting on every row and on none, as far as the top."""
        always, never = float(self.curve.always[-1]), float(self.curve.never[0])
        reach = top / max(always, top)
        ax.plot((0, reach), (0, reach * always), color=_ORANGE, linestyle=":", label="always act")
        reach = top / max(never, top)
        ax.plot((1 - reach, 1), (reach * never, 0), color=_RED, linestyle="-.", label="never act")


class GroupsDisplay(_Display):
    """The calibration error of each group, with bounds for the true one.

    The clearest failures come first, at the top; up to 20 groups are shown. A group that is
    miscalibrated for certain has a filled diamond, any other one an open circle. The bounds of all
    groups hold at once; soft labels have none.

    Parameters
    ----------
    audit : Audit
        What is drawn: one that was made with `by`.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import calibrant as cb
    >>> from calibrant.simulate import overconfident
    >>> from matplotlib.figure import Figure
    >>> y_true, y_prob, _ = overconfident().draw(400)
    >>> sex = ["f", "m"] * 200
    >>> ax = Figure().subplots()
    >>> display = cb.GroupsDisplay.from_predictions(y_true, y_prob, by={"sex": sex}, ax=ax)
    >>> display
    <GroupsDisplay: None of 2 groups is miscalibrated for certain>
    >>> sorted(display.frame()["name"])
    ['sex = f', 'sex = m']
    """

    def __init__(self, audit: Audit) -> None:
        super().__init__(audit)
        if not audit.groups:
            raise _checks.groups_not_audited()

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        by: Any,
        sample_weight: Any = None,
        pos_label: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Audit predictions group by group and draw.

        Parameters
        ----------
        y_true, y_prob, by, sample_weight, pos_label, confidence
            As for `audit`.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.
        """
        require("matplotlib", "plot")
        found = audit(
            y_true,
            y_prob,
            sample_weight=sample_weight,
            pos_label=pos_label,
            confidence=confidence,
            by=by,
        )
        return cls.from_audit(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 (as scikit-learn calls it)
        y: Any,
        *,
        by: Any,
        sample_weight: Any = None,
        pos_label: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Audit what a fitted classifier predicts, group by group, and draw.

        Parameters
        ----------
        estimator : classifier
            Fitted on two classes, with `predict_proba`.
        X, y : array-like
            Rows it was not trained on, and their labels.
        by : mapping of name to array-like
            The columns whose values make groups.
        sample_weight, confidence
            As for `audit`.
        pos_label : label, optional
            The event; the second of `classes_` unless given.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.
        """
        y_prob, event = _predicted(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            y_prob,
            by=by,
            sample_weight=sample_weight,
            pos_label=event,
            confidence=confidence,
            ax=ax,
        )

    @property
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""
        groups = self.audit.groups
        certain = sum(one.certain for one in groups)
        verb = "is" if certain <= 1 else "are"
        found = f"{certain:,}" if certain else "None"
        shown = f", {_MOST_GROUPS} shown" if len(groups) > _MOST_GROUPS else ""
        return f"{found} of {len(groups):,} groups {verb} miscalibrated for certain{shown}"

    def frame(self) -> dict[str, list[Any]]:
        """Return name, rows, calibration error and its bounds for every group of the audit."""
        ends = [one.certificate for one in self.audit.groups]
        return {
            "name": [one.name for one in self.audit.groups],
            "rows": [one.rows for one in self.audit.groups],
            "calibration_error": [one.calibration_error for one in self.audit.groups],
            "lower": [None if one is None else one.lower for one in ends],
            "upper": [None if one is None else one.upper for one in ends],
            "certain": [one.certain for one in self.audit.groups],
        }

    def _draw(self, ax: Axes) -> None:
        groups = self.audit.groups[:_MOST_GROUPS]
        bounds = f"true error, all groups at once ({percent(self.audit.confidence)})"
        for place, one in enumerate(groups):
            if one.certificate is not None:
                ends = one.certificate.lower, one.certificate.upper
                ax.plot(ends, (place, place), color=_GREY, marker="|", linewidth=2, label=bounds)
                bounds = "_"
        self._points(ax, groups, certain=True)
        self._points(ax, groups, certain=False)
        names = [f"{_short(one.name)}  ({one.rows:,} rows)" for one in groups]
        ax.set_yticks(range(len(groups)), names, fontsize="small", **_LITERAL)
        ax.set_ylim(len(groups) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.grid(axis="x", color=_GREY, alpha=0.3)
        ax.set_xlabel("calibration error")

    def _points(self, ax: Axes, groups: Sequence[GroupFinding], *, certain: bool) -> None:
        """Draw the errors of the groups that are miscalibrated for certain, or of the others."""
        places = [place for place, one in enumerate(groups) if one.certain == certain]
        if not places:
            return
        errors = [groups[place].calibration_error for place in places]
        style: dict[str, Any] = {"linestyle": "none", "markeredgewidth": 1.5, "zorder": 3}
        if certain:
            ax.plot(
                errors, places, **style, color=_RED, marker="D", label="miscalibrated for certain"
            )
        else:
            label = "measured, not certain" if groups[0].certificate else "measured"
            style["markerfacecolor"] = ax.get_facecolor()
            ax.plot(errors, places, **style, color=_BLUE, marker="o", label=label)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.8 + 0.28 * min(len(self.audit.groups), _MOST_GROUPS)


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw on: those given, or of a new figure."""
    require("matplotlib", "plot")
    if ax is None:
        pyplot = require("matplotlib.pyplot", "plot")
        made: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
        return made
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise _checks.not_axes(type(ax).__name__)
    return ax


def _predicted(
    estimator: Any,
    X: Any,  # noqa: N803 (as scikit-learn calls it)
    pos_label: object,
) -> tuple[FloatArray, object]:
    """Return the probability of the event, and the label of the event if it must be named."""
    classes = np.asarray(estimator.classes_).tolist()
    if len(classes) != 2:
        raise _checks.two_classes_only(f"{len(classes)} classes")
    if pos_label is not None and pos_label not in classes:
        raise _checks.labels_lack_pos_label("classes_", pos_label, classes)
    column = 1 if pos_label is None else classes.index(pos_label)
    known = classes in ([0, 1], [-1, 1])
    event = classes[1] if pos_label is None and not known else pos_label
    return np.asarray(estimator.predict_proba(X))[:, column], event


def _by_chance(audit: Audit) -> bool:
    """Whether scores that are right would often look as bad."""
    return audit.test is not None and audit.test.p_value > 1 - audit.confidence


def _worst_in_words(audit: Audit) -> str:
    worst = audit.worst_intervals[0]
    if worst.verdict == "exact":
        return "Predictions and outcomes agree"
    if _by_chance(audit):
        return "Predictions and outcomes differ no more than by chance"
    return f"{worst.where.capitalize()} are {worst.verdict}"


def _top(*values: FloatArray) -> float:
    highest = max(float(column.max()) for column in values)
    return next(top for top in _TOPS if highest < top or top == 1)


def _heights(curve: ReliabilityCurve) -> list[FloatArray]:
    """Return what must fit below the top; the other band may leave it where rows are few."""
    columns = (curve.score, curve.observed, curve.consistent_upper)
    return [column for column in columns if column is not None]


def _ends(worst: Interval) -> tuple[float, float]:
    return (0.0 if worst.p1 is None else worst.p1), worst.p2


def _shade(ax: Axes, audit: Audit, left: float, right: float) -> None:
    """Shade the worst interval."""
    worst = audit.worst_intervals[0]
    if worst.verdict != "exact":
        label = f"worst interval: {worst.verdict}"
        ax.axvspan(left, right, color=_ORANGE, alpha=0.18, linewidth=0, label=label)


def _bands(ax: Axes, curve: ReliabilityCurve, sure: str, half: float) -> None:
    """Draw both bands, one filled and one hatched, so that they stay apart where they overlap."""
    if curve.consistent_lower is not None and curve.consistent_upper is not None:
        band = _wide(curve.score, curve.consistent_lower, curve.consistent_upper, half)
        label = f"if the scores were right ({sure})"
        ax.fill_between(*band, color=_GREY, alpha=0.4, linewidth=0, label=label)
    if curve.lower is not None and curve.upper is not None:
        label = f"holds the true curve ({sure})"
        stairs = _stairs(*_wide(curve.score, curve.lower, curve.upper, half))
        style: dict[str, Any] = {
            "facecolor": "none",
            "edgecolor": _BLUE,
            "hatch": "....",
            "linewidth": 0.8,
        }
        ax.fill_between(*stairs, **style, alpha=0.45, label=label)


def _wide(
    score: FloatArray, lower: FloatArray, upper: FloatArray, half: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give a band at a single score a width that can be seen."""
    if len(score) > 1:
        return score, lower, upper
    return np.array([score[0] - half, score[0] + half]), np.repeat(lower, 2), np.repeat(upper, 2)


def _stairs(
    score: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Carry a band to the scores between its points: a curve that never falls keeps its bounds.

    Above a score the lower end stays, and below a score the upper one.
    """
    return np.repeat(score, 2)[1:-1], np.repeat(lower[:-1], 2), np.repeat(upper[1:], 2)


def _bars(ax: Axes, scores: Histogram, top: float) -> None:
    """Draw where the scores are below the curve, in a strip of its own."""
    base, height = -0.17 * top, 0.13 * top
    ax.bar(
        scores.left,
        height * scores.share / scores.share.max(),
        scores.right - scores.left,
        base,
        align="edge",
        color=_GREY,
        edgecolor=ax.get_facecolor(),
        linewidth=0.5,
        label="scores",
    )
    ax.set_ylim(base, 1.02 * top)


def _dearest(curve: CostCurve) -> float:
    """Return the highest cost worth showing: no one acts always or never where it costs more."""
    least = np.minimum(curve.always, curve.never)
    return max(float(curve.cost.max()), float(least.max())) or 1.0


def _short(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."


def _inches(ax: Axes) -> float:
    """Return the width of axes."""
    box = ax.get_window_extent()
    return float(box.width / ax.figure.dpi)


def _fitted(ax: Axes, text: str) -> str:
    """Break a title into lines of about one length that fit the axes."""
    most = max(20, int(11 * _inches(ax)))
    lines = len(textwrap.wrap(text, most))
    width = next(few for few in range(20, most + 1) if len(textwrap.wrap(text, few)) <= lines)
    return "\n".join(textwrap.wrap(text, width))


def _legend_above(ax: Axes) -> None:
    """Put the legend at the top and lift the top of the axes until it hides nothing."""
    for columns, size in _LEGENDS:
        legend = ax.legend(loc="upper left", fontsize=size, ncols=columns, framealpha=0.9)
        mine, whole = legend.get_window_extent(), ax.get_window_extent()
        width, height = mine.width / whole.width, mine.height / whole.height
        if width < 0.85 and height < 0.4:
            break
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, bottom + (top - bottom) / (1 - min(0.6, height + 0.05)))
