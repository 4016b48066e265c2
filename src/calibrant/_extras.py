"""Optional dependencies: imported when they are needed, and named when they are not there."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from calibrant.errors import InputError

#: What each extra is for, as the end of a sentence.
_PURPOSE = {
    "plot": "plots",
    "report": "the HTML report",
    "onnx": "ONNX models",
    "sql": "databases",
    "spark": "Spark",
}


class ExtraError(InputError, ImportError):
    """An optional dependency is not installed; the message has the command that installs it."""


def require(module: str, extra: str) -> ModuleType:
    """Import a module of an optional dependency, or say which command installs it.

    Parameters
    ----------
    module : str
        The module, such as "matplotlib.pyplot".
    extra : str
        The extra of this package that brings it, such as "plot".

    Raises
    ------
    ExtraError
        If it is not installed. What a broken installation raises passes unchanged.

    Examples
    --------
    >>> require("math", "plot").sqrt(4)
    2.0
    """
    package = module.split(".", maxsplit=1)[0]
    try:
        import_module(package)
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".", maxsplit=1)[0] != package:
            raise
        raise ExtraError(
            f"{package} is needed for {_PURPOSE.get(extra, extra)}. Install it with: "
            f"pip install 'calibrant[{extra}]'"
        ) from error
