"""Models with equal errors on the same rows: how often one of them is said to be better."""

from itertools import combinations

import numpy as np
import pytest

import calibrant as cb
from reference.comparing import EQUALLY_WRONG, either_side, false_claims, too_many

pytestmark = [
    pytest.mark.validity,
    pytest.mark.filterwarnings("ignore:.*single"),
]


@pytest.mark.parametrize(("rows", "times"), [(60, 1000), (500, 300), (3000, 1000), (20_000, 1000)])
@pytest.mark.parametrize("law", EQUALLY_WRONG)
def test_false_claims_are_at_most_the_level(law, rows, times):
    found = false_claims(law, rows, times)
    assert not too_many(found["proved"], times)
    assert not too_many(found["significant"], times)


def test_many_models_share_the_level():
    """Nine that are 0.05 too high or too low: all pairs together are held to the level."""
    times, wrong = 500, 0
    for seed in range(times):
        rng = np.random.default_rng(seed)
        p, high, low = either_side(rng, 3000)
        y_true = (rng.random(3000) < p).astype(int)
        models = {str(k): high if k % 2 else low for k in range(9)}
        pairs = cb.compare(y_true, models).differences
        assert len(pairs) == len(list(combinations(models, 2)))
        wrong += any(one.evidence != "none" for one in pairs)
    assert not too_many(wrong, times)


def test_the_simulation_can_fail(monkeypatch):
    """Intervals of a third of the width do tell equal models apart too often."""
    monkeypatch.setattr("calibrant.auditing.compare._apart", _too_narrow)
    assert too_many(false_claims(either_side, 3000, 500)["significant"], 500)


def _too_narrow(one, other):
    ends = [
        (part.c_emp - (part.c_emp - part.lower) / 3, part.c_emp + (part.upper - part.c_emp) / 3)
        for part in (one, other)
    ]
    return ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
