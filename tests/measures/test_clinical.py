"""Slope, intercept and observed/expected ratio: estimates, intervals, and what is refused."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binom, binomtest, t
from sklearn.linear_model import LogisticRegression

import calibrant as cb

CLINICAL = (cb.calibration_slope, cb.calibration_intercept, cb.observed_expected_ratio)


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


def sample(rows=3000, seed=0):
    """Labels, scores and row counts; the logistic form is wrong."""
    rng = np.random.default_rng(seed)
    y_prob = rng.beta(0.7, 1.5, rows)
    return rng.random(rows) < y_prob**1.2, y_prob, rng.integers(1, 5, rows)


def ends(found):
    return [found.value, found.lower, found.upper]


def brute_slope(y, f, confidence=0.95):
    """Slope by a logistic regression, with the larger of the sandwich and the model's variance."""
    x = np.column_stack([np.ones(len(f)), logit(f)])
    beta = np.zeros(2)
    for _ in range(50):
        p = expit(x @ beta)
        bread = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))
        beta = beta + bread @ (x.T @ (y - p))
    squares = (y - expit(x @ beta)) ** 2
    variance = max((bread @ (x.T @ (x * squares[:, None])) @ bread)[1, 1], bread[1, 1])
    width = t.ppf((1 + confidence) / 2, max(1, squares.sum() - 2)) * math.sqrt(variance)
    return [beta[1], beta[1] - width, beta[1] + width]


def brute_intercept(y, f, confidence=0.95):
    """Intercept, and where the sum of residuals is as large as its limit."""
    odds = logit(f)
    value = brentq(lambda a: (y - expit(a + odds)).sum(), -60, 60, xtol=1e-13)
    freedom = max(1, ((y - expit(value + odds)) ** 2).sum() - 1)
    quantile = t.ppf((1 + confidence) / 2, freedom)

    def excess(a):
        p = expit(a + odds)
        tilted = np.where(y == 1, p.sum() / y.sum(), 0)  # as many events as the model says
        square = max((p * (1 - p)).sum(), (tilted * (1 - 2 * p) + p**2).sum())
        return abs((y - p).sum()) - quantile * math.sqrt(square)

    return [value, brentq(excess, value - 60, value), brentq(excess, value, value + 60)]


def brute_ratio(y, f, confidence=0.95):
    value = y.sum() / f.sum()
    square = ((y - value * f) ** 2).sum()
    factor = math.exp(t.ppf((1 + confidence) / 2, 1e9) * math.sqrt(square) / y.sum())
    lower, upper = value / factor, value * factor
    if square < 100:
        exact = binomtest(int(y.sum()), len(y)).proportion_ci(confidence, method="exact")
        lower, upper = min(lower, exact.low / f.mean()), max(upper, exact.high / f.mean())
    return [value, lower, upper]


BRUTE = dict(zip(CLINICAL, (brute_slope, brute_intercept, brute_ratio), strict=True))


@pytest.mark.parametrize("rows", [30, 200, 3000])
@pytest.mark.parametrize("function", CLINICAL)
def test_intervals_equal_brute_force(function, rows):
    for seed in range(5):
        y_true, y_prob, _ = sample(rows, seed)
        for level in (0.5, 0.95, 0.999):
            found = function(y_true, y_prob, confidence=level)
            expected = BRUTE[function](y_true.astype(float), y_prob, level)
            assert ends(found) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("function", CLINICAL)
def test_weights_repeat_rows_and_their_order_is_nothing(function):
    y_true, y_prob, weight = sample(300)
    expected = ends(function(np.repeat(y_true, weight), np.repeat(y_prob, weight)))
    found = ends(function(y_true, y_prob, sample_weight=weight))
    assert found == pytest.approx(expected, abs=1e-9)
    order = np.random.default_rng(1).permutation(300)
    mixed = ends(function(y_true[order], y_prob[order], sample_weight=weight[order]))
    assert mixed == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("function", CLINICAL)
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan"), "0.95"])
def test_a_confidence_of_none_or_all_is_refused(function, level):
    with pytest.raises(ValueError, match="confidence must be a number strictly between 0 and 1"):
        function([0, 1, 0, 1], [0.2, 0.7, 0.8, 0.4], confidence=level)


def test_the_model_variance_would_be_too_small():
    """Scores far out whose rates are one half: the slope moves more than the model thinks."""
    rng = np.random.default_rng(0)
    y_prob = rng.choice([0.0001, 0.05, 0.95, 0.9999], 4000, p=[0.05, 0.45, 0.45, 0.05])
    rate = np.select([y_prob == 0.05, y_prob == 0.95], [0.01, 0.99], 0.5)
    y_true = rng.random(4000) < rate
    found = cb.calibration_slope(y_true, y_prob)
    odds = logit(y_prob)
    level = brentq(lambda a: (y_true - expit(a + found.value * odds)).sum(), -60, 60)
    p = expit(level + found.value * odds)
    x = np.column_stack([np.ones(4000), odds])
    model = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))[1, 1]
    assert found.upper - found.value > 1.6 * 1.96 * math.sqrt(model)


