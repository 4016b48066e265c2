"""Advice: what it recommends, what it rests on, and that it can say no."""

import dataclasses
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb
from calibrant.auditing import advice
from calibrant.auditing.advice import advice_of
from calibrant.calibrators.folds import FOLDS, dealt
from calibrant.certificates.brownian import range_quantile
from calibrant.certificates.certificate import rounded_up
from calibrant.errors import InputError


def test_it_recommends_the_simplest_calibrator_that_does():
    wavy = cb.simulate.wavy().draw(20_000, seed=3)
    assert cb.advise(*wavy[:2]).recommended == "isotonic"
    sharp = cb.simulate.overconfident().draw(20_000, seed=3)
    assert cb.advise(*sharp[:2]).recommended == "temperature"
    fair = cb.simulate.calibrated().draw(20_000, seed=3)
    assert cb.advise(*fair[:2]).recommended is None


def test_scores_that_are_right_are_left_alone():
    changed = 0
    for seed in range(40):
        y_true, y_prob, _ = cb.simulate.calibrated().draw(400, seed=seed)
        advice = cb.advise(y_true, y_prob)
        changed += advice.recommended is not None
        assert advice.recommended is None or advice.miscalibrated
    # at most 5%: more than 8 of 40 has a chance of 0.0003
    assert changed <= 8


