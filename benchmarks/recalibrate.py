"""How fast is isotonic calibration, compared with scikit-learn's? Same data, one run.

``make bench`` prints the table and writes it to benchmarks/recalibrate.md.
"""

import argparse
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from measure import SHAPES, seconds, show

COLUMNS = (
    "rows",
    "scores",
    "fit, ms",
    "scikit-learn, ms",
    "times faster",
    "memory",
    "predict, million/s",
    "scikit-learn, million/s",
)
SIZES = {10**5: 5, 10**6: 3, 10**7: 2}  # rows: repetitions, of which the fastest counts


def ours(y_true: np.ndarray, y_prob: np.ndarray) -> cb.IsotonicCalibrator:
    return cb.IsotonicCalibrator().fit(y_prob, y_true)


def peer(y_true: np.ndarray, y_prob: np.ndarray) -> IsotonicRegression:
    return IsotonicRegression(out_of_bounds="clip").fit(y_prob, y_true)


def peak_share(data: tuple[np.ndarray, np.ndarray]) -> float:
    """The most memory that a fit allocates, as a share of the input's size."""
    tracemalloc.start()
    ours(*data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / sum(column.nbytes for column in data)


def table() -> Iterator[str]:
    yield "# Fitting calibrators"
    yield ""
    yield "Made by `make bench`. A fit of `IsotonicCalibrator`, checks included, against that of"
    yield "scikit-learn's `IsotonicRegression` on the same rows; the most memory it takes, as a"
    yield "share of the input (float64 scores and int64 labels); and scores calibrated per second."
    yield ""
    yield "| " + " | ".join(COLUMNS) + " |"
    yield "| --: | :-- |" + " --: |" * (len(COLUMNS) - 2)
    for rows, times in SIZES.items():
        ratios = []
        for name, draw in SHAPES.items():
            data = draw(np.random.default_rng(0), rows)
            data = (data[0], data[1].astype(np.float64))
            mine = min(seconds(ours, data) for _ in range(times))
            other = min(seconds(peer, data) for _ in range(times))
            ratios.append(other / mine)
            fitted, known = ours(*data), peer(*data)
            assert np.abs(fitted.predict(data[1]) - known.predict(data[1])).max() < 1e-9
            speed = [
                rows / 1e6 / min(seconds(one.predict, (data[1],)) for _ in range(times))
                for one in (fitted, known)
            ]
            yield (
                f"| {rows:,} | {name} | {1e3 * mine:.1f} | {1e3 * other:.0f} | {ratios[-1]:.1f} | "
                f"{peak_share(data):.0%} | {speed[0]:.0f} | {speed[1]:.0f} |"
            )
        median = np.median(ratios)
        yield f"| {rows:,} | **median** | | | {median:.1f} | | | |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    show(table(), options.save)


if __name__ == "__main__":
    main()
