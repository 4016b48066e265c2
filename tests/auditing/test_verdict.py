"""The verdict: is the true calibration error within a limit, over it, or can nobody tell yet?"""

import re

import numpy as np
import pytest
from scipy.stats import binom

import calibrant as cb
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


def test_who_cannot_tell_says_whether_a_test_rejects_the_scores():
    off, right = (
        verdict(law, 10_000, max_error=most) for law, most in ((OFF, 0.04), (RIGHT, 0.01))
    )
    assert off.kind == right.kind == "cannot_tell"
    assert "The scores are miscalibrated, but that does not show whether" in off.sentence
    assert "miscalibrated" not in right.sentence


def test_a_cost_limit_is_judged_by_what_can_be_saved_at_these_costs():
    costs = {"false_positive": 1.0, "false_negative": 9.0}
    y_true, y_prob, _ = OFF.draw(50_000, seed=1)
    audit = cb.audit(y_true, y_prob, max_cost=0.01, **costs)
    assert audit.verdict.kind == "over"
    assert "costs of 1 and 9" in audit.verdict.sentence
    saved = cb.expected_cost(y_true, y_prob, **costs).regret
    least = re.search(r"saves at least ([\d.]+) per decision", audit.verdict.sentence)[1]
    assert 0.01 < float(least) < saved
    audit = cb.audit(y_true, y_prob, max_cost=0.15, **costs)
    price = cb.price_of_miscalibration(y_true, y_prob, **costs)
    assert audit.verdict.kind == "within"
    assert audit.verdict.upper == pytest.approx(price.cap / 10, abs=1e-12)
    # the bound on the error alone, which holds for all costs, would not do
    assert 10 * audit.certificate.upper > 0.15
    most = re.search(r"saves more than ([\d.]+) per decision", audit.verdict.sentence)[1]
    assert float(most) == pytest.approx(price.cap, rel=1e-2)
    assert price.cap <= float(most) <= 0.15


