"""Laws: their calibration error against millions of rows drawn from them."""

import math
import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import simulate

LAWS = simulate.laws()


@pytest.mark.validity
@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
def test_population_error_against_ten_million_rows(law):
    rows = 10**7
    _, y_prob, true_prob = law.draw(rows, seed=1)
    # with the true probabilities as soft labels c_emp is c(f) but for the draw of scores
    if np.array_equal(y_prob, true_prob):
        assert law.calibration_error == 0
        return
    if np.isin(y_prob, [0, 1]).all():  # fractions next to 0/1 would look like swapped arguments
        y_prob, true_prob = np.append(y_prob, 0.5), np.append(true_prob, 0.5)
    found = cb.calibration_error(true_prob, y_prob)
    spread = float(np.abs(true_prob - y_prob).max())
    assert found == pytest.approx(law.calibration_error, abs=5 * spread / math.sqrt(rows) + 1e-9)


@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
def test_outcomes_follow_the_true_probabilities(law):
    y_true, y_prob, true_prob = law.draw(200_000, seed=2)
    assert y_prob.min() >= 0
    assert y_prob.max() <= 1
    assert true_prob.min() >= 0
    assert true_prob.max() <= 1
    deviation = math.sqrt(float((true_prob * (1 - true_prob)).sum()))
    assert abs(y_true.sum() - true_prob.sum()) <= 5 * deviation + 1e-9


@pytest.mark.parametrize(
    "law",
    [
        simulate.rare(0.5, factor=2),
        simulate.rare(0.1, factor=3),
        simulate.rare(0.1, factor=0.5),
        simulate.overconfident(1.0),
        simulate.underconfident(0.01),
        simulate.wavy(0.2, waves=1),
        simulate.wavy(0, waves=2),
        simulate.atoms(2, size=1),
        simulate.below_threshold(1.0, mass=1),
        simulate.below_threshold(0.25, mass=0),
        simulate.shifted(1),
    ],
    ids=lambda law: law.name,
)
def test_population_error_at_the_ends_of_the_parameters(law):
    _, y_prob, true_prob = law.draw(400_000, seed=1)
    y_prob, true_prob = np.append(y_prob, 0.5), np.append(true_prob, 0.5)
    spread = float(np.abs(true_prob - y_prob).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = cb.calibration_error(true_prob, y_prob)
    tolerance = 5 * spread / math.sqrt(400_000) + 1e-5
    assert found == pytest.approx(law.calibration_error, abs=tolerance)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: simulate.shifted(-0.1), "by must be a number between 0 and 1"),
        (lambda: simulate.wavy(0.3), "size must be a number between 0 and 0.2"),
        (lambda: simulate.wavy(waves=0), "waves must be a whole number, 1 or more"),
        (lambda: simulate.rare(1.0), "base_rate must be a number between"),
        (lambda: simulate.atoms(0), "count must be a whole number"),
        (lambda: simulate.constant(0.5, 1.5), "rate must be a number between 0 and 1"),
        (lambda: simulate.below_threshold(mass=2), "mass must be a number between 0 and 1"),
        (lambda: simulate.overconfident(0), "factor must be a number between"),
        (lambda: simulate.calibrated(0), "a must be a number between"),
        (lambda: simulate.TopicModel(topics=1), "topics must be a whole number, 2 or more"),
        (lambda: simulate.TopicModel().draw(0), "documents must be a whole number, 1 or more"),
    ],
)
def test_parameters_that_make_no_law_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_same_seed_gives_the_same_rows():
    one, other = (simulate.wavy().draw(100, seed=3) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert not np.array_equal(one.y_prob, simulate.wavy().draw(100, seed=4).y_prob)
    with pytest.raises(ValueError, match="rows must be a whole number, 1 or more"):
        simulate.wavy().draw(0)
