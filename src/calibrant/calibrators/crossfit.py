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
    label, score, weight = _shares(data, folds, np.random.default_rng(seed))
    after = np.zeros(weight.shape)
    for held_out in range(folds):
        others = weight.sum(axis=0) - weight[held_out]
        fitted = clone(calibrator).fit(score, label, sample_weight=others)
        after[held_out] = fitted.predict(score)
    fold, row = np.nonzero(weight)
    return Crossfit(label[row], score[row], after[fold, row], weight[fold, row])


def _shares(
    data: Predictions, folds: int, rng: np.random.Generator
) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Return labels, scores, and the weight that each has in each fold, folds by rows."""
    totals = data.source.start()[1]
    if totals.are_counts:
        cells = resolve(data.source, everything).cells
        counts = np.rint([cells.weight - cells.positives, cells.positives]).astype(np.int64)
        _check_counts(counts.sum(axis=1), folds)
        spread = [dealt(one, folds, rng) for one in counts]
        label = np.repeat([False, True], len(cells))
        return label, np.tile(cells.score, 2), np.concatenate(spread, axis=1)
    return _whole_rows(data, folds, rng)


def _check_counts(rows: AnyArray, folds: int) -> None:
    if rows.sum() < folds:
        raise too_few_for_folds(float(rows.sum()), folds)
    if rows.min() < 2:
        raise class_too_small_for_folds(float(rows.min()))


def _whole_rows(
    data: Predictions, folds: int, rng: np.random.Generator
) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Put every row into one fold: soft labels, or weights that count nothing."""
    rows = data.source.rows()
    if rows.weight is not None:
        rows = rows.take(rows.weight > 0)
    weight = rows.each_weight
    n = len(rows.score)
    if n < folds:
        raise too_few_for_folds(n, folds)
    order = np.lexsort((weight, rows.score, rows.label))
    # neighbours in this order, which are alike, are dealt out over all folds
    place = np.arange(n) % folds
    for start in range(0, n, folds):
        place[start : start + folds] = rng.permutation(place[start : start + folds])
    share = np.zeros((folds, n))
    share[place, order] = weight[order]
    return rows.label, rows.score, share
