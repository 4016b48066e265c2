"""Displays: the numbers of the audit, drawn on any axes without touching anything else."""

import io
import json
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import calibrant as cb
from calibrant.errors import InputError
from calibrant.report.overlay import look_of
from calibrant.simulate import atoms, constant, overconfident, rare

DISPLAYS = [cb.ReliabilityDisplay, cb.CumulativeDisplay, cb.CostDisplay, cb.GroupsDisplay]
CURVES = {
    cb.ReliabilityDisplay: "reliability",
    cb.CumulativeDisplay: "difference",
    cb.CostDisplay: "cost",
}
Y_TRUE, Y_PROB, _ = overconfident().draw(2000, seed=1)
NAMES = ["<script>", "$5 to $10", "a_b^c"]
BY = {"$fee$": np.resize(NAMES, 2000)}
AUDIT = cb.audit(Y_TRUE, Y_PROB, by=BY)
PIP_LINE = r"pip install 'calibrant\[plot\]'"


def axes():
    return Figure(figsize=(6, 5)).subplots()


@pytest.mark.parametrize("kind", CURVES)
def test_the_frame_is_the_json_of_the_audit(kind):
    display = kind.from_predictions(Y_TRUE, Y_PROB, ax=axes())
    assert display.frame() == AUDIT.to_dict()["curves"][CURVES[kind]]
    json.dumps(display.frame(), allow_nan=False)
    predictions = cb.Predictions(Y_TRUE, Y_PROB)
    assert kind.from_predictions(predictions, ax=axes()).frame() == display.frame()


def test_they_compose_on_given_axes_and_open_no_figure():
    figure = Figure(figsize=(12, 9), layout="constrained")
    places = figure.subplots(2, 2)
    for kind, ax in zip(DISPLAYS, places.flat, strict=True):
        display = kind.from_audit(AUDIT)
        assert display.plot(ax) is display
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert ax.get_legend() is not None
        assert ax.get_xlabel()
        assert ax.get_title().replace("\n", " ") == display.finding
    assert len(figure.axes) == 4
    assert pyplot.get_fignums() == []
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("kind", DISPLAYS)
def test_without_axes_it_makes_one_figure(kind):
    display = kind.from_audit(AUDIT).plot()
    assert pyplot.get_fignums() == [display.figure_.number]
    assert display.finding in repr(display)


@pytest.mark.parametrize("kind", DISPLAYS)
@pytest.mark.parametrize("size", [(3, 2.5), (9, 6)])
def test_pictures_are_written_without_warnings_and_the_legend_hides_no_data(kind, size):
    figure = Figure(figsize=size)
    display = kind.from_audit(AUDIT).plot(figure.subplots())
    figure.savefig(io.BytesIO(), format="png", dpi=100)
    legend = display.ax_.get_legend().get_window_extent()
    for line in display.ax_.lines:
        if size[0] > 5:
            points = display.ax_.transData.transform(np.column_stack(line.get_data()))
            if line.get_transform() == display.ax_.transData:
                assert not legend.count_contains(points)


@pytest.mark.parametrize(
    "law", [constant(0.2), constant(1.0), atoms(), rare(0.01)], ids=lambda law: law.name
)
def test_strange_scores_can_be_drawn(law):
    y_true, y_prob, _ = law.draw(400, seed=3)
    found = cb.audit(y_true, y_prob)
    for kind in CURVES:
        kind.from_audit(found).plot(axes()).figure_.savefig(io.BytesIO(), format="png")


def test_one_row_and_perfect_scores_can_be_drawn():
    for labels, scores in (([1], [0.3]), ([0, 1], [0.0, 1.0]), ([0, 0], [0.0, 0.0])):
        found = cb.audit(labels, scores)
        for kind in CURVES:
            kind.from_audit(found).plot(axes()).figure_.savefig(io.BytesIO(), format="png")
    assert cb.ReliabilityDisplay(found).finding == "Predictions and outcomes agree"
    assert cb.CostDisplay(found).finding == "No recalibration would save anything"


def test_a_finding_that_may_be_chance_says_so():
    found = cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    assert "hance alone" in cb.ReliabilityDisplay(found).finding
    assert "chance" in cb.CumulativeDisplay(found).finding
    assert AUDIT.worst_intervals[0].verdict in cb.ReliabilityDisplay(AUDIT).finding


