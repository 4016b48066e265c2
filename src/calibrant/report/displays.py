"""Displays: the pictures of an audit, drawn with matplotlib on axes of your own.

They follow scikit-learn's displays: `from_predictions`, `from_estimator` and `plot(ax)`. Everything
is told apart by line style, hatch or marker as well as by colour, and no setting of matplotlib is
changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant._extras import require
from calibrant.auditing.curves import ReliabilityCurve
from calibrant.auditing.groups import GroupFinding
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.certificates.certificate import percent
from calibrant.decisions.curve import CostCurve
from calibrant.errors import InputError
from calibrant.report.drawing import (
    BLUE,
    FEW_POINTS,
    GREEN,
    GREY,
    LITERAL,
    MOST_GROUPS,
    ORANGE,
    RED,
    axes_for,
    bands,
    bars,
    by_chance,
    dearest,
    ends_of,
    fitted,
    heights,
    legend_above,
    predicted,
    shade,
    shortened,
    top_of,
    worst_in_words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class _Display(ABC):
    """One picture of an audit; it computes nothing but where things go on the paper."""

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, audit: Audit) -> None:
        if not isinstance(audit, Audit):
            raise _not_an_audit(type(audit).__name__)
        self.audit = audit

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Take what is drawn from an audit; `plot` draws it."""
        return cls(audit)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        Self
            The display itself, with `ax_` and `figure_`.
        """
        self.ax_ = axes_for(ax, self._size())
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        self.ax_.set_title(fitted(self.ax_, self.finding), fontsize="medium", **LITERAL)
        if ax is None:
            self.ax_.get_figure().draw_without_rendering()  # type: ignore[union-attr]
        legend_above(self.ax_)
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
        y_true : array_like or Predictions or Tally
            Outcomes, as for `audit`.
        y_prob : array_like
            Predicted probabilities.
        sample_weight : array_like, optional
            Weight of each row.
        pos_label : optional
            The label that is the event.
        confidence : float, default 0.95
            Of the certificate and of the bands.
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
        X : array_like
            Features of rows it was not trained on.
        y : array_like
            Their labels.
        sample_weight : array_like, optional
            Weight of each row.
        pos_label : optional
            The label that is the event; the second of `classes_` unless given.
        confidence : float, default 0.95
            Of the certificate and of the bands.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.
        """
        y_prob, event = predicted(estimator, X, pos_label)
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

    The curve is isotonic regression. One band shows where, at each score by itself, it would lie if
    the scores were right; the other one holds the whole true curve, if that does not decrease. Bars
    at the bottom show where the scores are, and the worst interval is shaded. Soft labels and
    weights that are no row counts have no bands.

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
    """

    def __init__(self, audit: Audit) -> None:
        super().__init__(audit)
        _ = self.curve  # refused now, not when it is drawn

    @property
    def curve(self) -> ReliabilityCurve:
        """The curve that is drawn."""
        found = self.audit.curves.reliability
        if found is None:
            raise _curve_hidden("the reliability curve")
        return found

    @property
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""
        return worst_in_words(self.audit)

    def frame(self) -> dict[str, list[float]]:
        """Return the numbers behind the picture as plain lists, as in the JSON of the audit."""
        found: dict[str, list[float]] = self.audit.curves.to_dict()["reliability"]
        return found

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        right, top = top_of(curve.score), top_of(*heights(curve))
        shade(ax, self.audit, *ends_of(self.audit.worst_intervals[0]))
        bands(ax, curve, percent(self.audit.confidence), 0.01 * right)
        ends = (0, min(right, top))
        ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, label="perfect")
        mark = "o" if len(curve.score) <= FEW_POINTS else ""
        ax.plot(curve.score, curve.observed, color=BLUE, linewidth=2, marker=mark, label="observed")
        ax.set_xticks(np.linspace(0, right, 6))
        ax.set_yticks(np.linspace(0, top, 6))
        ax.set_xlim(-0.02 * right, 1.02 * right)
        ax.set_ylim(-0.02 * top, 1.02 * top)
        if self.audit.curves.scores is not None:
            bars(ax, self.audit.curves.scores, top)
        ax.set_xlabel("score (predicted probability)")
        ax.set_ylabel("observed rate")

    def _size(self) -> tuple[float, float]:
        return 5.6, 5.6


class CumulativeDisplay(_RowsDisplay):
    """Observed minus predicted events, added up along the scores.

    Where the curve falls the scores are too high, where it rises they are too low, and its range is
    the calibration error: the height between the two ends of the worst interval, which is shaded.
    The band shows where, at each score by itself, the curve would lie if the scores were right.

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
        if by_chance(self.audit):
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
        shade(ax, self.audit, *curve.share[places])
        if curve.consistent_lower is not None and curve.consistent_upper is not None:
            label = f"for right scores ({percent(self.audit.confidence)} at each)"
            ends = curve.consistent_lower, curve.consistent_upper
            ax.fill_between(curve.share, *ends, color=GREY, alpha=0.35, linewidth=0, label=label)
        ax.axhline(0, color=GREY, linestyle="--", linewidth=1, label="perfect")
        label = "observed minus predicted"
        ax.plot(curve.share, curve.difference, color=BLUE, linewidth=2, label=label)
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
        ax.plot(*ends, color=RED, linestyle="none", marker="D", clip_on=False, label=label)


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
    ax_ : Axes of matplotlib
        Where it was drawn.
    figure_ : Figure of matplotlib
        The figure that these axes are in.

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
            raise _curve_hidden("the cost curve")
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
        top = 1.05 * dearest(curve)
        ax.plot(curve.p, curve.cost, color=BLUE, linewidth=2, label="cost now")
        label = "best recalibration"
        ax.plot(curve.p, curve.best, color=GREEN, linestyle="--", linewidth=2, label=label)
        label = "what it would save"
        style: dict[str, Any] = {"facecolor": "none", "edgecolor": GREY, "hatch": "////"}
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
        ax.plot((0, reach), (0, reach * always), color=ORANGE, linestyle=":", label="always act")
        reach = top / max(never, top)
        ax.plot((1 - reach, 1), (reach * never, 0), color=RED, linestyle="-.", label="never act")


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
    ax_ : Axes of matplotlib
        Where it was drawn.
    figure_ : Figure of matplotlib
        The figure that these axes are in.

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
            raise _groups_not_audited()

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
        y_true : array_like or Predictions
            Outcomes, as for `audit`.
        y_prob : array_like
            Predicted probabilities.
        by : str, list of str, or mapping of name to array_like
            The columns whose values make groups, as for `audit`.
        sample_weight : array_like, optional
            Weight of each row.
        pos_label : optional
            The label that is the event.
        confidence : float, default 0.95
            With which the bounds of all groups hold at once.
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
        X : array_like
            Features of rows it was not trained on.
        y : array_like
            Their labels.
        by : mapping of name to array_like
            The columns whose values make groups.
        sample_weight : array_like, optional
            Weight of each row.
        pos_label : optional
            The label that is the event; the second of `classes_` unless given.
        confidence : float, default 0.95
            With which the bounds of all groups hold at once.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given.
        """
        y_prob, event = predicted(estimator, X, pos_label)
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
        shown = f", {MOST_GROUPS} shown" if len(groups) > MOST_GROUPS else ""
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
        groups = self.audit.groups[:MOST_GROUPS]
        bounds = f"true error, all groups at once ({percent(self.audit.confidence)})"
        for place, one in enumerate(groups):
            if one.certificate is not None:
                ends = one.certificate.lower, one.certificate.upper
                ax.plot(ends, (place, place), color=GREY, marker="|", linewidth=2, label=bounds)
                bounds = "_"
        self._points(ax, groups, certain=True)
        self._points(ax, groups, certain=False)
        names = [f"{shortened(one.name)}  ({one.rows:,} rows)" for one in groups]
        ax.set_yticks(range(len(groups)), names, fontsize="small", **LITERAL)
        ax.set_ylim(len(groups) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.grid(axis="x", color=GREY, alpha=0.3)
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
                errors, places, **style, color=RED, marker="D", label="miscalibrated for certain"
            )
        else:
            label = "measured, not certain" if groups[0].certificate else "measured"
            style["markerfacecolor"] = ax.get_facecolor()
            ax.plot(errors, places, **style, color=BLUE, marker="o", label=label)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.8 + 0.28 * min(len(self.audit.groups), MOST_GROUPS)


def _curve_hidden(what: str) -> InputError:
    return InputError(
        f"This audit is of a tally, which holds no rows, and its cells are too wide to draw "
        f"{what}. Audit the rows, or a finer tally: Predictions(...).tally(level=...)."
    )


def _groups_not_audited() -> InputError:
    return InputError(
        "There are no groups to draw: the audit was made without by=, or no group has rows "
        "enough. Name the columns that make them, such as audit(..., by={'sex': sex})."
    )


def _not_an_audit(kind: str) -> InputError:
    return InputError(
        f"audit must be what calibrant.audit returns, but it is of type {kind}. Use "
        "from_predictions for labels and scores."
    )
