"""Fitting: the minimum that each objective claims, and what is documented at the corners."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.calibrators.fitting import GIVEN_UP, Pooled, _separated, fit_link
from calibrant.calibrators.links import Link, features
from calibrant.calibrators.registry import family_of
from calibrant.simulate import overconfident, rare, wavy
from reference.links import KINDS, theta_of


@pytest.fixture(scope="module")
def sample():
    y_true, y_prob, _ = overconfident().draw(1500, seed=3)
    return y_true, y_prob**1.3


def pooled(y_true, y_prob, smooth=False):
    order = np.argsort(y_prob)
    weight = np.ones(len(y_prob))
    x = features(y_prob[order], 1e-300, 1 - 1e-16)
    return Pooled.of(x, weight, y_true[order].astype(float), float(smooth))


@pytest.mark.parametrize("family", ["beta", "temperature"])
def test_log_loss_is_at_its_minimum(sample, family):
    y_true, y_prob = sample
    link = KINDS[family]().fit(y_prob, y_true).function_
    x = (family_of(family).basis.T @ features(y_prob, 0.0, 1.0)).T
    peer = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
    peer.fit(x, y_true)
    assert theta_of(link) == pytest.approx(family_of(family).basis @ peer.coef_[0], abs=1e-4)


def dense(data, family, center, width, value):
    """The least value on a dense grid around a point."""
    size = family_of(family).basis.shape[1]
    axes = [np.linspace(c - width, c + width, {1: 4001, 2: 161, 3: 41}[size]) for c in center]
    slopes = 2 if family == "beta" else 1
    points = (np.array(p) for p in itertools.product(*axes) if min(p[:slopes]) >= 0)
    return min(value(family_of(family).basis @ p) for p in points)


def free_of(link, family):
    return {"beta": [link.a, link.b, link.c], "platt": [link.a, link.c], "temperature": [link.a]}[
        family
    ]


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("law", [overconfident(), wavy(), rare(0.05, 2)], ids=str)
def test_squared_loss_is_not_beaten_on_a_dense_grid(family, law):
    y_true, y_prob, _ = law.draw(400, seed=1)
    link = KINDS[family]("squared").fit(y_prob, y_true).function_
    data = pooled(y_true, y_prob)
    found = data.squared(theta_of(link))
    for width in (0.3, 2.0):
        assert found <= dense(data, family, free_of(link, family), width, data.squared) + 1e-9
    constant = np.array([0.0, 0.0, logit(y_true.mean())])
    assert family == "temperature" or found <= data.squared(constant) + 1e-12


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("law", [overconfident(), wavy(), rare(0.05, 2)], ids=str)
def test_calibration_error_is_near_the_best_of_a_dense_grid(family, law):
    y_true, y_prob, _ = law.draw(400, seed=1)
    data = pooled(y_true, y_prob)
    by_loss = theta_of(fit_link(family_of(family), *_columns(y_true, y_prob)))
    smooth = pooled(y_true, y_prob)
    least = min(smooth.log_loss(by_loss), smooth.log_loss(_best_loss(family, y_true, y_prob)))
    rate = y_true.mean()
    constant = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    allowed = least + GIVEN_UP * (constant - least)

    def value(theta):
        over = data.log_loss(theta) > allowed + 1e-9
        return 1.0 if over else data.calibration_error(theta)

    link = KINDS[family]("calibration_error").fit(y_prob, y_true).function_
    found = data.calibration_error(theta_of(link))
    assert data.log_loss(theta_of(link)) <= allowed + 1e-6  # the guard holds
    assert found <= data.calibration_error(by_loss) + 1e-12
    for width in (0.05, 0.5):
        best = dense(data, family, free_of(link, family), width, value)
        assert found <= best + 2e-4


def _columns(y_true, y_prob):
    order = np.argsort(y_prob)
    return y_prob[order], np.ones(len(y_prob)), y_true[order].astype(float)


def _best_loss(family, y_true, y_prob):
    """Log loss's minimum without Platt's targets."""
    from scipy.optimize import minimize

    data = pooled(y_true, y_prob)
    start = np.array([1.0, 0.0, 0.0][: family_of(family).basis.shape[1]])
    if family == "beta":
        start = np.array([1.0, 1.0, 0.0])
    slopes = 2 if family == "beta" else 1
    limits = [(0, None)] * slopes + [(None, None)] * (len(start) - slopes)
    done = minimize(
        lambda free: data.log_loss(family_of(family).basis @ free), start, bounds=limits, tol=1e-12
    )
    return family_of(family).basis @ done.x


def test_the_guard_keeps_the_constant_away():
    """On scores that say little, the least calibration error alone would be a constant's."""
    y_true, y_prob, _ = wavy().draw(2000, seed=1)
    link = cb.PlattCalibrator("calibration_error").fit(y_prob, y_true).function_
    assert link.a > 0.5
    assert cb.roc_auc(y_true, link(y_prob)) == pytest.approx(cb.roc_auc(y_true, y_prob), abs=1e-6)


