"""Reliability: groups of equal size that cover everything and split no tie."""

from itertools import pairwise

import numpy as np

import calibrant as cb
from calibrant.simulate import overconfident


def test_reliability_groups_are_of_equal_size_and_cover_everything():
    y_true, y_prob, _ = overconfident().draw(5000)
    groups = cb.audit(y_true, y_prob).reliability
    assert [group.rows for group in groups] == [500] * 10
    assert groups[0].p1 is None
    assert groups[-1].p2 == y_prob.max()
    for before, after in pairwise(groups):
        assert before.p2 == after.p1


def test_reliability_groups_never_split_ties():
    y_prob = np.repeat([0.1, 0.2, 0.8], [70, 10, 20])
    groups = cb.audit(np.arange(100) % 2, y_prob).reliability
    assert [(group.p2, group.rows) for group in groups] == [(0.1, 70), (0.2, 10), (0.8, 20)]
