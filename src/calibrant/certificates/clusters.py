"""Clusters: rows that belong together, such as those of one patient, are not independent.

J independent clusters, cluster j with M_j rows. Per cluster, each counts once; per row, it counts
with its rows, a_j = M_j / m with a largest size m that was known before the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant import errors
from calibrant._types import FloatArray, IntArray
from calibrant.certificates.betting import THEOREM, Game, mixture
from calibrant.certificates.bounds import FIXED_MODEL, VARIANCE_SHARE, Bound
from calibrant.certificates.specification import Estimand
from calibrant.certificates.tails import largest, mean_at_most, worst_tail
from calibrant.core.diagram import resolve
from calibrant.core.extremes import extremes_need
from calibrant.data.memory.kernel import Rows
from calibrant.data.predictions import Predictions
from calibrant.errors import InputError
from calibrant.measures.error import error_of

_INDEPENDENT = "clusters are independent and come from the population you will act on"


@dataclass(frozen=True, eq=False, slots=True)
class Clustered:
    """Rows in order of score, and the clusters they belong to.

    Attributes
    ----------
    score, z : float array
        f, and y - f, of each row.
    cluster : int array
        The number of its cluster.
    part : float array
        The part of its cluster that it is: parts add up to 1 in every cluster.
    size : float array
        a_j of each cluster, in (0, 1].
    c_emp : float
        The calibration error measured, in the chosen sense.
    once : bool
        Each cluster counts once, so that all sizes are 1 by definition.
    assumptions : tuple of str
        What must hold.
    """

    score: FloatArray
    z: FloatArray
    cluster: IntArray
    part: FloatArray
    size: FloatArray
    c_emp: float
    once: bool
    assumptions: tuple[str, ...]

    @property
    def n(self) -> int:
        """Clusters."""
        return len(self.size)

    def mean_in(self, values: FloatArray) -> FloatArray:
        """Average over the rows of each cluster."""
        return _sums(self.cluster, values * self.part)


def clustered(data: Predictions, estimand: Estimand, max_cluster_size: int | None) -> Clustered:
    """Arrange rows of clusters by score; `estimand` says what counts once, a row or a cluster."""
    rows, codes = data.source.rows(), data.clusters
    assert codes is not None  # noqa: S101 (callers have looked)
    weight = rows.each_weight
    order = np.argsort(rows.score, kind="stable")
    order = order[weight[order] > 0]
    score, label, weight = rows.score[order], rows.label[order].astype(float), weight[order]
    _, cluster = np.unique(codes[order], return_inverse=True)
    rows_in = _sums(cluster, weight)
    if len(rows_in) < 2:
        raise _too_few_clusters()
    once = estimand == "cluster"
    size = np.ones(len(rows_in)) if once else _sizes(rows_in, max_cluster_size)
    part = weight / rows_in[cluster]
    c_emp = _error(Rows(score, label, part * size[cluster]))
    limit = () if once else (f"no cluster can have more than {max_cluster_size:,} rows",)
    counts = ("weights are row counts",) if weight.sum() != len(score) else ()
    assumptions = (_INDEPENDENT, FIXED_MODEL, *limit, *counts)
    return Clustered(score, label - score, cluster, part, size, c_emp, once, assumptions)


def _sums(cluster: IntArray, values: FloatArray) -> FloatArray:
    total: FloatArray = np.bincount(cluster, values).astype(np.float64)
    return total


def _sizes(rows_in: FloatArray, most: int | None) -> FloatArray:
    if most is None:
        raise _cluster_size_missing()
    most = errors.whole_number("max_cluster_size", most, 1, 2**53)
    if rows_in.max() > most:
        raise _cluster_too_large(int(rows_in.max()), most)
    return rows_in / most


def _error(rows: Rows) -> float:
    weighted = Predictions(rows.label, rows.score, sample_weight=rows.weight)
    return error_of(resolve(weighted.source, extremes_need))[0]


def certified_clusters(found: Clustered, delta: float) -> Bound:
    """Bound c(f) as `certified` does, with clusters in the place of rows.

    By Jensen the variance of a cluster's mean is at most the mean variance of its rows.

    References
    ----------
    As for `certified`; D_j = a_j (c - mean of X over the cluster) has mean 0, |D_j| <= 1 + c, and
    E D^2 <= w0 + E[a] c (1 - c).
    """
    n, delta_v = found.n, delta * VARIANCE_SHARE
    mean_size = float(found.size.mean())
    spread = found.mean_in(found.score * (1 - found.score))
    w0 = mean_at_most(float((found.size * spread).mean()), n, 0.25, delta_v)
    size = 1.0 if found.once else mean_at_most(mean_size, n, 1.0, delta_v)

    def tail(c: float) -> float:
        variance = min(size * (1 - c * c), w0 + size * c * (1 - c))
        return worst_tail(n, mean_size * (c - found.c_emp), 1 + c, variance)

    level = delta - (1 if found.once else 2) * delta_v
    theorem = "Chernoff-Hoeffding and Berry-Esseen tails over clusters, at the worst interval"
    return Bound(0.0, largest(tail, found.c_emp, level), found.assumptions, theorem)


def betting_clusters(found: Clustered, delta: float) -> Bound:
    """Bound c(f) as `betting` does, a bet for each cluster and its rows in equal parts of it.

    References
    ----------
    As for `betting`; by Jensen the mean of the rows' log gains is at most the log of the mean gain.
    """
    first = np.flatnonzero(np.append(True, found.score[1:] != found.score[:-1]))
    size = 1.0 if found.once else found.size[found.cluster]
    game = Game.of(found.z, found.part, size, first, mixture(found.n, delta))
    upper = game.upper(found.c_emp, delta)
    return Bound(0.0, upper, found.assumptions, f"{THEOREM}; clusters in place of rows")


def _cluster_too_large(size: int, most: int) -> InputError:
    return InputError(
        f"A cluster has {size:,} rows, but max_cluster_size={most}. It must be a limit that was "
        "known before the data; leave rows out beyond it by a rule of your own, or use "
        'estimand="cluster", which needs no limit.'
    )


def _cluster_size_missing() -> InputError:
    return InputError(
        'With clusters, estimand="row" needs max_cluster_size=, the most rows that a cluster can '
        "have, known before the data and not read off them. Pass it, or let every cluster count "
        'once with estimand="cluster".'
    )


def _too_few_clusters() -> InputError:
    return InputError("All rows are in one cluster: two independent ones are the least.")
