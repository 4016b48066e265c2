"""Table 1: logistic regression on simulated documents, whose true probabilities are known.

The paper does not say on which documents it was evaluated, how it was regularised, how fast word
frequencies fall, how long documents are beyond their mean, nor which topics were predicted. The
grid tries each choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from calibrant._types import FloatArray
from calibrant.experiments.run import Mean, Study
from calibrant.measures.error import calibration_error
from calibrant.simulate import Documents, TopicModel

#: What the paper prints: mean and deviation over five runs.
PUBLISHED = {
    "l1": Mean(0.1270, 0.0008, 5),
    "c_emp": Mean(0.0083, 0.0003, 5),
    "trivial_l1": Mean(0.2022, 0.0001, 5),
    "label_frequency": Mean(0.3448, 0.0001, 5),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """What the paper leaves open.

    Attributes
    ----------
    exponent : float
        Word frequencies fall as rank**-exponent.
    regularisation : float
        Weight of the squared norm: 1 / C of scikit-learn's logistic regression.
    fixed_length : bool
        Every document has the mean length, instead of a Poisson number of words.
    """

    exponent: float = 1.0
    regularisation: float = 1e-4
    fixed_length: bool = False


#: Exponents tried over all topics and runs.
_EXPONENTS = (1.0, 0.95)
#: One choice changed at a time.
GRID = tuple(
    replace(Choices(), **change)
    for change in (
        {},
        {"exponent": 0.5},
        {"exponent": 0.9},
        {"exponent": 0.95},
        {"exponent": 1.1},
        {"exponent": 1.5},
        {"exponent": 2.0},
        {"regularisation": 1.0},
        {"regularisation": 10.0},
        {"regularisation": 100.0},
        {"fixed_length": True},
    )
)


def table1(study: Study) -> dict[str, Any]:
    """Run the base setting over all topics, and the grid over some."""
    topics, grid_topics = (4, 2) if study.quick else (20, 4)
    runs = [
        (Choices(exponent), run, topics) for exponent in _EXPONENTS for run in range(study.runs)
    ]
    grid = [(choices, study.runs, grid_topics) for choices in GRID]
    found = study.each("Documents", _units(study, [*runs, *grid]))
    readings = [
        {
            "exponent": exponent,
            "documents": where,
            "topics": which,
            **_summary(found[place * study.runs :][: study.runs], where, which),
        }
        for place, exponent in enumerate(_EXPONENTS)
        for where in ("training", "fresh")
        for which in ("all", "one")
    ]
    return {
        "supported": supported(readings),
        "documents": _model(Choices(), study, 0)[1],
        "runs": study.runs,
        "published": {name: {"mean": one.mean, "sd": one.sd} for name, one in PUBLISHED.items()},
        "readings": readings,
        "grid": [
            {
                **asdict(choices),
                "topics": grid_topics,
                **{
                    where: {name: float(np.mean(values)) for name, values in one[where].items()}
                    for where in ("training", "fresh")
                },
            }
            for choices, one in zip(GRID, found[len(runs) :], strict=True)
        ],
    }


def supported(readings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the reading that comes nearest to the printed l1 error and calibration error.

    Distances are in printed deviations; the larger one of the two numbers counts.
    """

    def distance(one: dict[str, Any]) -> float:
        both = (("l1", PUBLISHED["l1"]), ("c_emp", PUBLISHED["c_emp"]))
        return max(abs(float(one[name]["mean"]) - said.mean) / said.sd for name, said in both)

    nearest = min((one for one in readings if one["topics"] == "all"), key=distance)
    return {
        "documents": nearest["documents"],
        "exponent": nearest["exponent"],
        "distance": distance(nearest),
    }


def _units(
    study: Study, wanted: list[tuple[Choices, int, int]]
) -> Iterator[tuple[dict[str, Any], Any]]:
    for choices, run, topics in wanted:
        key = study.key(documents=asdict(choices), run=run, topics=topics)
        yield key, partial(_run, study, choices, run, topics)


def _model(choices: Choices, study: Study, run: int) -> tuple[TopicModel, int]:
    seed = 1000 * study.seed + run
    model = TopicModel(exponent=choices.exponent, fixed_length=choices.fixed_length, seed=seed)
    if study.quick:
        return replace(model, topics=5, words=100, length=50.0), 1_500
    return model, 20_000


def _run(study: Study, choices: Choices, run: int, topics: int) -> dict[str, Any]:
    """Fit one logistic regression for each topic; measure on training and on fresh documents."""
    from sklearn.linear_model import LogisticRegression

    model, documents = _model(choices, study, run)
    train, fresh = (model.draw(documents, seed=seed) for seed in (0, 1))
    found: dict[str, dict[str, list[float]]] = {
        where: {name: [] for name in PUBLISHED} for where in ("training", "fresh")
    }
    for topic in range(topics):
        fitted = LogisticRegression(C=1 / choices.regularisation, max_iter=5000)
        fitted.fit(train.counts, train.labels[:, topic])
        for where, some in (("training", train), ("fresh", fresh)):
            scores = fitted.predict_proba(some.counts)[:, 1]
            for name, value in _measured(model, some, topic, scores).items():
                found[where][name].append(value)
    return found


def _measured(
    model: TopicModel, documents: Documents, topic: int, scores: FloatArray
) -> dict[str, float]:
    labels, truth = documents.labels[:, topic], documents.true_prob[:, topic]
    return {
        "l1": float(np.abs(scores - truth).mean()),
        "c_emp": calibration_error(labels, scores),
        "trivial_l1": float(np.abs(model.label_frequency - truth).mean()),
        "label_frequency": float(labels.mean()),
    }


def _summary(runs: list[dict[str, Any]], where: str, which: str) -> dict[str, Any]:
    """Summarise runs: of all topics the mean, or the first topic alone."""
    take = np.mean if which == "all" else _first
    return {
        name: Mean.of([float(take(run[where][name])) for run in runs]).to_dict()
        for name in PUBLISHED
    }


def _first(values: list[float]) -> float:
    return values[0]
