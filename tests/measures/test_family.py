"""Each measure against an independent implementation, with weights, ties and soft labels."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import calibrant as cb
from reference import published
from reference.samples import shapes, small


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


def sample(rows=3000, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    y_prob = rng.beta(0.7, 1.5, rows)
    y_prob = y_prob.round(2) if ties else y_prob
    return rng.random(rows) < y_prob**1.2, y_prob, rng.integers(1, 5, rows)


def doubled(y_true, y_prob, weight):
    """A soft label as two rows: an event with weight y, no event with weight 1 - y."""
    weight = np.ones(len(y_prob)) if weight is None else np.asarray(weight, float)
    y = np.asarray(y_true, float)
    hard = np.r_[np.ones(len(y)), np.zeros(len(y))]
    return hard, np.r_[y_prob, y_prob], np.r_[weight * y, weight * (1 - y)]


def acceptable(case):
    y_true, y_prob, weight = case
    assume(not (all(f in (0, 1) for f in y_prob) and any(0 < y < 1 for y in y_true)))
    return y_true, y_prob, weight


@settings(max_examples=300)
@given(small())
def test_parts_add_up_and_soft_labels_are_pairs_of_rows(case):
    y_true, y_prob, weight = acceptable(case)
    hard = doubled(y_true, y_prob, weight)
    for function in (cb.brier_parts, cb.log_loss_parts):
        parts = quietly(function, y_true, y_prob, sample_weight=weight)
        assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= 0
        total = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert parts.score == pytest.approx(total, abs=1e-9)
        pairs = quietly(function, *hard[:2], sample_weight=hard[2])
        assert parts.score == pytest.approx(pairs.score, abs=1e-9)
        assert parts.discrimination == pytest.approx(pairs.discrimination, abs=1e-9)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_and_ranking_equal_scikit_learn(ties, weighted):
    y_true, y_prob, weight = sample(ties=ties)
    y_prob = y_prob.clip(0.001, 0.999)
    weights = weight if weighted else None
    brier = cb.brier_parts(y_true, y_prob, sample_weight=weights)
    expected = brier_score_loss(y_true, y_prob, sample_weight=weights)
    assert brier.score == pytest.approx(expected, abs=1e-12)
    loss = cb.log_loss_parts(y_true, y_prob, sample_weight=weights)
    expected = log_loss(y_true, y_prob, sample_weight=weights)
    assert loss.score == pytest.approx(expected, abs=1e-12)
    area = cb.roc_auc(y_true, y_prob, sample_weight=weights)
    expected = roc_auc_score(y_true, y_prob, sample_weight=weights)
    assert area == pytest.approx(expected, abs=1e-12)


def test_published_parts():
    y_true, y_prob, expected = published.CORP
    for name, function in (("brier", cb.brier_parts), ("log_loss", cb.log_loss_parts)):
        parts = function(y_true, y_prob)
        found = (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty)
        assert found == pytest.approx(expected[name], abs=5e-8)


def test_a_wrong_zero_or_one_costs_infinitely_much():
    parts = cb.log_loss_parts([1, 0, 1], [0.0, 0.2, 0.9])
    assert parts.score == parts.miscalibration == math.inf
    assert math.isfinite(parts.discrimination)
    assert cb.audit([1, 0, 1], [0.0, 0.2, 0.9]).to_dict()["measures"]["log_loss"]["score"] == "inf"
    assert math.isfinite(cb.log_loss_parts([0, 0, 1], [0.0, 0.2, 1.0]).score)


def brute_binned(y_true, y_prob, weight, n_bins):
    weight = np.ones(len(y_prob)) if weight is None else np.asarray(weight, float)
    y, f = np.asarray(y_true, float), np.asarray(y_prob, float)
    total = 0.0
    for k in range(n_bins):
        low, high = (k / n_bins if k else -1), (k + 1) / n_bins
        inside = (f > low) & (f <= high)
        total += abs((weight * (y - f))[inside].sum())
    return total / weight.sum()


@settings(max_examples=400)
@given(small())
def test_binned_error_equals_brute_force(case):
    y_true, y_prob, weight = acceptable(case)
    for n_bins in (1, 2, 3, 10, 15, 16):
        found = quietly(
            cb.expected_calibration_error, y_true, y_prob, sample_weight=weight, n_bins=n_bins
        )
        assert found == pytest.approx(brute_binned(y_true, y_prob, weight, n_bins), abs=1e-12)


def test_binned_error_on_every_shape():
    for name, y_true, y_prob in shapes(100_000):
        for n_bins in (10, 15):
            found = cb.expected_calibration_error(y_true, y_prob, n_bins=n_bins)
            expected = brute_binned(y_true, y_prob, None, n_bins)
            assert found == pytest.approx(expected, abs=1e-12), name


def test_quantile_bins_hold_equal_weight_and_split_no_tie():
    y_true, y_prob, _ = sample(rows=1000)
    order = np.argsort(y_prob)
    blocks = np.array_split((y_true - y_prob)[order], 10)
    expected = sum(abs(block.sum()) for block in blocks) / 1000
    found = cb.expected_calibration_error(y_true, y_prob, n_bins=10, strategy="quantile")
    assert found == pytest.approx(expected, abs=1e-12)
    tied = cb.expected_calibration_error([0, 1, 1, 0], [0.5] * 4, n_bins=3, strategy="quantile")
    assert tied == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number, 1 or more"),
        ({"strategy": "even"}, "strategy must be one of uniform, quantile, but it is 'even'"),
    ],
)
def test_binned_error_refuses(options, words):
    with pytest.raises(ValueError, match=words):
        cb.expected_calibration_error([0, 1], [0.2, 0.7], **options)


@settings(max_examples=300)
@given(small())
def test_kolmogorov_error_is_the_largest_distance_from_the_start(case):
    y_true, y_prob, weight = acceptable(case)
    w = np.ones(len(y_prob)) if weight is None else np.asarray(weight, float)
    y, f = np.asarray(y_true, float), np.asarray(y_prob, float)
    expected = max(abs((w * (y - f))[f <= t].sum()) for t in f) / w.sum()
    found = quietly(cb.kolmogorov_error, y_true, y_prob, sample_weight=weight)
    assert found == pytest.approx(expected, abs=1e-12)
    error = quietly(cb.calibration_error, y_true, y_prob, sample_weight=weight)
    assert error / 2 - 1e-12 <= found <= error + 1e-12


def test_ranking_of_one_class_is_not_a_number():
    assert math.isnan(quietly(cb.roc_auc, [1, 1], [0.2, 0.7]))
    assert cb.audit([1, 1], [0.2, 0.7]).measures.roc_auc is None


def test_the_area_of_an_audit_is_within_its_bound():
    for rows, most in ((50_000, 0), (200_000, 1e-3)):
        for _, y_true, y_prob in shapes(rows):
            measures = cb.audit(y_true, y_prob).measures
            area = roc_auc_score(y_true, y_prob)
            assert abs(measures.roc_auc - area) <= measures.roc_auc_within + 1e-12
            assert measures.roc_auc_within <= most


def test_an_audit_keeps_the_intercept_when_there_is_no_slope():
    found = cb.audit(np.arange(100) < 30, np.full(100, 0.4))
    assert found.measures.slope is None
    truth = math.log(0.3 / 0.7) - math.log(0.4 / 0.6)
    assert found.measures.intercept.value == pytest.approx(truth, abs=1e-9)
    assert any("all scores are equal" in note for note in found.warnings)


@pytest.mark.parametrize("scale", [1e-280, 1e160, 1e280])
def test_the_scale_of_weights_changes_nothing(scale):
    y_true, y_prob, weight = sample(rows=200)
    one = cb.roc_auc(y_true, y_prob, sample_weight=weight)
    assert cb.roc_auc(y_true, y_prob, sample_weight=weight * scale) == pytest.approx(one, rel=1e-12)


@settings(max_examples=200)
@given(small())
def test_unverifiable_error_is_the_mean_distance_from_certainty(case):
    _, y_prob, weight = case
    f = np.asarray(y_prob, float)
    expected = np.average(np.minimum(f, 1 - f), weights=weight)
    found = cb.unverifiable_l1(y_prob, sample_weight=weight)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_tally_gives_what_it_can_and_says_what_it_cannot():
    y_true, y_prob, _ = sample()
    data = cb.Predictions(y_true, y_prob)
    tally = data.tally(4)
    exact, found = cb.audit(data).measures, cb.audit(tally)
    assert found.measures.brier is None
    assert found.measures.slope is None
    assert found.measures.unverifiable_l1 == pytest.approx(exact.unverifiable_l1, abs=1e-12)
    assert found.measures.observed_expected.value == pytest.approx(exact.observed_expected.value)
    assert any("parts of the Brier score" in note for note in found.warnings)
    assert cb.audit(data.tally(0)).measures.unverifiable_l1 is None
    nearest = cb.audit(data.tally(1)).measures.unverifiable_l1
    assert nearest == pytest.approx(exact.unverifiable_l1, abs=1e-12)
    for function in (cb.brier_parts, cb.log_loss_parts, cb.roc_auc, cb.kolmogorov_error):
        with pytest.raises(ValueError, match="A tally holds no rows"):
            function(tally)
    ties = cb.Predictions([0, 1, 1, 0, 1], [0.25, 0.25, 0.5, 0.5, 0.75]).tally()
    assert cb.brier_parts(ties) == cb.audit(ties).measures.brier


def test_measures_join_the_audit():
    y_true, y_prob, _ = sample()
    found = cb.audit(y_true, y_prob)
    measures = found.measures
    assert measures.brier.score == pytest.approx(cb.brier_parts(y_true, y_prob).score, abs=1e-12)
    assert measures.log_loss.miscalibration == pytest.approx(
        cb.log_loss_parts(y_true, y_prob).miscalibration, abs=1e-12
    )
    ece = cb.expected_calibration_error(y_true, y_prob)
    assert measures.expected_calibration_error == pytest.approx(ece, abs=1e-12)
    assert measures.kolmogorov_error == pytest.approx(
        cb.kolmogorov_error(y_true, y_prob), abs=1e-12
    )
    assert measures.slope.value == pytest.approx(cb.calibration_slope(y_true, y_prob).value)
    flat = found.to_metrics()
    assert flat["brier_miscalibration"] == measures.brier.miscalibration
    assert flat["slope"] == measures.slope.value


@pytest.mark.parametrize(
    "function",
    [
        cb.brier_parts,
        cb.log_loss_parts,
        cb.expected_calibration_error,
        cb.kolmogorov_error,
        cb.roc_auc,
    ],
)
def test_permuting_repeating_and_removing_rows(function):
    y_true, y_prob, weight = sample(ties=True)
    y_prob = y_prob.clip(0.01, 0.99)

    def numbers(*args, **kwargs):
        found = function(*args, **kwargs)
        return [found] if isinstance(found, float) else list(found.to_dict().values())

    plain = numbers(y_true, y_prob, sample_weight=weight)
    order = np.random.default_rng(1).permutation(len(y_prob))
    mixed = numbers(y_true[order], y_prob[order], sample_weight=weight[order])
    repeated = numbers(np.repeat(y_true, weight), np.repeat(y_prob, weight))
    more = [np.r_[y_true, True], np.r_[y_prob, 0.123]]
    removed = quietly(numbers, *more, sample_weight=np.r_[weight, 0])
    for other in (mixed, repeated, removed):
        assert other == pytest.approx(plain, abs=1e-12)
