"""The Venn-Abers calibrator as an estimator and as JSON."""

import json
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant.errors import InputError
from calibrant.simulate import overconfident


def fitted(y_true, y_prob, weight=None):
    return cb.VennAbersCalibrator().fit(y_prob, y_true, sample_weight=weight)


@pytest.mark.parametrize(
    ("y_true", "y_prob"), [([1], [0.0]), ([0, 0], [0.1, 1.0]), ([1, 1, 0], 3 * [0.3])]
)
def test_json_of_the_smallest_fits(y_true, y_prob):
    first = fitted(y_true, y_prob)
    again = cb.Calibrator.from_json(first.to_json())
    grid = np.linspace(0, 1, 101)
    assert again.predict_pair(grid).tolist() == first.predict_pair(grid).tolist()
    assert again.to_json() == first.to_json()


def edited(**parameters):
    y_true, y_prob, _ = overconfident().draw(50, seed=1)
    document = json.loads(fitted(y_true, y_prob).to_json())
    document["fitted_on"] |= parameters.pop("fitted_on", {})
    document["parameters"] |= parameters
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (edited(p0=[]), "its columns are empty or differ in length"),
        (edited(p0=[], p0_from=[]), "its columns are empty or differ in length"),
        (edited(p1=[0.1], p1_up_to=[1.5]), "a number is not in [0, 1]"),
        (edited(p1=[-0.1], p1_up_to=[0.5]), "a number is not in [0, 1]"),
        (edited(p1=[float("nan")], p1_up_to=[0.5]), "a number is not in [0, 1]"),
        (edited(p0=[0.1, 0.1], p0_from=[0.2, 0.3]), "its steps are not in order"),
        (edited(p0=[0.1, 0.2], p0_from=[0.3, 0.3]), "its steps are not in order"),
        (edited(p1=[0.0, 0.5], p1_up_to=[0.1, 1.0]), "p1 is 0 somewhere"),
        (edited(p0=[0.1, 0.9], p0_from=[0.1, 0.5], p1=[0.5], p1_up_to=[0.5]), "p0 is above p1"),
        (edited(more=[]), "hold more, which is new"),
        (edited(p0="0.1"), "p0 is not a list of numbers"),
        (edited(fitted_on={"rows": 0, "events": 0}), "events are not between 0 and rows"),
        (edited(fitted_on={"rows": 5, "events": 6}), "events are not between 0 and rows"),
    ],
)
def test_text_that_no_rows_could_have_given_is_refused(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        cb.Calibrator.from_json(text)


def test_pairs_of_bad_scores(tiny_steps):
    with pytest.raises(NotFittedError):
        cb.VennAbersCalibrator().predict_pair([0.1])
    found = fitted([0, 1], [0.2, 0.7])
    assert found.predict_pair(np.array([[0.1], [0.9]])).shape == (2, 2)
    with pytest.raises(ValueError, match="y_prob must lie between 0 and 1"):
        found.predict_pair([0.1, 1.1])
    with pytest.raises(ValueError, match="y_prob has missing values"):
        found.predict_pair([np.nan])


def test_weights_that_drown_a_new_row_are_refused_and_light_ones_noted():
    with pytest.raises(InputError, match=r"adds up to 1e\+20.* Divide the weights by their mean"):
        cb.VennAbersCalibrator().fit([0.2, 0.5, 0.8], [0, 1, 1], [1e20, 1, 1])
    with pytest.warns(UserWarning, match=r"Weights are 0.01 on average.* counts as 100 fitting"):
        cb.VennAbersCalibrator().fit([0.2, 0.5, 0.8], [0, 1, 1], [0.01] * 3)
