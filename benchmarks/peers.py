"""What do calibrant's peers answer? The same small tables, in their present versions, one run.

With every answer stands what is right: a brute force over all ranges of scores, in fractions.
``make bench`` writes what was found to docs/peers.json, and docs/peers.py the tables of the pages.
A peer that is not there, or fails, is recorded with the reason.
"""

import argparse
import contextlib
import io
import json
import platform
import warnings
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from measure import show
from peer_agreement import NETCAL, SAME, asked_dcurves, same, tried
from peer_features import FEATURES, features
from peer_measures import (
    BINS,
    COUNTED,
    MEASURES,
    ORDERS,
    RIGHT,
    TABLES,
    TESTS,
    TIMES,
    p_values,
    recorded,
    said,
)

PEERS = (
    "calibrant",
    "scikit-learn",
    "netcal",
    "mapie",
    "mcgrad",
    "probcal",
    "probmetrics",
    "torchmetrics",
    "model-diagnostics",
    "uncertainty-calibration",
    "relplot",
    "betacal",
    "venn-abers",
)


def versions() -> dict[str, str]:
    found = {}
    for name in (*PEERS, "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError as error:
            found[name] = said(error)
    try:
        found["dcurves"] = asked_dcurves()[0]
    except (RuntimeError, OSError) as error:
        found["dcurves"] = said(error)
    return found


def inputs() -> dict[str, dict[str, Any]]:
    """The small tables, for whoever wants to ask again; JSON has no NaN, so that is null."""
    return {
        name: {
            "y_true": labels,
            "y_prob": [None if np.isnan(score) else score for score in scores],
            "sample_weight": weights or None,
        }
        for name, (labels, scores, weights) in TABLES.items()
    }


def results() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "versions": versions(),
        "bins": BINS,
        "orders": ORDERS,
        "times": TIMES,
        "inputs": inputs(),
        "right": {
            target: {table: float(count(table)) for table in COUNTED}
            for target, count in RIGHT.items()
        },
        "measures": [recorded(measure) for measure in MEASURES],
        "p_values": [p_values(*one) for one in TESTS],
        "same": [same(*one) for one in SAME],
        "netcal": {name: tried(function) for name, function in NETCAL.items()},
        "features": features(),
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """What was found, for the terminal."""
    for one in found["measures"]:
        yield f"{one['peer']} {one['name']}: {one.get('answers', one.get('failed'))}"
    for one in found["p_values"]:
        yield f"{one['peer']} {one['name']}: {one}"
    for one in found["same"]:
        yield f"{one['peer']} {one['theirs']}: {one.get('difference', one.get('failed'))}"
    for name, answer in found["netcal"].items():
        yield f"netcal, {name}: {answer}"
    missing = sum(map(len, FEATURES.values())) - sum(map(len, found["features"].values()))
    yield f"{missing} names of features not found"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write what was found to this file, as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # peers warn of their own business
    with contextlib.redirect_stdout(io.StringIO()):  # and print it
        found = results()
    show(lines(found), None)
    if options.save:
        text = json.dumps(found, indent=1, allow_nan=False)
        options.save.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
