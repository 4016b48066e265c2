"""The classifiers of the experiments: naive Bayes by brute force, margins on [0, 1]."""

import numpy as np
import pytest

from calibrant.experiments.classifiers import CLASSIFIERS, MixedNaiveBayes, scores_of
from calibrant.experiments.datasets import bundled, simulated

DATA = simulated("additive", 600, seed=3)
ROWS = (np.arange(300), np.arange(300, 400), np.arange(400, 600))


def by_hand(data, train, test):
    """Multiply Gaussian densities and smoothed frequencies, class by class."""
    joint = []
    for label in (False, True):
        rows = train[data.labels[train] == label]
        numbers = data.numbers[rows]
        mean, var = numbers.mean(axis=0), numbers.var(axis=0)
        # scikit-learn adds this to every variance
        var = var + 1e-9 * data.numbers[train].var(axis=0).max()
        x = data.numbers[test]
        density = np.exp(-((x - mean) ** 2) / (2 * var)) / np.sqrt(2 * np.pi * var)
        likelihood = density.prod(axis=1) * len(rows) / len(train)
        for column, size in enumerate(data.sizes):
            counts = np.bincount(data.categories[rows, column], minlength=size) + 1
            likelihood *= (counts / counts.sum())[data.categories[test, column]]
        joint.append(likelihood)
    return joint[1] / (joint[0] + joint[1])


def test_naive_bayes_is_the_product_of_its_parts():
    model = MixedNaiveBayes(DATA.numbers.shape[1], DATA.sizes)
    model.fit(DATA.table[ROWS[0]], DATA.labels[ROWS[0]])
    found = model.predict_proba(DATA.table[ROWS[2]])
    np.testing.assert_allclose(found[:, 1], by_hand(DATA, ROWS[0], ROWS[2]), rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_naive_bayes_of_numbers_alone_is_scikit_learns():
    from sklearn.naive_bayes import GaussianNB

    model = MixedNaiveBayes(6, []).fit(DATA.numbers[:300], DATA.labels[:300])
    other = GaussianNB().fit(DATA.numbers[:300], DATA.labels[:300])
    found, expected = (one.predict_proba(DATA.numbers[300:]) for one in (model, other))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "classifier", [one for one in CLASSIFIERS if one.installed], ids=lambda one: one.name
)
def test_scores_are_in_the_unit_interval_and_repeat(classifier):
    found = scores_of(classifier, DATA, ROWS, seed=1, quick=True)
    assert [len(scores) for scores in found] == [100, 200]
    for scores in found:
        assert ((scores >= 0) & (scores <= 1)).all()
    again = scores_of(classifier, DATA, ROWS, seed=1, quick=True)
    np.testing.assert_array_equal(found[1], again[1])


def test_margins_are_rescaled_by_those_of_the_training_rows():
    svm = next(one for one in CLASSIFIERS if one.name == "SVM")
    table, train = DATA.table, ROWS[0]
    model = svm.make(DATA, 0, True).fit(table[train], DATA.labels[train])
    margin, fitted = model.decision_function(table[ROWS[2]]), model.decision_function(table[train])
    expected = ((margin - fitted.min()) / (fitted.max() - fitted.min())).clip(0, 1)
    np.testing.assert_allclose(scores_of(svm, DATA, ROWS, 0, True)[1], expected, rtol=1e-12)


def test_bundled_data_need_no_file_and_are_binary():
    names = set()
    for data in bundled():
        names.add(data.name)
        assert 0 < data.labels.mean() < 1
        assert data.features.shape == (len(data.labels), data.numbers.shape[1] + sum(data.sizes))
        assert data.table.shape[1] == data.numbers.shape[1] + len(data.sizes)
    assert len(names) == 6
    rare = simulated("rare events")
    assert 0.01 < rare.labels.mean() < 0.05
