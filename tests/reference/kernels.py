"""Both kernels, one after the other: the compiled one, and numpy, which says what is right."""

import warnings
from contextlib import contextmanager

import pytest

from calibrant.core import compiled as module
from calibrant.core.library import library

LIBRARY = library()
KERNEL = None if LIBRARY is None else module.Kernel(LIBRARY)
needs_library = pytest.mark.skipif(KERNEL is None, reason="no library was built from kernel.c")


@contextmanager
def using(kernel):
    """Let this kernel add up rows; numpy if it is None."""
    before = module._chosen
    module._chosen = lambda: kernel
    try:
        yield
    finally:
        module._chosen = before


def outcome(function, *args, **kwargs):
    """Return what a function returns, or the kind and the words of its error; and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args, **kwargs)
        except Exception as error:
            found = type(error).__name__, str(error)
    return found, [str(one.message) for one in caught]


def both(function, *args, **kwargs):
    """Return the outcome with the compiled kernel, and with numpy."""
    found = []
    for kernel in (KERNEL, None):
        with using(kernel):
            found.append(outcome(function, *args, **kwargs))
    return found
