"""Trials: a classifier on a split of a data set, before and after calibration.

Figures 2 and 3 of the paper, its conjecture, and what lies beyond are all read off trials.
"""

from __future__ import annotations

import zlib
from functools import partial
from typing import Any

import numpy as np

from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.registry import calibrator_class
from calibrant.certificates.certify import certify
from calibrant.experiments.classifiers import CLASSIFIERS, Classifier, scores_of
from calibrant.experiments.datasets import (
    Dataset,
    bundled,
    load_adult,
    load_covertype,
    simulated,
)
from calibrant.experiments.run import Study
from calibrant.measures.error import calibration_error

#: The bars of Figure 2, over which certificates hold at once, all splits included.
_BARS = 10
#: Rows for training, for calibration (the paper's 2,000) and for the test, at most.
MOST_ROWS = (20_000, 2_000, 20_000)
_QUICK_ROWS = (1_000, 500, 2_000)
#: Shares of the rows of a small data set.
_SHARES = (0.5, 0.2)
#: The costs p of a false positive at which losses are compared; a false negative costs 1 - p.
GRID = np.linspace(0.05, 0.95, 19)
_COMPARED = ("isotonic", "platt", "beta", "temperature", "histogram")
CALIBRATORS: dict[str, type[Calibrator]] = {
    name.capitalize(): calibrator_class(name) for name in _COMPARED
}


def paper_data(study: Study) -> list[Dataset]:
    """Return the paper's two data sets, or simulated ones for a quick look."""
    if study.quick:
        return [simulated("additive", 4000), simulated("interactions", 4000)]
    return [load_adult(study.data_dir), load_covertype(study.data_dir)]


def other_data(study: Study) -> list[Dataset]:
    """Return more data sets, none of which needs a file."""
    return bundled()[:1] if study.quick else bundled()


def trials(
    study: Study, data: list[Dataset], *, paper_only: bool, what: str
) -> list[dict[str, Any]]:
    """Try every classifier on every data set, over several splits."""
    return study.each(
        what,
        (
            (
                study.key(trial=classifier.name, data=one.name, split=split, runs=study.runs),
                partial(_trial, study, one, classifier, split),
            )
            for one in data
            for classifier in CLASSIFIERS
            if classifier.installed and (classifier.paper or not paper_only)
            for split in range(study.runs)
        ),
    )


def _trial(study: Study, data: Dataset, classifier: Classifier, split: int) -> dict[str, Any]:
    rows = parts(study, data, split)
    seed = int(np.random.default_rng([study.seed, split]).integers(2**31))
    known, fresh = scores_of(classifier, data, rows, seed, study.quick)
    label = data.labels[rows[2]]
    bound = certify(label, fresh, sided="both", confidence=1 - 0.05 / (_BARS * study.runs))
    calibrators = {
        name: make().fit(known, data.labels[rows[1]]).predict(fresh)
        for name, make in CALIBRATORS.items()
    }
    return {
        "data": data.name,
        "classifier": classifier.name,
        "paper": classifier.paper,
        "split": split,
        "rows": [len(part) for part in rows],
        "c_emp": bound.c_emp,
        "lower": bound.lower,
        "upper": bound.upper,
        "before": measured(label, fresh),
        "after": {name: measured(label, scores) for name, scores in calibrators.items()},
    }


def parts(study: Study, data: Dataset, split: int) -> tuple[IntArray, IntArray, IntArray]:
    """Deal rows into training, validation and test, the same for every classifier."""
    rng = np.random.default_rng([study.seed, split, zlib.crc32(data.name.encode())])
    order = rng.permutation(len(data.labels))
    most = _QUICK_ROWS if study.quick else MOST_ROWS
    train, known = (
        min(int(len(order) * share), at_most)
        for share, at_most in zip(_SHARES, most[:2], strict=True)
    )
    rest = order[train + known :]
    return order[:train], order[train : train + known], rest[: most[2]]


def measured(label: BoolArray, scores: FloatArray) -> dict[str, Any]:
    """Measure scores on the rows of the test: error, squared loss, and the cost at each p."""
    acted = scores[:, None] >= GRID
    cost = np.where(acted, GRID * ~label[:, None], (1 - GRID) * label[:, None]).mean(axis=0)
    return {
        "c_emp": calibration_error(label, scores),
        "brier": float(np.mean((label - scores) ** 2)),
        "cost": cost.tolist(),
    }
