"""Certificates as users meet them: the numbers, the words, and what is refused."""

import dataclasses
import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.evidence import Evidence, evidence_of
from calibrant.certificates.specification import METHODS
from calibrant.core.diagram import Diagram
from calibrant.simulate import calibrated, laws, overconfident, rare

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")
SENTENCE = (
    "With 95% confidence the true calibration error is at most 0.0129 (measured 0.00522 on 10,000 "
    "rows). Assumes that rows are independent draws from the population you will act on, and that "
    "the model was fixed before these rows were looked at; assumes nothing else about the model or "
    "the data."
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


def test_the_evidence_is_read_off_the_totals(sample):
    y_true, y_prob = sample
    data = cb.Predictions(y_true, y_prob)
    found = evidence_of(Diagram(*data.source.start()))
    assert found.n == 10_000
    assert found.v0 == pytest.approx(np.mean(y_prob * (1 - y_prob)), abs=1e-12)
    assert found.brier == pytest.approx(np.mean((y_true - y_prob) ** 2), abs=1e-12)


def test_auto_bets_below_3000_rows(sample):
    y_true, y_prob = sample
    few = cb.certify(y_true[:2999], y_prob[:2999])
    assert (few.method, few.seed) == ("betting", None)
    assert cb.certify(y_true[:3000], y_prob[:3000]).method == "certified"
    assert cb.certify(cb.Predictions(y_true[:2999], y_prob[:2999]).tally()).method == "certified"
    # a tally with one score in each cell holds every row
    coarse = cb.Predictions(y_true[:2999], y_prob[:2999].round(2))
    assert cb.certify(coarse.tally()) == cb.certify(coarse)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sided", ["upper", "both"])
def test_bounds_are_in_order_whatever_the_rows(method, sided):
    for law in laws():
        for rows in (1, 7, 300):
            y_true, y_prob, _ = law.draw(rows, seed=3)
            found = cb.certify(y_true, y_prob, method=method, sided=sided)
            assert 0 <= found.lower <= found.c_emp + 1e-12
            assert found.c_emp - 1e-12 <= found.upper <= 1
            assert found.method == ("betting" if method == "auto" else method)
            surer = cb.certify(y_true, y_prob, method=method, sided=sided, confidence=0.99)
            assert surer.upper >= found.upper - 1e-12
            assert surer.lower <= found.lower + 1e-12
            assert found.holds_for(1.0)
            assert found.holds_for(found.upper)
            assert not found.holds_for(found.upper - 1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sided", ["upper", "both"])
def test_order_of_rows_changes_nothing_and_weights_are_rows(method, sided):
    y_true, y_prob, _ = overconfident().draw(400, seed=2)
    y_prob = y_prob.round(2)
    weight = np.random.default_rng(1).integers(0, 4, 400)
    options = {"method": method, "sided": sided}
    found = cb.certify(y_true, y_prob, **options)
    order = np.random.default_rng(0).permutation(400)
    moved = cb.certify(y_true[order], y_prob[order], **options)
    assert (moved.lower, moved.upper) == pytest.approx((found.lower, found.upper), abs=1e-12)
    repeated = cb.certify(np.repeat(y_true, weight), np.repeat(y_prob, weight), **options)
    with pytest.warns(UserWarning, match="zero sample_weight"):
        weighted = cb.certify(y_true, y_prob, sample_weight=weight, **options)
    assert weighted.n == repeated.n == weight.sum()
    assert weighted.upper == pytest.approx(repeated.upper, abs=1e-12)
    assert weighted.lower == pytest.approx(repeated.lower, abs=1e-12)
    assert "weights are row counts" in weighted.assumptions
    assert "weights are row counts" not in repeated.assumptions


def test_both_sides_share_delta(sample):
    both = cb.certify(*sample, sided="both", method="certified")
    assert both.upper == cb.certify(*sample, confidence=0.975, method="certified").upper
    off = overconfident().draw(10_000, seed=1)[:2]
    both = cb.certify(*off, sided="both")
    one = Evidence(10_000, both.c_emp, both.c_emp, 0.25, float(np.mean((off[0] - off[1]) ** 2)))
    assert both.lower == pytest.approx(both.c_emp - bounds.band_width(one, 0.025))
    assert 0 < both.lower < overconfident().calibration_error < both.upper
    assert "between 0.0" in both.sentence
    few = off[0][:2000], off[1][:2000]
    bet = cb.certify(*few, sided="both")
    assert bet.method == "betting"
    assert bet.upper == cb.certify(*few, confidence=0.975).upper
    assert bet.lower == pytest.approx(cb.certify(*few, sided="both", method="certified").lower)
    # a band holds on both sides at once, so it need not be split
    assert (
        cb.certify(*off, sided="both", method="band").upper == cb.certify(*off, method="band").upper
    )


def test_asymptotic_lower_end_is_zero_unless_the_test_rejects():
    rejected = overconfident().draw(1000, seed=1)[:2]
    both = cb.certify(*rejected, sided="both", method="asymptotic")
    assert cb.calibration_test(*rejected).p_value <= 0.025
    assert 0 < both.lower < both.c_emp
    few = rare().draw(100, seed=4)[:2]
    assert cb.certify(*few, sided="both", method="asymptotic").lower == 0
    assert "about 95%" in both.sentence


def test_words_are_rounded_away_from_the_truth():
    found = dataclasses.replace(
        cb.certify([0, 1], [0.4, 0.6], sided="both"), lower=0.012999, upper=0.0210001
    )
    assert "between 0.0129 and 0.0211" in found.sentence
    assert cb.certify([0, 1], [0.5, 0.5], method="band").sentence == (
        "With 95% confidence nothing below 1 can be promised about the true calibration error "
        "(measured 0 on 2 rows)."
    )
    one = cb.certify([0], [0.5], confidence=0.9999999999999)
    assert one.sentence.startswith("With 99.99999999999% confidence nothing")
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


def test_a_tally_is_certified_by_its_bounds():
    y_true, y_prob, _ = overconfident().draw(20_000, seed=1)
    data = cb.Predictions(y_true, y_prob)
    rows, coarse = cb.certify(data), cb.certify(data.tally(3))
    assert coarse.c_emp <= rows.c_emp <= coarse.c_emp_at_most
    assert coarse.upper > rows.upper
    assert f"measured {coarse.c_emp:.3g} to " in coarse.sentence
    # every formula takes the safe end: the most for the upper bound, the least for the lower
    for method in ("certified", "band", "fixed_design", "asymptotic", "isotonic", "gao2017"):
        by_rows = cb.certify(data, method=method, sided="both")
        by_cells = cb.certify(data.tally(3), method=method, sided="both")
        assert by_cells.upper - by_rows.upper >= 0.5 * (coarse.c_emp_at_most - rows.c_emp)
        assert by_cells.lower <= by_rows.lower
        if by_rows.lower > 0:
            assert by_rows.lower - by_cells.lower >= 0.9 * (rows.c_emp - coarse.c_emp)
    fine = cb.certify(data.tally(20), sided="both")
    assert fine.upper == pytest.approx(cb.certify(data, sided="both").upper, abs=1e-6)
    with pytest.raises(ValueError, match="A tally holds no rows"):
        cb.certify(data.tally(3), method="betting")
    # without rows to draw from, the lower end of the limit stays at 0
    small = cb.Predictions(y_true[:900], y_prob[:900]).tally(5)
    assert cb.certify(small, method="asymptotic", sided="both").lower == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 95}, r"confidence must be .* strictly between 0 and 1.*write 0.95"),
        ({"confidence": 1.0}, "strictly between 0 and 1, but it is 1.0"),
        ({"confidence": "high"}, "strictly between 0 and 1"),
        ({"method": "hoeffding"}, "method must be one of auto, certified, betting"),
        ({"sided": "two"}, "sided must be one of upper, both"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"sample_weight": [0.5, 1, 2]}, "whole numbers .row counts. for a certificate"),
        ({"estimand": "cluster"}, "there are none. Say by clusters="),
        ({"clusters": [1, 1, 2], "estimand": "patient"}, "estimand must be one of row, cluster"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        cb.certify([0, 1, 1], [0.2, 0.5, 0.7], **options)


def test_confidence_at_its_ends(sample):
    y_true, y_prob = sample[0][:300], sample[1][:300]
    for method in METHODS:
        levels = (1e-9, 0.3, 0.8, 0.84, 0.86, 0.9, 0.95, 0.999, 1 - 1e-7, 1 - 2**-53)
        uppers = [
            cb.certify(y_true, y_prob, method=method, confidence=level).upper for level in levels
        ]
        assert (np.diff(uppers) >= -1e-12).all(), method
        assert uppers[-1] > uppers[4]
    both = cb.certify(y_true, y_prob, method="asymptotic", sided="both", confidence=1 - 1e-9)
    assert both.lower == 0
    assert cb.certify(y_true, y_prob, confidence=np.float32(0.9)).confidence == pytest.approx(0.9)


def test_betting_is_monotone_in_confidence_on_atoms():
    for y_true, y_prob in (([1] * 5 + [0] * 231, [0.001] * 236), ([1] * 12 + [0], [1.0] * 13)):
        uppers = [
            cb.certify(y_true, y_prob, confidence=level).upper for level in np.arange(1, 99) / 100
        ]
        assert (np.diff(uppers) >= -1e-12).all()


def test_huge_row_counts():
    many = cb.certify([1, 0], [0.5, 0.5], sample_weight=[10**15, 10**15])
    assert 0 < many.upper < 1e-7
    with pytest.raises(ValueError, match=r"past 2\*\*53, where doubles no longer count"):
        cb.certify([1, 0], [0.5, 0.5], sample_weight=[1e20, 1])
    rare_events = cb.calibration_test([1, 0], [1e-9, 1e-9], sample_weight=[20, 10**10])
    assert rare_events.p_value < 0.02  # twice as many as expected, and they are rare
    found = cb.calibration_test(
        [1, 0], [1e-10, 1e-10], sample_weight=[1000, 4 * 10**13], draws=3000, method="exact"
    )
    assert found.p_value == 1 / 3001
    assert cb.calibration_test([0, 0, 1], [1e-309] * 2 + [1.0], method="asymptotic").p_value == 1


def test_soft_labels_are_refused():
    with pytest.raises(ValueError, match="soft labels are not outcomes"):
        cb.certify([0.5, 0.1], [0.2, 0.5])


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
        ({"a": [0.1, 0.2]}, [1, 2], "groups cannot be given next to a mapping of models"),
        ({"a": [0.1, 0.2], "b": [0.1, 2.0]}, None, r"y_prob\['b'\] must lie between 0 and 1"),
        ([0.1, 0.2], [1], "same number of rows"),
        ([0.1, 0.2], [1, None], "groups has missing values"),
        ([0.1, 0.2], [1, [2]], "groups"),
    ],
)
def test_many_refuses(y_prob, groups, words):
    with pytest.raises(ValueError, match=words):
        cb.certify_many([0, 1], y_prob, groups=groups)
