"""Table 1: which reading the numbers support, and one run by hand."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.experiments.run import Study
from calibrant.experiments.table1 import GRID, PUBLISHED, Choices, _model, _run, supported


def one_reading(documents, exponent, l1, c_emp, topics="all"):
    errors = {"l1": {"mean": l1}, "c_emp": {"mean": c_emp}}
    return {"documents": documents, "exponent": exponent, "topics": topics, **errors}


def test_the_nearest_reading_is_by_the_worse_of_both_errors():
    readings = [
        one_reading("training", 1.0, 0.1270, 0.0089),  # 0 and 2 printed deviations away
        one_reading("fresh", 0.95, 0.1278, 0.0083),  # 1 and 0
        one_reading("fresh", 1.0, 0.1270, 0.0083, topics="one"),  # exact, but of one topic
    ]
    found = supported(readings)
    assert (found["documents"], found["exponent"]) == ("fresh", 0.95)
    assert found["distance"] == pytest.approx(1)


def test_the_grid_changes_one_choice_at_a_time():
    base = dataclasses.asdict(Choices())
    assert GRID[0] == Choices()
    for choices in GRID[1:]:
        found = dataclasses.asdict(choices)
        assert sum(found[name] != base[name] for name in base) == 1
    assert len(set(GRID)) == len(GRID)


def test_a_run_measures_a_regression_on_documents():
    study, choices = Study(quick=True), Choices(regularisation=10.0)
    found = _run(study, choices, 0, 1)
    model, documents = _model(choices, study, 0)
    train, fresh = (model.draw(documents, seed=seed) for seed in (0, 1))
    fitted = LogisticRegression(C=0.1, max_iter=5000).fit(train.counts, train.labels[:, 0])
    for where, some in (("training", train), ("fresh", fresh)):
        scores = fitted.predict_proba(some.counts)[:, 1]
        assert found[where].keys() == PUBLISHED.keys()
        error = cb.calibration_error(some.labels[:, 0], scores)
        assert found[where]["c_emp"] == [pytest.approx(error, abs=1e-9)]
        distance = np.abs(scores - some.true_prob[:, 0]).mean()
        assert found[where]["l1"] == [pytest.approx(distance, abs=1e-9)]
