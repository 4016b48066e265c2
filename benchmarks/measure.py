"""How fast is the exact calibration error? Ours and its peers, same data, one run.

``make bench`` prints the comparison and writes it to benchmarks/measure.md;
``make bench-large`` shows how time and memory grow up to 10^8 rows.
"""

import argparse
import os
import platform
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import calibrant as cb

Data = tuple[np.ndarray, np.ndarray]
Contender = Callable[[np.ndarray, np.ndarray], Any]

SIZES = {10**5: 15, 10**6: 5, 10**7: 3}  # rows: repetitions, of which the fastest counts
GROWTH = [10**5, 10**6, 10**7, 10**8]
PEERS = ("MAPIE", "MCGrad", "calibration_curve", "argsort")


def _labels(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    return (rng.random(len(truth)) < truth).astype(np.int64)


def _miscalibrated(rng: np.random.Generator, rows: int) -> Data:
    score = rng.beta(0.5, 1.5, rows)
    return _labels(rng, score**1.1), score


def _calibrated(draw: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[..., Data]:
    def drawn(rng: np.random.Generator, rows: int) -> Data:
        score = draw(rng, rows)
        return _labels(rng, score), score

    return drawn


SHAPES: dict[str, Callable[[np.random.Generator, int], Data]] = {
    "Beta(.5, 1.5), miscalibrated": _miscalibrated,
    "Beta(.5, 1.5), calibrated": _calibrated(lambda rng, n: rng.beta(0.5, 1.5, n)),
    "Beta(.02, 5), rare events": _calibrated(lambda rng, n: rng.beta(0.02, 5, n)),
    "exp(Normal(-7, 1)), crowded": _calibrated(
        lambda rng, n: np.exp(rng.normal(-7, 1, n)).clip(0, 1)
    ),
    "100 tied values": _calibrated(lambda rng, n: rng.integers(0, 100, n) / 99),
    "uniform, float32": _calibrated(lambda rng, n: rng.random(n, dtype=np.float32)),
}


def by_argsort(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    """What one would write by hand: sort, add up, pool ties, take the range."""
    order = np.argsort(y_prob)
    score = y_prob[order].astype(float)
    walk = np.cumsum(y_true[order] - score)[np.append(score[1:] != score[:-1], True)]
    return float(max(walk.max(), 0) - min(walk.min(), 0)) / len(score)


def contenders() -> dict[str, Contender]:
    from mapie.metrics.calibration import kuiper_statistic
    from mcgrad.metrics import ecce
    from sklearn.calibration import calibration_curve

    return {
        "calibrant": cb.calibration_error,
        "MAPIE": kuiper_statistic,
        "MCGrad": ecce,
        "calibration_curve": calibration_curve,
        "argsort": by_argsort,
    }


def seconds(contender: Contender, data: Data) -> float:
    start = time.perf_counter()
    contender(*data)
    return time.perf_counter() - start


def peak_share(data: Data) -> float:
    """The most memory that ours allocates, as a share of the input's size."""
    tracemalloc.start()
    cb.calibration_error(*data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / sum(array.nbytes for array in data)


def compare(rows: int, repetitions: int) -> Iterator[str]:
    """Yield the lines of one table: ours in milliseconds, the others as multiples of it."""
    racers = contenders()
    yield f"\n### {rows:,} rows\n"
    yield "| scores | calibrant, ms | " + " | ".join(PEERS) + " | extra memory |"
    yield "| :-- | --: | " + " | ".join(["--:"] * len(PEERS)) + " | --: |"
    all_ratios = []
    for name, draw in SHAPES.items():
        data = draw(np.random.default_rng(0), rows)
        best = dict.fromkeys(racers, np.inf)
        for _ in range(repetitions):  # in turns, so that a busy moment hits everyone
            for racer, function in racers.items():
                best[racer] = min(best[racer], seconds(function, data))
        ratios = [best[peer] / best["calibrant"] for peer in PEERS]
        all_ratios.append(ratios)
        memory = f"{peak_share(data):.1%}"
        shown = " | ".join(f"{ratio:.1f}x" for ratio in ratios)
        yield f"| {name} | {1e3 * best['calibrant']:.2f} | {shown} | {memory} |"
    median = " | ".join(f"{ratio:.1f}x" for ratio in np.median(all_ratios, axis=0))
    lowest = " | ".join(f"{ratio:.1f}x" for ratio in np.min(all_ratios, axis=0))
    yield f"| **median** | | {median} | |"
    yield f"| **least** | | {lowest} | |"


def growth() -> Iterator[str]:
    """Yield a table of time and memory against rows, ours alone."""
    yield "\n### How it grows\n"
    yield "| scores | " + " | ".join(f"{rows:.0e} rows" for rows in GROWTH) + " |"
    yield "| :-- | " + " | ".join(["--:"] * len(GROWTH)) + " |"
    for name, draw in SHAPES.items():
        cells = []
        for rows in GROWTH:
            data = draw(np.random.default_rng(0), rows)
            best = min(seconds(cb.calibration_error, data) for _ in range(3))
            cells.append(f"{1e9 * best / rows:.1f} ns/row, {peak_share(data):.1%}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def header(title: str) -> Iterator[str]:
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "mapie", "mcgrad")
    )
    yield f"# {title}"
    yield ""
    yield f"Made by `make bench` with {versions}, Python {platform.python_version()}, on"
    yield f"{os.cpu_count()} cores of {platform.machine()}."
    yield "The fastest of several runs, input checks included. A peer's column says how many times"
    yield "longer it takes. Extra memory is the peak allocation of calibrant over the size of its"
    yield "input (float64 or float32 scores and int64 labels)."


def show(lines: Iterable[str], save: Path | None) -> None:
    """Print lines as they come, and write them all to a file at the end."""
    shown = []
    for line in lines:
        print(line, flush=True)
        shown.append(line)
    if save:
        save.write_text("\n".join(shown) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--growth", action="store_true", help="time and memory up to 10^8 rows")
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES), help="sizes to compare")
    parser.add_argument("--save", type=Path, help="write the tables to this file as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # peers warn of their own business
    tables = [growth()] if options.growth else [compare(n, SIZES.get(n, 3)) for n in options.rows]
    title = "How the calibration error grows" if options.growth else "The error, compared"
    show(chain(header(title), *tables), options.save)


if __name__ == "__main__":
    main()
