"""Losses that a calibrated classifier can be asked to minimise, and which way they push.

A score f stands for the margin 2f - 1, so that the hinge loss is 2 |y - f|. Among classifiers
without calibration error each loss is a sum over their own scores: f (1 - f) for the squared loss,
4 f (1 - f) for the hinge, and the entropy of f for the logistic. So there the hinge ranks
classifiers exactly as the squared loss does; only the way it pushes differs.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import entr

from calibrant._types import BoolArray, FloatArray

Loss: TypeAlias = Literal["squared", "logistic", "hinge"]
LOSSES: tuple[Loss, ...] = get_args(Loss)


def calibrated_loss(loss: Loss, prob: FloatArray) -> FloatArray:
    """Return what each row loses on average, if it has the label as often as it says."""
    if loss == "logistic":
        entropy: FloatArray = entr(prob) + entr(1 - prob)
        return entropy
    return (4 if loss == "hinge" else 1) * prob * (1 - prob)


def row_loss(loss: Loss, prob: FloatArray, label: BoolArray) -> FloatArray:
    """Return what each row loses; infinite for a wrong 0 or 1 under the logistic loss."""
    missed = np.where(label, 1 - prob, prob)
    if loss == "logistic":
        with np.errstate(divide="ignore"):
            return -np.log1p(-missed)
    return 2 * missed if loss == "hinge" else missed**2


def push(loss: Loss, prob: FloatArray, label: BoolArray) -> FloatArray:
    """Return how much a row's loss falls as its probability rises: minus the derivative.

    Those of the squared loss and of the hinge are taken half. The hinge pushes every row, however
    right it is; the logistic loss is not asked to push rows that are exactly right.
    """
    left = label - prob
    if loss == "squared":
        return left
    if loss == "hinge":
        return np.where(label, 1.0, -1.0)
    spread = prob * (1 - prob)
    return np.divide(left, spread, out=np.zeros_like(left), where=spread > 0)
