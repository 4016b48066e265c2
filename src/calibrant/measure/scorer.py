"""The calibration error as a scorer for scikit-learn's model selection."""

from __future__ import annotations

from sklearn.metrics import make_scorer

from calibrant.measure.error import calibration_error

#: Minus the calibration error of `predict_proba`, so that greater is better, as scikit-learn
#: wants it: ``GridSearchCV(model, grid, scoring=cb.calibration_error_scorer)``. A constant
#: prediction at the base rate scores 0 as well, so look at a loss next to it.
calibration_error_scorer = make_scorer(
    calibration_error, response_method="predict_proba", greater_is_better=False
)
