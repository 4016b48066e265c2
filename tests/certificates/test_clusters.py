"""Rows that come in clusters: by the formulas written out, and as rows when each is alone."""

import math

import numpy as np
import pytest

import calibrant as cb
from calibrant.certificates.tails import largest, mean_at_most, worst_tail
from calibrant.simulate import calibrated, overconfident


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(3)
    y_true, y_prob, _ = overconfident().draw(900, seed=5)
    return y_true, y_prob.round(2), rng.integers(0, 300, 900)


def per_cluster(y_true, y_prob, who):
    names, which, rows = np.unique(who, return_inverse=True, return_counts=True)
    return len(names), which, rows


def weighted_error(y_true, y_prob, weight):
    return cb.calibration_error(y_true, y_prob, sample_weight=weight)


@pytest.mark.parametrize("estimand", ["row", "cluster"])
def test_certified_is_the_formula(patients, estimand):
    y_true, y_prob, who = patients
    count, which, rows = per_cluster(*patients)
    most = 12
    a = np.ones(count) if estimand == "cluster" else rows / most
    c_emp = weighted_error(y_true, y_prob, (a / rows)[which])
    average = np.bincount(which, y_prob * (1 - y_prob)) / rows
    delta, delta_v = 0.05, 0.0025
    w0 = mean_at_most(np.mean(a * average), count, 0.25, delta_v)
    top = 1.0 if estimand == "cluster" else mean_at_most(a.mean(), count, 1.0, delta_v)
    level = delta - delta_v * (1 if estimand == "cluster" else 2)

    def tail(c):
        variance = min(top * (1 - c * c), w0 + top * c * (1 - c))
        return worst_tail(count, a.mean() * (c - c_emp), 1 + c, variance)

    found = cb.certify(
        y_true,
        y_prob,
        clusters=who,
        estimand=estimand,
        max_cluster_size=most if estimand == "row" else None,
        method="certified",
    )
    assert found.c_emp == pytest.approx(c_emp, abs=1e-12)
    assert found.upper == pytest.approx(largest(tail, c_emp, level), abs=1e-10)
    assert (found.n, found.unit) == (count, "clusters")


@pytest.mark.parametrize("estimand", ["row", "cluster"])
def test_betting_is_the_formula(patients, estimand):
    y_true, y_prob, who = patients
    count, which, rows = per_cluster(*patients)
    most, delta = 12, 0.05
    a = np.ones(count) if estimand == "cluster" else rows / most
    z = y_true - y_prob
    goal = math.log(1 / delta)
    shares = np.geomspace(math.sqrt(8 * goal / count), 0.9, 8)
    weights = np.append(0.4, np.full(7, 0.6 / 7))
    scores = np.unique(y_prob)

    def least(theta, m, sign):
        stake = (theta * a)[which] / (1 - m)
        outside = np.log1p(stake * m) / rows[which]
        gain = np.log1p(stake * (m - sign * z)) / rows[which] - outside
        steps = np.array([gain[y_prob == score].sum() for score in scores])
        prefix = np.append(0, np.cumsum(steps))
        pairs = prefix[None, :] - prefix[:, None]
        return outside.sum() + np.triu(pairs).min()

    def capital(m):
        return min(
            sum(
                w * math.exp(least(theta, m, sign))
                for theta, w in zip(shares, weights, strict=True)
            )
            for sign in (1, -1)
        )

    low, high = 0.0, 1.0
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if capital(middle) >= 1 / delta else (middle, high)
    found = cb.certify(
        y_true,
        y_prob,
        clusters=who,
        estimand=estimand,
        max_cluster_size=most if estimand == "row" else None,
    )
    assert found.method == "betting"
    assert found.upper == pytest.approx(max(high, found.c_emp), abs=1e-10)


def test_alone_in_a_cluster_is_a_row():
    y_true, y_prob, _ = calibrated().draw(6000, seed=1)
    rows = cb.certify(y_true, y_prob)
    alone = cb.certify(y_true, y_prob, clusters=np.arange(6000), estimand="cluster")
    assert alone.upper == pytest.approx(rows.upper, abs=1e-12)
    assert alone.c_emp == pytest.approx(rows.c_emp, abs=1e-12)