def test_an_intercept_of_extreme_scores_is_not_taken_for_certain():
    """Where no outcome is a surprise nothing is known of how often there would be one."""
    y_true, y_prob = np.repeat([0, 1], 100), np.repeat([0.001, 0.999], 100)
    found = cb.calibration_intercept(y_true, y_prob)
    assert found.value == pytest.approx(0, abs=1e-9)
    # with odds 12 times as high there would be no surprise in 3 of 10 samples
    assert found.lower < -2.5 < 2.5 < found.upper


def test_an_intercept_far_away_is_found():
    for tiny in (1e-14, 1e-200, 2.2e-308):
        found = cb.calibration_intercept([0, 1, 0, 1], [tiny, tiny, 2 * tiny, 2 * tiny])
        truth = -math.log(tiny) - math.log(2) / 2  # the rates are one half
        assert found.value == pytest.approx(truth, abs=1e-9)
        assert found.lower < truth < found.upper < math.inf


class TestClip:
    def test_counts_scores_as_if_they_had_been_clipped(self):
        y_true, y_prob, weight = sample(500)
        y_prob = y_prob.round(1)
        for clip in (0.01, 0.2):
            moved = y_prob.clip(clip, 1 - clip)
            for function in (cb.calibration_slope, cb.calibration_intercept):
                expected = ends(function(y_true, moved, sample_weight=weight))
                found = function(y_true, y_prob, sample_weight=weight, clip=clip)
                assert ends(found) == pytest.approx(expected, abs=1e-9)

    def test_changes_nothing_where_no_score_is_moved(self):
        y_true, y_prob, _ = sample(500)
        y_prob = y_prob.clip(0.05, 0.95)
        for function in (cb.calibration_slope, cb.calibration_intercept):
            found = function(y_true, y_prob, clip=0.01)
            assert ends(found) == pytest.approx(ends(function(y_true, y_prob)), abs=1e-12)

    @pytest.mark.parametrize("clip", [0, 0.5, 1, -0.1, 1e-17, True, float("nan"), "0.1"])
    @pytest.mark.parametrize("function", [cb.calibration_slope, cb.calibration_intercept, cb.audit])
    def test_must_leave_scores_apart(self, function, clip):
        words = "clip must be a number strictly between 0 and 0.5 .* but it is "
        with pytest.raises(ValueError, match=words):
            function([0, 1, 0, 1], [0.0, 0.7, 0.8, 1.0], clip=clip)

    def test_is_the_way_out_that_the_error_names(self):
        rows = ([0, 1, 0, 1], [0.0, 0.3, 0.6, 1.0])
        with pytest.raises(ValueError, match=r"Pass clip=, such as clip=0\.001, to move"):
            cb.calibration_slope(*rows)
        assert math.isfinite(cb.calibration_slope(*rows, clip=0.001).value)
        assert math.isfinite(cb.calibration_slope(*rows, clip=1e-16).value)

    def test_may_make_all_scores_equal(self):
        for y_prob in ([0.01, 0.02, 0.03], [0.97, 0.98, 0.99]):
            with pytest.raises(ValueError, match=r"all scores are equal after clip=0\.1"):
                cb.calibration_slope([0, 1, 0], y_prob, clip=0.1)

    def test_of_a_tally_is_refused_as_without(self):
        tally = cb.Predictions([0, 1, 0, 1], [0.0, 0.3, 0.6, 1.0]).tally()
        with pytest.raises(ValueError, match="A tally holds no rows"):
            cb.calibration_slope(tally, clip=0.01)


def ratio_coverage(score, mass, rate, rows, times, seed=0):
    """How often the interval of the ratio holds E Y / E f; samples as counts of rows."""
    rng = np.random.default_rng(seed)
    truth, held, label = mass @ rate / (mass @ score), 0, np.repeat([1, 0], len(score))
    for _ in range(times):
        count = rng.multinomial(rows, mass)
        events = rng.binomial(count, rate)
        weight = np.concatenate([events, count - events])
        kept = weight > 0
        rows_of = (label[kept], np.tile(score, 2)[kept])
        found = quietly(cb.observed_expected_ratio, *rows_of, sample_weight=weight[kept])
        held += found.lower <= truth <= found.upper
    return held


@pytest.mark.parametrize("rows", [200, 2000])
@pytest.mark.parametrize(
    ("score", "mass", "rate"),
    [
        ((0.01, 0.99), (0.5, 0.5), (0.99, 0.01)),  # Clopper-Pearson alone: .71
        ((0.001, 0.995), (0.5, 0.5), (0.001, 0.995)),  # the delta method alone: .45 with 200 rows
        ((0.001, 0.005, 0.02, 0.1), (0.4, 0.3, 0.2, 0.1), (0.001, 0.005, 0.02, 0.1)),
        ((0.1, 0.3, 0.9), (0.3, 0.4, 0.3), (0.9, 0.9, 0.9)),
    ],
)
def test_the_ratio_covers_for_rows_drawn_with_their_scores(score, mass, rate, rows):
    held = ratio_coverage(*map(np.array, (score, mass, rate)), rows, 300)
    assert binom.cdf(held, 300, 0.94) > 1e-6


