"""Calibrators as scikit-learn estimators: fit(y_prob, y_true), predict(y_prob)."""
