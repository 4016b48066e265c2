"""An option is given once: of two values one would be dropped without a word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

from calibrant._text import shown
from calibrant.data.engine.addresses import without_secrets
from calibrant.errors import InputError, listing


class OnceCommand(TyperCommand):
    """A command that refuses an option with a value which is given again."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed, once it is known that no option is there twice."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param in self.get_params(ctx):
            flag = getattr(param, "is_flag", False)
            if not (param.multiple or flag) and order.count(param) > 1:
                raise _given_again(param.opts[0], _values(param.opts, args))
        return super().parse_args(ctx, args)


def _values(names: list[str], args: list[str]) -> list[str]:
    """Return the values of an option as they were typed, as far as they are words of their own."""
    after = [value for word, value in pairwise(args) if word in names]
    joined = [word.partition("=") for word in args if word.startswith("--")]
    after += [value for word, equals, value in joined if equals and word in names]
    return [without_secrets(value) for value in after]  # before they are cut to be shown


def _given_again(option: str, values: Sequence[str]) -> InputError:
    what = f": {listing(values, show=shown)}" if len(values) > 1 else ""
    return InputError(f"{option} takes one value, but it is given more than once{what}. Keep one.")
