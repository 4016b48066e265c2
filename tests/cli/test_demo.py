"""The demonstration, and the file it saves."""

import pytest

from reference.commands import audited, calibrant


def test_demo_says_what_the_paper_found():
    demo = calibrant("demo")
    assert demo.returncode == 0
    text = " ".join(demo.stdout.split())
    assert "audited on as many fresh ones" in text
    assert "Yet the calibration error is only 0.0" in text
    assert demo.stderr == ""


def test_demo_saves_predictions_to_go_on_with(tmp_path):
    done = calibrant("demo", "--save", "docs.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "calibrant audit docs.csv --label y --prob p" in " ".join(done.stdout.split())
    assert [path.name for path in tmp_path.iterdir()] == ["docs.csv"]
    found = audited(tmp_path / "docs.csv", "--label", "y", "--prob", "p")
    assert f"{found['calibration_error']:.6f}" in done.stdout
    truth = audited(tmp_path / "docs.csv", "--label", "true_prob", "--prob", "p", "--soft")
    assert truth["data"]["rows"] == 20_000


@pytest.mark.parametrize(
    ("name", "words"),
    [("docs.parquet", "ends in .csv"), ("no/such/folder.csv", "There is no folder 'no/such'")],
)
def test_demo_refuses_a_file_it_cannot_write_before_it_starts(tmp_path, name, words):
    done = calibrant("demo", "--save", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not list(tmp_path.iterdir())
