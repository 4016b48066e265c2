"""What does the whole family cost compared with the calibration error alone? One run, same data.

``make bench`` prints the table and writes it to benchmarks/family.md.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import calibrant as cb
from measure import SHAPES, seconds, show


def family(rows: int) -> Iterator[str]:
    yield "# An audit, compared with the calibration error alone"
    yield ""
    yield f"Made by `make bench` on {rows:,} rows. An audit computes the calibration error with its"
    yield "worst intervals, reliability groups, the parts of Brier score and log loss, ECE, slope,"
    yield "intercept, observed/expected ratio, ROC AUC with its bound, and undetectable L1 error."
    yield ""
    yield "| scores | calibration_error, ms | audit, ms | ratio |"
    yield "| :-- | --: | --: | --: |"
    ratios = []
    for name, draw in SHAPES.items():
        data = draw(np.random.default_rng(0), rows)
        alone = min(seconds(cb.calibration_error, data) for _ in range(4))
        together = min(seconds(cb.audit, data) for _ in range(3))
        ratios.append(together / alone)
        yield f"| {name} | {1e3 * alone:.0f} | {1e3 * together:.0f} | {ratios[-1]:.1f} |"
    yield f"| **median** | | | {np.median(ratios):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    show(family(options.rows), options.save)


if __name__ == "__main__":
    main()
