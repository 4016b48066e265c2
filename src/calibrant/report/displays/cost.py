"""The cost curve: what decisions cost, for every ratio of the two costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from calibrant._figures import figure
from calibrant.auditing.result import Audit
from calibrant.decisions.curve import CostCurve
from calibrant.report.displays.base import RowsDisplay, drawable, models_of
from calibrant.report.formats import number
from calibrant.report.overlay import Model, columns_of
from calibrant.report.pictures import Area, Axis, Layer, Line, Picture

_NAME = "the cost curve"
_AXIS = Axis("p, the share of a false positive in the two costs", 0, 1)


class CostDisplay(RowsDisplay):
    """What decisions cost, for every ratio of the two costs.

    Acting is right if the event happens, and one acts when the score is at least p. What that costs
    is drawn with the cost of the best recalibration of the scores, chosen with these rows in
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

    @property
    def curve(self) -> CostCurve:
        """The curve that is drawn."""
        return drawable(self.audit.curves.cost, _NAME)

    def _described(self) -> Picture:
        return drawable(cost_picture(self.audit), _NAME)

    @classmethod
    def _overlaid(cls, models: Sequence[tuple[str, Audit]]) -> Picture:
        curves = [drawable(one.curves.cost, _NAME) for _, one in models]
        return cost_overlay(models_of(models), curves)


def cost_picture(audit: Audit) -> Picture | None:
    """Describe what decisions cost; a tally may hide it."""
    curve = audit.curves.cost
    if curve is None:
        return None
    top = _top([curve])
    columns = ("p", "cost", "best", "always", "never")
    return Picture(
        name="cost",
        title="What decisions cost",
        text="Acting by Bayes' rule on the scores, against the best threshold in hindsight, for "
        "every ratio of the two costs.",
        finding=_finding(curve),
        x=_AXIS,
        y=Axis("mean cost of a decision", 0, top),
        layers=tuple(_layers(curve, top)),
        columns={name: getattr(curve, name).tolist() for name in columns},
    )


def cost_overlay(models: Sequence[Model], curves: Sequence[CostCurve]) -> Picture:
    """Describe what decisions on the scores of several models cost."""
    top = _top(curves)
    same = all(np.isclose(one.always[-1], curves[0].always[-1]) for one in curves)
    return Picture(
        name="cost",
        title="What decisions cost",
        text="Acting by Bayes' rule on the scores of each model, for every ratio of the two costs.",
        finding=f"What decisions on the scores of {len(models)} models cost",
        x=_AXIS,
        y=Axis("mean cost of a decision", 0, top),
        layers=(
            # other rows have other events, and no line stands for all of them; colours are taken
            *(_without_scores(curves[0], top, ("all", "none")) if same else ()),
            *(
                Line("curve", one.name, one.name, curve.p, curve.cost, _says, model=place)
                for place, (one, curve) in enumerate(zip(models, curves, strict=True))
            ),
        ),
        columns=columns_of(models, [{"p": one.p, "cost": one.cost} for one in curves]),
    )


def _top(curves: Sequence[CostCurve]) -> float:
    """Return where the axis of costs ends."""
    # no one acts always or never where it costs more than the other
    highest = (max(one.cost.max(), np.minimum(one.always, one.never).max()) for one in curves)
    return 1.05 * (float(max(highest)) or 1.0)


def _says(p: float, cost: float) -> str:
    return f"p = {p:.2f}: cost {number(cost)}"


def _finding(curve: CostCurve) -> str:
    most = int(np.argmax(curve.regret))
    if curve.regret[most] <= 1e-12:
        return "No recalibration would save anything"
    saved, at = figure(float(curve.regret[most]), 3), figure(float(curve.p[most]), 3)
    return f"In hindsight, recalibration would save most at p = {at}: {saved} a decision"


def _layers(curve: CostCurve, top: float) -> Iterator[Layer]:
    yield Line(
        "curve",
        "cost now",
        "with the scores as they are",
        curve.p,
        curve.cost,
        says=_says,
    )
    words = "after the best nondecreasing recalibration"
    yield Line("after", "best recalibration", words, curve.p, curve.best)
    label = "what it would save"
    yield Area("saved", label, label, curve.p, curve.best, curve.cost)
    yield from _without_scores(curve, top, ("always", "never"))


def _without_scores(curve: CostCurve, top: float, roles: tuple[str, str]) -> Iterator[Layer]:
    """Draw what it costs to act always and never: straight lines, as far as the top."""
    always, never = float(curve.always[-1]), float(curve.never[0])
    p = np.array([0, top / max(always, top)])
    yield Line(roles[0], "always act", "act on every row", p, always * p)
    p = np.array([1 - top / max(never, top), 1])
    yield Line(roles[1], "never act", "act on no row", p, never * (1 - p))
