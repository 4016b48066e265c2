"""The numbers behind the figures, read off trials made up by hand."""

import numpy as np
import pytest

from calibrant.experiments import figures, trials


def test_a_saving_above_the_error_would_be_seen():
    before, after = np.full(19, 0.3).tolist(), np.full(19, 0.1).tolist()
    trial = {
        "data": "A",
        "classifier": "SVM",
        "c_emp": 0.1,
        "rows": [100, 50, 100],
        "before": {"cost": before},
        "after": {"Isotonic": {"cost": after}},
    }
    other = {**trial, "classifier": "Naive Bayes", "c_emp": 0.2}
    first, second = figures.conjecture([trial, other])["points"]
    assert (first["above_bound"], second["above_bound"]) == (1, 0)
    assert first["most_saved"]["mean"] == pytest.approx(0.2)
    assert first["share_saved"]["mean"] == pytest.approx(2 / 3)


def test_a_classifier_that_costs_nothing_saves_nothing():
    free = {"cost": [0.0] * 19, "c_emp": 0.0, "brier": 0.0}
    trial = {
        "data": "A",
        "classifier": "SVM",
        "c_emp": 0.0,
        "rows": [100, 50, 100],
        "before": free,
        "after": dict.fromkeys(trials.CALIBRATORS, free),
    }
    [point] = figures.conjecture([trial])["points"]
    assert point["share_saved"]["mean"] == 0
    assert figures.beyond([trial])[0]["after"]["Platt"]["share_saved"] == 0


def test_figure_three_reads_off_the_trials():
    trial = {
        "data": "A",
        "classifier": "SVM",
        "c_emp": 0.1,
        "rows": [100, 50, 100],
        "before": {"cost": [0.2] * 18 + [0.0]},
        "after": {"Isotonic": {"cost": [0.1] * 18 + [0.0]}},
    }
    worse = {**trial, "after": {"Isotonic": {"cost": [0.2] * 18 + [0.1]}}}
    [curve] = figures.figure3([trial, worse])["curves"]
    assert curve["ratio"][0]["mean"] == pytest.approx(0.75)
    assert curve["ratio"][-1]["mean"] == pytest.approx(1.5)  # from nothing to something: 2
    assert curve["saved"]["mean"] == pytest.approx((9 / 19 - 1 / 19) / 2)
