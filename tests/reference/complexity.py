"""Rademacher complexity by definition, over all signs."""

import itertools
import math

import numpy as np


def all_signs(n):
    return np.array(list(itertools.product((-1, 1), repeat=n)))


def rademacher(functions):
    """R_D by its definition: every sign vector, every function (a row of values) of the class."""
    functions = np.asarray(functions, dtype=float)
    n = functions.shape[1]
    return (all_signs(n) @ functions.T).max(axis=1).mean() / n


def intervals(scores):
    """The labelings 1{p1 < f <= p2} of one model's rows, the empty one included."""
    scores = np.asarray(scores)
    ends = [-np.inf, *np.unique(scores)]
    pairs = itertools.combinations_with_replacement(ends, 2)
    return {tuple((low < scores) & (scores <= high)) for low, high in pairs}


def labelings(models):
    return sorted(set().union(*map(intervals, models)))


def spectral(n):
    """R of n distinct scores by the eigenvalues of the reflected walk that stops at m."""
    total = 0.0
    for m in range(1, min(n, math.ceil(math.sqrt(60 * n))) + 1):
        j = np.arange(m)
        angle = (2 * j + 1) * np.pi / (2 * m + 1)
        share = (-1.0) ** j * np.cos(angle / 2) ** 2 / np.sin(angle / 2) * 2 / (2 * m + 1)
        total += 1 - (share * np.cos(angle) ** n).sum()
    return total / n