@pytest.mark.parametrize(("q", "n"), [(0.005, 40), (0.005, 200), (0.001, 1000), (0.02, 60)])
def test_a_sample_without_a_surprise_is_no_evidence(q, n):
    y_prob = np.repeat([q, 1 - q], n // 2)
    advice = cb.advise(np.repeat([0, 1], n // 2), y_prob)
    assert advice.recommended is None
    assert advice.summary[0].startswith("Leave the scores as they are")
    for one in advice.trials:
        assert one.brier >= 0
        assert one.saved <= 2 * one.saved_error
    # the same with a surprise: what is kept in mind of them is about as large as one that is seen
    seen = cb.advise([1] + [0] * (n // 2 - 1) + [1] * (n // 2), y_prob)
    for one, other in zip(advice.trials, seen.trials, strict=True):
        assert one.saved_error < other.saved_error


def test_nothing_is_recommended_that_the_test_does_not_support():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(5000, seed=2)
    found = cb.audit(y_true, y_prob)
    parts, worst = [found.details.opened, found.certificate], found.worst_intervals[0]
    fair = dataclasses.replace(found.test, p_value=0.0501)
    for test, why in ((fair, "the test does not reject them"), (None, "there is no test of them")):
        advice = advice_of(*parts, test, 0.95, 0, worst=worst)
        assert advice.recommended is None
        assert advice.summary[0].startswith(
            f"Leave the scores as they are: {why}, although on held-out rows temperature scaling"
        )
    rejected = dataclasses.replace(found.test, p_value=0.05)
    assert advice_of(*parts, rejected, 0.95, 0, worst=worst).recommended == "temperature"
    assert advice_of(*parts, rejected, 0.99, 0, worst=worst).recommended is None


def test_standard_errors_have_a_floor_that_can_be_computed_by_hand():
    rng = np.random.default_rng(2)
    y_prob = rng.choice([0.01, 0.04], 500)
    y_true = np.zeros(500, dtype=int)
    y_true[rng.choice(500, 12, replace=False)] = 1
    found = cb.audit(y_true, y_prob)
    trial = next(one for one in found.advice.trials if one.name == "isotonic")
    counts = np.array(
        [[((y_prob == s) & (y_true == y)).sum() for s in (0.01, 0.04)] for y in (0, 1)]
    )
    deal = np.random.default_rng(0)
    folds = np.stack([dealt(one, FOLDS, deal) for one in counts], axis=1)
    score, floor, gains = np.array([0.01, 0.04]), 0.0, []
    for held_out in folds:
        others = counts - held_out
        rate = others[1] / others.sum(axis=0)
        if rate[0] > rate[1]:
            rate[:] = others[1].sum() / others.sum()
        gain = np.stack([score**2 - rate**2, (1 - score) ** 2 - (1 - rate) ** 2])
        floor += (-gain[0] * gain[1] * held_out.sum(axis=0)).sum()
        gains += np.repeat(gain.ravel(), held_out.ravel().astype(int)).tolist()
    expected = np.sqrt(max(np.var(gains), floor / 500) / 500)
    assert trial.saved_error == pytest.approx(expected, rel=1e-9)


def test_the_words_and_numbers_agree():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(5000, seed=2)
    found = cb.audit(y_true, y_prob)
    advice = found.advice
    assert advice.miscalibrated
    assert advice.p_value == found.test.p_value
    assert advice.most_saved == found.certificate.upper
    assert advice.brier == pytest.approx(found.measures.brier.score, abs=1e-12)
    best = next(one for one in advice.trials if one.name == advice.recommended)
    worst = found.worst_intervals[0]
    points = 100 * abs(worst.mean_prediction - worst.observed_rate)
    assert advice.summary[0].startswith(
        f"S{worst.where[1:]} are too low by {points:.2g} percentage"
    )
    assert "Recalibrate by temperature scaling, which fixes most of it" in advice.summary[0]
    assert best.calibration_error < found.calibration_error / 2
    assert (
        f"from {found.calibration_error:.3g} to {best.calibration_error:.3g}" in (advice.summary[0])
    )
    assert f"to {best.brier:.4g}" in advice.summary[0]
    assert "test rejects" in advice.summary[1]
    assert f"more than {rounded_up(found.certificate.upper)} per decision" in advice.summary[2]
    assert found.to_dict()["advice"] == advice.to_dict()
    json.dumps(advice.to_dict(), allow_nan=False)


def test_trials_are_cross_fitted_brier_scores():
    """With few distinct scores nothing is grouped, so the definition can be followed by hand."""
    rng = np.random.default_rng(0)
    y_prob = rng.choice(np.linspace(0.05, 0.95, 19), 600)
    y_true = (rng.random(600) < y_prob**1.7).astype(int)
    advice = cb.advise(y_true, y_prob, seed=5)
    assert advice.brier == pytest.approx(np.mean((y_true - y_prob) ** 2), abs=1e-12)
    score = np.unique(y_prob)
    counts = [[((y_prob == s) & (y_true == y)).sum() for s in score] for y in (0, 1)]
    deal = np.random.default_rng(5)
    folds = np.stack([dealt(np.array(one), FOLDS, deal) for one in counts], axis=1)
    total = 0.0
    for held_out in folds:
        others = np.array(counts) - held_out
        labels, scores = np.repeat([0, 1], len(score)), np.tile(score, 2)
        kept = others.ravel() > 0
        fitted = cb.IsotonicCalibrator().fit(
            scores[kept], labels[kept], sample_weight=others.ravel()[kept]
        )
        after = fitted.predict(score)
        total += (held_out[0] * after**2 + held_out[1] * (1 - after) ** 2).sum()
    found = next(one for one in advice.trials if one.name == "isotonic")
    assert found.brier == pytest.approx(total / 600, abs=1e-12)


def test_order_and_weights_as_ever():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(900, seed=2)
    weight = np.random.default_rng(0).integers(1, 4, 900)
    expected = cb.advise(np.repeat(y_true, weight), np.repeat(y_prob, weight))
    order = np.random.default_rng(1).permutation(900)
    found = cb.advise(y_true[order], y_prob[order], sample_weight=weight[order])
    assert found.recommended == expected.recommended
    for one, other in zip(found.trials, expected.trials, strict=True):
        assert one.brier == pytest.approx(other.brier, abs=1e-9)
        assert one.saved_error == pytest.approx(other.saved_error, abs=1e-9)


def test_too_little_to_try_on_and_what_is_no_claim():
    few = cb.advise([0, 1, 0, 1, 1], [0.1, 0.8, 0.3, 0.6, 0.9])
    assert (few.recommended, few.trials) == (None, ())
    assert few.summary[0].startswith("There are too few events")
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="Labels must be 0/1 for advice"):
        cb.advise(rng.random(50), rng.random(50))
    assert cb.audit(rng.random(50), rng.random(50)).advice is None
    tally = cb.Predictions(rng.random(500) < 0.5, rng.random(500)).tally(8)
    assert cb.audit(tally).advice is not None


def test_few_rows_far_out_are_not_averaged_away():
    """Nearly all scores are tiny; the few large ones are far too sure."""
    rng = np.random.default_rng(0)
    prob = rng.uniform(1e-4, 2e-4, 300_000)
    prob[:900] = rng.uniform(0.01, 0.99, 900)
    odds = np.log(prob / (1 - prob))
    truth = prob.copy()
    truth[:900] = 1 / (1 + np.exp(-0.2 * odds[:900]))
    y_true = (rng.random(300_000) < truth).astype(int)
    advice = cb.advise(y_true, prob)
    assert advice.brier == pytest.approx(np.mean((y_true - prob) ** 2), abs=1e-12)
    assert advice.recommended is not None


@pytest.mark.parametrize("weight", [10**6, 10**9, 10**12, 10**16])
def test_weights_of_any_size(weight):
    y_true, y_prob, _ = cb.simulate.overconfident().draw(200, seed=1)
    found = cb.audit(y_true, y_prob, sample_weight=np.full(200, weight))
    json.dumps(found.to_dict(), allow_nan=False)
    if found.advice is not None:
        assert found.advice.brier == pytest.approx(np.mean((y_true - y_prob) ** 2), rel=1e-9)


def test_the_seed_matters_and_is_kept():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    assert cb.advise(y_true, y_prob, seed=1).trials != cb.advise(y_true, y_prob, seed=2).trials
    assert cb.audit(y_true, y_prob, seed=7).to_dict()["seed"] == 7


def test_words_do_not_contradict_each_other():
    for seed in range(10):
        y_true, y_prob, _ = cb.simulate.shifted().draw(120, seed=seed)
        advice = cb.advise(y_true, y_prob)
        if advice.miscalibrated and advice.recommended is None and advice.trials:
            assert advice.summary[0].startswith("These scores are off, but")
    reversed_ = cb.advise([0, 1] * 20, [1.0, 0.0] * 20)
    assert reversed_.miscalibrated
    assert reversed_.summary[0].endswith(".")


LAWS = ["calibrated", "overconfident", "shifted", "wavy", "rare"]


@pytest.mark.parametrize("law", LAWS)
def test_a_low_calibration_error_means_little_to_gain(law):
    """The hint of the paper, as a bound: no cost ratio lets the best threshold save more."""
    found = getattr(cb.simulate, law)()
    y_true, y_prob, _ = found.draw(20_000, seed=4)
    audit = cb.audit(y_true, y_prob)
    saved = audit.curves.cost.regret.max()
    assert saved <= audit.calibration_error + 1e-12
    assert saved <= audit.advice.most_saved
    if found.calibration_error < 0.001:
        assert saved < 0.01


def test_groups_that_fail_are_named_although_the_whole_is_right():
    y_prob = np.random.default_rng(3).random(20_000)
    half = np.arange(20_000) % 2 == 1
    shifted = np.clip(np.where(half, y_prob + 0.1, y_prob - 0.1), 0, 1)
    outcomes = np.random.default_rng(0).random(20_000) < shifted
    found = cb.audit(outcomes, y_prob, by={"half": half})
    assert sum(one.certain for one in found.groups) == 2
    assert found.advice.summary[0].startswith("Leave the scores as they are")
    assert " But 2 groups are proved to be miscalibrated, half = " in found.advice.summary[0]
    assert found.advice.summary[0].endswith(
        "may not fix: fit one on the rows of such a group, or collect more of them."
    )
    recalibrated = cb.audit(outcomes, y_prob**2, by={"half": half}).advice.summary[0]
    assert "Recalibrate by" in recalibrated
    assert recalibrated.endswith("may not fix: audit the groups again when it is applied.")
    assert "group" not in cb.audit(outcomes, y_prob).advice.summary[0]


def test_no_chance_is_said_to_be_zero():
    wrong = cb.advise(np.tile([False] * 99 + [True], 2000), np.full(200_000, 0.9))
    assert wrong.p_value == 0
    assert "probability under 1e-300." in wrong.summary[1]


def test_differences_between_calibrators_are_paired():
    """By hand, with few distinct scores: the gains of two calibrators on the same held-out rows."""
    rng = np.random.default_rng(1)
    y_prob = rng.choice(np.linspace(0.05, 0.95, 19), 4000)
    y_true = rng.random(4000) < 0.8 * y_prob + 0.15
    trials = {one.name: one for one in cb.advise(y_true, y_prob).trials}
    best = max(trials.values(), key=lambda one: one.saved)
    assert (best.behind, best.behind_error) == (0, 0)
    for one in trials.values():
        assert one.behind == pytest.approx(best.saved - one.saved, abs=1e-15)
        assert one.behind_error <= one.saved_error + best.saved_error + 1e-15
    # a shift of the scores, which temperature cannot make: seen at once, if rows are paired
    assert trials["temperature"].behind > 3 * trials["temperature"].behind_error
    assert trials["platt"].behind_error < trials["platt"].saved_error / 2
    assert cb.advise(y_true, y_prob).recommended in {"platt", "beta"}


def test_a_calibrator_that_leaves_an_error_is_passed_over():
    # the scores are too steep and too high; temperature scaling can only make them less steep
    rng = np.random.default_rng(1)
    odds = rng.normal(-1.3, 1.1, 6000)
    y_true = rng.random(6000) < 1 / (1 + np.exp(-odds))
    found = cb.advise(y_true, 1 / (1 + np.exp(-(1.45 * odds + 0.3))))
    trials = {one.name: one for one in found.trials}
    simplest = trials["temperature"]
    assert simplest.rejected
    assert found.recommended == "platt"
    assert not trials["platt"].rejected
    assert trials["platt"].calibration_error < simplest.calibration_error / 2


def test_an_error_that_is_left_is_held_to_the_range_of_a_brownian_motion():
    assert range_quantile(0.1) == pytest.approx(advice._SEEN, abs=1e-4)


def test_the_advice_is_not_taken_back_by_the_next_audit():
    """Scores too low and too extreme: what is recommended must fix both."""
    rng = np.random.default_rng(5)
    logit = rng.normal(-1.7, 1.1, 9000)
    y_true = rng.random(9000) < 1 / (1 + np.exp(-logit))
    y_prob = 1 / (1 + np.exp(-(1.5 * logit - 0.6)))
    fit, rest = slice(0, 4500), slice(4500, None)
    advice = cb.advise(y_true[fit], y_prob[fit])
    assert advice.recommended == "platt"
    recalibrated = cb.PlattCalibrator().fit(y_prob[fit], y_true[fit]).predict(y_prob[rest])
    assert cb.advise(y_true[rest], recalibrated).recommended is None


def test_the_least_that_draws_can_show_and_a_bound_are_said_to_be_no_more():
    wrong = cb.advise([0] * 190 + [1] * 10, [0.9] * 200)
    assert wrong.p_value == 0.0001
    assert "would have probability under 0.0001." in wrong.summary[1]
    wrong = cb.advise([0] * 1900 + [1] * 600, [0.3] * 2500)
    assert wrong.p_value == pytest.approx(4.05e-9, rel=0.01)
    assert "would have probability at most 4.06e-09." in wrong.summary[1]


def test_inverted_labels_lead_the_advice():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(2000, seed=1)
    found = cb.audit(~y_true, y_prob)
    assert found.test.p_value < 0.001
    assert found.advice.recommended is None
    first = found.advice.summary[0]
    assert first.startswith("The event may be the other label: it is rarer where scores are higher")
    assert "ROC AUC 0.20" in first
    assert first.endswith("before you recalibrate.")
    for text in (found.to_markdown(), found.to_html()):
        assert "The event may be the other label" in text
    assert cb.advise(y_true, y_prob).recommended == "temperature"
    assert "other label" not in cb.advise(y_true, y_prob).summary[0]


def test_chance_alone_is_no_sign_of_inverted_labels():
    rng = np.random.default_rng(0)
    samples = [cb.advise(rng.random(60) < 0.5, rng.random(60)) for _ in range(100)]
    assert not [one for one in samples if "other label" in one.summary[0]]


@pytest.mark.parametrize("table", [None, pl.DataFrame, pl.LazyFrame, duckdb.from_df])
def test_class_labels_are_named_as_such(table):
    rng = np.random.default_rng(0)
    y_true = rng.random(1000) < 0.4
    labels = np.where(rng.random(1000) < 0.8, y_true, ~y_true).astype(float)
    if table is None:
        found = cb.audit(y_true, labels)
    else:
        found = cb.audit(table(pd.DataFrame({"y": y_true, "p": labels})), label="y", prob="p")
    assert [note for note in found.warnings if "these are class labels" in note]
    assert found.advice.recommended is None
    assert "gives probabilities by predict_proba" in found.advice.summary[0]
    near = cb.audit(y_true, np.append(labels[:-1], 0.999))
    assert not [note for note in near.warnings if "class labels" in note]
    assert "predict_proba" not in near.advice.summary[0]
