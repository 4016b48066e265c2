"""Commands: each explains itself by an example."""

from reference.commands import calibrant


def test_help_has_an_example_for_every_command():
    for command in ("audit", "compare", "plan", "calibrate", "export", "decide"):
        done = calibrant(command, "--help")
        assert f"calibrant {command}" in done.stdout
    assert "--install-completion" in calibrant("--help").stdout
