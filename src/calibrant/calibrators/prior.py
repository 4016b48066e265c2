"""Prior shift: scores of a model that was trained on another share of events."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import errors
from calibrant._types import FloatArray
from calibrant.data.rules import scores_of


def adjust_prior(y_prob: Any, *, train_rate: float, true_rate: float) -> FloatArray:
    """Adjust scores of a model trained where events were more or less frequent than they are.

    Training on undersampled data multiplies the odds of every score by one constant, which this
    divides out again. It is right if the model was, and if events look the same in both places
    (only their share differs); it does not replace recalibration on held-out rows.

    Parameters
    ----------
    y_prob : array_like
        Scores, in [0, 1].
    train_rate : float
        Share of events in the training data, between 0 and 1.
    true_rate : float
        Share of events where the scores are used, between 0 and 1.

    Returns
    -------
    float array
        Scores for the true rate. ``adjust_prior(..., train_rate=b, true_rate=a)`` undoes
        ``adjust_prior(..., train_rate=a, true_rate=b)``, up to rounding.

    References
    ----------
    Elkan, "The foundations of cost-sensitive learning", IJCAI 2001, Theorem 2.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.adjust_prior([0.0, 0.5, 1.0], train_rate=0.5, true_rate=0.01).tolist()
    [0.0, 0.01, 1.0]
    """
    a = errors.inner_share("train_rate", train_rate)
    b = errors.inner_share("true_rate", true_rate)
    score = scores_of(y_prob)
    with np.errstate(over="ignore"):
        ratio = np.float64(b / (1 - b)) / (a / (1 - a))  # of the odds
    if not np.isfinite(ratio):
        raise errors.out_of_range("train_rate", "less far below true_rate", train_rate)
    sure = score == 1
    inner = np.where(sure, 0.5, score)
    return np.where(sure, 1.0, inner * ratio / (1 - inner + inner * ratio))
