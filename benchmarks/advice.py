"""How often does advice find what is wrong, and what does the test cost it?

``make bench-quality`` prints the table and writes it to benchmarks/advice.md.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import calibrant as cb
from calibrant.auditing.advice import _recommended
from calibrant.simulate import Law, calibrated, overconfident, shifted, underconfident
from measure import show

SAMPLES = 100
LAWS: tuple[Law, ...] = (
    calibrated(),
    overconfident(1.2),
    overconfident(1.6),
    underconfident(0.6),
    shifted(0.02),
    shifted(0.05),
    shifted(0.1),
)


def shares(law: Law, rows: int) -> tuple[float, float, float]:
    """Return how often a gain is clear, how often the test rejects, and how often both."""
    gain = test = both = 0
    for seed in range(SAMPLES):
        advice = cb.advise(*law.draw(rows, seed=seed)[:2], seed=seed)
        gain += _recommended(advice.trials) is not None
        test += bool(advice.miscalibrated)
        both += advice.recommended is not None
    return gain / SAMPLES, test / SAMPLES, both / SAMPLES


def table() -> Iterator[str]:
    yield "# How often advice recommends a calibrator"
    yield ""
    yield f"Made by `make bench-quality`, {SAMPLES} samples of each law. A calibrator is"
    yield "recommended if its gain in the Brier score on held-out rows is over two standard errors"
    yield "and the test rejects the scores at the 5% level. By the gain alone more samples of a"
    yield "miscalibrated model would get a calibrator, and more of a calibrated one (last column)."
    yield ""
    yield "| law | c(f) | rows | gain is clear | test rejects | recommended | lost to the test |"
    yield "| :-- | --: | --: | --: | --: | --: | --: |"
    for law in LAWS:
        for rows in (200, 500, 2000, 5000):
            gain, test, both = shares(law, rows)
            lost = f"**{gain - both:.2f}**" if gain - both > 0.05 else f"{gain - both:.2f}"
            yield (
                f"| {law.name} | {law.calibration_error:.3f} | {rows:,} | {gain:.2f} | {test:.2f} "
                f"| {both:.2f} | {lost} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    show(table(), options.save)


if __name__ == "__main__":
    main()
