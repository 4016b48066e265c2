"""The gate of a pipeline: exit codes 0, 1 and 2."""

import json

import pytest

from reference.commands import calibrant, written


def test_the_gate_decides_the_exit_code(folder, expected):
    options = [folder / "good.csv", "--label", "y", "--prob", "p", "--max-error"]
    for gate, value, words in (
        (
            "upper",
            expected.certificate.upper,
            ("Failed: not proved", "Passed: proved"),
        ),
        ("estimate", expected.calibration_error, ("Failed: the measured", "Passed: the measured")),
    ):
        over = calibrant("audit", *options, value - 1e-6, "--gate", gate)
        assert over.returncode == 1
        assert words[0] in over.stdout
        under = calibrant("audit", *options, value + 1e-6, "--gate", gate)
        assert under.returncode == 0
        assert words[1] in under.stdout
    gated = calibrant("audit", *options, 0, "--json")
    assert gated.returncode == 1
    assert json.loads(gated.stdout)["gate"] == {
        "max_error": 0.0,
        "gate": "upper",
        "value": pytest.approx(expected.certificate.upper, abs=1e-12),
        "passed": False,
        "limit": "the limit of 0",
        "proved_over": True,
    }


@pytest.mark.parametrize(
    ("limit", "code", "said"),
    [
        (("--max-relative-error", 0.5), 0, "Passed: proved to be within"),
        (("--max-relative-error", 0.1), 1, "Failed: not proved to be within"),
        (("--max-relative-error", 0.001), 1, "Failed: proved to be over"),
        (("--max-cost", 5, "--false-negative", 9), 0, "Passed: proved to be within"),
        (("--max-cost", 0.001), 1, "Failed: not proved to be within"),
        (("--max-cost", 1e-9, "--gate", "estimate"), 1, "Failed: the measured value is over"),
        (("--max-cost", 1, "--max-error", 0.1), 2, "state a limit each"),
    ],
)
def test_a_limit_in_other_terms(folder, limit, code, said):
    done = calibrant("audit", folder / "good.csv", "--label", "y", "--prob", "p", *limit)
    assert done.returncode == code
    assert said in " ".join((done.stdout + done.stderr).split())


def test_no_gate_on_a_bound_that_does_not_exist(folder):
    options = [folder / "good.csv", "--label", "y", "--prob", "p", "--weight", "soft"]
    done = calibrant("audit", *options, "--max-error", 0.5)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Weights must be whole numbers" in done.stderr
    assert "--gate estimate" in done.stderr
    assert calibrant("audit", *options, "--max-error", 0.5, "--gate", "estimate").returncode == 0


def test_quiet_says_nothing_and_the_gate_still_holds(tmp_path):
    arguments = written(tmp_path)
    for options, code in (((), 0), (("--max-error", "0.001"), 1), (("--max-error", "0.9"), 0)):
        done = calibrant("audit", *arguments, *options, "--quiet", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    done = calibrant("compare", *arguments, "--prob", "p2", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert "There is no column 'p2'" in done.stderr
