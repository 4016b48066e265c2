"""Features: rows of a table as a linear classifier sees them, dense or sparse.

What is learned is a direction w, for a link that may be any monotone function of w . x. So neither
the length of w nor an intercept matter, and a change of units should not: steps are taken in the
metric of the covariance, which is the same as whitening the features first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from calibrant import _checks
from calibrant._types import AnyArray, FloatArray

#: With more features than this, or fewer rows for each, variances stand in for the covariance.
_MOST_FEATURES, _LEAST_ROWS = 512, 5
#: A feature that varies less than this, relative to its size, is constant but for rounding.
_CONSTANT = 1e-12
#: Directions whose variance is less than this share of the largest are combinations of others.
_COLLINEAR = 1e-9
#: How well the largest variance is found.
_TOLERANCE = 1e-3
#: Rows of which a centred copy is made at a time.
_CHUNK = 1 << 13


class Features:
    """Rows of features with their weights.

    Attributes
    ----------
    mean : float array
        Mean of each feature.
    varies : bool
        Whether there is any feature that is not constant.
    """

    def __init__(self, table: Any, weight: FloatArray | None) -> None:
        self._table, self._weight = table, weight
        self._total = float(table.shape[0]) if weight is None else float(weight.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean: FloatArray = self._summed(None) / self._total
            self._metric = self._found_metric()
        self.varies = bool(self._metric.any())

    def index(self, direction: FloatArray) -> FloatArray:
        """Return w . (x - mean) for every row."""
        return row_sums(self._table, direction) - float(self.mean @ direction)

    def pull(self, push: FloatArray) -> FloatArray:
        """Return the direction in which the index moves most like `push`, in the metric.

        It is the metric times the mean of push (x - mean).
        """
        pushed = push if self._weight is None else push * self._weight
        mean = (self._summed(push) - float(pushed.sum()) * self.mean) / self._total
        return self._metric @ mean if self._metric.ndim == 2 else self._metric * mean

    def stretch(self) -> float:
        """Return the largest variance that the index of a direction of length 1 can have.

        In the metric of the covariance it is 1; in that of variances correlations add to it.
        """
        if self._metric.ndim == 2 or np.count_nonzero(self._metric) < 2:
            return 1.0
        from scipy.sparse.linalg import LinearOperator, eigsh

        root = np.sqrt(self._metric)
        back = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)

        def correlated(direction: FloatArray) -> FloatArray:
            return self.pull(self.index(root * direction.ravel())) * back

        size = len(root)
        operator = LinearOperator((size, size), matvec=correlated, dtype=np.float64)
        found = eigsh(operator, k=1, v0=root, tol=_TOLERANCE, return_eigenvectors=False)
        return float(found[0]) * (1 + _TOLERANCE)

    def _summed(self, push: FloatArray | None) -> FloatArray:
        """Return the sum of push x over the rows, weighted."""
        if push is None:
            push = np.ones(self._table.shape[0])
        pushed = push if self._weight is None else push * self._weight
        found: FloatArray = self._table.T @ pushed
        return found

    def _found_metric(self) -> FloatArray:
        """Return the inverse of the covariance, or those of the variances; 0 where none is."""
        rows, features = self._table.shape
        if features <= _MOST_FEATURES and rows >= _LEAST_ROWS * features:
            covariance = self._covariance()
            spread = self._spread(np.diagonal(covariance))
            return _inverse(covariance, spread)
        spread = self._spread(self._variances())
        return np.divide(1.0, spread**2, out=np.zeros(features), where=spread > 0)

    def _spread(self, variances: FloatArray) -> FloatArray:
        """Return the deviation of each feature, 0 if it is constant."""
        if not np.isfinite(variances).all():
            raise _checks.features_too_large()
        spread = np.sqrt(np.maximum(variances, 0.0))
        constant = spread <= _CONSTANT * np.abs(self.mean)
        return np.where(constant, 0.0, spread)

    def _covariance(self) -> FloatArray:
        features = self._table.shape[1]
        total = np.zeros((features, features))
        for rows, weight in self._centred():
            total += rows.T @ (rows if weight is None else rows * weight[:, None])
        return total / self._total

    def _variances(self) -> FloatArray:
        if issparse(self._table):  # of numbers around 0: a centred copy would not be sparse
            ones = np.ones(self._table.shape[0]) if self._weight is None else self._weight
            squares: FloatArray = self._table.power(2).T @ ones
            return squares / self._total - self.mean**2
        total = np.zeros(self._table.shape[1])
        for rows, weight in self._centred():
            total += np.einsum("ij,ij->j", rows, rows if weight is None else rows * weight[:, None])
        return total / self._total

    def _centred(self) -> Iterator[tuple[AnyArray, FloatArray | None]]:
        """Yield the rows less their mean, some at a time, with their weights."""
        for start in range(0, self._table.shape[0], _CHUNK):
            some = slice(start, start + _CHUNK)
            rows = self._table[some]
            weight = None if self._weight is None else self._weight[some]
            yield (rows.toarray() if issparse(rows) else rows) - self.mean, weight


def row_sums(table: Any, direction: FloatArray) -> FloatArray:
    """Return w . x for every row, to the bit the same wherever in a table a row stands.

    BLAS adds up a row's products in an order that depends on its neighbours. Rows would then
    change their place among each other when some of them are scored again.
    """
    if issparse(table):
        found: FloatArray = table @ direction
        return found
    sums: FloatArray = np.einsum("ij,j->i", table, direction)
    return sums


def _inverse(covariance: FloatArray, spread: FloatArray) -> FloatArray:
    """Invert a covariance where features vary, and are no combinations of others."""
    varies = np.flatnonzero(spread)
    inverse = np.zeros_like(covariance)
    if len(varies) == 0:
        return inverse
    scale = np.outer(spread[varies], spread[varies])
    block = np.ix_(varies, varies)
    values, vectors = np.linalg.eigh(covariance[block] / scale)
    kept = values > _COLLINEAR * values[-1]
    inverse[block] = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T / scale
    return inverse