@pytest.mark.parametrize("family", KINDS)
def test_scores_of_zero_and_one_count_as_half_way_to_the_next(family):
    y_prob = np.array([0.0, 0.0, 0.2, 0.5, 0.8, 1.0, 1.0, 0.3])
    y_true = np.array([0, 1, 0, 1, 1, 1, 0, 0])
    found = KINDS[family]().fit(y_prob, y_true)
    assert (found.function_.low, found.function_.high) == pytest.approx((0.1, 0.9))
    near = KINDS[family]().fit(np.clip(y_prob, 0.1, 0.9), y_true)
    assert found.predict(y_prob) == pytest.approx(near.predict(np.clip(y_prob, 0.1, 0.9)))
    assert ((found.predict(y_prob) > 0) & (found.predict(y_prob) < 1)).all()


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("objective", ["log_loss", "squared", "calibration_error"])
def test_separated_classes_and_reversed_scores_give_finite_links(family, objective):
    y_true = np.repeat([0, 1], 20)
    y_prob = np.linspace(0.1, 0.9, 40)
    apart = KINDS[family](objective).fit(y_prob, y_true)
    assert np.isfinite(theta_of(apart.function_)).all()
    assert (np.diff(apart.predict(y_prob)) >= 0).all()
    assert apart.predict(y_prob)[-1] > 0.8
    reversed_ = KINDS[family](objective).fit(y_prob, 1 - y_true)
    assert (np.diff(reversed_.predict(y_prob)) >= 0).all()
    assert reversed_.predict(y_prob) == pytest.approx(np.full(40, 0.5), abs=0.02)


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("objective", ["log_loss", "squared", "calibration_error"])
@pytest.mark.parametrize("q", [0.005, 0.3])
def test_a_surprise_after_a_separated_sample_has_a_finite_cost(family, objective, q):
    """Half a surprise of either kind is kept in mind, a whole one by Platt's targets."""
    y_prob, y_true = np.repeat([q, 1 - q], 100), np.repeat([0, 1], 100)
    found = KINDS[family](objective).fit(y_prob, y_true).predict([q, 1 - q])
    kept = 1.0 if (family, objective) == ("platt", "log_loss") else 0.5
    low = kept / (100 + 2 * kept)
    assert found == pytest.approx([low, 1 - low], rel=1e-3)


@pytest.mark.parametrize(
    ("family", "y_true", "separated"),
    [
        ("temperature", [0, 0, 1, 1], True),
        ("temperature", [0, 1, 1, 1], False),
        ("temperature", [0, 0, 0, 1], False),
        ("beta", [0, 1, 1, 1], True),
        ("beta", [0, 0, 0, 1], True),
        ("beta", [1, 0, 1, 1], False),
    ],
)
def test_the_prior_is_for_separated_samples_alone(family, y_true, separated):
    score = np.array([0.1, 0.3, 0.6, 0.9])
    x, weight = features(score, 0.01, 0.99), np.ones(4)
    assert _separated(family_of(family), x, weight, np.array(y_true, dtype=float)) == separated
    # the score of the boundary may have both outcomes
    at = (0.3, 0.5, 0.9)
    both = features(np.array(at), 0.01, 0.99), np.array([1.0, 2.0, 1.0]), np.array([0.0, 1.0, 1.0])
    assert _separated(family_of(family), *both)
    one = features(np.array([0.5]), 0.01, 0.99), np.array([2.0]), np.array([1.0])
    assert not _separated(family_of(family), *one)


def test_saturated_scores_count_as_far_out():
    """A model sure beyond what doubles hold says 1, and its log-odds go on from there."""
    rng = np.random.default_rng(0)
    log_odds = np.concatenate([rng.normal(0, 5, 4000), np.full(500, 200.0)])
    y_true = rng.random(4500) < expit(log_odds / 12)
    found = cb.TemperatureCalibrator().fit(expit(log_odds), y_true).function_
    assert found.high == 1 - 2.0**-52


def test_saturated_scores_that_are_often_wrong_count_as_less_far_out():
    """Naive Bayes says 1 where two in a hundred are 0: the end is taken where that costs least."""
    rng = np.random.default_rng(0)
    log_odds = np.concatenate([rng.normal(0, 8, 4000), np.full(500, 200.0)])
    y_true = rng.random(4500) < expit(np.clip(log_odds, None, 20) / 5)
    y_prob = expit(log_odds)
    found = cb.TemperatureCalibrator().fit(y_prob, y_true).function_
    assert found.high == 1 - 2.0**-30
    low = y_prob.min() / 2
    for high in [1 - 2.0**-52, 1 - 2.0**-40, 1 - 2.0**-30]:
        at = [
            log_loss(Link(a, a, 0.0, low, high), y_prob, y_true) for a in np.linspace(0.05, 1, 400)
        ]
        assert log_loss(found, y_prob, y_true) <= min(at) + 1e-12


def log_loss(link, y_prob, y_true):
    found = link(y_prob)
    return -np.mean(np.where(y_true, np.log(found), np.log1p(-found)))


