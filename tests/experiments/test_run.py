"""Study: means of runs, and what is kept of them."""

import numpy as np
import pytest
from scipy import stats

from calibrant.experiments.cache import Cache
from calibrant.experiments.run import Mean, Study


def test_means_are_students():
    values = [0.1, 0.2, 0.4]
    found = Mean.of(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.interval() == pytest.approx((expected.low, expected.high))
    wider = Mean.of(values, overlap=0.5)
    half = (found.interval()[1] - found.mean) * np.sqrt((1 / 3 + 0.5) / (1 / 3))
    assert wider.interval() == pytest.approx((found.mean - half, found.mean + half))
    assert Mean.of([0.3]).to_dict() == {"mean": 0.3, "sd": 0.0, "n": 1, "interval": None}


def test_parts_come_in_order_and_what_is_known_is_not_done_again(tmp_path):
    study, done = Study(jobs=1, cache=Cache(tmp_path)), []

    def part(number):
        def make():
            done.append(number)
            return number**2

        return study.key(part=number), make

    assert study.each("Squares", [part(3), part(1)]) == [9, 1]
    assert study.each("Squares", [part(1), part(2), part(3)]) == [1, 4, 9]
    assert sorted(done) == [1, 2, 3]
    assert study.each("Nothing", []) == []


def test_a_part_is_named_by_all_that_its_numbers_depend_on():
    keys = [Study().key(part=1), Study(seed=1).key(part=1), Study(quick=True).key(part=1)]
    assert len({str(one) for one in keys}) == 3
    assert keys[0]["made_by"]["numpy"] == np.__version__
    assert Study(jobs=1).key(part=1) == Study(jobs=2).key(part=1)
