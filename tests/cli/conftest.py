"""What several commands read."""

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.simulate import overconfident
from reference.sqlite import file  # noqa: F401


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predictions")
    y_true, y_prob, _ = overconfident().draw(3000)
    frame = pd.DataFrame({"y": y_true.astype(int), "p": y_prob, "w": np.arange(3000) % 3 + 1})
    frame["word"] = np.where(y_true, "yes", "no")
    frame["soft"] = y_prob.round(2)
    frame.to_csv(folder / "good.csv", index=False)
    frame.to_parquet(folder / "good.parquet")
    return folder


@pytest.fixture(scope="module")
def expected():
    return cb.audit(*overconfident().draw(3000)[:2])


@pytest.fixture
def kept(tmp_path):
    """Leave a calibrator in the folder of the test."""
    y_true, y_prob, _ = overconfident().draw(3000)
    fitted = cb.IsotonicCalibrator("linear").fit(y_prob, y_true)
    (tmp_path / "c.json").write_text(fitted.to_json(), encoding="utf-8")
    return fitted