def test_a_cost_limit_where_only_the_bound_on_the_error_holds():
    """A tally hides rows, clusters are not independent, and some methods have no lower bound."""
    y_true, y_prob, _ = OFF.draw(50_000, seed=1)
    tally = cb.Predictions(y_true, y_prob).tally(3)
    found = cb.audit(tally, max_cost=0.01, false_positive=1, false_negative=6).verdict
    assert (found.kind, found.rows_needed) == ("cannot_tell", None)
    assert "which a tally does not hold" in found.sentence
    found = cb.audit(tally, max_cost=2, false_positive=1, false_negative=6)
    assert found.verdict.kind == "within"
    assert found.verdict.upper == found.certificate.upper
    clusters = {"clusters": np.arange(50_000) // 2, "max_cluster_size": 2}
    found = cb.audit(y_true, y_prob, max_cost=0.001, false_negative=9.0, **clusters).verdict
    assert (found.kind, found.rows_needed) == ("cannot_tell", None)
    found = cb.audit(y_true, y_prob, max_cost=0.001, method="fixed_design").verdict
    assert (found.kind, found.rows_needed) == ("cannot_tell", None)
    assert "no number of rows can prove" in found.sentence


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


def test_a_share_of_the_base_rate_needs_independent_rows():
    y_true, y_prob, _ = RIGHT.draw(200, seed=1)
    with pytest.raises(InputError, match="max_relative_error= needs an interval"):
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


TILED = [
    (OFF, 1500, {"max_error": 0.02}),
    (OFF, 20_000, {"max_error": 0.05}),
    (OFF, 3000, {"max_relative_error": 0.05}),
    (OFF, 20_000, {"max_relative_error": 0.1}),
    (cb.simulate.rare(0.01, factor=2), 9000, {"max_relative_error": 0.6}),
    (cb.simulate.wavy(), 60_000, {"max_error": 0.012}),
    (OFF, 10_000, {"max_cost": 0.03, "false_negative": 9.0}),
]


@pytest.mark.parametrize(("law", "rows", "options"), TILED, ids=str)
def test_so_many_rows_with_the_same_error_tell(law, rows, options):
    """Weighted rows keep their error, chance included: fair where it is clearly real.

    A plan leaves out of a measured error what chance adds. So tiled rows have a larger error than
    the plan is for; where the limit is above it the sample must be large for that not to matter.
    """
    judged = 0
    for seed in range(6):
        y_true, y_prob, _ = law.draw(rows, seed=seed)
        found = cb.audit(y_true, y_prob, **options)
        needed = found.verdict.rows_needed
        if needed is None or needed > 50 * rows or found.test.p_value > 1e-4:
            continue
        times = np.full(rows, -(-needed // rows))
        again = cb.audit(y_true, y_prob, sample_weight=times, **options).verdict
        assert again.kind in {"within", "over"}, (seed, needed, again)
        judged += 1
    assert judged > 0


FRESH = [
    (RIGHT, 30, {"max_error": 0.03}),
    (RIGHT, 500, {"max_relative_error": 0.08}),
    (RIGHT, 100, {"max_cost": 0.03}),
    (RIGHT, 100, {"max_cost": 0.3, "false_negative": 9.0}),
    (cb.simulate.rare(0.01), 1000, {"max_error": 0.006}),
]
#: Where the error is real, and a large sample says how large.
FRESH_OFF = [
    (OFF, 2000, {"max_error": 0.025}),
    (OFF, 2000, {"max_error": 0.06}),
    (OFF, 2000, {"max_relative_error": 0.05}),
    (cb.simulate.rare(0.01, factor=2), 3000, {"max_error": 0.012}),
    (cb.simulate.underconfident(), 5000, {"max_error": 0.03}),
    (OFF, 10_000, {"max_cost": 0.03, "false_negative": 9.0}),
]


def _share(law, needed, times, options):
    """Return how many fresh samples of a size tell."""
    drawn = (law.draw(needed, seed=1000 + seed) for seed in range(times))
    kinds = [cb.audit(y_true, y_prob, **options).verdict.kind for y_true, y_prob, _ in drawn]
    return times - kinds.count("cannot_tell")


def _fair(told, times):
    """Whether that is about half: not under a quarter of all samples, beyond chance."""
    return binom.cdf(told, times, 0.25) > 1e-4


@pytest.mark.parametrize(("law", "rows", "options"), FRESH[:4], ids=str)
def test_about_half_of_fresh_samples_of_so_many_rows_tell(law, rows, options):
    found = next(
        cb.audit(*law.draw(rows, seed=seed)[:2], **options).verdict
        for seed in range(20)
        if cb.audit(*law.draw(rows, seed=seed)[:2]).test.p_value > 0.05
    )
    assert found.kind == "cannot_tell"
    assert "if the scores are right" in found.sentence
    assert _fair(_share(law, found.rows_needed, 12, options), 12)


def test_chance_alone_is_not_taken_for_an_error():
    """Thirty rows of right scores show errors above 0.02; more of them never would."""
    needed = [verdict(RIGHT, 30, max_error=0.02).rows_needed]
    needed += [cb.audit(*RIGHT.draw(1000, seed=s)[:2], max_error=0.02).verdict for s in range(3)]
    needed[1:] = [one.rows_needed for one in needed[1:] if "scores are right" in one.sentence]
    assert len(needed) > 2
    assert all(4500 < one < 6000 for one in needed)


@pytest.mark.validity
@pytest.mark.parametrize(("law", "rows", "options"), [*FRESH, *FRESH_OFF], ids=str)
def test_plans_hold(law, rows, options):
    """At the rows that a typical sample plans, no fewer than a quarter of samples tell.

    They are fresh samples, not the same rows again: their error has the chance of its own size.
    """
    y_true, y_prob, _ = law.draw(rows, seed=1)
    if (law, rows, options) in FRESH_OFF:
        # scores and truths as they are: a sample whose error is about the true one
        errors = [
            abs(cb.calibration_error(*law.draw(rows, seed=s)[:2]) - law.calibration_error)
            for s in range(50)
        ]
        y_true, y_prob, _ = law.draw(rows, seed=int(np.argmin(errors)))
    found = cb.audit(y_true, y_prob, **options).verdict
    assert found.kind == "cannot_tell"
    assert _fair(_share(law, found.rows_needed, 30, options), 30)
    # and a third of them are too few
    few = _share(law, found.rows_needed // 3, 15, options)
    assert few <= 7


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


@pytest.mark.validity
@pytest.mark.parametrize(("rows", "times"), [(50, 100), (300, 60), (3500, 200)])
@pytest.mark.parametrize(("nudge", "wrong"), [(0.999, "within"), (1.001, "over")])
def test_verdicts_on_cost_hold(rows, times, nudge, wrong):
    law = cb.simulate.below_threshold(0.5, 0.2)
    saving = 2 * law.calibration_error  # at costs of 1 each: the bound is sharp for this law
    _wrong(law, rows, times, wrong, max_cost=nudge * saving)
