"""How fast is Venn-Abers prediction, compared with the package venn-abers? Same data, one run.

``make bench`` prints the table and writes it to benchmarks/venn.md.
"""

import argparse
import os
import platform
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np

import calibrant as cb
from measure import SHAPES, seconds, show

COLUMNS = (
    "rows",
    "scores",
    "fit, ms",
    "predict, ms",
    "venn-abers, fit, ms",
    "predict, ms",
    "times faster",
    "largest difference",
)
SIZES = {10**4: 5, 10**5: 3, 10**6: 1}  # rows: repetitions, of which the fastest counts
#: A peer is not run if it could take more seconds than this: its time grows with the square of the
#: rows where nearly every row is a step of its own, and less fast elsewhere.
PATIENCE = 600
NOTES = """
`venn-abers` passes over all points again for each step of p0 and p1 and over all distinct scores
in a Python loop; calibrant finds all tangents at once, and opens only cells that can hold one.

Both pool ties, take a new score that equals a known one into its pool, give a score between two
others the p0 of the lower and the p1 of the higher one, and have p0 = 0 below and p1 = 1 above all
of them, so that the pairs are the same. Else they differ: the package takes probabilities as two
columns, no weights, checks no input, has an option to round scores (off here), which is faster and
not exact, and when imported switches off numpy's warnings of invalid divisions for the program.
"""


class Ours:
    def fit(self, y_true: np.ndarray, y_prob: np.ndarray) -> None:
        self.fitted = cb.VennAbersCalibrator().fit(y_prob, y_true)

    def pair(self, y_prob: np.ndarray) -> np.ndarray:
        return self.fitted.predict_pair(y_prob)


class Peer:
    def fit(self, y_true: np.ndarray, y_prob: np.ndarray) -> None:
        from venn_abers import VennAbers

        self.fitted = VennAbers()
        self.fitted.fit(np.stack([1 - y_prob, y_prob], axis=1), y_true)

    def pair(self, y_prob: np.ndarray) -> np.ndarray:
        return self.fitted.predict_proba(np.stack([1 - y_prob, y_prob], axis=1))[1]


def new_scores(y_prob: np.ndarray) -> np.ndarray:
    """As many new scores, in any order: half of them known ones, the others anywhere."""
    rng = np.random.default_rng(1)
    known = rng.choice(y_prob, len(y_prob) // 2)
    return rng.permutation(np.concatenate([known, rng.random(len(y_prob) - len(known))]))


def timed(racer: Ours | Peer, data: tuple[np.ndarray, ...], times: int) -> tuple[float, float]:
    """Seconds of a fit, and of the pairs of as many new scores."""
    *rows, new = data
    fit = min(seconds(racer.fit, tuple(rows)) for _ in range(times))
    return fit, min(seconds(racer.pair, (new,)) for _ in range(times))


def line(rows: int, name: str, times: int, expected: float) -> tuple[str, float, float]:
    """A line of the table, how many times faster ours is, and the seconds of the peer."""
    y_true, y_prob = SHAPES[name](np.random.default_rng(0), rows)
    y_prob = y_prob.astype(np.float64)
    data = (y_true, y_prob, new_scores(y_prob))
    ours, peer = Ours(), Peer()
    mine = timed(ours, data, times)
    start = f"| {rows:,} | {name} | {1e3 * mine[0]:.1f} | {1e3 * mine[1]:.1f} |"
    if expected > PATIENCE:
        return f"{start} not run | | | |", np.nan, expected
    other = timed(peer, data, times)
    ratio = sum(other) / sum(mine)
    difference = np.abs(ours.pair(data[2]) - peer.pair(data[2])).max()
    assert difference < 1e-12
    end = f" {1e3 * other[0]:.0f} | {1e3 * other[1]:.1f} | {ratio:.0f} | {difference:.0e} |"
    return start + end, ratio, sum(other)


def table() -> Iterator[str]:
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "venn-abers"))
    yield "# Venn-Abers"
    yield ""
    yield f"Made by `make bench` with {versions}, Python {platform.python_version()}, on"
    yield f"{os.cpu_count()} cores of {platform.machine()}. A fit of `VennAbersCalibrator`, checks"
    yield "included, and the pairs (p0, p1) of as many new scores, half of them known ones, against"
    yield "the package `venn-abers` on the same rows; how many times faster fit and pairs are"
    yield "together; and the largest difference between the pairs. The package was not run where a"
    yield f"hundred times its time for a tenth of the rows is over {PATIENCE} seconds."
    yield ""
    yield "| " + " | ".join(COLUMNS) + " |"
    yield "| --: | :-- |" + " --: |" * (len(COLUMNS) - 2)
    expected = dict.fromkeys(SHAPES, 0.0)
    for rows, times in SIZES.items():
        ratios = []
        for name in SHAPES:
            shown, ratio, taken = line(rows, name, times, expected[name])
            expected[name] = 100 * taken
            ratios.append(ratio)
            yield shown
        median = np.nanmedian(ratios)
        yield f"| {rows:,} | **median** | | | | | {median:.0f} | |"
    yield from NOTES.splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peer warns of its own business
    show(table(), options.save)


if __name__ == "__main__":
    main()
