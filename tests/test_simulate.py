"""The laws know their own truth, and the documents come out as the paper says."""

import math

import numpy as np
import pytest

import calibrant as cb
from calibrant import simulate
from calibrant.experiments.documents import documents_example

LAWS = simulate.laws()


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


def test_the_same_seed_gives_the_same_rows():
    one, other = (simulate.wavy().draw(100, seed=3) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert not np.array_equal(one.y_prob, simulate.wavy().draw(100, seed=4).y_prob)
    with pytest.raises(ValueError, match="rows must be a whole number, 1 or more"):
        simulate.wavy().draw(0)


def test_documents_have_the_papers_label_frequency_and_trivial_error():
    model = simulate.TopicModel()
    assert model.label_frequency == pytest.approx(10 / 29, abs=1e-15)
    documents = model.draw(4000, seed=1)
    assert documents.counts.shape == (4000, 1000)
    assert documents.counts.sum() / 4000 == pytest.approx(200, abs=5 * math.sqrt(200 / 4000))
    # 80,000 labels, but the 20 of a document hang together: count documents
    per_document = documents.labels.mean(axis=1)
    error = 5 * per_document.std() / math.sqrt(4000)
    assert documents.labels.mean() == pytest.approx(10 / 29, abs=error)
    distance = np.abs(documents.true_prob - model.label_frequency).mean(axis=1)
    error = 5 * distance.std() / math.sqrt(4000)
    assert distance.mean() == pytest.approx(0.2022, abs=error + 0.0002)


def test_words_follow_a_power_law():
    law = simulate.TopicModel(topics=3, words=100, exponent=2.0).word_law()
    ranked = np.sort(law, axis=1)[:, ::-1]
    assert law.sum(axis=1) == pytest.approx([1, 1, 1])
    assert ranked[:, 0] / ranked[:, 9] == pytest.approx([100, 100, 100])
    assert not np.array_equal(law[0], law[1])


def test_the_example_tells_the_papers_story():
    heard = []
    found = documents_example(documents=5000, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 10_000
    assert found.l1_error > 2 * found.audit.calibration_error
    assert found.trivial_l1 == pytest.approx(0.2023, abs=0.01)
    assert f"{found.l1_error:.3f}" in found.story
    assert found.audit.measures.unverifiable_l1 > found.audit.calibration_error
