import dataclasses
import json
from itertools import pairwise

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import overconfident


def test_collects_what_the_functions_give():
    y_true, y_prob, _ = overconfident().draw(5000)
    found = cb.audit(y_true, y_prob)
    error = cb.calibration_error(y_true, y_prob)
    assert found.calibration_error == pytest.approx(error, abs=1e-12)
    for one, other in zip(
        found.worst_intervals, cb.worst_interval(y_true, y_prob, k=3), strict=True
    ):
        assert (one.p1, one.p2, one.rows) == (other.p1, other.p2, other.rows)
        assert one.excess == pytest.approx(other.excess, abs=1e-12)
    assert found.data.rows == found.data.weight == found.provenance.rows == 5000
    assert found.data.observed_rate == pytest.approx(y_true.mean())
    assert found.data.mean_prediction == pytest.approx(y_prob.mean())
    assert found.warnings == ()
    again = cb.audit(cb.Predictions(y_true, y_prob))  # other cells, the same answers
    assert again.to_metrics() == pytest.approx(found.to_metrics(), abs=1e-12)
    for one, other in zip(found.reliability, again.reliability, strict=True):
        assert (one.p1, one.p2, one.rows) == (other.p1, other.p2, other.rows)


def test_reliability_groups_are_of_equal_size_and_cover_everything():
    y_true, y_prob, _ = overconfident().draw(5000)
    groups = cb.audit(y_true, y_prob).reliability
    assert [group.rows for group in groups] == [500] * 10
    assert groups[0].p1 is None
    assert groups[-1].p2 == y_prob.max()
    for before, after in pairwise(groups):
        assert before.p2 == after.p1


def test_reliability_groups_never_split_ties():
    y_prob = np.repeat([0.1, 0.2, 0.8], [70, 10, 20])
    groups = cb.audit(np.arange(100) % 2, y_prob).reliability
    assert [(group.p2, group.rows) for group in groups] == [(0.1, 70), (0.2, 10), (0.8, 20)]


def test_is_frozen_and_reads_like_a_sentence():
    found = cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.calibration_error = 0.0
    assert repr(found) == (
        "In the worst range of scores predictions and outcomes differ by 35.00 events per "
        "100 rows of these data (calibration error 0.35, 4 rows). With 95% confidence the true "
        "calibration error is at most 0.76 (measured 0.35 on 4 rows). Assumes that rows are "
        "independent draws from the population you will act on, and that the model was fixed "
        "before these rows were looked at; assumes nothing else about the model or the data. It "
        "fails most for scores above 0.4 up to 0.8 (2 rows): 70.00% predicted on average, 0.00% "
        "observed, so these scores are too high."
    )
    assert cb.audit([0, 1], [0, 1]).where == (
        "Predictions and outcomes agree in every range of scores."
    )
    weighted = cb.audit([0, 1, 1], [0.2, 0.5, 0.6], sample_weight=[0.5, 2, 1])
    assert "per 100 units of weight" in weighted.headline
    # 2.00001 events are more than 2.00, so the sentence rounds up; few events get a larger unit
    rare = cb.audit([1] + [0] * 99_999, [0.0] * 100_000)
    assert "differ by 0.10 events per 10,000 rows" in rare.headline
    third = cb.audit([0, 0, 1], [0.0, 0.0, 0.0])
    assert "differ by 33.33 events per 100 rows" in third.headline


def test_to_dict_is_plain_and_complete():
    found = cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document == found.to_dict()
    assert document["schema"] == "calibrant.audit"
    assert document["schema_version"] == 1
    assert document["calibration_error"] == found.calibration_error
    assert document["provenance"]["calibrant"] == cb.__version__
    assert document["provenance"]["numpy"] == np.__version__
    missing = {field.name for field in dataclasses.fields(found)} - set(document)
    assert missing == {"details"}


def test_to_metrics_is_flat_floats():
    metrics = cb.audit(*overconfident().draw(1000)[:2]).to_metrics()
    assert metrics["rows"] == 1000.0
    assert all(type(value) is float for value in metrics.values())


