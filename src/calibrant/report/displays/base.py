"""What displays share: they take an audit, describe a picture of it, and draw it on any axes.

They follow scikit-learn's displays: `from_predictions`, `from_estimator` and `plot(ax)`. No setting
of matplotlib is changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from calibrant import errors
from calibrant._extras import require
from calibrant._types import FloatArray
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.data import refusals
from calibrant.data.memory.labels import check_event
from calibrant.errors import InputError
from calibrant.report.drawing import drawn_on, models_on
from calibrant.report.overlay import Model, names_of
from calibrant.report.pictures import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_T = TypeVar("_T")


class Display(ABC):
    """One picture of an audit.

    Drawn on axes that have such a picture already, it becomes one of several models: each has its
    colour and its line in one legend, and what belongs to one model alone, such as bands, is left
    out.
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, audit: Audit) -> None:
        if not isinstance(audit, Audit):
            raise _not_an_audit(type(audit).__name__)
        self.audit = audit
        self.name: str | None = None
        self._picture = self._described()

    @classmethod
    def from_audit(cls, audit: Audit, *, name: str | None = None) -> Self:
        """Take what is drawn from an audit; `plot` draws it.

        Parameters
        ----------
        audit : Audit
            What is drawn.
        name : str, optional
            What the legend calls the model.
        """
        display = cls(audit)
        display.name = name
        return display

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given. A model that is there already stays.
        name : str, optional
            What the legend calls the model; as before unless given.

        Returns
        -------
        Self
            The display itself, with `ax_` and `figure_`.
        """
        self.name = self.name if name is None else name
        mine = self.name, self.audit
        before = [one for one in models_on(ax, self._picture.name) if one[1] is not self.audit]
        models = [*before, mine]
        self.ax_ = drawn_on(ax, self._shown(models), self._size(), models)
        self.figure_ = self.ax_.figure
        return self

    def _shown(self, models: Sequence[tuple[str | None, Audit]]) -> Picture:
        """Describe what is drawn: the picture of one model with all it has, or several curves."""
        if len(models) > 1:
            names = names_of(name for name, _ in models)
            return self._overlaid(
                [(name, one) for name, (_, one) in zip(names, models, strict=True)]
            )
        if self.name is None:
            return self._picture
        [name] = names_of([self.name])
        layers = [
            replace(one, label=name, words=name) if one.role == "curve" else one
            for one in self._picture.layers
        ]
        return replace(self._picture, layers=layers)

    @property
    def finding(self) -> str:
        """What the picture shows, in a few words: its title."""
        return self._picture.finding

    @abstractmethod
    def frame(self) -> dict[str, list[Any]]:
        """Return the numbers behind the picture as plain lists."""

    @abstractmethod
    def _described(self) -> Picture:
        """Describe the picture, or refuse an audit that does not have it."""

    @classmethod
    @abstractmethod
    def _overlaid(cls, models: Sequence[tuple[str, Audit]]) -> Picture:
        """Describe the picture of several models."""

    def _size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 6.4, 4.8

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.finding}>"


class RowsDisplay(Display):
    """A picture that needs nothing but labels and scores."""

    def frame(self) -> dict[str, list[float | None]]:
        """Return the numbers behind the picture as plain lists, as in the JSON of the audit."""
        found: dict[str, list[float | None]] = self.audit.curves.to_dict()[self._picture.name]
        return found

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        sample_weight: Any = None,
        pos_label: object = None,
        confidence: float = 0.95,
        name: str | None = None,
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
        name : str, optional
            What the legend calls the model.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given. A model that is there already stays.
        """
        require("matplotlib", "plot")
        found = audit(
            y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, confidence=confidence
        )
        return cls.from_audit(found, name=name).plot(ax)

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
        name: str | None = None,
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
        name : str, optional
            What the legend calls the model; the name of its class unless given.
        ax : Axes of matplotlib, optional
            Where to draw; a new figure unless given. A model that is there already stays.
        """
        y_prob, event = predicted(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            y_prob,
            sample_weight=sample_weight,
            pos_label=event,
            confidence=confidence,
            name=called(estimator, name),
            ax=ax,
        )


def models_of(models: Sequence[tuple[str, Audit]]) -> list[Model]:
    """Return what a picture of several models says of each."""
    return [Model(name, one.calibration_error) for name, one in models]


def called(estimator: Any, name: str | None) -> str:
    """Return what a legend calls a classifier: its class, unless it is named."""
    return type(estimator).__name__ if name is None else name


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


def drawable(curve: _T | None, what: str) -> _T:
    """Return a curve, or its description, unless a tally hides it."""
    if curve is None:
        raise InputError(
            f"This audit is of a tally, which holds no rows, and its cells are too wide to draw "
            f"{what}. Audit the rows, or a finer tally: Predictions(...).tally(level=...)."
        )
    return curve


def _not_an_audit(kind: str) -> InputError:
    return InputError(
        f"audit must be what calibrant.audit returns, but it is of type {kind}. Use "
        "from_predictions for labels and scores."
    )
