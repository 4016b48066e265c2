"""Trials: rows are dealt without overlap, and costs are those of decisions."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.experiments import trials
from calibrant.experiments.classifiers import CLASSIFIERS
from calibrant.experiments.datasets import load_adult, load_covertype
from calibrant.experiments.run import Study
from calibrant.experiments.trials import GRID, measured, parts

ROOT = Path(__file__).parents[2]
KNOWN = ROOT / "docs" / "reproduction.json"
REAL = pytest.mark.skipif(
    not os.environ.get("CALIBRANT_DATA"), reason="CALIBRANT_DATA names no folder of UCI files"
)


def test_costs_are_those_of_decide():
    rng = np.random.default_rng(0)
    scores = np.round(rng.random(500), 2)
    labels = rng.random(500) < scores**2
    found = measured(labels, scores)
    for p, cost in zip(GRID.tolist(), found["cost"], strict=True):
        decided = cb.expected_cost(labels, scores, false_positive=p, false_negative=1 - p)
        assert cost == pytest.approx(decided.cost, abs=1e-12)
    assert found["c_emp"] == cb.calibration_error(labels, scores)


def test_rows_are_dealt_without_overlap():
    study = Study(quick=True)
    for data in [*trials.paper_data(study), *trials.other_data(study)]:
        first, second = (parts(study, data, split) for split in (0, 1))
        rows = np.concatenate(first)
        assert len(np.unique(rows)) == len(rows)
        assert min(map(len, first)) > 50
        assert not np.array_equal(first[0], second[0])


@pytest.mark.validity
@REAL
@pytest.mark.parametrize("load", [load_adult, load_covertype])
@pytest.mark.parametrize("name", ["Logistic regression", "Naive Bayes"])
def test_real_trials_give_the_kept_numbers(load, name):
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    data, study = load(), Study(seed=known["settings"]["seed"])
    classifier = next(one for one in CLASSIFIERS if one.name == name)
    found = trials._trial(study, data, classifier, 0)
    [bar] = [b for b in known["figure2"] if (b["data"], b["classifier"]) == (data.name, name)]
    assert [found[part] for part in ("c_emp", "lower", "upper")] == pytest.approx(
        bar["splits"][0], abs=0.003
    )
