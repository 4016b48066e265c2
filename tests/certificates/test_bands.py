"""Bands: the definitions written out, coverage, and never one for the other."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import binom

import calibrant as cb
from calibrant.certificates.bounds import band_width
from calibrant.certificates.evidence import evidence_of
from calibrant.core.diagram import Diagram
from calibrant.simulate import calibrated, overconfident, rare


@pytest.fixture(scope="module")
def sample():
    y_true, y_prob, _ = overconfident().draw(300, seed=1)
    return y_true, y_prob.round(2)


def test_cumulative_is_the_curve_and_a_constant_width(sample):
    band, curve = cb.confidence_band(*sample), cb.cumulative_curve(*sample)
    assert band.score.tolist() == curve.score[1:].tolist()
    assert band.value == pytest.approx(curve.difference[1:], abs=1e-12)
    evidence = evidence_of(Diagram(*cb.Predictions(*sample).source.start()))
    width = band_width(evidence, 0.05)
    assert band.upper - band.value == pytest.approx(np.full(len(band), width))
    assert band.value - band.lower == pytest.approx(np.full(len(band), width))
    assert (band.curve, band.kind, band.confidence) == ("cumulative", "confidence", 0.95)


def test_reliability_is_the_definition(sample):
    y_true, y_prob = sample
    band = cb.confidence_band(y_true, y_prob, curve="reliability")
    scores = np.unique(y_prob)
    assert band.score.tolist() == scores.tolist()
    w = math.sqrt(300 * math.log(4 / 0.05) / 2)

    def ranged(a, b):
        inside = (y_prob >= a) & (y_prob <= b)
        return y_true[inside].sum(), inside.sum()

    for i, x in enumerate(scores):
        above = [ranged(x, b) for b in scores[i:]]
        below = [ranged(a, x) for a in scores[: i + 1]]
        assert band.upper[i] == pytest.approx(min(1, *((s + w) / n for s, n in above)))
        assert band.lower[i] == pytest.approx(max(0, *((s - w) / n for s, n in below)))
    rate = np.array([y_true[y_prob == x].mean() for x in scores])
    weight = np.array([(y_prob == x).sum() for x in scores], dtype=float)
    assert band.value == pytest.approx(isotonic_regression(rate, weights=weight).x)


def test_thinned_points_only_widen_the_band():
    y_true, y_prob, _ = overconfident().draw(3000, seed=2)
    whole = cb.confidence_band(y_true, y_prob, curve="reliability", points=3000)
    thin = cb.confidence_band(y_true, y_prob, curve="reliability", points=60)
    assert len(whole) == 3000
    assert 50 <= len(thin) <= 60
    at = np.searchsorted(whole.score, thin.score)
    assert thin.value == pytest.approx(whole.value[at])
    assert (thin.upper >= whole.upper[at] - 1e-12).all()
    assert (thin.lower <= whole.lower[at] + 1e-12).all()
    assert np.mean(thin.upper - whole.upper[at]) < 0.02


@pytest.mark.parametrize("law", [calibrated(), overconfident()], ids=str)
@pytest.mark.parametrize("curve", ["cumulative", "reliability"])
def test_confidence_bands_hold_the_whole_truth(law, curve):
    times, missed = 60, 0
    population = law.draw(400_000, seed=99)
    order = np.argsort(population.y_prob)
    score = population.y_prob[order]
    drift = np.cumsum(population.true_prob[order] - score) / len(score)
    for seed in range(times):
        y_true, y_prob, true_prob = law.draw(1000, seed=seed)
        band = cb.confidence_band(y_true, y_prob, curve=curve, points=200)
        if curve == "cumulative":
            truth = drift[np.searchsorted(score, band.score)]
        else:
            row = np.argsort(y_prob)
            truth = true_prob[row][np.searchsorted(y_prob[row], band.score)]
        missed += bool(((truth < band.lower) | (truth > band.upper)).any())
    assert binom.sf(missed - 1, times, 0.05) > 1e-4


@pytest.mark.validity
@pytest.mark.parametrize("curve", ["cumulative", "reliability"])
def test_consistency_bands_hold_calibrated_curves_and_no_others(curve):
    inside = {}
    for law in (calibrated(), overconfident()):
        shares = []
        for seed in range(30):
            band = cb.consistency_band(*law.draw(800, seed=seed)[:2], curve=curve, points=50)
            shares.append(np.mean((band.value >= band.lower) & (band.value <= band.upper)))
        inside[law.name] = np.mean(shares)
    assert inside["calibrated"] == pytest.approx(0.95, abs=0.03)
    assert inside["overconfident"] < 0.8


def test_cumulative_consistency_is_as_wide_as_the_binomial_says():
    y_prob = np.repeat([0.2, 0.7], 500)
    y_true = np.arange(1000) % 2
    sd = np.sqrt(np.cumsum([500 * 0.2 * 0.8, 500 * 0.7 * 0.3])) / 1000
    for confidence, z in ((0.8, 1.282), (0.95, 1.96), (0.999, 3.291)):
        band = cb.consistency_band(y_true, y_prob, confidence=confidence)
        assert band.upper == pytest.approx(z * sd, rel=0.1)
        assert band.lower == pytest.approx(-z * sd, rel=0.1)
    with pytest.raises(ValueError, match=r"at most 0\.999 for a consistency band"):
        cb.consistency_band(y_true, y_prob, confidence=0.9999)


@pytest.mark.parametrize("rows", [3000, 20_000])
def test_weights_are_repetition(rows):
    y_true, y_prob, _ = overconfident().draw(rows, seed=2)
    weight = np.arange(rows) % 3 + 1
    again = np.repeat(y_true, weight), np.repeat(y_prob, weight)
    for make in (cb.confidence_band, cb.consistency_band):
        for curve in ("cumulative", "reliability"):
            weighted = make(y_true, y_prob, sample_weight=weight, curve=curve, points=150)
            repeated = make(*again, curve=curve, points=150)
            assert weighted.score.tolist() == repeated.score.tolist()
            for name in ("value", "lower", "upper"):
                one, other = getattr(weighted, name), getattr(repeated, name)
                assert one == pytest.approx(other, abs=1e-9), (make, curve)


def test_a_curve_that_cannot_move_lies_in_its_band():
    y_true, y_prob, _ = rare().draw(30_000, seed=3)
    band = cb.consistency_band(y_true, y_prob)
    inside = (band.lower <= band.value) & (band.value <= band.upper)
    assert inside.mean() > 0.8
    assert inside[:5].all()


def test_many_rows_are_drawn_in_groups():
    y_true, y_prob, _ = rare().draw(60_000, seed=1)
    order = np.random.default_rng(0).permutation(60_000)
    for curve in ("cumulative", "reliability"):
        band = cb.consistency_band(y_true, y_prob, curve=curve, points=100)
        again = cb.consistency_band(y_true[order], y_prob[order], curve=curve, points=100)
        assert band.lower == pytest.approx(again.lower, abs=1e-12)
        assert band.upper == pytest.approx(again.upper, abs=1e-12)
    sd = math.sqrt(np.sum(y_prob * (1 - y_prob))) / 60_000
    band = cb.consistency_band(y_true, y_prob, points=100)
    assert band.upper[-1] - band.lower[-1] == pytest.approx(2 * 1.96 * sd, rel=0.15)


def test_names_seeds_and_words(sample):
    for make, kind in ((cb.confidence_band, "confidence"), (cb.consistency_band, "consistency")):
        band = make(*sample, curve="reliability", confidence=0.9)
        assert repr(band) == f"<90% {kind} band of the reliability curve, {len(band)} points>"
        assert band.assumptions
        document = json.loads(json.dumps(band.to_dict()))
        assert document["kind"] == kind
        assert len(document["score"]) == len(band)
    one, same = cb.consistency_band(*sample), cb.consistency_band(*sample)
    other = cb.consistency_band(*sample, seed=1)
    assert one.lower.tolist() == same.lower.tolist() != other.lower.tolist()


def test_bands_of_a_tally():
    y_true, y_prob, _ = overconfident().draw(3000, seed=2)
    tally = cb.Predictions(y_true, y_prob).tally(6)
    assert len(cb.confidence_band(tally)) == 64
    assert len(cb.consistency_band(tally)) == 64
    for make in (cb.confidence_band, cb.consistency_band):
        with pytest.raises(ValueError, match="A tally holds no rows"):
            make(tally, curve="reliability")


@pytest.mark.parametrize("make", [cb.confidence_band, cb.consistency_band])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"curve": "roc"}, "curve must be one of cumulative, reliability"),
        ({"confidence": 0}, "confidence must be"),
        ({"points": 1}, "points must be a whole number, 2 or more"),
        ({"sample_weight": [0.5, 1]}, "Weights must be whole numbers"),
    ],
)
def test_bad_arguments(make, options, words):
    with pytest.raises(ValueError, match=words):
        make([0, 1], [0.2, 0.5], **options)
