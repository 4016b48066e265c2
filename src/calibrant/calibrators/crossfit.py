"""Cross-fitting: what a calibrator does to rows that it was not fitted on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from calibrant._types import AnyArray, FloatArray
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.folds import FOLDS, class_too_small_for_folds, dealt, too_few_for_folds
from calibrant.core.diagram import everything, resolve
from calibrant.data.predictions import Predictions


class Crossfit(NamedTuple):
    """Rows of positive weight, before and after.

    label : array
        Outcomes, 0/1 or soft.
    before, after : float array
        Scores, and what calibrators fitted on the other folds make of them.
    weight : float array
        Weight of each; a row that counts several times may be in several folds.
    """

    label: AnyArray
    before: FloatArray
    after: FloatArray
    weight: FloatArray


def cross_fit(
    data: Predictions, calibrator: Calibrator, *, folds: int = FOLDS, seed: int = 0
) -> Crossfit:
    """Calibrate every row by a calibrator fitted on the other folds.

    Which fold a row is in depends on scores, labels, weights and the seed, never on where it
    stands. Whole weights are counts, so that a row of weight 3 is three rows, each in a fold of
    its own; folds have equal shares of each class.

    What comes of it is an estimate. With a fixed seed the folds are a function of the data, so that
    no bound with a confidence may rest on them.
    """
    rng = np.random.default_rng(seed)
    if data.source.start()[1].are_counts:
        return _of_counts(data, calibrator, folds, rng)
    return _of_rows(data, calibrator, folds, rng)


def _of_counts(
    data: Predictions, calibrator: Calibrator, folds: int, rng: np.random.Generator
) -> Crossfit:
    """Deal out the rows of every score, each of which may be in several folds."""
    cells = resolve(data.source, everything).cells
    counts = np.rint([cells.weight - cells.positives, cells.positives]).astype(np.int64)
    _check_counts(counts.sum(axis=1), folds)
    weight = np.concatenate([dealt(one, folds, rng) for one in counts], axis=1)
    label, score = np.repeat([False, True], len(cells)), np.tile(cells.score, 2)
    after = np.zeros(weight.shape)
    for held_out in range(folds):
        others = weight.sum(axis=0) - weight[held_out]
        fitted = clone(calibrator).fit(score, label, sample_weight=others)
        after[held_out] = fitted.predict(score)
    fold, row = np.nonzero(weight)
    return Crossfit(label[row], score[row], after[fold, row], weight[fold, row])


def _check_counts(rows: AnyArray, folds: int) -> None:
    if rows.sum() < folds:
        raise too_few_for_folds(float(rows.sum()), folds)
    if rows.min() < 2:
        raise class_too_small_for_folds(float(rows.min()))


def _of_rows(
    data: Predictions, calibrator: Calibrator, folds: int, rng: np.random.Generator
) -> Crossfit:
    """Put every row into one fold: soft labels, or weights that count nothing."""
    rows = data.source.rows()
    if rows.weight is not None and not (rows.weight > 0).all():
        rows = rows.take(rows.weight > 0)
    label, score, weight = rows.label, rows.score, rows.each_weight
    n = len(score)
    if n < folds:
        raise too_few_for_folds(n, folds)
    fold = np.empty(n, dtype=np.uint8)
    # neighbours in this order, which are alike, are dealt out over all folds
    fold[np.lexsort((weight, score, label))] = _places(n, folds, rng)
    after = np.empty(n)
    for held_out in range(folds):
        here, others = fold == held_out, fold != held_out
        fitted = clone(calibrator).fit(score[others], label[others], sample_weight=weight[others])
        after[here] = fitted.predict(score[here])
    return Crossfit(label, score, after, weight)


def _places(rows: int, folds: int, rng: np.random.Generator) -> AnyArray:
    """Return the fold of rows in order, each so many of them dealt out to all folds."""
    place = (np.arange(rows) % folds).astype(np.uint8)
    for start in range(0, rows, folds):
        place[start : start + folds] = rng.permutation(place[start : start + folds])
    return place
