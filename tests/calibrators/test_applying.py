"""A calibrator applied to files: right values, everything else as it was, whole or not at all."""

import os
import re
import resource
import signal
import stat
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibrant as cb
from calibrant.calibrators import applying
from calibrant.calibrators.blocks import Blocks
from calibrant.data.files.copying import Original
from calibrant.errors import InputError
from reference.applying import FITTED, Y_PROB, Y_TRUE, applied, cells, names_in, run
from reference.commands import wait_until

KINDS = {
    "step": cb.IsotonicCalibrator(),
    "linear": cb.IsotonicCalibrator("linear"),
    "strict": cb.IsotonicCalibrator("strict"),
    "histogram": cb.HistogramCalibrator(),
    "platt": cb.PlattCalibrator(),
    "beta": cb.BetaCalibrator(),
    "temperature": cb.TemperatureCalibrator(),
    "venn_abers": cb.VennAbersCalibrator(),
    "identity": cb.IdentityCalibrator(),
}


@pytest.fixture
def small(tmp_path):
    """Leave a CSV file of three rows in the folder of the test."""
    path = tmp_path / "in.csv"
    path.write_text("id,p\n007,0.25\n008,\n009,0.75\n", encoding="utf-8")
    return path


@pytest.fixture(params=["expression", "lookup"])
def way(request, monkeypatch):
    """Apply calibrators of few blocks in the way of those of many, too."""
    if request.param == "lookup":
        monkeypatch.setattr(applying, "_MOST_PIECES", 0)
    return request.param


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("start", "end"), [("csv", "csv"), ("parquet", "parquet"), ("csv", "parquet")]
)
def test_values_are_those_of_python(kind, start, end, way, tmp_path):
    fitted = KINDS[kind].fit(Y_PROB, Y_TRUE)
    scores = np.concatenate([[0, 1, 5e-324, 1e-300, np.nextafter(1, 0)], Y_PROB])
    file, output = tmp_path / f"in.{start}", tmp_path / f"out.{end}"
    frame = pd.DataFrame({"p": scores})
    frame.to_csv(file, index=False) if start == "csv" else frame.to_parquet(file)
    found = applied(file, output, fitted)
    assert (found.rows, found.missing) == (len(scores), 0)
    if end == "csv":
        values = np.array([float(row[1]) for row in cells(output)[1:]])
    else:
        table = pq.read_table(output)
        assert table.schema.types == [pa.float64(), pa.float64()]
        assert table["p"].to_numpy().tolist() == scores.tolist()
        values = table["calibrated"].to_numpy()
    np.testing.assert_allclose(values, fitted.predict(scores), rtol=0, atol=1e-12)
    if way == "lookup" and kind not in {"platt", "beta", "temperature"}:
        assert (values == fitted.predict(scores)).all()


def of_blocks(count, interpolation="step"):
    """Return a calibrator of so many blocks."""
    ends = np.sort(np.random.default_rng(count).random(2 * count))
    value = np.arange(count) / count
    fitted = cb.IsotonicCalibrator(interpolation).fit([0.2, 0.7], [0, 1])
    weight = np.ones(count)
    fitted.function_ = Blocks(ends[::2], ends[1::2], weight, value, value, interpolation)
    fitted.rows_, fitted.events_ = float(count), float(value.sum())
    return fitted


@pytest.mark.parametrize("interpolation", ["step", "linear", "strict"])
def test_a_hundred_thousand_blocks_take_no_longer_to_read_than_rows(interpolation, tmp_path):
    fitted = of_blocks(100_000, interpolation)
    (tmp_path / "c.json").write_text(fitted.to_json(), encoding="utf-8")
    rng = np.random.default_rng(1)
    scores = np.concatenate([rng.random(200_000), fitted.function_.low, [np.nan, 0.0, 1.0]])
    rng.shuffle(scores)
    frame = pd.DataFrame({"i": np.arange(len(scores)), "p": scores})
    frame.to_parquet(tmp_path / "in.parquet", row_group_size=20_000)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            APPLY,
            *(tmp_path / f for f in ("c.json", "in.parquet", "o.parquet")),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    if sys.platform == "linux":
        before, after = map(float, done.stdout.split())
        assert after - before < 180, (before, after)  # an expression took gigabytes
    found = pd.read_parquet(tmp_path / "o.parquet")
    assert (found["i"] == np.arange(len(scores))).all()
    gap = np.isnan(scores)
    assert found["calibrated"].isna().to_numpy().tolist() == gap.tolist()
    assert (found["calibrated"][~gap] == fitted.predict(scores[~gap])).all()


