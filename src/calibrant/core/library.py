"""Library: the compiled kernel on disk, which is built when the package is installed.

It takes a C compiler then. A library is used if it was built from the very `kernel.c` that is in
the package, not if an older version left it behind.
"""

from __future__ import annotations

import ctypes
from hashlib import sha256
from pathlib import Path

SOURCE = Path(__file__).with_name("kernel.c")
#: What the library is called, and how it ends on Linux, macOS and Windows.
NAME, ENDINGS = "_kernel", (".so", ".dylib", ".dll")


def library() -> ctypes.CDLL | None:
    """Load the library; None if there is none that can be used."""
    for ending in ENDINGS:
        path = SOURCE.with_name(NAME + ending)
        if not path.is_file():
            continue
        try:
            found = ctypes.CDLL(str(path))
            found.calibrant_source.restype = ctypes.c_char_p
            if found.calibrant_source() == source_hash().encode():
                return found
        except (OSError, AttributeError):  # of another platform, or no kernel
            continue
    return None


def source_hash() -> str:
    """Return the hash of the source, which a library is given when it is built."""
    return sha256(SOURCE.read_bytes()).hexdigest()
