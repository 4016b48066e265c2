"""The calibration error as a scorer for scikit-learn's model selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from calibrant.measures.error import calibration_error


def _error_of_second_class(y_true: Any, y_prob: Any, *, sample_weight: Any = None) -> float:
    """Take the second of two sorted labels for the event, as `predict_proba` does."""
    try:
        labels = np.unique(y_true)
    except (TypeError, ValueError, ArithmeticError):  # no labels: refused in words below
        return calibration_error(y_true, y_prob, sample_weight=sample_weight)
    known = set(labels.tolist()) <= {0, 1} or set(labels.tolist()) <= {-1, 1}
    pos_label = None if known or len(labels) != 2 else labels[-1]
    return calibration_error(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)


calibration_error_scorer = make_scorer(
    _error_of_second_class, response_method="predict_proba", greater_is_better=False
)
"""The calibration error as a scorer for scikit-learn's model selection.

It is minus the calibration error of `predict_proba`: greater is better, as scikit-learn wants it.
A constant prediction at the base rate scores 0 as well, so look at a loss as well.

Examples
--------
>>> from sklearn.datasets import make_classification
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.model_selection import cross_val_score
>>> import calibrant as cb
>>> X, y = make_classification(2000, random_state=0)
>>> scorer = cb.calibration_error_scorer
>>> errors = -cross_val_score(LogisticRegression(), X, y, scoring=scorer)
>>> bool((errors < 0.1).all())
True
"""
