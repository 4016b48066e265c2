"""The verdict: is the true calibration error within a limit, over it, or can nobody tell yet?"""

import re

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
from calibrant.auditing.verdict import limit_of, rows_to_tell
from calibrant.certificates.bounds import band_width, certified
from calibrant.certificates.evidence import Evidence
from calibrant.errors import InputError

RIGHT, OFF = cb.simulate.calibrated(), cb.simulate.overconfident()


def verdict(law, rows, **options):
    y_true, y_prob, _ = law.draw(rows, seed=1)
    return cb.audit(y_true, y_prob, **options).verdict


@pytest.mark.parametrize(
    ("law", "rows", "options", "kind"),
    [
        (RIGHT, 10_000, {}, "no_evidence"),
        (OFF, 2000, {}, "miscalibrated"),
        (RIGHT, 30, {}, "too_few_rows"),
        (RIGHT, 10_000, {"max_error": 0.02}, "within"),
        (OFF, 10_000, {"max_error": 0.02}, "over"),
        (RIGHT, 10_000, {"max_error": 0.01}, "cannot_tell"),
        (OFF, 10_000, {"max_error": 0.1}, "within"),
        (RIGHT, 10_000, {"max_relative_error": 0.1}, "within"),
        (OFF, 50_000, {"max_relative_error": 0.05}, "over"),
        (RIGHT, 10_000, {"max_cost": 0.2, "false_negative": 9.0}, "within"),
        (OFF, 10_000, {"max_cost": 0.2, "false_negative": 9.0}, "cannot_tell"),
    ],
)
def test_kinds(law, rows, options, kind):
    found = verdict(law, rows, **options)
    assert found.kind == kind
    assert (found.rows_needed is not None) <= (kind == "cannot_tell")
    assert repr(found).startswith(f"{found.title}: ")


def test_soft_labels_are_measured_and_not_judged():
    found = cb.audit([0.5, 0.2, 1.0], [0.4, 0.3, 0.9], max_error=0.5).verdict
    assert found.kind == "measured"
    assert "no bound" in found.sentence


def test_within_the_limit_says_so_of_scores_that_a_test_rejects():
    assert "miscalibrated, but by less than that" in verdict(OFF, 10_000, max_error=0.1).sentence


def test_a_cost_limit_is_met_by_a_cap_and_never_said_to_be_missed():
    """The error times both costs bounds what can be saved from above only."""
    limit = limit_of(max_cost=0.5, false_positive=1.0, false_negative=9.0)
    assert limit.value(0.3) == pytest.approx(0.05)
    assert limit_of(max_cost=50.0).value(0.3) == 1.0
    found = verdict(OFF, 50_000, max_cost=0.01, false_negative=9.0)
    assert found.kind == "cannot_tell"
    assert "costs of 1 and 9" in found.sentence
    y_true, y_prob, _ = RIGHT.draw(10_000, seed=1)
    audit = cb.audit(y_true, y_prob, max_cost=0.2, false_negative=9.0)
    cap = re.search(r"saves more than ([\d.]+) per decision", audit.verdict.sentence)[1]
    assert float(cap) == pytest.approx(10 * audit.certificate.upper, rel=1e-2)
    assert limit_of(max_relative_error=0.1).value(0.3) == pytest.approx(0.03)
    assert limit_of() is None


def test_a_limit_that_scores_without_information_meet_is_named():
    y_true = np.arange(10_000) % 100 == 0
    found = cb.audit(y_true, np.full(10_000, 0.0001), max_error=0.02).verdict
    assert found.kind == "within"
    assert "the same score of 0 or 1 for every row would be within it" in found.sentence
    assert "every row" not in verdict(RIGHT, 10_000, max_error=0.02).sentence