#: An audit for each way in which a number can be missing.
WITHOUT = {
    "all there": lambda: cb.audit(*overconfident().draw(1000)[:2]),
    "one class": lambda: cb.audit([0, 0, 0], [0.2, 0.3, 0.4]),
    "soft labels": lambda: cb.audit([0.2, 0.9, 0.4], [0.3, 0.8, 0.5]),
    "weights": lambda: cb.audit([0, 1, 1], [0.2, 0.5, 0.6], sample_weight=[0.5, 2, 1]),
    "no log-odds": lambda: cb.audit([0, 1, 0, 1], [0.0, 0.3, 0.6, 0.7]),
    "one score": lambda: cb.audit(np.arange(100) < 30, np.full(100, 0.4)),
    "nothing predicted": lambda: cb.audit([0, 1], [0.0, 0.0]),
    "clusters": lambda: cb.audit(
        *overconfident().draw(1000)[:2], clusters=np.arange(1000) // 2, estimand="cluster"
    ),
    "a coarse tally": lambda: cb.audit(
        cb.Predictions(*overconfident().draw(1000)[:2]).tally(level=0)
    ),
    "a fine tally": lambda: cb.audit(cb.Predictions([0, 1, 1, 0], [0.25, 0.25, 0.5, 0.5]).tally()),
}
MISSING = {
    "all there": set(),
    "one class": {"slope", "intercept", "roc_auc"},
    "soft labels": {"certified_upper", "test_p_value", "slope", "intercept", "observed_expected"},
    "weights": {"certified_upper", "test_p_value", "slope", "intercept", "observed_expected"},
    "no log-odds": {"slope", "intercept"},
    "one score": {"slope"},
    "nothing predicted": {"slope", "intercept", "observed_expected"},
    "clusters": {"test_p_value"},
    "a fine tally": {
        *("slope", "intercept", "log_loss_score", "log_loss_miscalibration"),
        *("log_loss_discrimination", "log_loss_uncertainty"),
    },
}


@pytest.mark.parametrize("name", WITHOUT)
def test_every_audit_has_the_same_metrics_and_says_why_one_is_missing(name):
    found = WITHOUT[name]()
    metrics = found.to_metrics()
    assert list(metrics) == list(WITHOUT["all there"]().to_metrics())
    assert all(type(value) is float for value in metrics.values())
    nan = {key for key, value in metrics.items() if np.isnan(value)}
    assert nan == set(found.missing)
    assert nan == MISSING.get(name, nan)
    # one reason, in the warnings too, and in the JSON
    assert set(found.missing.values()) <= set(found.warnings)
    assert json.loads(found.to_json())["missing"] == found.missing


def test_a_coarse_tally_lacks_most():
    missing = WITHOUT["a coarse tally"]().missing
    assert {"slope", "brier_score", "log_loss_uncertainty", "unverifiable_l1"} < set(missing)
    assert "parts of the Brier score" in missing["brier_score"]


def test_an_infinite_loss_is_a_number():
    found = cb.audit([1, 0, 1], [0.0, 0.2, 0.9])
    assert found.to_metrics()["log_loss_score"] == np.inf
    assert "log_loss_score" not in found.missing


def test_an_audit_can_be_hashed_and_compared():
    one, other = (cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)


def test_clip_gives_forests_a_slope_and_changes_nothing_else():
    y_true, y_prob, _ = overconfident().draw(2000, seed=1)
    y_prob = y_prob.round(1)
    plain, clipped = cb.audit(y_true, y_prob), cb.audit(y_true, y_prob, clip=0.01)
    assert "clip=" in plain.missing["slope"]
    assert "clip=0.001" in plain.missing["slope"]
    assert clipped.missing == {}
    for name in ("slope", "intercept"):
        function = getattr(cb, f"calibration_{name}")
        alone = function(y_true, y_prob, clip=0.01)
        assert getattr(clipped.measures, name).to_dict() == pytest.approx(alone.to_dict(), abs=1e-9)
    same = set(plain.to_metrics()) - {"slope", "intercept"}
    assert all(plain.to_metrics()[key] == clipped.to_metrics()[key] for key in same)
    assert clipped.measures.clip == 0.01
    assert clipped.to_dict()["measures"]["clip"] == 0.01
    assert plain.measures.clip is None


def test_clip_is_said_wherever_slope_and_intercept_are_shown():
    y_true, y_prob, _ = overconfident().draw(500, seed=1)
    found = cb.audit(y_true, y_prob.round(1), clip=0.01)
    words = "Calibration slope and intercept are those of scores moved into"
    assert sum(words in note for note in found.notes) == 1
    assert "[0.01, 0.99]" in found.notes[0]
    for text in (found.to_html(), found.to_markdown(), found.to_json()):
        assert words in text
    one = cb.audit([0, 1, 0], [0.01, 0.02, 0.03], clip=0.1)
    assert "all scores are equal after clip=0.1" in one.missing["slope"]


