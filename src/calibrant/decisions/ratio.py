"""Loss ratios: what recalibration made of the cost, for each ratio of the two costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._figures import figure
from calibrant._types import AnyArray, FloatArray
from calibrant.data import refusals
from calibrant.data.predictions import predictions_of, warn
from calibrant.data.rules import scores_of
from calibrant.decisions.curve import grid_of


@dataclass(frozen=True, eq=False, slots=True)
class LossRatio:
    """Mean cost after over mean cost before, for a false positive costing p.

    Attributes
    ----------
    p : float array
        The share of a false positive in the two costs.
    ratio : float array
        Under 1: recalibration helped. NaN where decisions before cost nothing.
    lower, upper : float array
        Bootstrap interval for the ratio, rows drawn in pairs of before and after.
    before, after : float array
        The mean costs themselves.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, truth = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> cb.loss_ratio(y_true, y_prob, truth, p=0.1).ratio.round(3)
    array([0.902])
    """

    p: FloatArray
    ratio: FloatArray
    lower: FloatArray
    upper: FloatArray
    before: FloatArray
    after: FloatArray
    confidence: float

    def __len__(self) -> int:
        return len(self.p)

    def __repr__(self) -> str:
        if len(self) == 1:
            return (
                f"At p = {figure(self.p[0])} decisions after cost {figure(self.ratio[0])} of what "
                f"they did before ({100 * self.confidence:g}% interval {figure(self.lower[0])} to "
                f"{figure(self.upper[0])})"
            )
        low, high = figure(self.ratio.min()), figure(self.ratio.max())
        return f"<LossRatio at {len(self)} p, from {low} to {high}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain lists; a ratio to nothing is None."""
        names = ("p", "ratio", "lower", "upper", "before", "after")
        columns = {
            name: [value if np.isfinite(value) else None for value in getattr(self, name).tolist()]
            for name in names
        }
        return {**columns, "confidence": self.confidence}


def loss_ratio(
    y_true: Any,
    before: Any,
    after: Any,
    p: Any,
    *,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    sample_weight: Any = None,
    pos_label: object = None,
) -> LossRatio:
    """Compare the cost of decisions before and after recalibration, on the same rows.

    Parameters
    ----------
    y_true : array_like
        Outcomes of rows that neither model nor calibrator was fitted on.
    before : array_like
        Scores of these rows before recalibration.
    after : array_like
        Their scores after it.
    p : float or array_like
        The share of a false positive in the two costs, the same for all rows; both sides act when
        their score is at least p. Several are several points of the curve, each kept once.
    confidence : float, default 0.95
        Of the interval.
    draws : int, default 2000
        Bootstrap samples.
    seed : int, default 0
        Seed of these samples.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    LossRatio
        The ratio of mean costs, with paired bootstrap intervals.

    Notes
    -----
    The interval is a bootstrap's: about right for many rows, and not proved for few. Nothing is
    split: which rows to leave out of fitting is for you to decide, by something that is not the
    outcome.

    At one p a row has one of few outcomes (acted on or not before, and after, event or not), so a
    bootstrap sample is one draw of their counts, however many rows there are.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Section 4, Figure 3.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, truth = cb.simulate.overconfident(3.0).draw(5000, seed=1)
    >>> found = cb.loss_ratio(y_true, y_prob, truth, p=0.1)
    >>> bool(found.upper[0] < 1)
    True
    """
    grid = grid_of(p, "p")
    confidence = errors.inner_share("confidence", confidence)
    draws = errors.whole_number("draws", draws, 1, errors.MOST_ENTRIES)
    rng = np.random.default_rng(errors.whole_number("seed", seed, least=0))
    if before is None:
        raise refusals.argument_missing("before")
    data = predictions_of(
        y_true,
        before,
        sample_weight=sample_weight,
        pos_label=pos_label,
        names=errors.Names(prob="before"),
    )
    rows, other = data.source.rows(), scores_of(after, "after")
    if len(other) != len(rows.score):
        raise refusals.lengths_differ([("before", len(rows.score)), ("after", len(other))])
    data.source.start()[1].check_counts("a loss ratio")
    warn(data.warnings, stacklevel=2)
    tail = (1 - confidence) / 2
    columns = []
    for one in grid.tolist():
        counts = _kinds(one, rows.label, rows.score, other, rows.each_weight)
        columns.append(_at(one, counts, tail, draws, rng))
    ratio, lower, upper, mean_before, mean_after = np.array(columns).T
    return LossRatio(grid, ratio, lower, upper, mean_before, mean_after, confidence)


def _kinds(
    p: float, label: AnyArray, before: FloatArray, after: FloatArray, weight: FloatArray
) -> FloatArray:
    """Count rows of each kind.

    No event first, then event; of each: acted on neither time, after, before, both times.
    """
    kind = 4 * label.astype(np.int64) + 2 * (before >= p) + (after >= p)
    counts: FloatArray = np.bincount(kind, weight, minlength=8).astype(np.float64)
    return counts


def _at(
    p: float, counts: FloatArray, tail: float, draws: int, rng: np.random.Generator
) -> tuple[float, float, float, float, float]:
    """Return ratio, interval and both mean costs at one p."""
    cost_before = np.array([0, 0, p, p, 1 - p, 1 - p, 0, 0])
    cost_after = np.array([0, p, 0, p, 1 - p, 0, 1 - p, 0])
    n = counts.sum()
    mean_before, mean_after = float(counts @ cost_before / n), float(counts @ cost_after / n)
    if mean_before <= 0:
        return np.nan, np.nan, np.nan, mean_before, mean_after
    drawn = rng.multinomial(round(n), counts / n, draws)
    drawn_before, drawn_after = drawn @ cost_before, drawn @ cost_after
    # a draw without any cost before has no ratio; at the upper end it counts as endless
    endless = np.full(draws, np.inf)
    ratios = np.divide(drawn_after, drawn_before, out=endless, where=drawn_before > 0)
    lower = float(np.quantile(ratios, tail, method="lower"))
    upper = float(np.quantile(ratios, 1 - tail, method="higher"))
    return mean_after / mean_before, lower, upper, mean_before, mean_after