@pytest.mark.parametrize(
    ("ending", "name"), [("csv", "x"), ("csv", "P"), ("parquet", "x")], ids=str
)
def test_rows_keep_their_order(ending, name, way, tmp_path):
    rows = 700_000  # more than one thread reads at a time
    file, output = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    run(f"COPY (SELECT hash(i) % 1000 AS x, 0.5 AS p, i FROM range({rows}) t(i)) TO '{file}'")
    if name == "P":  # which DuckDB takes for p, so that the names are written another way
        file.write_text(file.read_text(encoding="utf-8").replace("x", "P", 1), encoding="utf-8")
    applied(file, output, prob="p" if name == "x" else "p_1")
    after = (pd.read_csv if ending == "csv" else pd.read_parquet)(output)
    assert list(after) == [name, "p", "i", "calibrated"]
    assert (after["i"] == np.arange(rows)).all()


AWKWARD = ["a b", "a.b", 'a"b', "a'b", "é", "*", "score", 'x" FROM t; DROP TABLE t; --', "select"]


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_are_names_and_never_code(name, ending, tmp_path):
    folder = tmp_path / "it's [a] *?"
    folder.mkdir()
    frame = pd.DataFrame({name: [0.25], "score_": ["kept"]})
    file, output = folder / f"in.{ending}", folder / f"out.{ending}"
    frame.to_csv(file, index=False) if ending == "csv" else frame.to_parquet(file)
    new = f"{name} (new)"
    applied(file, output, prob=name, name=new)
    after = pd.read_csv(output) if ending == "csv" else pd.read_parquet(output)
    assert list(after) == [name, "score_", new]
    assert after.iloc[0].tolist() == [0.25, "kept", pytest.approx(FITTED.predict([0.25])[0])]


def test_a_column_may_be_called_what_the_scores_are_called_inside(tmp_path):
    pq.write_table(
        pa.table({"score": [0.9], "Score_": ["x"], "p": [0.25]}), tmp_path / "in.parquet"
    )
    applied(tmp_path / "in.parquet", tmp_path / "out.parquet", name="value")
    [row] = pq.read_table(tmp_path / "out.parquet").to_pylist()
    expected = pytest.approx(FITTED.predict([0.25])[0], abs=1e-12)
    assert row == {"score": 0.9, "Score_": "x", "p": 0.25, "value": expected}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.usefixtures("way")
def test_missing_scores_stay_and_are_counted(kind, tmp_path):
    scores = [0.25, None, float("nan"), 0.75]
    if kind == "csv":
        text = "p,i\n0.25,1\nNA,2\nnan,3\n0.75,4\n"
        (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    else:
        pq.write_table(pa.table({"p": scores}), tmp_path / "in.parquet")
    found = applied(tmp_path / f"in.{kind}", tmp_path / "out.parquet")
    assert repr(found) == f"Written to {tmp_path}/out.parquet: 4 rows, 2 of them without a score."
    after = pq.read_table(tmp_path / "out.parquet")["calibrated"].to_pylist()
    low, high = FITTED.predict([0.25, 0.75])
    assert after == pytest.approx([low, None, None, high], abs=1e-12)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("high", "column 'p' must hold numbers, but row 2 (0-based) holds 'high'"),
        ("0,5", "column 'p' must hold numbers, but row 2 (0-based) holds '0,5'"),
        ("1.5", "column 'p' must lie between 0 and 1, but 1 row does not, first at row 2 "),
        ("-1e-9", "first at row 2 (0-based) with -1e-09. If this is rounding noise"),
        ("inf", "first at row 2 (0-based) with inf"),
    ],
)
def test_scores_that_are_none_are_named_and_nothing_is_written(kind, cell, words, tmp_path):
    file = tmp_path / f"in.{kind}"
    values = ["0.5", None, cell, "0.5"]
    frame = pd.DataFrame({"p": pd.Series(values, dtype=object)})
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    output = tmp_path / "out.csv"
    output.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(words)):
        applied(file, output, overwrite=True)
    assert output.read_text(encoding="utf-8") == "mine"
    assert names_in(tmp_path) == [file.name, "out.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prob": "q"}, "There is no column 'q'"),
        ({"prob": "P"}, "Did you mean 'p'?"),
        ({"name": "id"}, "There is a column 'id' already"),
        ({"name": "ID"}, "There is a column 'id' already, so none can be added as 'ID'"),
        ({"name": ""}, "name must be the name of a column, but it is ''"),
        ({"name": "a\0"}, "name must be the name of a column"),
    ],
)
def test_names_that_are_refused(options, words, small, tmp_path):
    with pytest.raises(InputError, match=re.escape(words)):
        applied(small, tmp_path / "out.csv", **options)
    assert names_in(tmp_path) == ["in.csv"]