@pytest.mark.parametrize("family", KINDS)
def test_scores_of_zero_and_one_alone(family):
    y_prob, y_true = np.repeat([0.0, 1.0], 50), np.tile([0, 0, 0, 1, 1], 20)
    y_true[:10] = 0
    found = KINDS[family]().fit(y_prob, y_true).predict([0.0, 1.0])
    assert 0 < found[0] <= found[1] < 1
    if family == "beta":
        assert found == pytest.approx([y_true[:50].mean(), y_true[50:].mean()], abs=1e-3)


def reference(family, y_true, y_prob, weight):
    """Log loss and its minimum by a bounded quasi-Newton method, from several starts."""
    from scipy.optimize import minimize

    share = weight / weight.sum()
    x = (family_of(family).basis.T @ features(y_prob, 1e-300, 1 - 2.0**-53)).T
    slopes = 2 if family == "beta" else 1
    center = np.where(np.arange(x.shape[1]) < slopes, share @ x, 0.0)
    if x.shape[1] == slopes:
        center = np.zeros(slopes)
    spread = np.sqrt(share @ np.square(x - center))
    z = (x - center) / np.where(spread > 0, spread, 1)

    def loss(u):
        score = z @ u
        return share @ (np.logaddexp(0, score) - y_true * score)

    limits = [(0, None)] * slopes + [(None, None)] * (x.shape[1] - slopes)
    starts = [np.zeros(x.shape[1]), np.full(x.shape[1], 1.0)]
    return min(minimize(loss, u, bounds=limits, method="L-BFGS-B").fun for u in starts)


@pytest.mark.parametrize("family", ["beta", "temperature"])
@pytest.mark.parametrize("center", [-10.0, -3.0, 0.0, 8.0])
@pytest.mark.parametrize("spread", [1e-4, 0.5, 4.0])
def test_log_loss_is_minimal_wherever_the_scores_lie(family, center, spread):
    """Rare events, narrow scores, labels that follow the scores, ignore them or oppose them."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=300)
        y_prob = expit(center + spread * z)
        for slope in (2.0, 0.0, -1.0):
            y_true = rng.random(300) < expit(slope * z - 0.5)
            weight = rng.random(300) * 10.0 ** rng.integers(-8, 3)
            fitted = KINDS[family]().fit(y_prob, y_true, sample_weight=weight)
            found = fitted.predict(y_prob)
            hit = np.where(y_true, found, 1 - found)
            loss = -np.average(np.log(hit), weights=weight)
            assert loss <= reference(family, y_true, y_prob, weight) + 2e-5
            rate = np.average(y_true, weights=weight)
            constant = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
            assert family == "temperature" or loss <= constant + 1e-9


def test_squared_loss_survives_a_few_confident_errors():
    rng = np.random.default_rng(1)
    z = rng.normal(size=50)
    y_prob, y_true = expit(2 * z), (rng.random(50) < expit(6 * z)).astype(float)
    y_prob[rng.choice(np.flatnonzero(y_true == 0), 3, replace=False)] = 1 - 1e-15
    for kind in (cb.TemperatureCalibrator, cb.PlattCalibrator):
        found = kind("squared").fit(y_prob, y_true).predict(y_prob)
        assert np.mean(np.square(found - y_true)) < 0.14


def test_objectives_are_what_they_say():
    """Against the definitions, with weights, and with the start of the walk."""
    score, weight = np.array([0.1, 0.4, 0.8]), np.array([1.0, 5.0, 2.0])
    positives = np.array([1.0, 4.0, 2.0])
    data = Pooled.of(features(score, 0.0, 1.0), weight, positives)
    theta = np.array([0.9, 1.2, 0.3])
    p = Link(*theta, 1e-9, 1 - 1e-9)(score)
    squared = (positives * (1 - p) ** 2 + (weight - positives) * p**2).sum() / 8
    assert data.squared(theta) + 7 / 8 == pytest.approx(squared)
    walk = np.append(0, np.cumsum(positives - weight * p)) / 8
    assert data.calibration_error(theta) == pytest.approx(np.ptp(walk))
    assert walk.min() == 0  # the start counts
    merged = data.grouped(1)
    assert merged.x[:, 0] == pytest.approx((data.x * weight).sum(axis=1) / 8)


@pytest.mark.parametrize("seed", [1034, 7, 11, 23])
@pytest.mark.parametrize("kind", [cb.PlattCalibrator, cb.BetaCalibrator])
def test_a_fit_is_never_worse_than_a_constant_where_events_are_rare(seed, kind):
    """One event among 200 scores that spread over many orders of magnitude."""
    rng = np.random.default_rng(seed)
    score = 1 / (1 + np.exp(-rng.normal(-10, 3, 200)))
    y_true = (np.arange(200) == np.argsort(score)[-2]).astype(int)
    fitted = kind().fit(score, y_true).predict(score)

    def loss(p):
        return -np.mean(np.where(y_true == 1, np.log(p), np.log1p(-p)))

    assert loss(fitted) < loss(np.full(200, 1 / 200))
