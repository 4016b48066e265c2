"""Pictures with matplotlib: the same descriptions as in SVG, and no setting touched."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import calibrant as cb
from calibrant.report.displays.cost import cost_picture
from calibrant.report.displays.cumulative import cumulative_overlay, cumulative_picture
from calibrant.report.displays.groups import groups_picture
from calibrant.report.displays.reliability import reliability_picture
from calibrant.report.drawing import drawn_on, models_on
from calibrant.report.overlay import Model, look_of
from calibrant.report.svg import css_of_models, key_of, svg_of
from calibrant.simulate import calibrated, overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(2000, seed=1)
AUDIT = cb.audit(Y_TRUE, Y_PROB, by={"g": np.resize(["a", "b"], 2000)})
DISPLAYS = [
    cb.ReliabilityDisplay,
    cb.CumulativeDisplay,
    cb.CostDisplay,
    cb.GroupsDisplay,
]
EVERY = [reliability_picture, cumulative_picture, cost_picture, groups_picture]


@pytest.mark.parametrize("describe", EVERY)
def test_one_description_is_drawn_twice(describe):
    picture, before = describe(AUDIT), dict(mpl.rcParams)
    ax = drawn_on(Figure(figsize=(6, 5)).subplots(), picture, (6, 5))
    assert dict(mpl.rcParams) == before
    assert set(ax.get_legend_handles_labels()[1]) == {layer.label for layer in picture.layers}
    assert ax.get_xlabel() == picture.x.name
    assert ax.get_ylabel() == picture.y.name
    assert ax.get_xlim() == pytest.approx((picture.x.low, picture.x.high))
    svg = svg_of(picture)
    for layer in picture.layers:
        assert f'class="{layer.role}"' in svg


def test_shared_axes_show_every_picture_whole():
    wide = cumulative_picture(AUDIT)
    narrow = cumulative_picture(cb.audit(*calibrated().draw(2000, seed=1)[:2]))
    for pair in ((wide, narrow), (narrow, wide)):
        axes = Figure(figsize=(6, 9)).subplots(2, 1, sharey=True)
        for ax, one in zip(axes, pair, strict=True):
            drawn_on(ax, one, (6, 5))
        low, high = axes[0].get_ylim()
        assert low == pytest.approx(min(wide.y.low, narrow.y.low))
        assert high > max(wide.y.high, narrow.y.high)


def test_a_picture_takes_the_place_of_one_of_its_name_and_knows_its_models():
    ax = Figure(figsize=(6, 5)).subplots()
    assert models_on(None, "reliability") == models_on(ax, "reliability") == ()
    drawn_on(ax, reliability_picture(AUDIT), (6, 5), ["one"])
    before = len(ax.get_children())
    drawn_on(ax, reliability_picture(AUDIT), (6, 5), ["two"])
    assert models_on(ax, "reliability") == ["two"]
    assert models_on(ax, "cost") == ()
    assert len(ax.get_children()) == before
    assert len(ax.containers) == 1


def test_several_models_are_described_once_and_drawn_twice():
    curves = AUDIT.curves.difference
    picture = cumulative_overlay([Model("a", 0.1), Model("b", 0.2)], [curves, curves])
    ax = drawn_on(Figure(figsize=(6, 5)).subplots(), picture, (6, 5))
    svg = svg_of(picture)
    for layer in picture.layers[1:]:
        [line] = [one for one in ax.lines if one.get_label() == layer.label]
        look = look_of(layer.model)
        assert line.get_color() == look.colour
        assert line.is_dashed() == bool(look.dashes)
        assert f'class="curve model-{layer.model}"' in svg
        assert f'class="hover model-{layer.model}"' in svg
        assert f"model-{layer.model} {{ stroke: {look.colour};" in css_of_models(2)
        assert f'class="curve model-{layer.model}"' in key_of(layer)


FORMULAS = [r"$\frac{$", "model at $5 or $6", r"a_b \alpha $x$"]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("kind", DISPLAYS, ids=lambda kind: kind.__name__)
def test_names_are_never_read_as_formulas(kind, formula):
    by = {"by": {formula: np.resize([formula, "b"], 2000)}} if kind is cb.GroupsDisplay else {}
    ax = Figure(figsize=(7, 5)).subplots()
    for name, scores in ((formula, Y_PROB), ("b", Y_PROB**2)):
        kind.from_predictions(Y_TRUE, scores, name=name, ax=ax, **by)
        ax.figure.draw_without_rendering()
        texts = [ax.title, *ax.get_legend().get_texts(), *ax.get_yticklabels()]
        shown = [text for text in texts if formula in text.get_text()]
        assert shown
        assert not any(text.get_parse_math() or text.get_usetex() for text in shown)
