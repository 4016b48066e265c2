"""How many rows to label."""

import json

import calibrant as cb
from reference.commands import calibrant


def test_plan_says_how_many_rows(folder):
    done = calibrant("plan", "--epsilon", 0.01)
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert text.startswith(
        "To certify with 95% confidence that the calibration error is at most 0.01, label about "
        "28,043 rows."
    )
    assert "gao2017 1,484,271 the bound of Gao, Parameswaran and Peng (2017)" in text
    words = " ".join(done.stdout.split())
    assert "about half of the samples of that size will do; --assurance 0.9 says where" in words
    sure = calibrant("plan", "--epsilon", 0.01, "--assurance", 0.9)
    assert f"{cb.sample_size(0.01, assurance=0.9):,} rows" in " ".join(sure.stdout.split())
    assert "90% will do for a calibrated classifier" in " ".join(sure.stdout.split())
    plain = json.loads(calibrant("plan", "--epsilon", 0.01, "--json").stdout)
    assert plain["rows"]["certified"] == cb.sample_size(0.01)
    scores = ["--scores", folder / "good.csv", "--prob", "p"]
    sharp = json.loads(calibrant("plan", "--epsilon", 0.01, "--json", *scores).stdout)
    assert sharp["rows"]["certified"] < plain["rows"]["certified"]
    for wrong, words in (
        (["--epsilon", 3], "For 3.0% write 0.03"),
        (["--epsilon", 0.1, "--scores", folder / "good.csv"], "--scores needs --prob"),
        (["--epsilon", 0.1, "--prob", "p"], "there is no file"),
        (["--epsilon", 0.1, "--scores", folder / "no.csv", "--prob", "p"], "There is no file"),
        (
            ["--epsilon", 0.1, "--scores", folder / "good.csv", "--prob", "word"],
            "must hold numbers",
        ),
    ):
        done = calibrant("plan", *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


def test_the_error_that_a_refusal_names_can_be_planned_for():
    refused = calibrant("plan", "--epsilon", 1e-15)
    assert refused.returncode == 2
    least = refused.stderr.split("--epsilon ")[-1].split()[0]
    assert calibrant("plan", "--epsilon", least).returncode == 0
