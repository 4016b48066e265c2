"""Sums that engines make of rows are those of rows in memory."""

import numpy as np
import polars as pl
import pytest

import calibrant as cb
from reference.engines import CONNECTION
from reference.tables import LABEL, PROB, RNG, ROWS, TABLE, in_every_engine


def test_clusters_stay_with_rows_that_come_in_another_order_each_time():
    clusters = np.sort(RNG.zipf(1.3, ROWS) % 300)
    frame = pl.DataFrame({"id": np.arange(ROWS), "y": LABEL, "p": PROB, "c": clusters})
    expected = cb.certify(LABEL, PROB, clusters=clusters, estimand="cluster", method="certified")
    for table in (frame.lazy().unique(), CONNECTION.sql("SELECT DISTINCT * FROM frame")):
        data = cb.Predictions(table, label="y", prob="p", clusters="c")
        found = cb.certify(data, estimand="cluster", method="certified")
        assert found.upper == pytest.approx(expected.upper, abs=1e-12)
        rows, codes = data.source.rows(), data.source.clusters()
        order = np.argsort(rows.score)
        assert (codes[order] == clusters[np.argsort(PROB)]).all()


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_a_score_without_odds_and_without_weight_is_none(tmp_path):
    frame = TABLE.assign(w=1)
    frame.loc[0, ["p", "w"]] = [1.0, 0]
    expected = cb.calibration_slope(LABEL[1:], PROB[1:]).value
    for table in in_every_engine(frame, tmp_path).values():
        data = cb.Predictions(table, label="y", prob="p", weight="w")
        assert cb.calibration_slope(data).value == pytest.approx(expected, abs=1e-9)


def test_scores_of_0_and_1_are_clipped_in_every_engine(tmp_path):
    prob = PROB.round(1)
    expected = cb.audit(LABEL, prob, clip=0.01)
    for name, table in in_every_engine(TABLE.assign(p=prob), tmp_path).items():
        found = cb.audit(table, label="y", prob="p", clip=0.01)
        for one in ("slope", "intercept"):
            same = pytest.approx(getattr(expected.measures, one).to_dict(), abs=1e-9)
            assert getattr(found.measures, one).to_dict() == same, name
