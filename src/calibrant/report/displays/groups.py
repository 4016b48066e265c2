"""Groups side by side: the calibration error of each, with bounds for the true one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant._extras import require
from calibrant.auditing.groups import GroupFinding
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.certificates.certificate import percent
from calibrant.errors import InputError
from calibrant.report.displays.base import Display, predicted
from calibrant.report.pictures import Axis, Layer, Line, Picture, Points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Groups that are shown, and the letters of a name.
_MOST_GROUPS, _MOST_LETTERS = 20, 40


class GroupsDisplay(Display):
    """The calibration error of each group, with bounds for the true one.

    The clearest failures come first, at the top; up to 20 groups are shown. A group that is
    proved to be miscalibrated has a filled diamond, any other one an open circle. The bounds of all
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
    <GroupsDisplay: None of 2 groups is shown to be miscalibrated>
    >>> sorted(display.frame()["name"])
    ['sex = f', 'sex = m']
    """

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

    def _described(self) -> Picture:
        if not self.audit.groups:
            raise _groups_not_audited()
        return groups_picture(self.audit)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.8 + 0.28 * min(len(self.audit.groups), _MOST_GROUPS)


def groups_picture(audit: Audit) -> Picture:
    """Describe the groups, the clearest failures at the top."""
    groups = audit.groups[:_MOST_GROUPS]
    numbers = [one.calibration_error for one in groups]
    for one in groups:
        if one.certificate is not None:
            numbers += [one.certificate.lower, one.certificate.upper]
    right = max(numbers) + 0.05 * (max(numbers) - min(numbers))
    names = [f"{_shortened(one.name)}  ({one.rows:,} rows)" for one in groups]
    return Picture(
        name="groups",
        title="Groups",
        text="The calibration error of each group, the clearest failures first.",
        finding=_finding(audit.groups),
        x=Axis("calibration error", 0, right or 1.0, grid=True),
        y=Axis("", len(groups) - 0.5, -0.5, range(len(groups)), names),
        layers=tuple(_layers(groups, audit.confidence)),
        columns={"calibration error": [one.calibration_error for one in groups]},
    )


def _finding(groups: Sequence[GroupFinding]) -> str:
    certain = sum(one.certain for one in groups)
    verb = "is" if certain <= 1 else "are"
    found = f"{certain:,}" if certain else "None"
    shown = f", {_MOST_GROUPS} shown" if len(groups) > _MOST_GROUPS else ""
    proved = "miscalibrated" if certain else "shown to be miscalibrated"
    return f"{found} of {len(groups):,} groups {verb} {proved}{shown}"


def _layers(groups: Sequence[GroupFinding], confidence: float) -> Iterator[Layer]:
    bounds = [(place, one.certificate) for place, one in enumerate(groups)]
    proved = [(place, one.lower, one.upper) for place, one in bounds if one is not None]
    if proved:  # one line, broken between two groups
        label = f"true error, simultaneous over groups ({percent(confidence)})"
        x = np.array([x for _, lower, upper in proved for x in (lower, upper, np.nan)])
        y = np.array([y for place, _, _ in proved for y in (place, place, np.nan)])
        yield Line("bounds", label, label, x, y)
    for certain, role, label in (
        (True, "certain", f"miscalibrated at the {percent(confidence)} level (simultaneous)"),
        (False, "open", "not shown to be" if groups[0].certificate else "measured"),
    ):
        places = [place for place, one in enumerate(groups) if one.certain == certain]
        if places:
            errors = np.array([groups[place].calibration_error for place in places])
            yield Points(role, label, label, errors, np.array(places))


def _shortened(name: str) -> str:
    """Cut a name that is too long for a picture."""
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."


def _groups_not_audited() -> InputError:
    return InputError(
        "There are no groups to draw: the audit was made without by=, or no group has rows "
        "enough. Name the columns that make them, such as audit(..., by={'sex': sex})."
    )
