"""The diagram: its walk and its bounds against exact fractions, and how far it is opened."""

import numpy as np
import pytest
from hypothesis import given, settings

import calibrant as cb
from calibrant.core.diagram import Diagram, everything, nothing, resolve
from reference import brute
from reference.samples import acceptable, quietly, small


def data_of(case):
    y_true, y_prob, weight = acceptable(case)
    return quietly(cb.Predictions, y_true, y_prob, sample_weight=weight)


@settings(max_examples=200)
@given(small())
def test_an_open_diagram_is_the_walk(case):
    diagram = resolve(data_of(case).source, everything)
    scores, levels = brute.walk(*case)
    assert diagram.open
    assert diagram.cells.score.tolist() == scores
    assert diagram.walk == pytest.approx([float(level) for level in levels], abs=1e-12)
    assert diagram.weight == pytest.approx(float(brute.total(case[1], case[2])), rel=1e-12)


@settings(max_examples=200)
@given(small(rows=30))
def test_a_closed_diagram_is_exact_at_edges_and_bounds_what_is_inside(case):
    scores, levels = brute.walk(*case)
    for level in (0, 2, 5):
        tally = data_of(case).tally(level)
        diagram = Diagram(tally.cells, tally.totals)
        inside = np.searchsorted(tally.cells.low, scores, side="right") - 1
        for place, cell in enumerate(inside.tolist()):
            value = float(levels[place + 1])
            assert diagram.lowest[cell] - 1e-12 <= value <= diagram.highest[cell] + 1e-12
            if place + 1 == len(scores) or inside[place + 1] > cell:
                assert diagram.walk[cell + 1] == pytest.approx(value, abs=1e-12)


@settings(max_examples=100)
@given(small())
def test_means_and_counts_are_those_of_the_rows(case):
    diagram = Diagram(*data_of(case).source.start())
    y, f = (np.asarray(values, dtype=float) for values in case[:2])
    weight = np.ones(len(f)) if case[2] is None else np.asarray(case[2], dtype=float)
    assert diagram.rate == pytest.approx(np.average(y, weights=weight), abs=1e-12)
    assert diagram.mean_score == pytest.approx(np.average(f, weights=weight), abs=1e-12)
    whole = (weight == weight.round()).all()
    assert diagram.count == (weight.sum() if whole else (weight > 0).sum())


def test_nothing_more_is_opened_than_is_needed():
    score = (np.arange(8000) + 0.5) / 8000
    source = cb.Predictions(np.arange(8000) % 3 == 0, score).source
    closed = resolve(source, nothing)
    assert not closed.single.any()

    def near_a_half(diagram):
        return (diagram.cells.low <= 0.5) & (diagram.cells.high >= 0.5)

    assert closed.hides(near_a_half)
    opened = resolve(source, near_a_half, start=closed)
    assert not opened.hides(near_a_half)
    assert 0 < opened.single.sum() < 100
    assert opened.walk[-1] == pytest.approx(closed.walk[-1], abs=1e-9)
    assert (np.diff(opened.cells.low) > 0).all()


def test_a_tally_stays_closed_and_says_what_it_hides():
    rng = np.random.default_rng(0)
    score = rng.random(500)
    tally = cb.Predictions(rng.random(500) < score, score).tally(4)

    class Stored:
        asked = 0

        def start(self):
            return tally.cells, tally.totals

        def zoom(self, cells):
            Stored.asked += 1

    diagram = resolve(Stored(), everything)
    assert Stored.asked == 1
    assert diagram.hides(everything)
    assert not diagram.hides(nothing)
