"""An option with one value that is given twice is refused, whatever the command."""

import pytest

from reference.commands import calibrant


@pytest.mark.parametrize(
    ("words", "option", "values"),
    [
        (["--label", "y", "--label", "p"], "--label", ": 'y', 'p'"),
        (["--label", "y", "--label", "y"], "--label", ": 'y', 'y'"),
        (["--label=y", "--prob=p", "--label", "word"], "--label", ": 'word', 'y'"),
        (["--label", "y", "--prob", "p", "--prob", "w"], "--prob", ": 'p', 'w'"),
        (["--label", "y", "--prob", "p", "--confidence", "0.9", "--confidence", "0.9"],
         "--confidence", ": '0.9', '0.9'"),
    ],
)  # fmt: skip
def test_an_option_given_twice_is_refused(folder, words, option, values):
    done = calibrant("audit", folder / "good.csv", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: {option} takes one value, but it is given more than once{values}. Keep one.\n"
    )


def test_short_names_and_other_commands(folder, tmp_path):
    options = [folder / "good.csv", "--label", "y", "--prob", "p"]
    done = calibrant("calibrate", *options, "-oa.json", "--output", "b.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "--output takes one value, but it is given more than once" in done.stderr
    assert not list(tmp_path.iterdir())
    assert "--epsilon" in calibrant("plan", "--epsilon", "0.1", "--epsilon", "0.2").stderr


def test_what_may_be_given_several_times_still_may(folder):
    options = [folder / "good.csv", "--label", "y", "--prob", "p"]
    assert calibrant("audit", *options, "--by", "w", "--by", "word", "-q", "-q").returncode == 0
    both = ["--label", "y", "--prob", "p", "--prob", "soft"]
    assert calibrant("compare", folder / "good.csv", *both).returncode == 0


def test_no_secret_is_shown():
    urls = ["--url", "postgresql://u:S3cr3t@h/d", "--url=postgresql://u:S3cr3t@h/" + 90 * "d"]
    done = calibrant("audit", "--label", "y", "--prob", "p", *urls)
    assert "--url takes one value" in done.stderr
    assert "S3cr3t" not in done.stderr
