"""The result of an audit: in words, as a dictionary, and as flat numbers."""

import dataclasses
import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.simulate import overconfident


def test_is_frozen_and_reads_like_a_sentence():
    found = cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4])
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.calibration_error = 0.0
    assert repr(found) == (
        "Too few rows to tell: the test does not reject these scores (p-value 0.139), but with 4 "
        "rows the true calibration error may be as large as 0.76, more than half of the rate of "
        "the rarer outcome (25%). In the worst range of scores predictions and outcomes differ by "
        "35.00 events per 100 rows of these data (calibration error 0.35, 4 rows). With 95% "
        "confidence the true "
        "calibration error is at most 0.76 (measured 0.35 on 4 rows). Assumes that rows are "
        "independent and come from the population you will act on, and that the model was fixed "
        "before these rows were looked at; assumes nothing else about the model or the data. "
        "The largest difference is for scores above 0.4 up to 0.8 (2 rows): 70.00% predicted on "
        "average, 0.00% observed (O:E 0.00); chance alone can explain one as large."
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
    assert {"slope", "brier_score", "log_loss_uncertainty", "undetectable_l1"} < set(missing)
    assert "parts of the Brier score" in missing["brier_score"]


def test_an_infinite_loss_is_a_number():
    found = cb.audit([1, 0, 1], [0.0, 0.2, 0.9])
    assert found.to_metrics()["log_loss_score"] == np.inf
    assert "log_loss_score" not in found.missing


def test_an_audit_can_be_hashed_and_compared():
    one, other = (cb.audit([0, 0, 0, 1], [0.6, 0.8, 0.2, 0.4]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)


def test_no_error_at_all_is_said_plainly():
    found = cb.audit([0, 1] * 50, [0.5] * 100)
    assert found.headline == (
        "Predictions and outcomes agree in every range of scores (calibration error 0, 100 rows)."
    )
