"""Features: rows of a table as a linear classifier sees them, dense or sparse.

What is learned is a direction w, for a link that may be any monotone function of w . x. So neither
the length of w nor an intercept matter, and a change of units should not: steps are taken in the
metric of the covariance, which is the same as whitening the features first.

Directions are in units of their own, a power of two for each feature near its largest value, so
that no square is too large or too small for a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from calibrant._types import AnyArray, FloatArray
from calibrant.errors import InputError

#: With more features than this, or fewer rows for each, variances stand in for the covariance.
_MOST_FEATURES, _LEAST_ROWS = 512, 5
#: A feature that varies less than this, relative to its size, is constant but for rounding.
_CONSTANT = 1e-12
#: Directions whose variance is less than this share of the largest are combinations of others.
_COLLINEAR = 1e-9
#: How well the largest variance is found.
_TOLERANCE = 1e-3
#: Rows of which a centred copy is made at a time, and features that are added up at a time.
_CHUNK, _BLOCK = 1 << 13, 1 << 12
#: Units are no smaller than this power of two, or their inverse would be too large.
_LEAST_POWER = -1000


class Features:
    """Rows of features with their weights.

    Attributes
    ----------
    varies : bool
        Whether there is any feature that is not constant.
    """

    def __init__(self, table: Any, weight: FloatArray | None) -> None:
        self._table, self._weight = table, weight
        self._total = float(table.shape[0]) if weight is None else float(weight.sum())
        self._unit = _units(table)
        with np.errstate(over="ignore"):
            self._mean: FloatArray = self._summed(np.ones(table.shape[0])) / self._total
        if not np.isfinite(self._mean).all():
            raise _features_too_large()
        self._metric = self._found_metric()
        self.varies = bool(self._metric.any())

    def index(self, direction: FloatArray, table: Any = None) -> FloatArray:
        """Return w . (x - mean) for every row, of another table if it is given."""
        rows = self._table if table is None else table
        return row_sums(rows, self.coefficients(direction)) - float(self._mean @ direction)

    def coefficients(self, direction: FloatArray) -> FloatArray:
        """Return a direction in the units of the table."""
        return direction / self._unit

    def direction(self, coefficients: FloatArray) -> FloatArray:
        """Return the direction of some coefficients."""
        return coefficients * self._unit

    def pull(self, push: FloatArray) -> FloatArray:
        """Return the direction in which the index moves most like `push`, in the metric.

        It is the metric times the mean of push (x - mean).
        """
        pushed = push if self._weight is None else push * self._weight
        mean = (self._summed(push) - float(pushed.sum()) * self._mean) / self._total
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

    def _summed(self, push: FloatArray) -> FloatArray:
        """Return the sum of push x over the rows, weighted."""
        pushed = push if self._weight is None else push * self._weight
        found: FloatArray = self._table.T @ pushed
        return found / self._unit

    def _found_metric(self) -> FloatArray:
        """Return the inverse of the covariance, or those of the variances; 0 where none is."""
        rows, features = self._table.shape
        if features <= _MOST_FEATURES and rows >= _LEAST_ROWS * features:
            covariance = self._covariance()
            return _inverse(covariance, self._spread(np.diagonal(covariance)))
        spread = self._spread(self._variances())
        return np.divide(1.0, spread**2, out=np.zeros(features), where=spread > 0)

    def _spread(self, variances: FloatArray) -> FloatArray:
        """Return the deviation of each feature, 0 if it is constant."""
        spread = np.sqrt(variances)
        return np.where(spread <= _CONSTANT * np.abs(self._mean), 0.0, spread)

    def _covariance(self) -> FloatArray:
        features = self._table.shape[1]
        total = np.zeros((features, features))
        for rows, weight in self._centred():
            total += rows.T @ (rows if weight is None else rows * weight[:, None])
        return total / self._total

    def _variances(self) -> FloatArray:
        if issparse(self._table):
            return self._sparse_variances()
        total = np.zeros(self._table.shape[1])
        for rows, weight in self._centred():
            total += np.einsum("ij,ij->j", rows, rows if weight is None else rows * weight[:, None])
        return total / self._total

    def _sparse_variances(self) -> FloatArray:
        """Go through the stored numbers only; the others are all as far from the mean."""
        column, size = self._table.indices, self._table.shape[1]
        weight = np.ones(self._table.shape[0]) if self._weight is None else self._weight
        each = np.repeat(weight, np.diff(self._table.indptr))
        far = self._table.data / self._unit[column] - self._mean[column]
        stored = np.bincount(column, each, size)
        return (
            np.bincount(column, each * far**2, size)
            + (self._total - stored).clip(min=0.0) * self._mean**2
        ) / self._total

    def _centred(self) -> Iterator[tuple[AnyArray, FloatArray | None]]:
        """Yield the rows less their mean, some at a time, with their weights."""
        for start in range(0, self._table.shape[0], _CHUNK):
            some = slice(start, start + _CHUNK)
            rows = self._table[some]
            weight = None if self._weight is None else self._weight[some]
            yield (rows.toarray() if issparse(rows) else rows) / self._unit - self._mean, weight


def _units(table: Any) -> FloatArray:
    """Return the power of two next to the largest value of each feature."""
    if issparse(table):
        largest = abs(table).max(axis=0).toarray().ravel()
    else:
        largest = np.maximum(table.max(axis=0), -table.min(axis=0))
    power = np.frexp(largest)[1].clip(min=_LEAST_POWER)
    return np.where(largest > 0, np.ldexp(1.0, power.clip(max=1023)), 1.0)


def row_sums(table: Any, direction: FloatArray) -> FloatArray:
    """Return w . x for every row, to the bit the same wherever in a table a row stands.

    BLAS adds up a row's products in an order that depends on its neighbours, and einsum does if a
    row is longer than its buffer. Rows would then change their place among each other when some
    of them are scored again.
    """
    if issparse(table):
        found: FloatArray = table @ direction
        return found
    sums = np.zeros(len(table))
    for start in range(0, table.shape[1], _BLOCK):
        some = slice(start, start + _BLOCK)
        sums += np.einsum("ij,j->i", table[:, some], direction[some])
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


def _features_too_large() -> InputError:
    return InputError(
        "X holds numbers too large to be added up. Scale its columns, for example with "
        "sklearn.preprocessing.StandardScaler."
    )
