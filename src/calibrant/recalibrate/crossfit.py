"""Cross-fitting: what a calibrator does to rows that it was not fitted on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from calibrant import _checks
from calibrant._types import AnyArray, FloatArray
from calibrant.recalibrate.estimators import Calibrator
from calibrant.sources.predictions import Predictions

FOLDS = 5


class Crossfit(NamedTuple):
    """Rows of positive weight, before and after.

    label : array
        Outcomes, 0/1 or soft.
    before, after : float array
        Scores, and what calibrators fitted on the other folds make of them.
    weight : float array or None
        Weights, None if all are 1.
    """

    label: AnyArray
    before: FloatArray
    after: FloatArray
    weight: FloatArray | None


def cross_fit(
    data: Predictions, calibrator: Calibrator, *, folds: int = FOLDS, seed: int = 0
) -> Crossfit:
    """Calibrate every row by a calibrator fitted on the other folds.

    Which fold a row is in depends on its score, label and weight and on the seed, never on where
    it stands, so that the order of rows changes no result.
    """
    rows = data.source.rows()
    if rows.weight is not None:
        rows = rows.take(rows.weight > 0)
    weight = np.ones(len(rows.score)) if rows.weight is None else rows.weight
    n = len(rows.score)
    if n < folds:
        raise _checks.too_few_for_folds(n, folds)
    order = np.lexsort((weight, rows.label, rows.score))
    fold = np.empty(n, dtype=np.int64)
    fold[order[np.random.default_rng(seed).permutation(n)]] = np.arange(n) % folds
    after = np.empty(n)
    for held_out in range(folds):
        fitted_on, mine = fold != held_out, fold == held_out
        one = clone(calibrator).fit(
            rows.score[fitted_on], rows.label[fitted_on], sample_weight=weight[fitted_on]
        )
        after[mine] = one.predict(rows.score[mine])
    return Crossfit(rows.label, rows.score, after, rows.weight)
