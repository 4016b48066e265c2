"""Labels and weights of classifiers: in the words of scikit-learn, and all of them usable."""

import numpy as np
import pytest

from calibrant.data.memory.targets import target_kind, weights_of
from calibrant.errors import InputError

X = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([0, 1, 1], "binary"),
        (["no", "yes", "no"], "binary"),
        ([1, 1, 1], "binary"),
        ([0, 1, 2], "multiclass"),
        ([0.5, 1.2, 0.1], "continuous"),
    ],
)
def test_labels_have_the_kind_that_scikit_learn_gives_them(labels, kind):
    assert target_kind(np.array(labels)) == kind


def test_labels_that_are_lists_or_past_doubles_are_refused():
    lists = np.empty(2, dtype=object)
    lists[:] = [[1], [2, 3]]
    with pytest.raises(InputError, match="y must hold plain labels"):
        target_kind(lists)
    with pytest.raises((InputError, ValueError), match=r"\by\b|label"):
        target_kind(np.array([10**400, 1], dtype=object))


@pytest.mark.parametrize(
    ("weight", "expected"), [(None, [1, 1, 1]), (2, [2, 2, 2]), ([0, 1, 2], [0, 1, 2])]
)
def test_every_row_has_a_weight(weight, expected):
    found = weights_of(weight, X)
    assert found.dtype == np.float64
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, -1, 1], "[Nn]egative"),
        ([1, np.inf, 1], "finite|infinity"),
        ([1, 1], "shape|inconsistent"),
        ("heavy", "sample_weight must be a finite number"),
        ([10**400, 1, 1], "sample_weight must hold numbers that doubles can hold"),
    ],
    ids=repr,
)
def test_weights_that_no_row_can_have_are_refused(weight, words):
    with pytest.raises(ValueError, match=words):
        weights_of(weight, X)