def test_soft_labels_have_no_bands():
    rng = np.random.default_rng(0)
    y_true, y_prob = rng.random(500), rng.random(500)
    group = np.resize(["a", "b"], 500)
    found = cb.audit(y_true, y_prob, by={"group": group})
    for kind in CURVES:
        labels = kind.from_audit(found).plot(axes()).ax_.get_legend_handles_labels()[1]
        assert not [label for label in labels if "95%" in label]
    display = cb.GroupsDisplay.from_audit(found).plot(axes())
    assert display.frame()["lower"] == [None, None]
    assert display.ax_.get_legend_handles_labels()[1] == ["measured"]


def test_what_a_tally_hides_is_refused_in_words():
    tally = cb.Predictions(Y_TRUE, Y_PROB).tally(6)
    with pytest.raises(InputError, match="too wide to draw the reliability curve"):
        cb.ReliabilityDisplay.from_predictions(tally, ax=axes())
    with pytest.raises(InputError, match=r"too wide to draw the cost curve.*finer tally"):
        cb.CostDisplay.from_audit(cb.audit(tally))
    assert "between" in cb.CumulativeDisplay.from_predictions(tally, ax=axes()).finding


def test_wrong_arguments_are_refused_in_words():
    with pytest.raises(InputError, match="no groups to draw"):
        cb.GroupsDisplay.from_audit(cb.audit(Y_TRUE, Y_PROB))
    with pytest.raises(InputError, match="one Axes of matplotlib, but it is a ndarray"):
        cb.CostDisplay.from_audit(AUDIT).plot(Figure().subplots(2, 2))


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], ["no", "yes"], [False, True]])
def test_from_estimator(labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    event = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    y = np.array(labels)[event]
    model = LogisticRegression().fit(X[:300], y[:300])
    score = model.predict_proba(X[300:])[:, 1]
    by = {"sign": X[300:, 1] > 0}
    found = cb.audit(event[300:], score, by=by)
    for kind in CURVES:
        display = kind.from_estimator(model, X[300:], y[300:], ax=axes())
        assert display.frame() == kind.from_audit(found).frame()
    display = cb.GroupsDisplay.from_estimator(model, X[300:], y[300:], by=by, ax=axes())
    assert display.frame() == cb.GroupsDisplay.from_audit(found).frame()


def test_from_estimator_takes_the_other_class_and_refuses_three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    display = cb.ReliabilityDisplay.from_estimator(model, X, y, pos_label="no", ax=axes())
    found = cb.audit(y == "no", model.predict_proba(X)[:, 0])
    assert display.frame() == found.to_dict()["curves"]["reliability"]
    with pytest.raises(InputError, match="pos_label='non' is not among"):
        cb.ReliabilityDisplay.from_estimator(model, X, y, pos_label="non", ax=axes())
    three = LogisticRegression().fit(X, np.resize([0, 1, 2], 300))
    with pytest.raises(InputError, match="Only binary"):
        cb.ReliabilityDisplay.from_estimator(three, X, y, ax=axes())


@pytest.mark.parametrize("kind", DISPLAYS)
def test_without_matplotlib_the_pip_line_is_named(kind, monkeypatch):
    ax = axes()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    by = {"by": BY} if kind is cb.GroupsDisplay else {}
    with pytest.raises(ImportError, match=PIP_LINE):
        kind.from_predictions(Y_TRUE, Y_PROB, ax=ax, **by)
    display = kind.from_audit(AUDIT)
    assert display.frame()
    with pytest.raises(ImportError, match=f"matplotlib is needed for plots.*{PIP_LINE}"):
        display.plot()


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("kind", CURVES)
def test_a_second_model_has_its_own_colour_and_there_is_one_legend(kind):
    ax, other = axes(), np.sqrt(Y_PROB)
    kind.from_predictions(Y_TRUE, Y_PROB, name="first", ax=ax)
    assert "first" in legend_of(ax)
    lines = len(ax.lines)
    display = kind.from_predictions(Y_TRUE, other, name="second", ax=ax)
    assert display.ax_ is ax
    labels = [label.split(",")[0] for label in legend_of(ax)]
    assert [label for label in labels if label in {"first", "second"}] == ["first", "second"]
    curves = [line for line in ax.lines if line.get_label().split(",")[0] in {"first", "second"}]
    assert [curve.get_color() for curve in curves] == [look_of(0).colour, look_of(1).colour]
    # what belongs to one model alone is gone
    assert len(ax.collections) == len(ax.patches) == len(ax.containers) == 0
    assert len(ax.lines) <= lines + 1
    assert display.frame() == kind.from_audit(cb.audit(Y_TRUE, other)).frame()
    ax.figure.savefig(io.BytesIO(), format="png")
    low, high = ax.get_ylim()
    for curve in curves:
        assert low <= curve.get_ydata().min() <= curve.get_ydata().max() <= high
    kind.from_predictions(Y_TRUE, other, ax=ax)
    assert "model 3" in [label.split(",")[0] for label in legend_of(ax)]


@pytest.mark.parametrize("kind", CURVES)
def test_axes_hold_models_of_every_size_in_any_order(kind):
    small = cb.audit(*rare(0.01).draw(3000, seed=1)[:2])
    for pair in ((small, AUDIT), (AUDIT, small)):
        ax = axes()
        for found in pair:
            kind.from_audit(found).plot(ax)
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        for line in ax.lines:
            x, y = line.get_data()
            assert left <= min(x) <= max(x) <= right
            assert low <= min(y) <= max(y) <= high


def test_groups_of_two_models_stand_side_by_side():
    ax = axes()
    cb.GroupsDisplay.from_predictions(Y_TRUE, Y_PROB, by=BY, name="first", ax=ax)
    other = {"$fee$": np.where(np.arange(2000) < 1000, NAMES[0], "new")}
    cb.GroupsDisplay.from_predictions(Y_TRUE, np.sqrt(Y_PROB), by=other, name="second", ax=ax)
    places = [label.get_text() for label in ax.get_yticklabels()]
    assert (
        len(places) == 5
    )  # three groups of the first, and one of them and a new one of other rows
    bounds = [line for line in ax.lines if line.get_label() in {"first", "second"}]
    assert [line.get_color() for line in bounds] == [look_of(0).colour, look_of(1).colour]
    heights = [set(np.round(line.get_ydata(), 6)) for line in bounds]
    assert not heights[0] & heights[1]


def test_what_others_have_drawn_stays_and_cleared_axes_start_anew():
    ax = axes()
    [line] = ax.plot([0, 1], [1, 0], label="mine")
    first = cb.ReliabilityDisplay.from_audit(AUDIT, name="a").plot(ax)
    first.plot(ax, name="b")  # the same model again takes its own place
    assert "a" not in legend_of(ax)
    cb.ReliabilityDisplay.from_predictions(Y_TRUE, Y_PROB**2, name="c", ax=ax)
    assert line in ax.lines
    assert [label.split(",")[0] for label in legend_of(ax)] == [
        "mine",
        "perfectly calibrated",
        "b",
        "c",
    ]
    ax.clear()
    cb.ReliabilityDisplay.from_audit(AUDIT, name="d").plot(ax)
    assert {"d", "scores"} <= set(legend_of(ax))


def test_a_classifier_is_called_by_its_class_unless_it_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model, ax = LogisticRegression().fit(X, y), axes()
    cb.ReliabilityDisplay.from_estimator(model, X, y, ax=ax)
    assert "LogisticRegression" in legend_of(ax)
    cb.ReliabilityDisplay.from_estimator(model, X, 1 - y, ax=ax)
    cb.ReliabilityDisplay.from_estimator(model, X[::2], y[::2], name="_half", ax=ax)
    labels = [label.strip().split(",")[0] for label in legend_of(ax)]
    assert labels[1:] == ["LogisticRegression", "LogisticRegression (2)", "_half"]


@pytest.mark.parametrize("display", [cb.ReliabilityDisplay, cb.CumulativeDisplay, cb.CostDisplay])
def test_a_model_of_margins_is_told_the_way(display):
    X, y = make_classification(100, random_state=0)
    with pytest.raises(cb.InputError, match=r"CalibratedClassifier\(estimator\)\.fit\(X, y\)"):
        display.from_estimator(LinearSVC().fit(X, y), X, y)
