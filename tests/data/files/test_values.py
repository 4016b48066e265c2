"""Values of files: words, truth values and large numbers stay what they are."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.data.files import reading as files
from calibrant.data.files.reading import read_predictions
from calibrant.errors import InputError
from reference.engines import CONNECTION
from reference.tables import LABEL, PROB, RNG, ROWS, TABLE


@pytest.mark.parametrize("length", [files.SHORT, 100])
def test_words_next_to_true_and_false(length, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHORT", length)
    words = np.array(["true", "True", "TRUE", "false", "False", "maybe"])[np.arange(ROWS) % 6]
    TABLE.assign(y=words).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="'maybe'"):
        read_predictions(tmp_path / "a.parquet", label="y", prob="p")


@pytest.mark.parametrize("length", [files.SHORT, 100])
def test_a_word_that_looks_like_no_number_is_a_word(length, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHORT", length)
    TABLE.assign(y=np.where(LABEL, "ok", "NaN")).to_parquet(tmp_path / "a.parquet")
    options = {"label": "y", "prob": "p", "pos_label": "ok", "drop_missing": True}
    data = read_predictions(tmp_path / "a.parquet", **options)
    assert len(data) == ROWS
    assert cb.calibration_error(data) == pytest.approx(cb.calibration_error(LABEL, PROB))


@pytest.mark.parametrize("length", [files.SHORT, 100])
@pytest.mark.parametrize("kind", ["BIGINT", "HUGEINT"])
def test_large_whole_numbers_are_groups_of_their_own(length, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHORT", length)
    CONNECTION.register("numbered", TABLE.assign(i=np.arange(ROWS)))
    group = f"CASE WHEN i % 3 = 0 THEN NULL ELSE CAST({2**53} + i % 3 AS {kind}) END AS g"
    sql = f"SELECT y, p, {group} FROM numbered"
    CONNECTION.sql(sql).write_parquet(str(tmp_path / "a.parquet"))
    file = f"SELECT y, p, CAST(g AS {kind}) AS g FROM '{tmp_path / 'a.parquet'}'"
    if kind == "HUGEINT":
        file = f"SELECT y, p, CAST(CASE WHEN g IS NOT NULL THEN {2**53} + (g::BIGINT)::HUGEINT - "
        file += f"{2**53} END AS HUGEINT) AS g FROM '{tmp_path / 'a.parquet'}'"
    data = read_predictions(sql=file, label="y", prob="p", by=["g"])
    found = cb.audit(data, by="g").groups
    assert len(found) == 3
    assert sorted(one.rows for one in found) == [1333, 1333, 1334]


def test_clusters_that_are_numbers_are_numbers_in_files_too(tmp_path):
    clusters = RNG.integers(0, 300, ROWS)
    TABLE.assign(c=clusters).to_csv(tmp_path / "a.csv", index=False)
    data = read_predictions(tmp_path / "a.csv", label="y", prob="p", clusters="c")
    found = cb.certify(data, estimand="cluster", method="betting")
    expected = cb.certify(LABEL, PROB, clusters=clusters, estimand="cluster", method="betting")
    assert found.upper == expected.upper
