"""Many certificates at once: models or groups, in one joint statement."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import calibrated

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")


@pytest.fixture(scope="module")
def sample():
    return calibrated().draw(10_000, seed=1)[:2]


def test_many_models_hold_at_once(sample):
    y_true, y_prob = sample
    both = cb.certify_many(y_true, {"a": y_prob, "b": np.sqrt(y_prob)})
    assert list(both) == ["a", "b"]
    assert both["a"].upper == pytest.approx(cb.certify(*sample, confidence=0.975).upper)
    assert both["a"].confidence == 0.95
    assert both["a"].statements == 2
    assert ", for all 2 statements at once, the true" in both["a"].sentence


def test_many_groups_of_predictions(sample):
    y_true, y_prob = sample
    group = np.arange(10_000) % 3
    direct = cb.certify_many(y_true, y_prob, groups=group)
    data = cb.Predictions(y_true, y_prob)
    assert cb.certify_many(data, groups=group) == direct
    with pytest.raises(ValueError, match="which group a row is in"):
        cb.certify_many(data.tally(), groups=group)
    with pytest.raises(ValueError, match="certify_many does not carry over"):
        cb.certify_many(cb.Predictions(y_true, y_prob, clusters=group), groups=group)


def test_many_groups_hold_at_once(sample):
    y_true, y_prob = sample
    group = np.array(["south", "north"])[np.arange(10_000) % 2]
    found = cb.certify_many(y_true, y_prob, groups=group)
    assert list(found) == ["north", "south"]
    for name, one in found.items():
        mine = group == name
        alone = cb.certify(y_true[mine], y_prob[mine], confidence=0.975)
        assert one.upper == pytest.approx(alone.upper, abs=1e-12)
        assert one.n == 5000
    many = cb.certify_many(y_true, y_prob, groups=np.arange(10_000) // 400)
    assert len(many) == 25
    assert {one.method for one in many.values()} == {"betting"}
    few = cb.certify_many(y_true, y_prob, groups=np.arange(10_000) // 5000)
    assert {one.method for one in few.values()} == {"certified"}
    words = np.where(y_true, "yes", "no")
    labelled = cb.certify_many(words, y_prob, groups=group, pos_label="yes")
    assert labelled["north"].upper == found["north"].upper
    half = cb.certify_many(y_true, y_prob, groups=group, sample_weight=np.full(10_000, 2))
    assert half["north"].n == 10_000


@pytest.mark.parametrize(
    ("y_prob", "groups", "words"),
    [
        ([0.1, 0.2], None, "y_prob as {name: scores}"),
        ({}, None, "y_prob names no model"),
        ({"a": [0.1, 0.2]}, [1, 2], "groups cannot be given with a mapping of models"),
        ({"a": [0.1, 0.2], "b": [0.1, 2.0]}, None, r"y_prob\['b'\] must lie between 0 and 1"),
        ([0.1, 0.2], [1], "same number of rows"),
        ([0.1, 0.2], [1, None], "groups has missing values"),
        ([0.1, 0.2], [1, [2]], "groups"),
    ],
)
def test_many_refuses(y_prob, groups, words):
    with pytest.raises(ValueError, match=words):
        cb.certify_many([0, 1], y_prob, groups=groups)
