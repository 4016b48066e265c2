"""Library: the compiled kernel on disk, which is built when the package is installed.

It takes a C compiler then. A library is used if it was built from the very `kernel.c` that is in
the package, not if an older version left it behind.
"""

from __future__ import annotations

import ctypes
import sys
from hashlib import sha256
from pathlib import Path

SOURCE = Path(__file__).with_name("kernel.c")
#: The library is for one platform, and no module of Python, which an ending such as .so would say.
LIBRARY = SOURCE.with_name(f"_kernel.{sys.platform}")


def library() -> ctypes.CDLL | None:
    """Load the library; None if there is none that can be used."""
    try:
        found = ctypes.CDLL(str(LIBRARY))
        found.calibrant_source.restype = ctypes.c_char_p
        return found if found.calibrant_source() == source_hash().encode() else None
    except (OSError, AttributeError):  # there is none, or one of another processor, or no kernel
        return None


def source_hash() -> str:
    """Return the hash of the source, which a library is given when it is built."""
    return sha256(SOURCE.read_bytes()).hexdigest()
