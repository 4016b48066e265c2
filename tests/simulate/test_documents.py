"""Documents of a topic model: as frequent as the paper says."""

import math

import numpy as np
import pytest

from calibrant import simulate


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
    law = simulate.TopicModel(topics=3, words=100, exponent=2).word_law()
    ranked = np.sort(law, axis=1)[:, ::-1]
    assert law.sum(axis=1) == pytest.approx([1, 1, 1])
    assert ranked[:, 0] / ranked[:, 9] == pytest.approx([100, 100, 100])
    assert not np.array_equal(law[0], law[1])
