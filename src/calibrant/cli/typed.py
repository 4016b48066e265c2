"""The command as it was typed: for reports, without secrets, and refused where one is misplaced."""

from __future__ import annotations

import shlex
import sys

from calibrant.data.engine.addresses import password_in, shown_url, without_secrets
from calibrant.errors import InputError


def command_line() -> str:
    """Return the command as it was given, but for secrets, in letters that every file can hold."""
    words = sys.argv[1:]
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option == "--url" and equals:
            words[place] = f"--url={shown_url(value)}"
        elif word == "--url" and place + 1 < len(words):
            words[place + 1] = shown_url(words[place + 1])
        elif words[place - 1] != "--url" or place == 0:
            words[place] = without_secrets(word)
    return shlex.join(["calibrant", *words]).encode("utf-8", "backslashreplace").decode()


def check_secrets() -> None:
    """Refuse an address with a password where none belongs: an error there would show it."""
    words = sys.argv[1:]
    for before, word in zip(["", *words], words, strict=False):
        belongs = before in {"--url", "--sql"} or word.startswith(("--url=", "--sql="))
        if not belongs and without_secrets(word) != word:
            raise _secret_out_of_place()
    urls = [word for before, word in zip(["", *words], words, strict=False) if before == "--url"]
    urls += [word for word in words if word.startswith("--url=")]
    # a password with a space that was not quoted: what follows it is an argument of its own
    for url in urls:
        rest = " ".join(words[words.index(url) :])
        if "@" not in url and without_secrets(rest) != rest and password_in(rest) is not None:
            raise _secret_out_of_place()


def _secret_out_of_place() -> InputError:
    return InputError(
        "A word of this command looks like the address of a database with its password. Give it as "
        "--url, and what to read there by --table or --sql."
    )
