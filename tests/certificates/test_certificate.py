"""Certificates as users meet them: the numbers, the words, and what is refused."""

import dataclasses
import json

import pytest

import calibrant as cb
from calibrant.simulate import calibrated

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")
SENTENCE = (
    "With 95% confidence the true calibration error is at most 0.0129 (measured 0.00522 on 10,000 "
    "rows). Assumes that rows are independent and come from the population you will act on, and "
    "that the model was fixed before these rows were looked at; assumes nothing else about the "
    "model or the data."
)


@pytest.fixture(scope="module")
def sample():
    return calibrated().draw(10_000, seed=1)[:2]


def test_the_sentence(sample):
    found = cb.certify(*sample)
    assert found.sentence == repr(found) == SENTENCE
    assert found.method == "certified"
    assert (found.n, found.confidence, found.sided, found.lower) == (10_000, 0.95, "upper", 0.0)
    assert found.c_emp == pytest.approx(cb.calibration_error(*sample), abs=1e-12)
    assert found.seed is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.upper = 0.0


def test_words_are_rounded_away_from_the_truth():
    found = dataclasses.replace(
        cb.certify([0, 1], [0.4, 0.6], sided="both"), lower=0.012999, upper=0.0210001
    )
    assert "between 0.0129 and 0.0211" in found.sentence
    assert cb.certify([0, 1], [0.5, 0.5], method="band").sentence == (
        "With 95% confidence there is no upper bound below 1 for the true calibration error "
        "(measured 0 on 2 rows)."
    )
    one = cb.certify([0], [0.5], confidence=0.9999999999999)
    assert one.sentence.startswith("With 99.99999999999% confidence there is no upper")
    assert one.sentence.endswith("on 1 row).")


def test_explain_says_what_it_means_and_what_voids_it(sample):
    words = cb.certify(*sample).explain()
    for phrase in (
        "no nondecreasing recalibration",
        "a + b",
        "at most 5% are wrong",
        "used to train the model",
        "choose between models",
        "drifted",
        "depend on each other",
        "Berry-Esseen",
    ):
        assert phrase in words
    own = cb.certify(*sample, method="isotonic").explain()
    assert "Rows that were not fitted on would give a tighter bound." in own
    assert "to fit its calibrator" not in own
    assert "quoted or not, about 5% are wrong" in cb.certify(*sample, method="asymptotic").explain()
    assert "long run" not in cb.certify(*sample, method="fixed_design").explain()
    assert "seed" not in cb.certify(*sample, method="betting").explain()
    scores = cb.certify(*sample, method="fixed_design")
    assert "over exactly these scores (not over the population)" in scores.sentence
    printed = cb.certify(*sample, method="gao2017_printed")
    assert "which its proof does not show" in printed.sentence
    assert printed.upper < cb.certify(*sample, method="gao2017").upper


def test_to_dict_is_plain(sample):
    found = cb.certify(*sample)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document == found.to_dict()
    assert document["sentence"] == SENTENCE
    assert {field.name for field in dataclasses.fields(found)} < set(document)
