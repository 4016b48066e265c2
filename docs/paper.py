"""Draw the pictures of docs/paper.md."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import calibrant as cb

PICTURE = Path(__file__).parent / "pictures" / "regions.svg"
ROWS, FRESH, RUNS = 4000, 20_000, 5


def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels with a known dependence on them."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 3))
    odds = 1.5 * features[:, 0] - features[:, 1] ** 2 + 1
    return features, rng.random(rows) < 1 / (1 + np.exp(-odds))


def errors(regions: int, kind: str) -> tuple[float, float]:
    """Return the calibration error on fitting rows and on fresh ones, mean over runs."""
    found = []
    for run in range(RUNS):
        (rows, y), (fresh, later) = data(ROWS, 2 * run), data(FRESH, 2 * run + 1)
        model = cb.PartitionClassifier(kind, regions=regions, random_state=0).fit(rows, y)
        own = cb.calibration_error(y, model.predict_proba(rows)[:, 1])
        found.append((own, cb.calibration_error(later, model.predict_proba(fresh)[:, 1])))
    own, other = np.mean(found, axis=0).tolist()
    return own, other


def main() -> None:
    """Draw the error against the number of regions."""
    counts = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for kind, colour, mark in (("tree", "#0072B2", "o"), ("kmeans", "#E69F00", "s")):
        fresh = [errors(count, kind)[1] for count in counts]
        name = {"tree": "leaves of a tree", "kmeans": "cells of k-means"}[kind]
        axes.plot(counts, fresh, color=colour, marker=mark, label=f"{name}, fresh rows")
    axes.axhline(0, color="#000000", linewidth=1.2, label="both, on their own rows")
    axes.set(
        xscale="log", xlabel=f"regions, learned from {ROWS:,} rows", ylabel="calibration error"
    )
    axes.set_title("Calibrated on its own rows; on fresh ones less so, the finer the partition")
    axes.grid(visible=True, color="#dddddd")
    axes.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "calibrant"}):
        figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
