"""Classifiers calibrated by construction, compared with scikit-learn's: time, memory, quality.

``make bench-quality`` prints the tables and writes them to benchmarks/learn.md. It finds Adult and
Covertype in the folder that CALIBRANT_DATA names, or downloads them.
"""

import argparse
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import calibrant as cb
from calibrant.experiments.datasets import Dataset, load_adult, load_covertype
from measure import show

PEER = "LogisticRegression"
MODELS: dict[str, Callable[[], Any]] = {
    PEER: lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "CalibratedClassifierCV(LinearSVC)": lambda: make_pipeline(
        StandardScaler(), CalibratedClassifierCV(LinearSVC(dual=False), method="isotonic")
    ),
    "IsotronClassifier": cb.IsotronClassifier,
    "IsotronClassifier, lipschitz": lambda: cb.IsotronClassifier("lipschitz"),
    "CalibratedLinearClassifier, squared": lambda: cb.CalibratedLinearClassifier("squared"),
    "CalibratedLinearClassifier, logistic": lambda: cb.CalibratedLinearClassifier("logistic"),
    "CalibratedLinearClassifier, hinge": lambda: cb.CalibratedLinearClassifier("hinge"),
}


def quality(data: Dataset) -> Iterator[str]:
    features = data.features
    order = np.random.default_rng(0).permutation(len(features))
    cut = int(0.8 * len(order))
    train, test = order[:cut], order[cut:]
    known, y, fresh, truth = features[train], data.labels[train], features[test], data.labels[test]
    yield ""
    yield f"## {data.name}: {len(train):,} rows of {known.shape[1]} features, {len(test):,} fresh"
    yield ""
    yield (
        "| classifier | seconds | against LogisticRegression | accuracy | Brier score | "
        "calibration error | on its training rows |"
    )
    yield "| :-- | --: | --: | --: | --: | --: | --: |"
    base = 0.0
    for name, make in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, begin = make(), perf_counter()
            model.fit(known, y)
            took = perf_counter() - begin
        base = took if name == PEER else base
        prob = model.predict_proba(fresh)[:, 1]
        own = cb.calibration_error(y, model.predict_proba(known)[:, 1])
        yield (
            f"| {name} | {took:.1f} | {took / base:.1f} | {np.mean((prob > 0.5) == truth):.4f} | "
            f"{np.mean((prob - truth) ** 2):.4f} | {cb.calibration_error(truth, prob):.4f} | "
            f"{own:.4f} |"
        )


def memory(data: Dataset) -> Iterator[str]:
    """Peak memory of fits with more and more steps, over the features themselves."""
    features, label = data.features, data.labels
    size = features.nbytes / 2**20
    yield ""
    yield f"## Memory on {len(features):,} rows of {data.name}, whose features take {size:.0f} MB"
    yield ""
    yield "| steps | IsotronClassifier, MB more | CalibratedLinearClassifier, MB more |"
    yield "| --: | --: | --: |"
    for steps in (2, 8, 32):
        kinds = [
            cb.IsotronClassifier(max_iter=steps, tol=0, n_iter_no_change=1000),
            cb.CalibratedLinearClassifier(max_iter=steps, tol=0),
        ]
        yield f"| {steps} | " + " | ".join(f"{peak(m, features, label):.0f}" for m in kinds) + " |"


def peak(model: Any, features: np.ndarray, label: np.ndarray) -> float:
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(features, label)
    most = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return most


def table() -> Iterator[str]:
    yield "# Classifiers calibrated by construction, compared with scikit-learn's"
    yield ""
    yield "Made by `make bench-quality`; 2 cores. The calibration error is c_emp, on fresh rows and"
    yield "on those that the classifier was fitted to."
    covertype = load_covertype()
    yield from quality(load_adult())
    yield from quality(covertype)
    yield from memory(covertype)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the tables to this file as well")
    show(table(), parser.parse_args().save)


if __name__ == "__main__":
    main()
