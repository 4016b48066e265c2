"""Messages for those who type options: `drop_missing=True` becomes `--drop-missing`.

The packages below speak of arguments, as their Python users write them. What of it reaches a
terminal, or a report that a command writes, is translated here.
"""

from __future__ import annotations

import re
import shlex
from functools import cache

import typer.main
from typer.core import TyperGroup

from calibrant.cli.root import app

#: Arguments whose options have other names.
_OTHER_NAMES = {
    "y_true": "--label",
    "y_prob": "--prob",
    "probs": "--prob",
    "sample_weight": "--weight",
    "query": "--sql",
}
#: What has no meaning here, and what has another way out.
_PYTHON_ALONE = (
    " What takes no pos_label takes labels == the event.",
    " With arrays pass them: by={'sex': sex}.",
    " A gain from the right action goes into matrix=[[c00, c01], [c10, c11]] as a negative cost.",
    ", such as y_true == 'the class'",
)
_SENTENCES = dict.fromkeys(_PYTHON_ALONE, "") | {
    "Remove or fill these rows.": "Remove or fill these rows; --drop-missing removes them.",
    "DuckDB reads such a file by": "DuckDB, and so a query in --sql, reads such a file by",
    "Write it with to_json().": "Write it with calibrant calibrate -o.",
    ", or None for scores as they are": ", or be left out for scores as they are",
    "decision_function by cb.": "decision_function in Python by cb.",
    "or use observed_expected_ratio, which": "or use the observed/expected ratio, which",
}
_QUOTED = r""""[^"]*"|'(?:[^'\\]|\\.)*'"""
_ARGUMENT = re.compile(
    rf"""
    (?<!\w)(?:{_QUOTED})(?!\w)            # names and values of the user stay as they are
    | (?<![\w.-])(?P<name>[a-z_]+)=(?!=)
      (?P<value>{_QUOTED} | \[[^]]*\] | [\w+-]+(?:\.\w+)* | )
    """,
    re.VERBOSE,
)
#: An argument that a message is about, as its subject.
_SUBJECT = re.compile(
    r"(?:\A|(?<=, but )|(?<= and ))[a-z]+(?:_[a-z]+)*(?= (?:must|holds|are|and [a-z]+_[a-z]+ are) )"
)


def in_options(text: str) -> str:
    """Return a message with options in place of arguments.

    Examples
    --------
    >>> in_options('Pass clip=, or take method="isotonic" and drop_missing=True.')
    'Pass --clip, or take --method isotonic and --drop-missing.'
    """
    ours, *foreign = re.split("( says: )", text, maxsplit=1)  # an engine may quote a query
    for sentence, instead in _SENTENCES.items():
        ours = ours.replace(sentence, instead)
    # elsewhere than where a message begins the bare word may be one of the user's
    ours = _SUBJECT.sub(lambda found: _options().get(found[0], found[0]), ours)
    return "".join([_ARGUMENT.sub(_option, ours), *foreign])


def _option(found: re.Match[str]) -> str:
    """Translate one argument; a list becomes an option given several times."""
    option, value = _options().get(found["name"] or ""), found["value"]
    if option is None:
        return found[0]
    if value == "" or (value == "True" and option in _flags()):
        return option
    values = re.findall(_QUOTED, value) if value.startswith("[") else [value]
    return " ".join(f"{option} {_typed(one)}" for one in values)


def _typed(value: str) -> str:
    """Return a value as one types it."""
    return shlex.quote(value[1:-1]) if value[0] in "\"'" else value


@cache
def _options() -> dict[str, str]:
    """Return the option of each argument."""
    named = {name: option for name, option, _ in _parameters()}
    return named | _OTHER_NAMES


@cache
def _flags() -> frozenset[str]:
    """Return the options that take no value."""
    return frozenset(option for _, option, flag in _parameters() if flag)


@cache
def _parameters() -> tuple[tuple[str, str, bool], ...]:
    """Return the argument, the option and whether it is a flag, of all options of all commands."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)  # noqa: S101 -- there are several commands
    return tuple(
        (option.name or "", option.opts[0], bool(getattr(option, "is_flag", False)))
        for command in group.commands.values()
        for option in command.params
        if option.opts[0].startswith("--")
    )
