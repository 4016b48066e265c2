"""What decisions cost, by definition: each row, each threshold."""

import math

import numpy as np


def cost_at(y_true, score, threshold, p, weight=None):
    """The mean cost of acting from a threshold on, a false positive costing p."""
    y_true, act = np.asarray(y_true, dtype=float), np.asarray(score) >= threshold
    each = np.where(act, p * (1 - y_true), (1 - p) * y_true)
    return np.average(each, weights=weight)


def best_by_search(y_true, score, p, weight=None):
    """The least cost over every threshold, and the lowest threshold that has it."""
    counted = np.ones(len(score), dtype=bool) if weight is None else np.asarray(weight) > 0
    thresholds = [*np.unique(np.asarray(score)[counted]), math.inf]
    costs = [cost_at(y_true, score, t, p, weight) for t in thresholds]
    return min(costs), costs, thresholds
