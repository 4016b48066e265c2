"""Certify: from data to a certificate, by every method and for every row order."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.evidence import Evidence
from calibrant.certificates.specification import METHODS
from calibrant.simulate import calibrated, laws, overconfident, rare

pytestmark = pytest.mark.filterwarnings("ignore:.*single value")


@pytest.fixture(scope="module")
def sample():
    return calibrated().draw(10_000, seed=1)[:2]


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
        ({"estimand": "cluster"}, "there are none. Say by clusters= which"),
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
