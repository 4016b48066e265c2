"""Extremes of the walk against a walk in exact fractions, with cells open and closed."""

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from calibrant.core.diagram import Diagram, everything, resolve
from calibrant.core.extremes import extremes, extremes_need, reaching, reaching_extremes
from reference import brute
from reference.samples import acceptable, quietly, small


def source_of(case):
    y_true, y_prob, weight = acceptable(case)
    return quietly(cb.Predictions, y_true, y_prob, sample_weight=weight).source


def tallied(case, level):
    y_true, y_prob, weight = acceptable(case)
    tally = quietly(cb.Predictions, y_true, y_prob, sample_weight=weight).tally(level)
    return Diagram(tally.cells, tally.totals)


@settings(max_examples=200)
@given(small())
def test_open_extremes_are_those_of_the_exact_walk(case):
    diagram = resolve(source_of(case), everything)
    _, levels = brute.walk(*case)
    found = extremes(diagram)
    assert found.high == pytest.approx(float(max(levels)), abs=1e-12)
    assert found.low == pytest.approx(float(min(levels)), abs=1e-12)
    assert found.at_most == pytest.approx(found.range, abs=1e-12)
    for start in range(len(levels) - 1):  # and of every part of the walk
        part = extremes(diagram, start, len(levels) - 1)
        assert part.high == pytest.approx(float(max(levels[start:])), abs=1e-12)
        assert part.low == pytest.approx(float(min(levels[start:])), abs=1e-12)
        assert start <= part.ends[0] < part.ends[1] <= len(levels) - 1


@settings(max_examples=200)
@given(small())
def test_closed_cells_bound_the_range(case):
    exact = float(brute.error(*case) * brute.total(case[1], case[2]))
    for level in (0, 1, 3):
        found = extremes(tallied(case, level))
        assert found.range - 1e-12 <= exact <= found.at_most + 1e-12


@settings(max_examples=200)
@given(small())
@pytest.mark.parametrize("needs", [extremes_need, reaching_extremes])
def test_opening_what_is_needed_is_enough_for_the_range(needs, case):
    diagram = resolve(source_of(case), needs)
    exact = float(brute.error(*case) * brute.total(case[1], case[2]))
    assert extremes(diagram).range == pytest.approx(exact, abs=1e-12)


@settings(max_examples=200)
@given(small(rows=30))
def test_a_cell_that_holds_an_extreme_is_always_marked(case):
    scores, levels = brute.walk(*case)
    for level in (1, 3):
        diagram = tallied(case, level)
        cells = diagram.cells
        cell = np.searchsorted(cells.low, scores, side="right") - 1
        edges = [0.0, *diagram.walk[1:]]
        for value, best in ((max(levels), max), (min(levels), min)):
            beyond = abs(float(value) - best(edges)) > 1e-9
            place = levels.index(value)
            if beyond:  # no edge attains it, so it is inside of a cell
                assert extremes_need(diagram)[cell[place - 1]]
                assert reaching_extremes(diagram)[cell[place - 1]]


def test_groups_are_marked_as_each_of_them_alone():
    rng = np.random.default_rng(0)
    diagrams = []
    for rows in (30, 200, 5, 80):
        score = rng.random(rows)
        tally = cb.Predictions(rng.random(rows) < score**2, score).tally(4)
        diagrams.append(Diagram(tally.cells, tally.totals))
    starts = np.cumsum([0, *(len(one.cells) for one in diagrams)])
    columns = [one.cells for one in diagrams]
    names = ("level", "cell", "rows", "weight", "positives", "rise", "fall", "score")
    together = type(columns[0])(
        *(np.concatenate([getattr(one, name) for one in columns]) for name in names)
    )
    expected = np.concatenate([reaching_extremes(one) for one in diagrams])
    assert reaching(together, starts).tolist() == expected.tolist()
    assert 0 < expected.sum() < len(expected)


def test_few_cells_are_marked_of_many():
    rng = np.random.default_rng(1)
    score = rng.random(100_000)
    source = cb.Predictions(rng.random(100_000) < score**1.2, score).source
    diagram = Diagram(*source.start())
    assert extremes_need(diagram).mean() < 0.05


def test_a_flat_walk_has_its_first_step_as_its_worst():
    source = cb.Predictions([0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0]).source
    found = extremes(resolve(source, everything))
    assert (found.range, found.top, found.bottom, found.ends) == (0.0, 0, 0, (0, 1))