def test_output_may_be_the_input_also_through_a_link(small, tmp_path):
    small.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(small)
    with pytest.raises(InputError, match="Add overwrite=True"):
        applied(small, link)
    applied(small, link, overwrite=True)
    assert link.is_symlink()
    assert stat.S_IMODE(small.stat().st_mode) == 0o640
    assert cells(small)[0] == ["id", "p", "calibrated"]
    assert [row[0] for row in cells(small)[1:]] == ["007", "008", "009"]
    applied(small, small, name="again", overwrite=True)
    assert cells(small)[0] == ["id", "p", "calibrated", "again"]
    assert names_in(tmp_path) == ["in.csv", "link.csv"]


def test_one_of_several_inputs_is_not_replaced_by_all(tmp_path):
    for name in ("a", "b"):
        pq.write_table(pa.table({"p": [0.5]}), tmp_path / f"{name}.parquet")
    for file in (tmp_path, f"{tmp_path}/*.parquet"):
        with pytest.raises(InputError, match="is one of the files that are read"):
            applied(file, tmp_path / "a.parquet", overwrite=True)
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 1


def test_a_new_file_has_the_usual_mode(small, tmp_path):
    before = os.umask(0o027)
    try:
        applied(small, tmp_path / "out.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o640


def test_a_file_that_appears_meanwhile_is_not_replaced(small, tmp_path, monkeypatch):
    output, write = tmp_path / "out.csv", Original.write

    def slow(*arguments):
        output.write_text("theirs", encoding="utf-8")
        return write(*arguments)

    monkeypatch.setattr(Original, "write", slow)
    with pytest.raises(InputError, match="There is a file"):
        applied(small, output)
    assert output.read_text(encoding="utf-8") == "theirs"
    assert names_in(tmp_path) == ["in.csv", "out.csv"]


def test_a_file_that_changes_meanwhile_is_refused(small, tmp_path, monkeypatch):
    write = Original.write

    def longer(*arguments):
        with small.open("a", encoding="utf-8") as file:
            file.write("010,0.5\n")
        return write(*arguments)

    monkeypatch.setattr(Original, "write", longer)
    with pytest.raises(InputError, match="4 rows where there were 3 before"):
        applied(small, tmp_path / "out.csv")
    assert names_in(tmp_path) == ["in.csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder that takes no files there")
def test_a_folder_that_takes_no_files(small):
    with pytest.raises(InputError, match=r"'/proc/out.csv' could not be written \(.*\), and every"):
        applied(small, "/proc/out.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_loses_nothing(ending, tmp_path):
    """A limit on the size of files fails as a full disk does: in the middle of writing."""
    file, output = tmp_path / "in.csv", tmp_path / f"out.{ending}"
    rng = np.random.default_rng(0)
    pd.DataFrame({"p": rng.random(20_000), "q": rng.random(20_000)}).to_csv(file, index=False)
    output.write_text("mine", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(InputError, match=rf"out.{ending}' could not be written \(File too"):
            applied(file, output, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert output.read_text(encoding="utf-8") == "mine"
    assert names_in(tmp_path) == sorted(["in.csv", f"out.{ending}"])


def test_rows_of_many_kilobytes_go_a_few_at_a_time(tmp_path, monkeypatch):
    rows = 40_000
    query = f"SELECT 0.5 AS p, repeat(md5(i::VARCHAR), 300) AS x FROM range({rows}) t(i)"
    copy = f"COPY ({query}) TO '{tmp_path}/in.parquet' (FORMAT parquet, ROW_GROUP_SIZE 4096)"
    run(copy)
    monkeypatch.setitem(Original.settings, "memory_limit", "250MB")
    assert applied(tmp_path / "in.parquet", tmp_path / "out.parquet").rows == rows
    assert pq.read_metadata(tmp_path / "out.parquet").row_group(0).num_rows == 2048
    same = f"'{tmp_path}/in.parquet' i POSITIONAL JOIN '{tmp_path}/out.parquet' o"
    assert run(f"SELECT bool_and(i.x = o.x) FROM {same}") == [(True,)]
    monkeypatch.setitem(Original.settings, "memory_limit", "50MB")
    with pytest.raises(InputError, match="has rows so long"):
        applied(tmp_path / "in.parquet", tmp_path / "out2.parquet")
    assert names_in(tmp_path) == ["in.parquet", "out.parquet"]


WIDE, ROWS = 8, 4_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write 256 MB that cannot be compressed."""
    folder = tmp_path_factory.mktemp("large")
    columns = ", ".join(f"random() AS x{k}" for k in range(1, WIDE))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT random() AS p, {columns} FROM range({ROWS})) "
            f"TO '{folder}/in.parquet' (FORMAT parquet, COMPRESSION uncompressed)"
        )
    (folder / "c.json").write_text(FITTED.to_json(), encoding="utf-8")
    return folder


#: Run in a process of its own, whose peak is that of the work.
APPLY = """
import re, sys
from pathlib import Path
from calibrant.calibrators.applying import apply_calibrator
from calibrant import Calibrator
from calibrant.data.files.copying import Original

def peak():
    # not what getrusage says, which a process inherits from the one that started it
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 2**10

Original.settings["memory_limit"] = "64MB"
import duckdb
fitted = Calibrator.load(Path(sys.argv[1]))
before = peak()
apply_calibrator(fitted, sys.argv[2], Path(sys.argv[3]), prob="p")
print(before, peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted differently elsewhere")
def test_a_file_larger_than_its_memory(large, tmp_path):
    files = [large / "c.json", large / "in.parquet", tmp_path / "out.parquet"]
    done = subprocess.run(
        [sys.executable, "-c", APPLY, *map(str, files)], capture_output=True, text=True, check=True
    )
    before, after = map(float, done.stdout.split())
    size = files[1].stat().st_size / 2**20
    assert size > 240
    assert after - before < 180, (before, after)
    assert pq.read_metadata(files[2]).num_rows == ROWS


@pytest.mark.kills
@pytest.mark.parametrize("blocks", [0, 5000])
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_stopped_in_the_middle(sent, code, blocks, large, tmp_path):
    output = tmp_path / "out.csv"
    output.write_text("mine", encoding="utf-8")
    calibrator = large / f"{blocks}.json"
    fitted = of_blocks(blocks) if blocks else FITTED
    calibrator.write_text(fitted.to_json(), encoding="utf-8")
    command = ["apply", calibrator, large / "in.parquet", "--prob", "p", "-o", output]
    started = subprocess.Popen(
        [sys.executable, "-m", "calibrant", *map(str, command), "--overwrite"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    wait_until(
        started, lambda: any(part.stat().st_size > 10**6 for part in tmp_path.glob(".calibrant.*"))
    )
    started.send_signal(sent)
    printed, error = started.communicate(timeout=60)
    assert (started.returncode, printed) == (code, "")
    assert "Traceback" not in error
    assert output.read_text(encoding="utf-8") == "mine"
    left = [name for name in names_in(tmp_path) if name != "out.csv"]
    assert all(name.startswith(".calibrant.") for name in left)
    assert len(left) == (1 if sent == signal.SIGKILL else 0)


def test_an_output_that_would_be_read_the_next_time_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("p\n0.5\n", encoding="utf-8")
    with pytest.raises(InputError, match="one of the files that are read"):
        applied(f"{tmp_path}/*.csv", tmp_path / "new.csv")
    folder = tmp_path / "f"
    folder.mkdir()
    pq.write_table(pa.table({"p": [0.5]}), folder / "a.parquet")
    with pytest.raises(InputError, match="one of the files that are read"):
        applied(folder, folder / "new.parquet")
    assert sorted(path.name for path in folder.iterdir()) == ["a.parquet"]


#: Cells of a column of a CSV file, and what they become in Parquet.
TYPED = {
    "whole": (["0", "1", "-20"], [0, 1, -20]),
    "decimal": (["0.25", "1.0", "-1e-05"], [0.25, 1.0, -1e-05]),
    "gaps": (["7", "", "8"], [7, None, 8]),
    "zeros in front": (["007", "008", "9"], ["007", "008", "9"]),
    "zeros behind": (["0.50", "0.25", "1.0"], ["0.50", "0.25", "1.0"]),
    "a plus": (["+1", "2", "3"], ["+1", "2", "3"]),
    "blanks": ([" 1", "2", "3"], [" 1", "2", "3"]),
    "minus zero": (["-0", "1", "2"], ["-0", "1", "2"]),
    "20 digits": (["12345678901234567890", "1", "2"], ["12345678901234567890", "1", "2"]),
    "17 digits": (["0.12345678901234567", "0.5", "0.1"], ["0.12345678901234567", "0.5", "0.1"]),
    "both kinds": (["1", "0.5", "2"], ["1", "0.5", "2"]),
    "nan": (["0.5", "nan", "1.5"], ["0.5", "nan", "1.5"]),
    "inf": (["0.5", "inf", "1.5"], ["0.5", "inf", "1.5"]),
    "NA": (["1", "NA", "2"], ["1", "NA", "2"]),
    "an empty text": (["1", '""', "2"], ["1", "", "2"]),
    "words": (["true", "1", "0"], ["true", "1", "0"]),
    "dates": (["2020-01-01", "2020-01-02", "2020"], ["2020-01-01", "2020-01-02", "2020"]),
    "nothing": (["", "", ""], [None, None, None]),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_column_is_numbers_if_every_value_prints_back(name, tmp_path):
    texts, values = TYPED[name]
    lines = [f"{cell},0.50" for cell in texts]
    (tmp_path / "in.csv").write_text("x,p\n" + "\n".join(lines) + "\n", encoding="utf-8")
    applied(tmp_path / "in.csv", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["x"].to_pylist() == values
    assert [type(value) for value in found["x"].to_pylist()] == [type(value) for value in values]
    assert found["p"].to_pylist() == [0.5] * 3  # scores are numbers in any case


@pytest.mark.parametrize("odd", ["007", "x", "0.5"])
def test_one_value_far_down_keeps_a_column_text(odd, tmp_path):
    rows = 5000
    whole, late = [str(k) for k in range(rows)], [""] * (rows - 1) + ["3"]
    mixed = [*whole[:-1], odd]
    lines = [f"{a},{b},{c},0.5" for a, b, c in zip(whole, mixed, late, strict=True)]
    (tmp_path / "in.csv").write_text("a,b,late,p\n" + "\n".join(lines) + "\n", encoding="utf-8")
    applied(tmp_path / "in.csv", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["a"].to_pylist() == list(range(rows))
    assert found["b"].to_pylist() == mixed
    assert found["late"].to_pylist() == [None] * (rows - 1) + [3]


def test_scores_that_were_left_as_they_are_can_be_audited_anywhere(tmp_path):
    pd.DataFrame({"p": Y_PROB}).to_csv(tmp_path / "in.csv", index=False)
    for kind, fitted_here in ((cb.PlattCalibrator, True), (cb.IdentityCalibrator, False)):
        fitted = kind().fit(Y_PROB, Y_TRUE)
        found = applied(tmp_path / "in.csv", tmp_path / f"{kind.method}.csv", fitted)
        assert found.fitted_here is fitted_here
