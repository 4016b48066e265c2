"""Data whose true probabilities are known."""

from __future__ import annotations

import numpy as np

from calibrant._types import BoolArray, FloatArray


def overconfident(rows: int = 20_000, *, seed: int = 0) -> tuple[BoolArray, FloatArray]:
    """Draw outcomes, and the scores of a model that is too sure of itself.

    The log-odds of the event are normal with deviation 1.5, and the model states them 1.6 times
    too large, as many boosted trees and deep networks do.

    Examples
    --------
    >>> from calibrant.simulate import overconfident
    >>> y_true, y_prob = overconfident(1000, seed=1)
    >>> len(y_true), len(y_prob)
    (1000, 1000)
    """
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.5, rows)
    y_true = rng.random(rows) < 1 / (1 + np.exp(-log_odds))
    return y_true, 1 / (1 + np.exp(-1.6 * log_odds))
