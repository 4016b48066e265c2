"""What does a cost curve cost, compared with the calibration error alone? One run, same data.

``make bench`` prints the table and writes it to benchmarks/decide.md.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import calibrant as cb
from measure import SHAPES, seconds, show


def table(rows: int) -> Iterator[str]:
    yield "# A cost curve, compared with the calibration error alone"
    yield ""
    yield f"Made by `make bench` on {rows:,} rows: costs at 513 cost ratios, with the best"
    yield "threshold in hindsight for each, exact."
    yield ""
    yield "| scores | calibration_error, ms | cost_curve, ms | ratio |"
    yield "| :-- | --: | --: | --: |"
    ratios = []
    for name, draw in SHAPES.items():
        data = draw(np.random.default_rng(0), rows)
        alone = curve = np.inf
        for _ in range(4):  # in turns, so that a busy moment hits both
            alone = min(alone, seconds(cb.calibration_error, data))
            curve = min(curve, seconds(cb.cost_curve, data))
        ratios.append(curve / alone)
        yield f"| {name} | {1e3 * alone:.0f} | {1e3 * curve:.0f} | {ratios[-1]:.1f} |"
    yield f"| **median** | | | {np.median(ratios):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    show(table(options.rows), options.save)


if __name__ == "__main__":
    main()