@pytest.mark.parametrize("method", ["betting", "certified"])
@pytest.mark.parametrize("estimand", ["row", "cluster"])
def test_order_weights_and_the_kind_of_names_change_nothing(patients, method, estimand):
    y_true, y_prob, who = patients
    size = {"max_cluster_size": 40} if estimand == "row" else {}
    options = {"method": method, "estimand": estimand, **size}
    found = cb.certify(y_true, y_prob, clusters=who, **options)
    order = np.random.default_rng(1).permutation(900)
    moved = cb.certify(y_true[order], y_prob[order], clusters=who[order], **options)
    assert moved.upper == pytest.approx(found.upper, abs=1e-12)
    weight = np.arange(900) % 3 + 1
    weighted = cb.certify(y_true, y_prob, clusters=who, sample_weight=weight, **options)
    repeated = cb.certify(
        np.repeat(y_true, weight),
        np.repeat(y_prob, weight),
        clusters=np.repeat(who, weight),
        **options,
    )
    assert weighted.upper == pytest.approx(repeated.upper, abs=1e-12)
    names = np.array([f"{one:04d}" for one in who])
    data = cb.Predictions(y_true, y_prob, clusters=names)
    assert cb.certify(data, **options).upper == found.upper


def test_assumptions_name_the_largest_size(patients):
    y_true, y_prob, who = patients
    found = cb.certify(y_true, y_prob, clusters=who, max_cluster_size=40)
    assert "no cluster can have more than 40 rows" in found.sentence
    weighted = cb.certify(
        y_true, y_prob, clusters=who, estimand="cluster", sample_weight=np.full(900, 2)
    )
    assert "weights are row counts" in weighted.sentence


def test_in_the_audit(patients):
    y_true, y_prob, who = patients
    with pytest.raises(ValueError, match=r"there are none\. Say by clusters= which"):
        cb.audit(y_true, y_prob, estimand="cluster")
    found = cb.audit(y_true, y_prob, clusters=who, estimand="cluster")
    assert found.certificate.unit == "clusters"
    assert found.test is None
    assert "No test, bands or advice: they assume independent rows." in found.warnings[-1]
    assert "assume independent rows" in found.warnings[-1]
    assert "(each cluster counting once) is at most" in repr(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, 'estimand="row" needs max_cluster_size'),
        ({"max_cluster_size": 2}, "A cluster has .* rows, but max_cluster_size=2"),
        ({"max_cluster_size": 0}, "max_cluster_size must be a whole number, 1 or more"),
        ({"estimand": "cluster", "method": "band"}, 'method="band" does not carry over'),
        ({"estimand": "cluster", "method": "fixed_design"}, "does not carry over"),
        ({"estimand": "cluster", "method": "asymptotic"}, "does not carry over"),
        ({"estimand": "cluster", "sided": "both"}, 'lower end of sided="both" does not carry'),
        ({"estimand": "cluster", "sample_weight": np.full(900, 0.5)}, "whole numbers"),
    ],
)
def test_what_does_not_carry_over_is_refused(patients, options, words):
    y_true, y_prob, who = patients
    with pytest.raises(ValueError, match=words):
        cb.certify(y_true, y_prob, clusters=who, **options)


def test_clusters_that_cannot_be_read():
    with pytest.raises(ValueError, match="clusters has missing values in 1 row"):
        cb.Predictions([0, 1], [0.1, 0.2], clusters=["a", None])
    with pytest.raises(ValueError, match="clusters has 1"):
        cb.Predictions([0, 1], [0.1, 0.2], clusters=["a"])
    with pytest.raises(ValueError, match="All rows are in one cluster"):
        cb.certify([0, 1], [0.1, 0.2], clusters=["a", "a"], estimand="cluster")
    data = cb.Predictions([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="clusters cannot be given with a Predictions"):
        cb.certify(data, clusters=[1, 2])
    for band in (cb.confidence_band, cb.consistency_band):
        with pytest.raises(ValueError, match="does not carry over"):
            band(cb.Predictions([0, 1], [0.1, 0.2], clusters=[1, 2]))
