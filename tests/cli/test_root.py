"""The application itself: its version and its help."""

import calibrant as cb
from reference.commands import calibrant


def test_version_and_help():
    assert calibrant("--version").stdout == f"calibrant {cb.__version__}\n"
    help_text = calibrant("audit", "--help")
    assert help_text.returncode == 0
    for option in ("--label", "--prob", "--weight", "--pos-label", "--soft", "--max-error"):
        assert option in help_text.stdout
