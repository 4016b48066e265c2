"""The application itself: its version and its help."""

import calibrant as cb
from calibrant.core import kernel_name
from reference.commands import calibrant, process


def test_version_and_help():
    shown = calibrant("--version").stdout
    assert shown == f"calibrant {cb.__version__} ({kernel_name()} kernel)\n"
    help_text = calibrant("audit", "--help")
    assert help_text.returncode == 0
    for option in ("--label", "--prob", "--weight", "--pos-label", "--soft", "--max-error"):
        assert option in help_text.stdout


def test_the_version_says_which_kernel_was_asked_for():
    shown = process("--version", env={"CALIBRANT_KERNEL": "numpy"})
    assert shown.stdout == f"calibrant {cb.__version__} (numpy kernel)\n"
    refused = process("--version", env={"CALIBRANT_KERNEL": "fast"})
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "CALIBRANT_KERNEL must be one of" in refused.stderr
    assert "Traceback" not in refused.stderr
