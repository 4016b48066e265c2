"""The build hook: where there is a C compiler, a wheel has the compiled kernel.

`CC` says which compiler, as in `CC="python -m ziglang cc"`; `CALIBRANT_PURE=1` wants no
kernel. Without one everything works, in numpy.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Where the source lies, and where a wheel has what is built from it.
CORE = "src/calibrant/core"
INSIDE = "calibrant/core"
NAME = f"_kernel.{sys.platform}"

#: No contraction: a product and a sum in one step would round otherwise than numpy does.
FLAGS = (
    *("-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-pedantic"),
    *("-ffp-contract=off", "-shared", "-fvisibility=hidden"),
)
#: Ends by an error if a library cannot be loaded; in a process of its own, which lets go of it.
LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"


class NotBuilt(Exception):  # noqa: N818 (nothing went wrong: numpy does the work)
    """Why there is no library."""


class KernelHook(BuildHookInterface[Any]):
    """Compiles `kernel.c` into a wheel, or next to itself if the installation is editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library before the wheel is put together."""
        core = Path(self.root, CORE)
        editable = version == "editable"
        self._open = ExitStack()
        try:
            # next to where it belongs it is on the same disk, and .gitignore has the name
            near = TemporaryDirectory(prefix="_kernel.", dir=core if editable else None)
            folder = self._open.enter_context(near)
            built = _compiled(core / "kernel.c", Path(folder, NAME))
            if editable:  # whole or not at all; processes keep what they have loaded
                built.replace(core / NAME)
        except (NotBuilt, OSError) as error:
            self.app.display_warning(f"calibrant is built without its compiled kernel: {error}")
            if editable:
                _remove(core / NAME)
            return
        if not editable:
            build_data["force_include"][str(built)] = f"{INSIDE}/{NAME}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"  # any Python 3: the library knows none

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was built outside of the wheel."""
        self._open.close()


def _remove(library: Path) -> None:
    """Leave no library where it was said that there is none; one in use may have to stay."""
    with suppress(OSError):
        library.unlink(missing_ok=True)


def _compiled(source: Path, library: Path) -> Path:
    """Compile a source into a library that this machine can load."""
    if os.environ.get("CALIBRANT_PURE", "0") not in {"", "0"}:
        raise NotBuilt("CALIBRANT_PURE is set")
    compiler = os.environ.get("CC", "").strip() or "cc"
    known = f'-DCALIBRANT_SOURCE="{sha256(source.read_bytes()).hexdigest()}"'
    # Windows has no other code than what can be anywhere, and some compilers refuse the flag there
    place = () if sys.platform == "win32" else ("-fPIC",)
    files = (str(source), "-o", str(library), "-lm")
    _run([*shlex.split(compiler, posix=os.name != "nt"), *FLAGS, *place, known, *files], compiler)
    # such as one of 64 bits for a Python of 32: its wheel could not be installed
    _run([sys.executable, "-c", LOAD, str(library)], f"loading what {compiler} has made")
    return library


def _run(command: list[str], what: str) -> None:
    # an isolated build hides installed packages by this, and a compiler may be one of them
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise NotBuilt(f"{what}: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        line = next((one for one in said if "error" in one), said[-1])
        raise NotBuilt(f"{what}: {line}")


def _platform() -> str:
    """Return the platform of this Python, as tags of wheels write it."""
    platform = sysconfig.get_platform()
    if sys.platform == "darwin":
        from packaging.tags import platform_tags

        platform = next(platform_tags())  # that of the compiler, not of Python, which may be older
    return platform.replace("-", "_").replace(".", "_")
