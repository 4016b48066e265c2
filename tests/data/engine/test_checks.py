"""Facts of lazy tables: labels of every kind, and what no label is."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import calibrant as cb
from calibrant.errors import InputError
from reference.engines import CONNECTION, ENGINES, LAZY
from reference.tables import LABEL, PROB, TABLE, in_every_engine


def test_labels_past_what_doubles_hold(tmp_path):
    frame = TABLE.assign(y=LABEL + 2**53)
    expected = cb.calibration_error(LABEL, PROB)
    for table in in_every_engine(frame, tmp_path).values():
        data = cb.Predictions(table, label="y", prob="p", pos_label=2**53 + 1)
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pos_label", [10**400, 1j, np.inf])
def test_an_event_that_is_no_label(pos_label, tmp_path):
    for table in in_every_engine(TABLE, tmp_path, LAZY).values():
        with pytest.raises(InputError, match="is not among the labels"):
            cb.Predictions(table, label="y", prob="p", pos_label=pos_label)


def test_events_that_are_days(tmp_path):
    days = np.where(LABEL == 1, dt.date(2020, 1, 2), dt.date(2020, 1, 1))
    frame = pl.DataFrame({"y": days.tolist(), "p": PROB})
    expected = cb.calibration_error(LABEL, PROB)
    for table in (frame.lazy(), CONNECTION.sql("SELECT * FROM frame")):
        data = cb.Predictions(table, label="y", prob="p", pos_label=dt.date(2020, 1, 2))
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_a_soft_label_of_no_weight_is_none(tmp_path):
    frame = TABLE.assign(y=LABEL.astype(float), w=1)
    frame.loc[0, ["y", "w"]] = [0.5, 0]
    for table in in_every_engine(frame, tmp_path).values():
        found = cb.audit(table, label="y", prob="p", weight="w")
        assert found.certificate is not None
        expected = cb.calibration_error(LABEL[1:], PROB[1:])
        assert found.calibration_error == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ENGINES)
def test_the_texts_0_and_1_are_labels(name, tmp_path):
    table = ENGINES[name](TABLE.assign(y=LABEL.astype(str)), tmp_path)
    expected = cb.calibration_error(LABEL, PROB)
    for pos_label in (None, 1, "1"):
        data = cb.Predictions(table, label="y", prob="p", pos_label=pos_label)
        assert cb.calibration_error(data) == pytest.approx(expected, abs=1e-12)
    turned = cb.Predictions(table, label="y", prob="p", pos_label=0)
    expected = cb.calibration_error(1 - LABEL, PROB)
    assert cb.calibration_error(turned) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", LAZY)
def test_other_texts_are_no_0_and_1(name, tmp_path):
    strange, missing = TABLE.assign(y=LABEL.astype(str)), TABLE.assign(y=LABEL.astype(str))
    strange.loc[7, "y"], missing.loc[7, "y"] = "01", None
    with pytest.raises(InputError, match="must hold two label values"):
        cb.audit(LAZY[name](strange, tmp_path), label="y", prob="p")
    (tmp_path / "b").mkdir()
    with pytest.raises(InputError, match="missing values in 1 row"):
        cb.audit(LAZY[name](missing, tmp_path / "b"), label="y", prob="p")
