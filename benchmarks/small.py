"""How fast are a few rows? The error, an isotonic fit and predict, and peers, one run.

``make bench`` prints the tables and writes them to benchmarks/small.md.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from mapie.metrics.calibration import kuiper_statistic
from mcgrad.metrics import ecce
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant.core import kernel_name
from measure import SHAPES, header, seconds, show

SIZES = {100: 500, 1000: 300, 10_000: 60}  # rows: repetitions, of which the fastest counts
AUDITED = 1000

Data = tuple[np.ndarray, np.ndarray]
Racer = Callable[[np.ndarray, np.ndarray], Any]


def _fit(y_true: np.ndarray, y_prob: np.ndarray) -> Any:
    return cb.IsotonicCalibrator().fit(y_prob, y_true)


def _peer_fit(y_true: np.ndarray, y_prob: np.ndarray) -> Any:
    return IsotonicRegression(out_of_bounds="clip").fit(y_prob, y_true)


def _predict(fitted: Any, _y_true: np.ndarray, y_prob: np.ndarray) -> Any:
    return fitted.predict(y_prob)


def races(data: Data) -> dict[str, dict[str, Racer]]:
    """What is compared: ours first, then its peers."""
    return {
        "calibration error": {
            "calibrant": cb.calibration_error,
            "MAPIE": kuiper_statistic,
            "MCGrad": ecce,
        },
        "isotonic fit": {"calibrant": _fit, "scikit-learn": _peer_fit},
        "isotonic predict": {
            "calibrant": partial(_predict, _fit(*data)),
            "scikit-learn": partial(_predict, _peer_fit(*data)),
        },
    }


def fastest(racers: dict[str, Racer], data: Data, repetitions: int) -> dict[str, float]:
    """Time each in turns, so that a busy moment hits everyone."""
    best = dict.fromkeys(racers, np.inf)
    for _ in range(repetitions):
        for name, racer in racers.items():
            best[name] = min(best[name], seconds(racer, data))
    return best


def table(rows: int, repetitions: int) -> Iterator[str]:
    found: dict[str, list[dict[str, float]]] = {}
    for draw in SHAPES.values():
        y_true, y_prob = draw(np.random.default_rng(0), rows)
        if 0 < y_true.sum() < rows:
            data = y_true, y_prob.astype(np.float64)
            for what, racers in races(data).items():
                found.setdefault(what, []).append(fastest(racers, data, repetitions))
    for what, times in found.items():
        for peer in list(times[0])[1:]:
            ours = [1e6 * one["calibrant"] for one in times]
            ratios = [one[peer] / one["calibrant"] for one in times]
            yield (
                f"| {rows:,} | {what} | {np.median(ours):.0f} | {peer} | "
                f"{np.median(ratios):.2f} | {min(ratios):.2f} |"
            )


def audits() -> Iterator[str]:
    """Time an audit, whose exact test draws samples: shown apart."""
    data = cb.simulate.overconfident().draw(AUDITED, seed=1)[:2]
    whole = min(seconds(cb.audit, data) for _ in range(20))
    test = min(seconds(cb.calibration_test, data) for _ in range(20))
    yield ""
    yield f"An audit of {AUDITED:,} rows takes {1e3 * whole:.1f} ms, of which the exact test takes"
    yield f"{1e3 * test:.1f} ms by itself."


def tables() -> Iterator[str]:
    yield ""
    yield f"The kernel is the {kernel_name()} one. How many times longer the other takes: the"
    yield "median over six kinds of scores, and the least of them. Under 1, calibrant is slower."
    yield ""
    yield "| rows | what | calibrant, µs | against | times, median | least |"
    yield "| --: | :-- | --: | :-- | --: | --: |"
    for rows, repetitions in SIZES.items():
        yield from table(rows, repetitions)
    yield from audits()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the tables to this file as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # peers warn of their own business
    show(chain(header("Few rows"), tables()), options.save)


if __name__ == "__main__":
    main()
