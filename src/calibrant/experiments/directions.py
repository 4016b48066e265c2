"""Directions: laws P(Y = 1) = u(w . x) with a known w, and how learning gets there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.experiments.run import Mean, Study
from calibrant.learners.features import Features
from calibrant.learners.isotron import IsotronClassifier
from calibrant.learners.linear import CalibratedLinearClassifier, link_slope
from calibrant.learners.losses import LOSSES, Loss, push, row_loss
from calibrant.learners.single_index import Linked, TrainingRows

#: The direction of the single-index laws.
TRUTH = np.array([1.0, -1.0, 0.5, 2.0, 0.0])
LAWS = ("normal", "skewed")
_SIZES, _QUICK_SIZES = (1_000, 4_000, 16_000, 64_000), (1_000, 4_000)
#: Steps of the plain alternation, the first one relative to the index, and its rows.
STEPS, _FIRST_STEP, _ROWS = 60, 0.05, 20_000
#: The Lipschitz link takes short steps.
_LIPSCHITZ_STEPS, _QUICK_STEPS = 300, 20


def link(index: FloatArray) -> FloatArray:
    """Return the probability of an event in the single-index laws, which is never sure."""
    return 0.1 + 0.8 / (1 + np.exp(-2 * index))


def draw(law: str, rows: int, seed: int) -> tuple[FloatArray, BoolArray]:
    """Draw features and labels with P(Y = 1) = link(w . x - c) for the direction `TRUTH`.

    "normal": independent normal features, for which even least squares finds the direction, as
    for all elliptical laws. "skewed": independent lognormal ones, for which it does not.
    """
    rng = np.random.default_rng([seed, rows, LAWS.index(law)])
    features = rng.standard_normal((rows, len(TRUTH)))
    middle = 0.0
    if law == "skewed":
        features, middle = np.exp(0.8 * features), float(TRUTH.sum() * np.exp(0.32))
    chance = link(features @ TRUTH - middle)
    return features, rng.random(rows) < chance


def angle(direction: FloatArray) -> float:
    """Return the angle between a direction and the true one, in degrees."""
    cosine = direction @ TRUTH / np.linalg.norm(direction) / np.linalg.norm(TRUTH)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def alternation(loss: Loss, features: FloatArray, label: BoolArray, steps: int) -> dict[str, Any]:
    """Alternate steps that lower a loss with projections, without looking whether it falls.

    Steps go in the direction of the loss's gradient, through a link smoothed as in
    `CalibratedLinearClassifier`. The first one turns the index by a twentieth of its size, and
    the others are as long, relative to their gradients. The index is kept at deviation 1.
    """
    table, rows = Features(features, None), TrainingRows(features, label, None)
    direction = table.pull(label.astype(np.float64) - float(label.mean()))
    direction /= table.index(direction).std()
    index = table.index(direction)
    linked, size = Linked.fit(index, rows, "monotone"), 0.0
    found: dict[str, list[float]] = {"squared": [], "own": [], "rise": [], "angle": []}
    for _ in range(steps):
        pull = table.pull(push(loss, linked.prob, label) * link_slope(linked, rows))
        move = table.index(pull)
        size = size or _FIRST_STEP / float(move.std())
        direction, index = direction + size * pull, index + size * move
        before = linked.link.predict(linked.scale(index))
        linked = Linked.fit(index, rows, "monotone")
        # the link before may say 0 or 1 where it is wrong, which costs the log loss infinitely
        with np.errstate(invalid="ignore"):
            rise = row_loss(loss, linked.prob, label).mean() - row_loss(loss, before, label).mean()
        found["squared"].append(float(row_loss("squared", linked.prob, label).mean()))
        found["own"].append(float(row_loss(loss, linked.prob, label).mean()))
        found["rise"].append(float(max(rise, -1.0)))
        found["angle"].append(angle(direction))
        direction, index = direction / index.std(), index / index.std()
        linked = Linked.fit(index, rows, "monotone")
    return {"loss": loss, **found}


def alternations(study: Study) -> list[dict[str, Any]]:
    """Follow the plain alternation under each loss, on a skewed law."""
    rows = 2_000 if study.quick else _ROWS
    features, label = draw("skewed", rows, study.seed)
    return study.each(
        "Alternation",
        (
            (
                study.key(alternation=loss, rows=rows, first=_FIRST_STEP),
                partial(alternation, loss, features, label, STEPS),
            )
            for loss in LOSSES
        ),
    )


def learners(seed: int, quick: bool) -> dict[str, Any]:
    """Return classifiers that are calibrated by construction, unfitted."""
    steps = _QUICK_STEPS if quick else _LIPSCHITZ_STEPS
    kept = {"early_stopping": True, "random_state": seed}
    found: dict[str, Callable[..., Any]] = {
        "Isotron": IsotronClassifier,
        "Isotron, Lipschitz": partial(IsotronClassifier, "lipschitz", max_iter=steps),
        **{f"Calibrated, {loss}": partial(CalibratedLinearClassifier, loss) for loss in LOSSES},
    }
    plain = {name: make() for name, make in found.items()}
    return plain | {f"{name}, early stopping": make(**kept) for name, make in found.items()}


def recoveries(study: Study) -> list[dict[str, Any]]:
    """Measure the angle to the true direction, for every learner, law and number of rows."""
    sizes = _QUICK_SIZES if study.quick else _SIZES
    wanted = [(law, rows, run) for law in LAWS for rows in sizes for run in range(study.runs)]
    found = study.each(
        "Recovery",
        (
            (
                study.key(recovery=law, rows=rows, run=run),
                partial(_recovered, law, rows, study.seed + run, study.quick),
            )
            for law, rows, run in wanted
        ),
    )
    return [
        {
            "law": law,
            "rows": rows,
            "learner": name,
            "angle": Mean.of(
                [
                    angles[name]
                    for (one, count, _), angles in zip(wanted, found, strict=True)
                    if (one, count) == (law, rows)
                ]
            ).to_dict(),
        }
        for law in LAWS
        for rows in sizes
        for name in found[0]
    ]


def _recovered(law: str, rows: int, seed: int, quick: bool) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    features, label = draw(law, rows, seed)
    others = {
        "Logistic regression": LogisticRegression(C=np.inf, max_iter=1000),
        "Linear SVM": LinearSVC(dual=False),
    }
    models = {name: model for name, model in learners(seed, quick).items() if "early" not in name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: angle(model.fit(features, label).coef_[0])
            for name, model in (models | others).items()
        }