def test_a_sum_of_residuals_that_is_large_leaves_the_delta_method_alone():
    y_true, y_prob, _ = sample()
    found = cb.observed_expected_ratio(y_true, y_prob)
    exact = binomtest(int(y_true.sum()), len(y_true)).proportion_ci(0.95, method="exact")
    assert found.lower > exact.low / y_prob.mean()
    assert found.upper < exact.high / y_prob.mean()


@pytest.mark.parametrize("weighted", [False, True])
def test_slope_equals_scikit_learn(weighted):
    y_true, y_prob, weight = sample()
    weights = weight if weighted else None
    log_odds = np.log(y_prob / (1 - y_prob))
    model = LogisticRegression(C=np.inf, tol=1e-13, max_iter=5000)
    model.fit(log_odds[:, None], y_true, sample_weight=weights)
    slope = cb.calibration_slope(y_true, y_prob, sample_weight=weights)
    assert slope.value == pytest.approx(model.coef_[0, 0], abs=1e-5)
    assert slope.lower < slope.value < slope.upper
    wider = cb.calibration_slope(y_true, y_prob, sample_weight=weights, confidence=0.99)
    assert wider.lower < slope.lower


def test_intervals_cover_the_truth():
    # a law with slope 1 / 1.6 on the log-odds: 400 draws, binomial tolerance at 5 deviations
    law = cb.simulate.overconfident(1.6)
    runs, rows = 400, 500
    slopes = ratios = 0
    truth = 1 / 1.6
    for seed in range(runs):
        y_true, y_prob, _ = law.draw(rows, seed=seed)
        slope = cb.calibration_slope(y_true, y_prob)
        slopes += slope.lower <= truth <= slope.upper
    law = cb.simulate.calibrated(2, 5)
    for seed in range(runs):
        y_true, y_prob, _ = law.draw(rows, seed=seed)
        ratio = cb.observed_expected_ratio(y_true, y_prob)
        ratios += ratio.lower <= 1 <= ratio.upper
    least = 0.95 * runs - 5 * math.sqrt(runs * 0.95 * 0.05)
    assert slopes >= least
    assert ratios >= least


def test_the_ratio_of_few_rows_reaches_as_far_as_the_exact_interval():
    found = cb.observed_expected_ratio([1, 0, 1, 0], [0.5, 0.25, 0.5, 0.25])
    assert found.value == pytest.approx(4 / 3)
    exact = binomtest(2, 4).proportion_ci(0.95, method="exact")
    delta = found.value * math.exp(1.959963984540054 * math.sqrt(4 / 9) / 2)  # 4/9: squares summed
    assert found.lower == pytest.approx(exact.low * 8 / 3)
    assert found.upper == pytest.approx(delta)
    assert delta > exact.high * 8 / 3
    none = quietly(cb.observed_expected_ratio, [0, 0], [0.5, 0.5])
    assert (none.value, none.lower, none.upper) == pytest.approx((0, 0, 2 * (1 - 0.025**0.5)))
    every = quietly(cb.observed_expected_ratio, [1, 1], [0.5, 0.5])
    assert (every.value, every.lower, every.upper) == pytest.approx((2, 2 * 0.025**0.5, 2))


@pytest.mark.parametrize(("rate", "rows"), [(0.5, 20), (0.95, 20), (0.99, 100), (0.01, 100)])
def test_the_ratio_covers_at_any_size(rate, rows):
    # one score for all: the coverage is a sum over the binomial, no simulation
    chances = binom.pmf(np.arange(rows + 1), rows, rate)
    covered = 0.0
    for events, chance in enumerate(chances):
        y_true = np.arange(rows) < events
        found = quietly(cb.observed_expected_ratio, y_true, np.full(rows, rate))
        covered += chance * (found.lower <= 1 + 1e-12 and found.upper >= 1 - 1e-12)
    assert covered >= 0.95


@pytest.mark.parametrize(
    ("function", "args", "words"),
    [
        (cb.calibration_slope, ([0.5, 0.2], [0.4, 0.3]), "Labels must be 0/1"),
        (cb.calibration_slope, ([0, 1, 0, 1], [0.0, 0.3, 0.6, 0.7]), "strictly between 0 and 1"),
        (cb.calibration_slope, ([0, 1], [0.3, 0.3]), "all scores are equal"),
        (cb.calibration_slope, ([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]), "separate the classes"),
        (cb.observed_expected_ratio, ([0, 1], [0.0, 0.0]), "no event is predicted"),
    ],
)
def test_estimates_that_do_not_exist_are_refused(function, args, words):
    with pytest.raises(ValueError, match=words):
        function(*args)


def test_estimates_refuse_weights_that_are_no_counts_and_one_class():
    with pytest.raises(ValueError, match="row counts"):
        cb.calibration_slope([0, 1, 0], [0.2, 0.7, 0.4], sample_weight=[0.5, 1, 1])
    with pytest.raises(ValueError, match="only one class"):
        quietly(cb.calibration_slope, [0, 0], [0.2, 0.7])