def test_groups_that_fail_are_in_the_title():
    y_true, y_prob, _ = RIGHT.draw(10_000, seed=1)
    group = np.arange(10_000) < 1000
    y_prob = np.where(group, y_prob / 2, y_prob)
    found = cb.audit(y_true, y_prob, by={"g": group}, max_error=0.05)
    assert found.verdict.title == "Within the limit, but a group is miscalibrated"
    assert "Within the limit, but a group is miscalibrated" in found.to_markdown()


def test_limits_that_contradict_or_have_no_meaning_are_refused():
    with pytest.raises(InputError, match="max_error and max_cost state a limit each"):
        limit_of(max_error=0.1, max_cost=0.1)
    with pytest.raises(InputError, match="max_error must be a number between 0 and 1"):
        limit_of(max_error=2)
    with pytest.raises(InputError, match="max_cost must be 0 or more"):
        limit_of(max_cost=-1.0)
    y_true, y_prob, _ = RIGHT.draw(200, seed=1)
    with pytest.raises(InputError, match="max_relative_error needs an interval"):
        cb.audit(
            y_true, y_prob, clusters=np.arange(200) // 2, max_cluster_size=2, max_relative_error=0.1
        )


def test_clusters_are_within_a_limit_or_nobody_can_tell():
    y_true, y_prob, _ = OFF.draw(4000, seed=1)
    found = cb.audit(
        y_true, y_prob, clusters=np.arange(4000) // 2, max_cluster_size=2, max_error=0.01
    ).verdict
    assert (found.kind, found.rows_needed) == ("cannot_tell", None)
    assert "More clusters could tell" in found.sentence
    found = cb.audit(
        y_true, y_prob, clusters=np.arange(4000) // 2, max_cluster_size=2, max_error=0.5
    ).verdict
    assert found.kind == "within"


@pytest.mark.parametrize(("error", "limit"), [(0.005, 0.01), (0.03, 0.02), (0.0, 0.001)])
def test_so_many_rows_as_it_says_can_tell_and_far_fewer_cannot(error, limit):
    def told(n):
        there = Evidence(n, error, error, 0.2, 0.2)
        if error <= limit:
            return certified(there, 0.05).upper <= limit
        return error - band_width(there, 0.05) > limit

    needed = rows_to_tell(Evidence(100, error, error, 0.2, 0.2), limit, 0.05)
    assert told(needed)
    assert not told(int(0.9 * needed))


def test_no_number_of_rows_tells_where_the_error_is_the_limit():
    assert rows_to_tell(Evidence(100, 0.02, 0.02, 0.2, 0.2), 0.02, 0.05) is None


def _wrong(law, rows, times, wrong, **options):
    """Count samples whose verdict is the wrong one; it may be as often as the level says."""
    drawn = (law.draw(rows, seed=seed) for seed in range(times))
    kinds = [cb.audit(y_true, y_prob, **options).verdict.kind for y_true, y_prob, _ in drawn]
    misses, most = kinds.count(wrong), binom.ppf(0.9999, times, 0.05)
    assert misses <= most, (misses, times)


@pytest.mark.parametrize("rows", [100, 3500])
@pytest.mark.parametrize(("nudge", "wrong"), [(0.999, "within"), (1.001, "over")])
def test_a_verdict_is_wrong_at_most_as_often_as_the_level_says(rows, nudge, wrong):
    _wrong(OFF, rows, 60, wrong, max_error=nudge * OFF.calibration_error)


@pytest.mark.validity
@pytest.mark.parametrize("law", [OFF, cb.simulate.wavy()], ids=str)
@pytest.mark.parametrize("rows", [50, 3500])
@pytest.mark.parametrize(("nudge", "wrong"), [(0.999, "within"), (1.001, "over")])
def test_verdicts_hold(law, rows, nudge, wrong):
    limit = nudge * law.calibration_error
    _wrong(law, rows, 200, wrong, max_error=limit)
    big = law.draw(2_000_000, seed=99)
    rate = float(np.mean(big.true_prob))
    _wrong(law, rows, 200, wrong, max_relative_error=limit / rate)
