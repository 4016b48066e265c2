"""Groups side by side: the calibration error of each, with bounds for the true one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant._extras import require
from calibrant._types import FloatArray
from calibrant.auditing.groups import GroupFinding
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.certificates.certificate import percent
from calibrant.errors import InputError
from calibrant.report.displays.base import Display, called, predicted
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
        name: str | None = None,
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
        name : str, optional
            What the legend calls the model.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given. A model that is there already stays.
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
        return cls.from_audit(found, name=name).plot(ax)

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
        name: str | None = None,
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
        name : str, optional
            What the legend calls the model; the name of its class unless given.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given. A model that is there already stays.
        """
        y_prob, event = predicted(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            y_prob,
            by=by,
            sample_weight=sample_weight,
            pos_label=event,
            confidence=confidence,
            name=called(estimator, name),
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

    @classmethod
    def _overlaid(cls, models: Sequence[tuple[str, Audit]]) -> Picture:
        return groups_overlay([(name, one.groups) for name, one in models])

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.8 + 0.28 * min(len(self.audit.groups), _MOST_GROUPS)


def groups_picture(audit: Audit) -> Picture:
    """Describe the groups, the clearest failures at the top."""
    groups = audit.groups[:_MOST_GROUPS]
    return Picture(
        name="groups",
        title="Groups",
        text="The calibration error of each group, the clearest failures first.",
        finding=_finding(audit.groups),
        x=_errors(groups),
        y=_places([_label(one) for one in groups]),
        layers=tuple(_layers(groups, audit.confidence)),
        columns={"calibration error": [one.calibration_error for one in groups]},
    )


def groups_overlay(models: Sequence[tuple[str, Sequence[GroupFinding]]]) -> Picture:
    """Describe the groups of several models, in the order of the first one."""
    every = {_label(one): one for _, groups in models for one in groups[:_MOST_GROUPS]}
    shown = list(every)[:_MOST_GROUPS]
    kept = [(name, [one for one in groups if _label(one) in shown]) for name, groups in models]
    counts = [f"{sum(one.certain for one in groups):,} ({name})" for name, groups in models]
    return Picture(
        name="groups",
        title="Groups",
        text="The calibration error of each group, for several models.",
        finding=f"Miscalibrated groups: {', '.join(counts)}",
        x=_errors([one for _, groups in kept for one in groups]),
        y=_places(shown),
        layers=tuple(
            layer
            for place, (name, groups) in enumerate(kept)
            for layer in _rows_of(name, place, groups, _beside(shown, groups, place, len(kept)))
        ),
        columns={"calibration error": [one.calibration_error for one in every.values()]},
    )


def _beside(
    shown: Sequence[str], groups: Sequence[GroupFinding], place: int, models: int
) -> FloatArray:
    """Return where the groups of a model stand: models share the room of a group."""
    offset = 0.6 * ((place + 0.5) / models - 0.5)
    return np.array([shown.index(_label(one)) + offset for one in groups], dtype=np.float64)


def _rows_of(
    name: str, place: int, groups: Sequence[GroupFinding], y: FloatArray
) -> Iterator[Layer]:
    yield from _bounds(name, groups, y, place)
    for certain, role, label in (
        (True, "certain", f"{name}: miscalibrated"),
        (False, "open", f"{name}: not shown to be" if _proved(groups) else f"{name}: measured"),
    ):
        at = np.array([one.certain == certain for one in groups], dtype=bool)
        if at.any():
            errors = np.array([one.calibration_error for one in groups])
            yield Points(role, label, label, errors[at], y[at], model=place)


def _proved(groups: Sequence[GroupFinding]) -> bool:
    return any(one.certificate is not None for one in groups)


def _errors(groups: Sequence[GroupFinding]) -> Axis:
    """Return an axis that holds all errors and their bounds."""
    numbers = [one.calibration_error for one in groups]
    for one in groups:
        if one.certificate is not None:
            numbers += [one.certificate.lower, one.certificate.upper]
    right = max(numbers) + 0.05 * (max(numbers) - min(numbers))
    return Axis("calibration error", 0, right or 1.0, grid=True)


def _places(names: Sequence[str]) -> Axis:
    """Return an axis with a place for each name, the first at the top."""
    return Axis("", len(names) - 0.5, -0.5, range(len(names)), names)


def _label(one: GroupFinding) -> str:
    return f"{_shortened(one.name)}  ({one.rows:,} rows)"


def _finding(groups: Sequence[GroupFinding]) -> str:
    certain = sum(one.certain for one in groups)
    verb = "is" if certain <= 1 else "are"
    found = f"{certain:,}" if certain else "None"
    shown = f", {_MOST_GROUPS} shown" if len(groups) > _MOST_GROUPS else ""
    proved = "miscalibrated" if certain else "shown to be miscalibrated"
    return f"{found} of {len(groups):,} groups {verb} {proved}{shown}"


def _layers(groups: Sequence[GroupFinding], confidence: float) -> Iterator[Layer]:
    label = f"true error, simultaneous over groups ({percent(confidence)})"
    yield from _bounds(label, groups, np.arange(float(len(groups))))
    for certain, role, label in (
        (True, "certain", f"miscalibrated at the {percent(confidence)} level (simultaneous)"),
        (False, "open", "not shown to be miscalibrated" if groups[0].certificate else "measured"),
    ):
        places = [place for place, one in enumerate(groups) if one.certain == certain]
        if places:
            errors = np.array([groups[place].calibration_error for place in places])
            yield Points(role, label, label, errors, np.array(places))


def _bounds(
    label: str, groups: Sequence[GroupFinding], y: FloatArray, model: int | None = None
) -> Iterator[Layer]:
    """Draw what is proved of each group: one line, broken between two of them."""
    bounds = [(one.certificate, at) for one, at in zip(groups, y.tolist(), strict=True)]
    ends = [(one.lower, one.upper, at) for one, at in bounds if one is not None]
    if ends:
        x = np.array([x for lower, upper, _ in ends for x in (lower, upper, np.nan)])
        heights = np.array([height for *_, at in ends for height in (at, at, np.nan)])
        yield Line("bounds", label, label, x, heights, model=model)


def _shortened(name: str) -> str:
    """Cut a name that is too long for a picture."""
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."


def _groups_not_audited() -> InputError:
    return InputError(
        "There are no groups to draw: the audit was made without by=, or no group has rows "
        "enough. Name the columns that make them, such as audit(..., by={'sex': sex})."
    )