def test_soft_labels_are_said_to_be_soft():
    assert not cb.audit([0.2, 0.9], [0.3, 0.8]).data.labels_binary
    assert cb.audit([0, 1], [0.3, 0.8]).data.labels_binary


def test_the_test_is_run_or_its_absence_explained():
    y_true, y_prob, _ = overconfident().draw(3000, seed=1)
    found = cb.audit(y_true, y_prob)
    alone = cb.calibration_test(y_true, y_prob)
    assert found.test.p_value == pytest.approx(alone.p_value, rel=1e-9)
    assert found.certificate.upper == cb.certify(y_true, y_prob).upper
    assert found.provenance.seed is None  # nothing was drawn
    assert cb.audit(y_true[:500], y_prob[:500]).provenance.seed == 0
    rare = cb.simulate.rare(1e-4).draw(80_000, seed=1)
    few = cb.audit(rare.y_true, rare.y_prob)
    assert few.test.method == "exact"
    weighted = cb.audit(rare.y_true, rare.y_prob, sample_weight=np.full(80_000, 2))
    repeated = cb.audit(np.repeat(rare.y_true, 2), np.repeat(rare.y_prob, 2))
    for found in (weighted, repeated):
        assert found.test is None
        assert "No test: with so few rows or events" in found.warnings[-1]


def test_an_event_that_may_be_the_wrong_label_is_noticed():
    y_true, y_prob, _ = overconfident().draw(2000, seed=1)
    turned = cb.audit(~y_true, y_prob)
    assert [note for note in turned.warnings if "is it the right one of the two labels?" in note]
    assert "ROC AUC 0.20" in " ".join(turned.warnings)
    assert not [note for note in cb.audit(y_true, y_prob).warnings if "two labels" in note]
    # chance alone does not raise it: 0.5 is the true area for every sample
    rng = np.random.default_rng(0)
    samples = [cb.audit(rng.random(60) < 0.5, rng.random(60)) for _ in range(100)]
    assert not [one for one in samples if any("two labels" in note for note in one.warnings)]


def test_no_error_at_all_is_said_plainly():
    found = cb.audit([0, 1] * 50, [0.5] * 100)
    assert found.headline == (
        "Predictions and outcomes agree in every range of scores (calibration error 0, 100 rows)."
    )


def test_rows_that_a_calibrator_was_fitted_to_are_asked_about():
    y_true, y_prob, _ = overconfident().draw(300, seed=1)
    fitted = cb.IsotonicCalibrator().fit(y_prob, y_true)
    own = cb.audit(y_true, fitted.predict(y_prob))
    assert own.calibration_error < 1e-12
    assert (own.certificate, own.test) == (None, None)
    assert own.question in own.summary
    assert "were these the rows that a calibrator was fitted to?" in own.question
    for text in (repr(own), own.to_markdown(), own.to_html(), own.to_json()):
        assert "were these the rows that a calibrator was fitted to?" in text
        assert "confidence the true calibration error is at most" not in text
        assert "No sign of miscalibration" not in text
    assert own.advice.recommended is None
    assert own.advice.summary[0].startswith("Nothing to advise")
    assert "Leave the scores as they are" not in own.to_html()
    assert own.missing["certified_upper"] == own.missing["test_p_value"] == own.question
    bounded = cb.audit(y_true, fitted.predict(y_prob), method="isotonic")
    assert bounded.certificate.upper > 0.2
    assert bounded.question is None
    others = overconfident().draw(300, seed=2)
    fresh = cb.audit(others.y_true, fitted.predict(others.y_prob))
    assert fresh.question is None
    assert fresh.certificate is not None
    for kept in (np.float32(fitted.predict(y_prob)), fitted.predict(y_prob).round(9)):
        assert cb.audit(y_true, kept.astype(float)).question is not None
    tiny = cb.audit(np.zeros(1000), np.full(1000, 1e-9))
    assert tiny.question is None
    clustered = cb.audit(
        y_true, fitted.predict(y_prob), clusters=np.arange(300) // 2, estimand="cluster"
    )
    assert "isotonic" not in clustered.question
    few = cb.audit([0, 1] * 24, [0.5] * 48)
    assert few.question is None
    assert few.certificate is not None
    many = cb.audit([0, 1] * 25, [0.5] * 50)
    assert many.question is not None
    soft = cb.audit(np.full(100, 0.3), np.full(100, 0.3))
    assert soft.question is None
