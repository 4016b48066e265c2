"""The one idea: tally, diagram, minorant, and what is read off them. No input, no output."""

from calibrant.core.compiled import kernel_name

__all__ = ["kernel_name"]
