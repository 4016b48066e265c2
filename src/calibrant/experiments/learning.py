"""The paper's open question: what if the squared loss is replaced.

Section 3.2.2 alternates a step that lowers a loss with a projection onto the empirically calibrated
classifiers, and its appendix asks whether other losses than the squared one will do. Three
experiments: the plain alternation, step by step; how well a known direction is recovered; and
what classifiers learned in this way are worth on data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.calibrators.estimators.steps import IsotonicCalibrator
from calibrant.experiments.datasets import load_adult, load_covertype, simulated
from calibrant.experiments.directions import alternations, learners, recoveries
from calibrant.experiments.run import Mean, Study
from calibrant.experiments.trials import measured, parts
from calibrant.measures.error import calibration_error
from calibrant.simulate import TopicModel


def open_question(study: Study) -> dict[str, Any]:
    """Run all three experiments.

    Parameters
    ----------
    study : Study
        Seed, runs, and where the data sets are.

    Returns
    -------
    dict
        Plain values: "alternation", "recovery" and "data".
    """
    return {
        "seed": study.seed,
        "runs": study.runs,
        "quick": study.quick,
        "alternation": alternations(study),
        "recovery": recoveries(study),
        "data": _on_data(study),
    }


@dataclass(frozen=True, eq=False, slots=True)
class TrainTest:
    """Features and labels to learn from, to calibrate on, and to measure on."""

    name: str
    tables: tuple[Any, Any, Any]
    labels: tuple[BoolArray, BoolArray, BoolArray]

    @property
    def learned_from(self) -> tuple[Any, BoolArray]:
        """What a classifier gets that needs no rows of their own to calibrate."""
        from scipy.sparse import issparse, vstack

        both = self.tables[:2]
        table = vstack(both, format="csr") if issparse(both[0]) else np.concatenate(both)
        return table, np.concatenate(self.labels[:2])

    def dense(self) -> TrainTest:
        """Return the same with plain arrays, for classifiers that take no others."""
        first, second, third = (
            table.toarray() if hasattr(table, "toarray") else table for table in self.tables
        )
        return replace(self, tables=(first, second, third))


def splits(study: Study) -> Iterator[tuple[str, int, Callable[[], TrainTest]]]:
    """Yield the data sets, a number for each split, and how to make it."""
    if study.quick:
        tables = [simulated("additive", 4000), simulated("interactions", 4000)]
    else:
        tables = [load_adult(study.data_dir), load_covertype(study.data_dir)]
    for data in tables:
        features = data.features
        for run in range(study.runs):
            rows = parts(study, data, run)
            some = (features[rows[0]], features[rows[1]], features[rows[2]])
            labels = (data.labels[rows[0]], data.labels[rows[1]], data.labels[rows[2]])
            yield data.name, run, partial(TrainTest, data.name, some, labels)
    for run in range(study.runs):
        yield "Documents", run, partial(_documents, study.seed + run, study.quick)


def _documents(seed: int, quick: bool) -> TrainTest:
    """Draw documents with the words as features, and the label of the first topic."""
    sizes = (1_000, 500, 2_000) if quick else (20_000, 2_000, 20_000)
    model = TopicModel(topics=5, words=100) if quick else TopicModel()
    drawn = [model.draw(size, seed=3 * seed + k) for k, size in enumerate(sizes)]
    tables, labels = [one.counts for one in drawn], [one.labels[:, 0] for one in drawn]
    return TrainTest(
        "Documents", (tables[0], tables[1], tables[2]), (labels[0], labels[1], labels[2])
    )


def _on_data(study: Study) -> list[dict[str, Any]]:
    wanted = list(splits(study))
    found = study.each(
        "Data",
        (
            (
                study.key(learning=name, split=run),
                partial(_learned, make, study.seed + run, study.quick),
            )
            for name, run, make in wanted
        ),
    )
    names = list(dict.fromkeys(name for name, _, _ in wanted))
    return [
        _summed_up(
            name,
            learner,
            [one[learner] for (data, _, _), one in zip(wanted, found, strict=True) if data == name],
        )
        for name in names
        for learner in found[0]
    ]


def _learned(make: Callable[[], TrainTest], seed: int, quick: bool) -> dict[str, dict[str, Any]]:
    split = make()
    table, label = split.learned_from
    fresh, truth = split.tables[2], split.labels[2]
    found = {}
    for name, model in learners(seed, quick).items():
        begin = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(table, label)
        seconds = perf_counter() - begin
        own = calibration_error(label, model.predict_proba(table)[:, 1])
        prob = model.predict_proba(fresh)[:, 1]
        found[name] = _judged(prob, truth, own, seconds) | {"steps": model.n_iter_}
    for name, prob, own, seconds in _others(split, seed):
        found[name] = _judged(prob, truth, own, seconds) | {"steps": None}
    return found


def _judged(prob: FloatArray, truth: BoolArray, own: float, seconds: float) -> dict[str, Any]:
    accuracy = float(np.mean((prob > 0.5) == truth))
    return measured(truth, prob) | {"accuracy": accuracy, "own": own, "seconds": seconds}


def _others(split: TrainTest, seed: int) -> Iterator[tuple[str, FloatArray, float, float]]:
    """Yield what others make of it: probabilities of the fresh rows, own error, seconds."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    table, label = split.learned_from
    scaled = partial(make_pipeline, StandardScaler(with_mean=False))
    begin = perf_counter()
    plain = scaled(LogisticRegression(max_iter=2000)).fit(table, label)
    seconds = perf_counter() - begin
    own = calibration_error(label, plain.predict_proba(table)[:, 1])
    yield "Logistic regression", plain.predict_proba(split.tables[2])[:, 1], own, seconds
    machine = scaled(LinearSVC(dual=False, max_iter=5000))
    yield "Linear SVM + isotonic", *_recalibrated(machine, split)
    trees = HistGradientBoostingClassifier(random_state=seed)
    yield "Boosted trees + isotonic", *_recalibrated(trees, split.dense())


def _recalibrated(model: Any, split: TrainTest) -> tuple[FloatArray, float, float]:
    """Learn from some rows and calibrate on others; own error is on the latter."""
    begin = perf_counter()
    learn, known, fresh = split.tables
    model.fit(learn, split.labels[0])
    score = getattr(model, "predict_proba", None) or model.decision_function
    first, later = (np.asarray(score(table)) for table in (known, fresh))
    if first.ndim == 2:
        first, later = first[:, 1], later[:, 1]
    low, high = float(first.min()), float(first.max())
    first, later = (((one - low) / (high - low)).clip(0, 1) for one in (first, later))
    calibrator = IsotonicCalibrator().fit(first, split.labels[1])
    own = calibration_error(split.labels[1], calibrator.predict(first))
    return calibrator.predict(later), own, perf_counter() - begin


_NUMBERS = ("accuracy", "c_emp", "brier", "own", "seconds")


def _summed_up(data: str, learner: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    means = {name: Mean.of([run[name] for run in runs]).to_dict() for name in _NUMBERS}
    cost = np.mean([run["cost"] for run in runs], axis=0)
    steps = [run["steps"] for run in runs]
    return {
        "data": data,
        "learner": learner,
        **means,
        "cost": cost.tolist(),
        "mean_cost": Mean.of([float(np.mean(run["cost"])) for run in runs]).to_dict(),
        "steps": None if steps[0] is None else float(np.mean(steps)),
    }
