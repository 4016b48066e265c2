"""Pictures drawn with matplotlib, on any axes, without touching its settings."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from calibrant._extras import require
from calibrant.errors import InputError
from calibrant.report.overlay import look_of
from calibrant.report.pictures import Area, Axis, Bars, Layer, Line, Picture, Points, Span

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Colours that colour-blind readers tell apart (Okabe and Ito), of different lightness.
_BLUE, _ORANGE, _RED, _GREEN, _GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#7f7f7f"
#: Stands for the colour of the paper.
_PAPER = "paper"
#: Points to what lies beyond an axis, on its very edge.
_BEYOND = {"color": _BLUE, "linestyle": "none", "clip_on": False, "zorder": 3}
_GROUP = {"linestyle": "none", "markeredgewidth": 1.5, "zorder": 3}
#: What each role looks like: told apart by line style, hatch or marker as well as by colour.
_STYLES: dict[str, dict[str, Any]] = {
    "worst": {"color": _ORANGE, "alpha": 0.18, "linewidth": 0},
    "consistency": {"color": _GREY, "alpha": 0.4, "linewidth": 0},
    # hatched across the diagonal; dots would make a large SVG
    "confidence": {
        "facecolor": "none",
        "edgecolor": _BLUE,
        "hatch": r"\\",
        "linewidth": 0.8,
        "alpha": 0.45,
    },
    "saved": {"facecolor": "none", "edgecolor": _GREY, "hatch": "////", "linewidth": 0},
    "scores": {"color": _GREY, "edgecolor": _PAPER, "linewidth": 0.5},
    "diagonal": {"color": _GREY, "linestyle": "--", "linewidth": 1},
    "curve": {"color": _BLUE, "linewidth": 2},
    "after": {"color": _GREEN, "linestyle": "--", "linewidth": 2},
    "always": {"color": _ORANGE, "linestyle": ":"},
    "never": {"color": _RED, "linestyle": "-."},
    "all": {"color": _GREY, "linestyle": ":"},
    "none": {"color": _GREY, "linestyle": "-."},
    "ends": {"color": _RED, "linestyle": "none", "marker": "D", "clip_on": False},
    "bounds": {"color": _GREY, "marker": "|", "linewidth": 2},
    "certain": {**_GROUP, "color": _RED, "marker": "D"},
    "beyond": {"color": _BLUE, "linestyle": ":", "linewidth": 1.5},
    "above": {**_BEYOND, "marker": "^"},
    "below": {**_BEYOND, "marker": "v"},
    "left": {**_BEYOND, "marker": "<"},
    "right": {**_BEYOND, "marker": ">"},
    "lone": {"color": _BLUE, "linestyle": "none", "marker": "o"},
    "open": {**_GROUP, "color": _BLUE, "marker": "o", "markerfacecolor": _PAPER},
}
#: Text that may come from data is shown as it is, never read as a formula.
_LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
#: Columns and letters of a legend, the first that fit are taken.
_LEGENDS = ((2, "small"), (1, "small"), (2, "x-small"), (1, "xx-small"))


@dataclass(frozen=True, eq=False, slots=True)
class _Drawn:
    """A picture that was drawn, and of which models."""

    name: str
    models: Sequence[Any]


#: What was drawn here, as long as it stands on its axes.
_OURS: WeakKeyDictionary[Artist, _Drawn] = WeakKeyDictionary()


def models_on(ax: Axes | None, name: str) -> Sequence[Any]:
    """Return the models that a picture of this name on the axes shows; none if there is none."""
    if ax is None:
        return ()
    found = (_OURS.get(artist) for artist in _checked(ax).get_children())
    return next((one.models for one in found if one is not None and one.name == name), ())


def drawn_on(
    ax: Axes | None, picture: Picture, size: tuple[float, float], models: Sequence[Any] = ()
) -> Axes:
    """Draw a picture on the axes given, or on those of a new figure, and return them.

    It takes the place of one of the same name. The models that it shows are known to `models_on`.
    """
    place = _axes_for(ax, size)
    _remove(place, picture.name)
    before = set(place.get_children())
    shown = {which: _shown(place, which) for which in "xy"}
    for layer in picture.layers:
        _draw(place, layer)
    drawn = _Drawn(picture.name, models)
    _OURS.update({one: drawn for one in place.get_children() if one not in before})
    _set(place, "x", picture.x, shown["x"])
    _set(place, "y", picture.y, shown["y"])
    place.set_title(_fitted(place, picture.finding), fontsize="medium", **_LITERAL)
    if ax is None:
        place.get_figure().draw_without_rendering()  # type: ignore[union-attr]
    _legend_above(place)
    return place


def _axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is None:
        pyplot = require("matplotlib.pyplot", "plot")
        made: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
        return made
    return _checked(ax)


def _checked(ax: Axes) -> Axes:
    require("matplotlib", "plot")
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise _not_axes(type(ax).__name__)
    return ax


def _remove(ax: Axes, name: str) -> None:
    """Take a picture off the axes, and leave what others have drawn there."""
    old = {one for one in ax.get_children() if one in _OURS and _OURS[one].name == name}
    for bars in [one for one in ax.containers if old.intersection(one)]:
        old.difference_update(bars)
        bars.remove()
    for artist in old:
        artist.remove()


def _draw(ax: Axes, layer: Layer) -> None:
    style: dict[str, Any] = {"label": _label(layer)}
    for key, value in (_STYLES[layer.role] | _look(layer)).items():
        style[key] = ax.get_facecolor() if value is _PAPER else value
    match layer:
        case Line():
            if layer.marks:
                style["marker"] = "o"
            ax.plot(layer.x, layer.y, **style)
        case Points():
            ax.plot(layer.x, layer.y, **style)
        case Area():
            ax.fill_between(layer.x, layer.lower, layer.upper, **style)
        case Span():
            ax.axvspan(layer.left, layer.right, **style)
        case Bars():
            left, width = layer.scores.left, layer.scores.right - layer.scores.left
            ax.bar(left, layer.heights, width, layer.base, align="edge", **style)


def _label(layer: Layer) -> str:
    """Return what a legend says; it would leave out what begins with an underscore."""
    return f" {layer.label}" if layer.label.startswith("_") else layer.label


def _look(layer: Layer) -> dict[str, Any]:
    """Return what tells a model from others."""
    if layer.model is None:
        return {}
    colour, dashes = look_of(layer.model)
    line = {"linestyle": (0, dashes)} if dashes and layer.role == "curve" else {}
    return {"color": colour, **line}


def _shown(ax: Axes, which: str) -> tuple[float, ...]:
    """Return the limits of an axis if something is drawn along it, here or where it is shared."""
    sharing = getattr(ax, f"get_shared_{which}_axes")().get_siblings(ax)
    if not any(one.has_data() for one in sharing):
        return ()
    limits: tuple[float, float] = getattr(ax, f"get_{which}lim")()
    return limits


def _set(ax: Axes, which: str, axis: Axis, shown: tuple[float, ...]) -> None:
    if axis.ticks:
        ax.set(**{f"{which}ticks": axis.ticks})
    if axis.words:
        getattr(ax, f"set_{which}ticklabels")(axis.words, fontsize="small", **_LITERAL)
    if axis.grid:
        getattr(ax, f"{which}axis").grid(visible=True, color=_GREY, alpha=0.3)
    ends = sorted((axis.low, axis.high, *shown), reverse=axis.low > axis.high)
    ax.set(**{f"{which}lim": (ends[0], ends[-1]), f"{which}label": axis.name})


def _fitted(ax: Axes, text: str) -> str:
    """Break a title into lines of about one length that fit the axes."""
    inches = float(ax.get_window_extent().width / ax.figure.dpi)
    most = max(20, int(11 * inches))
    lines = len(textwrap.wrap(text, most))
    width = next(few for few in range(20, most + 1) if len(textwrap.wrap(text, few)) <= lines)
    return "\n".join(textwrap.wrap(text, width))


def _legend_above(ax: Axes) -> None:
    """Put the legend at the top and lift the top of the axes until it hides nothing."""
    for columns, size in _LEGENDS:
        legend = ax.legend(loc="upper left", fontsize=size, ncols=columns, framealpha=0.9)
        for text in legend.get_texts():
            text.set(**_LITERAL)
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
